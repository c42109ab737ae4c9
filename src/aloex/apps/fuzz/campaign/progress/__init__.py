"""How far a campaign is, and how that is shown while it runs."""

from aloex.apps.fuzz.campaign.progress.limits import Limits
from aloex.apps.fuzz.campaign.progress.pace import Pace
from aloex.apps.fuzz.campaign.progress.screen import Screen
from aloex.apps.fuzz.campaign.progress.status import (
    BugCount,
    Status,
    Wins,
    clock,
    notes_of,
    status_of,
)

__all__ = [
    "BugCount",
    "Limits",
    "Pace",
    "Screen",
    "Status",
    "Wins",
    "clock",
    "notes_of",
    "status_of",
]
