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
    at once ends it by SystemExit, with the code that a shell gives it. Once it is being stopped,
    only a second Ctrl-C breaks off what it still writes: a terminal that is closed, or a cluster,
    may send several signals that mean one thing.
    """

    def __init__(self) -> None:
        self._before: dict[int, Any] = {}
        self._is_whole = True
        self._waiting: int | None = None
        self._is_stopping = False
        self._asked = 0  # how often by Ctrl-C

    @property
    def may_keep(self) -> bool:
        """Whether what is learned is whole, and nobody has pressed Ctrl-C twice."""
        return self._is_whole and self._asked < 2

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
        self._go_on()  # had it heard what was raised before, it would not be here
        self._is_whole = False
        yield
        self._is_whole = True
        number, self._waiting = self._waiting, None
        if number is not None:
            self._stop(number, None)

    def _take(self, number: int, frame: FrameType | None) -> None:
        self._asked += number == signal.SIGINT
        if not self._is_whole:
            self._waiting = number
        elif not self._is_stopping or (number == signal.SIGINT and self._asked > 1):
            self._stop(number, frame)

    def _stop(self, number: int, frame: FrameType | None) -> None:
        self._is_stopping = True
        before: Callable[[int, FrameType | None], object] | signal.Handlers = self._before[number]
        if not callable(before):
            raise SystemExit(128 + number)
        before(number, frame)
        self._go_on()  # as who took the signal returned

    def _go_on(self) -> None:
        self._is_stopping, self._asked = False, 0
