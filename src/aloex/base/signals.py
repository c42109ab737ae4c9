"""What a user tells a long run: SIGINT and SIGTERM."""

import os
import signal
import threading
from collections.abc import Callable, Generator
from contextlib import contextmanager
from typing import Any


class StopSignals:
    """Inside the block SIGINT and SIGTERM only set `received`, so that work can end in good order.

    A second SIGINT raises KeyboardInterrupt; with `at_once` the first does, too. (That alone would
    not do: Python drops exceptions in destructors and callbacks.) The handlers before are put back
    at the end. Python allows all this in the main thread only; elsewhere nothing changes.

    Attributes:
        received: whether one has come.
        number: that of the first signal, or None.
    """

    def __init__(self, *, at_once: bool = False, on_first: Callable[[], None] | None = None):
        """`on_first` is called when the first signal comes, even while the main thread computes."""
        self.at_once, self.on_first = at_once, on_first
        self.received, self.number = False, None

    def __enter__(self) -> "StopSignals":
        self.received, self.number, self.before = False, None, {}
        self.watcher: _Watcher | None = None
        if threading.current_thread() is threading.main_thread():
            if self.on_first is not None:
                self.watcher = _Watcher(self.on_first)
            for number in (signal.SIGINT, signal.SIGTERM):
                self.before[number] = signal.signal(number, self._receive)
        return self

    def _receive(self, number: int, frame: Any) -> None:
        raises = self.received or self.at_once
        self.received, self.number = True, self.number or number
        if raises and number == signal.SIGINT:
            raise KeyboardInterrupt

    def wait_for_on_first(self) -> None:
        """Let `on_first` finish, if a signal has come: what is said after it comes after it."""
        if self.received and self.watcher is not None:
            self.watcher.thread.join()

    def __exit__(self, *_) -> None:
        for number, handler in self.before.items():
            # None stands for a handler that was not set from Python and cannot be put back.
            signal.signal(number, signal.SIG_DFL if handler is None else handler)
        if self.watcher is not None:
            self.watcher.close()


class _Watcher:
    """Calls a function at the first SIGINT or SIGTERM.

    Python runs a handler between two of its own instructions, that is, after a compiled program
    that may take minutes. But it writes the signal's number to a pipe at once, for a thread to see.
    """

    def __init__(self, call: Callable[[], None]):
        self.read_end, self.write_end = os.pipe()
        os.set_blocking(self.write_end, False)
        self.before = signal.set_wakeup_fd(self.write_end, warn_on_full_buffer=False)
        self.thread = threading.Thread(target=self._watch, args=(call,), daemon=True)
        self.thread.start()

    def _watch(self, call: Callable[[], None]) -> None:
        while number := os.read(self.read_end, 1):
            if number[0] in (signal.SIGINT, signal.SIGTERM):
                call()
                return

    def close(self) -> None:
        signal.set_wakeup_fd(self.before)
        os.close(self.write_end)  # ends the thread
        self.thread.join()
        os.close(self.read_end)


@contextmanager
def unwinding() -> Generator[None]:
    """Inside the block SIGTERM and SIGHUP raise `SystemExit`, so that what is half written goes.

    The exit status is the one of the signal, such as 143. A signal that is ignored, as by `nohup`,
    stays so. As always, only the main thread can do this; elsewhere nothing changes.
    """

    def leave(number: int, frame: Any) -> None:
        signal.signal(number, signal.SIG_IGN)  # a second one must not interrupt the cleaning up
        raise SystemExit(128 + number)

    numbers = [signal.SIGTERM, signal.SIGHUP] if hasattr(signal, "SIGHUP") else [signal.SIGTERM]
    if threading.current_thread() is not threading.main_thread():
        numbers = []
    numbers = [number for number in numbers if signal.getsignal(number) is signal.SIG_DFL]
    for number in numbers:
        signal.signal(number, leave)
    try:
        yield
    finally:
        for number in numbers:
            signal.signal(number, signal.SIG_DFL)
