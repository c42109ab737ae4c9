"""Run a campaign from its settings, with its progress on the terminal."""

import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from aloex.apps.fuzz.campaign.campaign import BATCH, Campaign
from aloex.apps.fuzz.campaign.status_line import StatusLine
from aloex.apps.fuzz.inputs import read_seeds
from aloex.apps.fuzz.mutate import Adaptive, MutatorSettings, make_mutator
from aloex.apps.fuzz.target import Target
from aloex.base.errors import InputError, require


@dataclass(frozen=True)
class CampaignSettings:
    """What `run_campaign` runs.

    Args:
        target: the name of a built target, its folder, or a library.
        mutator: which mutator.
        seeds: the inputs to start from; None: those of the target.
        out: the folder of the campaign; None: runs/<target>-<mutator>.
        num_inputs: mutants to run, from the campaign's beginning; None: no limit.
        max_seconds: likewise.
        grow, batch, timeout, memory_mb, workers: as of `Campaign`; batch None: the mutator's own.
    """

    target: str
    mutator: MutatorSettings
    seeds: Path | None = None
    out: Path | None = None
    num_inputs: int | None = None
    max_seconds: float | None = None
    grow: bool = True
    batch: int | None = None
    timeout: float = 1.0
    memory_mb: int = 2048
    workers: int | None = None

    def __post_init__(self):
        for option, value in (("--inputs", self.num_inputs), ("--seconds", self.max_seconds)):
            good = value is None or value >= 0
            require(good, f"{option} must not be negative, got {value}")


@dataclass(frozen=True)
class CampaignEnd:
    """How `run_campaign` ended."""

    out: Path
    numbers: dict[str, Any]  # of the report
    signal: int | None  # that interrupted it


def run_campaign(
    settings: CampaignSettings, write_report: Callable[[Campaign], dict[str, Any]]
) -> CampaignEnd:
    """Run a campaign, new or resumed, and write its report.

    Args:
        settings: what to run.
        write_report: called with the campaign at its end; returns the numbers of the report.
    """
    target = Target.load(settings.target)
    mutator, recorded = make_mutator(settings.mutator, max_len=target.max_len)
    seeds_at = settings.seeds or target.seeds
    if seeds_at is None:
        raise InputError(f"{target.name} has no seeds; name a folder of inputs: --seeds FOLDER")
    seeds = read_seeds(seeds_at, max_len=target.max_len)
    for note in seeds.notes:
        print(note, file=sys.stderr)
    own_batch = mutator.batch if isinstance(mutator, Adaptive) else BATCH
    with Campaign(
        target,
        mutator,
        seeds.inputs,
        settings.out or Path("runs") / f"{target.name}-{settings.mutator.name}",
        settings=recorded,
        grow=settings.grow,
        batch=own_batch if settings.batch is None else settings.batch,
        workers=settings.workers,
        timeout=settings.timeout,
        memory_mb=settings.memory_mb,
    ) as campaign:
        if campaign.record.curve:
            print(f"resuming after {campaign.record.num_run} inputs", file=sys.stderr)
        limits: dict[str, Any] = {
            "num_inputs": settings.num_inputs,
            "max_seconds": settings.max_seconds,
        }
        with StatusLine(**limits) as status:
            campaign.run(**limits, on_batch=status)
        print(f"{status.line(campaign.record)}; writing the report", file=sys.stderr)
        return CampaignEnd(campaign.out, write_report(campaign), campaign.signal)
