"""Campaigns: mutants run in a target, and what they find is kept. No JAX without a model."""

from aloex.apps.fuzz.campaign.campaign import Campaign, read_input, writing_to
from aloex.apps.fuzz.campaign.crashes import Crashes, signal_name
from aloex.apps.fuzz.campaign.minimise import minimise_corpus, write_inputs
from aloex.apps.fuzz.campaign.record import Record
from aloex.apps.fuzz.campaign.run import CampaignEnd, CampaignSettings, run_campaign
from aloex.apps.fuzz.campaign.status_line import speed

__all__ = [
    "Campaign",
    "CampaignEnd",
    "CampaignSettings",
    "Crashes",
    "Record",
    "minimise_corpus",
    "read_input",
    "run_campaign",
    "signal_name",
    "speed",
    "write_inputs",
    "writing_to",
]
