"""Signals that stop a process: they wait while what is learned is half changed."""

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any

_NAMES = ("SIGINT", "SIGTERM", "SIGHUP")


class Interrupts:
    """Takes the signals of its process until its end, and lets them stop it where it is whole.

    What stopped the process before does so still. A signal by which the system would have ended it
    at once ends it by SystemExit, with the code that a shell gives it.
    """

    def __init__(self) -> None:
        self._before: dict[int, Any] = {}
        self._is_whole = True
        self._waiting: int | None = None
        self._came = 0

    @property
    def may_keep(self) -> bool:
        """Whether what is learned is whole, and nobody has asked twice to end."""
        return self._is_whole and self._came < 2

    def __enter__(self) -> "Interrupts":
        """Take the signals that do not pass unheard; in a thread of its own, there are none."""
        if threading.current_thread() is threading.main_thread():
            for number in (getattr(signal, name) for name in _NAMES if hasattr(signal, name)):
                before = signal.getsignal(number)
                if before not in (signal.SIG_IGN, None):  # None: it is not Python's
                    self._before[number] = before
                    signal.signal(number, self._take)
        return self

    def __exit__(self, *_: object) -> None:
        for number, before in self._before.items():
            signal.signal(number, before)

    @contextmanager
    def waiting(self) -> Iterator[None]:
        """Let signals wait until the end; what an error leaves half done stays so."""
        self._is_whole = False
        yield
        self._is_whole = True
        if self._waiting is not None:
            self._stop(self._waiting, None)

    def _take(self, number: int, frame: FrameType | None) -> None:
        self._came += 1
        if self._is_whole:
            self._stop(number, frame)
        self._waiting = number

    def _stop(self, number: int, frame: FrameType | None) -> None:
        before: Callable[[int, FrameType | None], object] | signal.Handlers = self._before[number]
        if callable(before):
            before(number, frame)
        else:
            raise SystemExit(128 + number)
