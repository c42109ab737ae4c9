"""When a campaign ends."""

from dataclasses import dataclass

from aloex.apps.fuzz.campaign.progress.status import Status
from aloex.base.errors import require


@dataclass(frozen=True)
class Limits:
    """Bounds on a campaign, both from its beginning; None: no bound."""

    num_inputs: int | None = None
    max_seconds: float | None = None

    def __post_init__(self):
        for option, value in (("--inputs", self.num_inputs), ("--seconds", self.max_seconds)):
            good = value is None or value >= 0
            require(good, f"{option} must not be negative, got {value}")

    def seconds_left(self, status: Status) -> float | None:
        """How long it will run, by its speed now; None if it has no bound."""
        left: list[float] = []
        if self.num_inputs is not None and status.per_second > 0:
            left.append((self.num_inputs - status.inputs) / status.per_second)
        if self.max_seconds is not None:
            left.append(self.max_seconds - status.seconds)
        return max(0.0, min(left)) if left else None
