"""Campaigns: mutants run in a target, and what they find is kept. No JAX without a model."""

from aloex.apps.fuzz.campaign.campaign import Campaign, NoUsableSeed
from aloex.apps.fuzz.campaign.folder import read_input, writing_to
from aloex.apps.fuzz.campaign.minimise import minimise_corpus, write_inputs
from aloex.apps.fuzz.campaign.progress import (
    BugCount,
    Pace,
    Status,
    Wins,
    clock,
    notes_of,
    status_of,
)
from aloex.apps.fuzz.campaign.record import CurvePoint, Record
from aloex.apps.fuzz.campaign.run import (
    CampaignEnd,
    CampaignSettings,
    open_campaign,
    run_campaign,
)

__all__ = [
    "BugCount",
    "Campaign",
    "CampaignEnd",
    "CampaignSettings",
    "CurvePoint",
    "NoUsableSeed",
    "Pace",
    "Record",
    "Status",
    "Wins",
    "clock",
    "minimise_corpus",
    "notes_of",
    "open_campaign",
    "read_input",
    "run_campaign",
    "status_of",
    "write_inputs",
    "writing_to",
]
