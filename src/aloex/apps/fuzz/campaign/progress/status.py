"""What a campaign says of itself: on the screen while it runs, and in its report."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from aloex.apps.fuzz.campaign.campaign import Campaign
from aloex.apps.fuzz.campaign.record import Record
from aloex.apps.fuzz.native import MAX_OPERATORS, Arm
from aloex.base.words import count


class Paying(NamedTuple):
    """An operator, or a number of operators, and what it pays."""

    name: str
    share: float  # of the mutants now
    wins: int  # mutants with new edges so far


class BugCount(NamedTuple):
    """A bug, by its name, and how many inputs have it."""

    name: str
    inputs: int
    id: str = ""


@dataclass(frozen=True)
class Status:
    """How far a campaign is."""

    target: str
    out: Path
    seconds: float
    inputs: int
    per_second: float
    num_workers: int
    seeds: int
    seeds_run: int
    corpus: int
    edges: int
    edges_of_target: int
    since_find: float  # seconds
    bugs: tuple[BugCount, ...]
    operators: tuple[Paying, ...]  # the most used first
    stacks: tuple[Paying, ...]  # by number

    @property
    def per_worker(self) -> float:
        """Mutants per second of one worker."""
        return self.per_second / self.num_workers


class Wins:
    """How often each operator, and each number of operators, took part in a mutant with new edges.

    Counts on from where it was, so that asking often costs nothing.
    """

    def __init__(self) -> None:
        self.operators: Counter[int] = Counter()
        self.stacks: Counter[int] = Counter()
        self._num_counted = 0

    def count(self, record: Record) -> "Wins":
        """Count what was found since the last time."""
        if len(record.found) < self._num_counted:  # the campaign has gone back to its last state
            self.__init__()
        for found in record.found[self._num_counted :]:
            if found["new_edges"] and "operators" in found:
                self.operators.update(bits_of(found["operators"]))
                self.stacks[found["stack"]] += 1
        self._num_counted = len(record.found)
        return self


def bits_of(mask: int) -> list[int]:
    """The numbers of the bits that are set."""
    return [i for i in range(MAX_OPERATORS) if mask >> i & 1]


def status_of(
    campaign: Campaign, wins: Wins, bugs: Sequence[BugCount], per_second: float | None = None
) -> Status:
    """How far a campaign is.

    Args:
        campaign: the campaign.
        wins: counted before; what is new is added.
        bugs: as they are known now.
        per_second: mutants per second; the mean of the whole campaign unless given.
    """
    record, executor, engine = campaign.record, campaign.executor, campaign.engine
    wins.count(record)
    operators = paying(engine.operators(), wins.operators)
    mean = record.num_run / record.seconds if record.seconds else 0.0
    return Status(
        target=campaign.target.name,
        out=campaign.out,
        seconds=record.seconds,
        inputs=record.num_run,
        per_second=mean if per_second is None else per_second,
        num_workers=executor.num_workers,
        seeds=record.num_seeds,
        seeds_run=min(record.num_seeds_run, record.num_seeds),
        corpus=len(record.found),
        edges=record.now.edges,
        edges_of_target=executor.num_edges,
        since_find=record.seconds - record.last_find,
        bugs=tuple(bugs),
        operators=tuple(sorted(operators, key=lambda arm: (-arm.share, -arm.wins))),
        stacks=tuple(paying(engine.stacks(), wins.stacks)),
    )


def notes_of(campaign: Campaign) -> list[str]:
    """What a user should know of the seeds."""
    if campaign.problem is not None:
        return [campaign.problem]
    found, record, status = list[str](), campaign.record, status_of(campaign, Wins(), ())
    if record.num_seeds_run > record.num_seeds:
        found.append(
            f"{status.target} could start from none of {count(status.seeds, 'seed')}, so it began "
            "with zeros; give inputs on which it does not fail: --seeds FOLDER --out FOLDER"
        )
    if campaign.is_late and not record.num_run:
        whole = record.seconds * status.seeds / max(status.seeds_run, 1)
        rest = f", and all take about {whole:.0f} s" if campaign.num_seeds_left else ""
        found.append(
            f"there was no time for a mutant: {status.seeds_run:,} of "
            f"{count(status.seeds, 'seed')} ran in {record.seconds:.0f} s{rest}; repeat the "
            "command with more --seconds, or begin with fewer seeds: --seeds FOLDER --out FOLDER"
        )
    return found


def paying(arms: Sequence[Arm], wins: Counter[int]) -> list[Paying]:
    """The arms that are in use, or have won."""
    found = [Paying(arm.name, arm.share, wins[i]) for i, arm in enumerate(arms)]
    return [arm for arm in found if arm.share > 0 or arm.wins]


def clock(seconds: float) -> str:
    """A duration: 0:07, 12:34, 1:02:03."""
    minutes, rest = divmod(max(0, int(seconds)), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"
