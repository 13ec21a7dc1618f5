"""Handling of signals during training: they wait until the model is in a consistent state."""

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any

_SIGNAL_NAMES = ("SIGINT", "SIGTERM", "SIGHUP")


class InterruptHandler:
    """Context manager that defers signals until the model is in a consistent state.

    Then the signal's previous handler is called. If it would end the process at once, SystemExit is raised instead,
    with the exit code that a shell reports. While the process is stopping, only a second Ctrl-C interrupts it, since a
    closed terminal or a cluster may send several signals for one event.
    """

    def __init__(self) -> None:
        self._previous_handlers: dict[int, Any] = {}
        self._is_consistent = True
        self._pending_signal: int | None = None
        self._is_stopping = False
        self._interrupt_count = 0  # number of Ctrl-C

    @property
    def can_save(self) -> bool:
        """Whether the model is consistent and Ctrl-C was pressed at most once."""
        return self._is_consistent and self._interrupt_count < 2

    def __enter__(self) -> "InterruptHandler":
        """Install handlers for signals that are not ignored, in the main thread only."""
        if threading.current_thread() is threading.main_thread():
            for signal_number in (getattr(signal, name) for name in _SIGNAL_NAMES if hasattr(signal, name)):
                previous_handler = signal.getsignal(signal_number)
                if previous_handler not in (signal.SIG_IGN, None):  # None: the handler is not Python's
                    self._previous_handlers[signal_number] = previous_handler
                    signal.signal(signal_number, self._handle_signal)
        return self

    def __exit__(self, *_: object) -> None:
        for signal_number, previous_handler in self._previous_handlers.items():
            signal.signal(signal_number, previous_handler)

    @contextmanager
    def defer_signals(self) -> Iterator[None]:
        """Defer signals until the end of the block; after an error the model stays inconsistent."""
        self._reset()  # an earlier signal was handled and did not stop the process
        self._is_consistent = False
        yield
        self._is_consistent = True
        signal_number, self._pending_signal = self._pending_signal, None
        if signal_number is not None:
            self._stop_process(signal_number, None)

    def _handle_signal(self, signal_number: int, frame: FrameType | None) -> None:
        self._interrupt_count += signal_number == signal.SIGINT
        if not self._is_consistent:
            self._pending_signal = signal_number
        elif not self._is_stopping or (signal_number == signal.SIGINT and self._interrupt_count > 1):
            self._stop_process(signal_number, frame)

    def _stop_process(self, signal_number: int, frame: FrameType | None) -> None:
        self._is_stopping = True
        previous_handler: Callable[[int, FrameType | None], object] | signal.Handlers = self._previous_handlers[
            signal_number
        ]
        if not callable(previous_handler):
            raise SystemExit(128 + signal_number)
        previous_handler(signal_number, frame)
        self._reset()  # the previous handler returned

    def _reset(self) -> None:
        self._is_stopping, self._interrupt_count = False, 0
