"""When a line on the progress is due: the user is told soon, then less and less often."""

import time

FIRST_LINE, LAST_WAIT = 2.0, 60.0  # seconds: each line waits twice as long as the one before


class Pace:
    """Tells when a line is due; it begins now."""

    def __init__(self) -> None:
        self.wait = FIRST_LINE
        self._next = time.monotonic() + FIRST_LINE

    def is_due(self) -> bool:
        """Whether to print a line now."""
        now = time.monotonic()
        if now < self._next:
            return False
        self.wait = min(2 * self.wait, LAST_WAIT)
        self._next = now + self.wait
        return True
