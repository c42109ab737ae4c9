"""What a user tells a long run: SIGINT and SIGTERM."""

import signal
import threading
from typing import Any


class StopSignals:
    """Inside the block SIGINT and SIGTERM only set `received`, so that work can end in good order.

    A second SIGINT raises KeyboardInterrupt; with `at_once` the first does, too. (That alone would
    not do: Python drops exceptions in destructors and callbacks.) The handlers before are put back
    at the end. Python allows all this in the main thread only; elsewhere nothing changes.
    """

    def __init__(self, *, at_once: bool = False):
        self.at_once = at_once

    def __enter__(self) -> "StopSignals":
        self.received, self.before = False, {}
        if threading.current_thread() is threading.main_thread():
            for number in (signal.SIGINT, signal.SIGTERM):
                self.before[number] = signal.signal(number, self._receive)
        return self

    def _receive(self, number: int, frame: Any) -> None:
        raises = self.received or self.at_once
        self.received = True
        if raises and number == signal.SIGINT:
            raise KeyboardInterrupt

    def __exit__(self, *_) -> None:
        for number, handler in self.before.items():
            # None stands for a handler that was not set from Python and cannot be put back.
            signal.signal(number, signal.SIG_DFL if handler is None else handler)
