"""Run a campaign from its settings, with its progress on the terminal and its report as it goes."""

import sys
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from aloex.apps.fuzz.bugs import Bug
from aloex.apps.fuzz.campaign.campaign import SANITIZED_SHARE, Campaign, NoUsableSeed
from aloex.apps.fuzz.campaign.progress import Limits, Screen
from aloex.apps.fuzz.inputs import hash_of, read_dictionary, read_seeds
from aloex.apps.fuzz.native import ALL_GUIDES, Guide
from aloex.apps.fuzz.target import Target, read_elf
from aloex.apps.fuzz.target.strings import strings_of
from aloex.base.errors import require
from aloex.base.seeds import check_seed
from aloex.base.signals import StopSignals
from aloex.base.weights import read_weights
from aloex.base.words import count

FIRST_REPORT, SECONDS_BETWEEN_REPORTS = 10.0, 60.0
MAX_SHARE = 0.02  # of the time that may go into reports
SANITIZED = {"some": SANITIZED_SHARE, "address": 1.0, "none": None}  # shares of the mutants


# Called with a campaign, and whether it is over; returns the numbers of the report.
WriteReport = Callable[[Campaign, bool], dict[str, Any]]


@dataclass(frozen=True)
class CampaignSettings:
    """What `run_campaign` runs.

    Args:
        target: the name of a built target, its folder, or a library.
        seeds: the inputs to start from; None: those of the target, or zeros.
        out: the folder of the campaign; None: runs/<target>.
        num_inputs: mutants to run, from the campaign's beginning; None: no limit.
        max_seconds: likewise.
        dictionary: a file of tokens, beside that of the target.
        model: a file by `aloex fuzz learn`.
        sanitizer: one of `SANITIZED`.
        leave_out: names of `Guide`, not to go by.
        seed, keep, repair, timeout, memory_mb, workers: as of `Campaign`.
    """

    target: str
    seeds: Path | None = None
    out: Path | None = None
    num_inputs: int | None = None
    max_seconds: float | None = None
    dictionary: Path | None = None
    model: Path | None = None
    sanitizer: str = "some"
    leave_out: tuple[str, ...] = ()
    seed: int = 0
    keep: int = 0
    repair: str = "none"
    timeout: float = 1.0
    memory_mb: int = 2048
    workers: int | None = None

    def __post_init__(self):
        require(self.keep >= 0, f"--keep must not be negative, got {self.keep}")
        check_seed(self.seed)

    @property
    def limits(self) -> Limits:
        """When it ends."""
        return Limits(self.num_inputs, self.max_seconds)


@dataclass(frozen=True)
class CampaignEnd:
    """How `run_campaign` ended."""

    out: Path
    numbers: dict[str, Any]  # of the report
    bugs: list[Bug]
    signal: int | None  # that interrupted it
    problem: str | None = None  # why there are no mutants


def run_campaign(settings: CampaignSettings, write_report: WriteReport) -> CampaignEnd:
    """Run a campaign, new or resumed. The report is written every minute and at its end."""
    limits = settings.limits
    with open_campaign(settings) as campaign:
        if campaign.record.num_rows:
            run = campaign.record.num_run or campaign.record.num_seeds_run
            what = count(run, "input" if campaign.record.num_run else "seed")
            print(f"resuming after {what}", file=sys.stderr)
        next_report = time.monotonic() + FIRST_REPORT

        def on_epoch(campaign: Campaign) -> None:
            nonlocal next_report
            screen.show(campaign)
            start = time.monotonic()
            if start >= next_report:
                write_report(campaign, False)
                now = time.monotonic()
                next_report = now + max(SECONDS_BETWEEN_REPORTS, (now - start) / MAX_SHARE)

        with suppress(NoUsableSeed), Screen(limits) as screen:  # the report says so, with its bugs
            campaign.run(**asdict(limits), on_epoch=on_epoch)
        with StopSignals():  # what comes now is short, and ends in good order
            numbers = write_report(campaign, True)
        bugs, problem = campaign.bugs.known, campaign.problem
        return CampaignEnd(campaign.out, numbers, bugs, campaign.signal, problem)


def open_campaign(settings: CampaignSettings) -> Campaign:
    """The campaign of some settings, with its seeds and tokens."""
    target = Target.load(settings.target)
    read_elf(target.library)  # a mistake there is told before all others
    if settings.model is not None:
        read_weights(settings.model)  # likewise, before JAX, which loads slowly
    seeds_at, seeds = settings.seeds or target.seeds, []
    if seeds_at is None:
        print("no seeds: starting from zeros; name some inputs: --seeds FOLDER", file=sys.stderr)
    else:
        read = read_seeds(seeds_at, max_len=target.max_len)
        seeds = read.inputs
        for note in read.notes:
            print(note, file=sys.stderr)
    files = [path for path in (target.dictionary, settings.dictionary) if path is not None]
    tokens = [token for path in files for token in read_dictionary(path)]
    left_out = Guide(0)
    for name in settings.leave_out:
        left_out |= Guide[name.upper()]
    share, about, likely = SANITIZED[settings.sanitizer], {}, None
    if settings.model is not None:
        from aloex.apps.fuzz.model import likely_bytes, load_model  # they need JAX

        likely = likely_bytes(load_model(settings.model))
        about = {"model": hash_of(settings.model.read_bytes())}
    return Campaign(
        target if share is not None else replace(target, sanitized=None),
        seeds,
        settings.out or Path("runs") / target.name,
        seed=settings.seed,
        keep=settings.keep,
        repair=settings.repair,
        guides=ALL_GUIDES & ~left_out,
        dictionary=tokens,
        strings=strings_of(target.library),
        likely=likely,
        sanitized_share=share or 0.0,
        settings=about,
        workers=settings.workers,
        timeout=settings.timeout,
        memory_mb=settings.memory_mb,
    )
