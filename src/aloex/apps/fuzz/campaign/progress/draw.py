"""The screen of a campaign as lines with styles.

It is drawn while mutants run, so it is put together by hand: a grid of rich's takes ten times as
long.
"""

from collections.abc import Sequence
from itertools import zip_longest

from rich.text import Text

from aloex.apps.fuzz.campaign.progress.limits import Limits
from aloex.apps.fuzz.campaign.progress.status import Paying, Status, clock
from aloex.base.words import count

MAX_BUGS = 5  # that are named
MAX_OPERATORS = 7
BARS = 76, 6, 20  # columns from which on there are bars, their length, and that on a wide screen
WIDE = 110
NAME, STACK, NUMBER, GAP = 22, 13, 7, 4  # columns of names, of a number, between the tables
PLACE = 24  # columns at the end of a bug's name that stay when it is cut: the file and line
HINT = "ctrl-C stops; the same command resumes"


def draw(
    status: Status, limits: Limits, later: float, *, width: int = 80, is_ascii: bool = False
) -> Text:
    """How far a campaign is.

    Args:
        status: what is known.
        limits: when it ends.
        later: seconds since the status was taken.
        width: of the screen.
        is_ascii: whether it can show nothing else.
    """
    mark, dot = ("#", ",") if is_ascii else ("█", " ·")
    screen = Text(no_wrap=True, overflow="ellipsis")
    _head(screen, status, limits, later, width)
    _facts(screen, status, later, dot)
    _bugs(screen, status, width)
    _arms(screen, status, width, mark)
    report = f"report, every minute: {status.out / 'report.html'}"
    return screen.append(f"{report[:width]}\n{HINT[:width]}", "dim")


def _head(screen: Text, status: Status, limits: Limits, later: float, width: int) -> None:
    time = clock(status.seconds + later)
    left = limits.seconds_left(status)
    if left is not None:
        time += f", {clock(left - later)} left"
    title = f"fuzzing {status.target}"[: width - len(time) - 1]
    screen.append(title, "bold").append(f"{time:>{width - len(title)}}\n")


def _facts(screen: Text, status: Status, later: float, dot: str) -> None:
    speed = f"{status.per_second:,.0f} a second"
    if status.num_workers > 1:
        speed += f", {status.per_worker:,.0f} on each of {status.num_workers} workers"
    seeds = count(status.seeds, "seed")
    if status.seeds_run < status.seeds:
        seeds = f"{status.seeds_run:,} of {seeds} so far"
    share = status.edges / max(status.edges_of_target, 1)
    facts = {
        "executions": f"{status.inputs:,}{dot} {speed}",
        "corpus": f"{count(status.corpus, 'input')}, begun with {seeds}",
        "edges": f"{status.edges:,} of {status.edges_of_target:,} ({share:.0%})",
        "last find": f"{clock(status.since_find + later)} ago",
    }
    for name, value in facts.items():
        screen.append(f"{name:12}", "cyan").append(f"{value}\n")


def _bugs(screen: Text, status: Status, width: int) -> None:
    """The bugs that most inputs have."""
    num_bugs = len(status.bugs)
    screen.append(f"{'bugs':12}", "cyan")
    screen.append(*((f"{num_bugs:,}", "bold red") if num_bugs else ("none",))).append("\n")
    common = sorted(status.bugs, key=lambda bug: -bug.inputs)
    for bug in common[:MAX_BUGS]:
        inputs = f"  {count(bug.inputs, 'input'):8}"
        name = cut(f"  {bug.name}", width - len(inputs))
        screen.append(name, "red").append(f"{inputs:>{width - len(name)}}\n")
    if num_bugs > MAX_BUGS:
        screen.append(f"  and {num_bugs - MAX_BUGS} more\n")


def _arms(screen: Text, status: Status, width: int, mark: str) -> None:
    """What pays: the operators, and beside them how many on one mutant."""
    bar = 0 if width < BARS[0] else BARS[1] if width < WIDE else BARS[2]
    size = NAME + bar + 2 * NUMBER
    left = _table("operator", status.operators[:MAX_OPERATORS], bar, mark, NAME)
    of_many = lambda arm: f"{arm.name:>2} operator{'s' if arm.name != '1' else ''}"
    stacks = [arm._replace(name=of_many(arm)) for arm in status.stacks]
    right = _table("on one mutant", stacks, bar, mark, STACK)
    if size + GAP + STACK + bar + 2 * NUMBER > width:
        right = []
    screen.append("\n")
    for one, other in zip_longest(left, right, fillvalue=Text()):
        screen.append(one)
        if other:
            screen.append(" " * (size + GAP - len(one))).append(other)
        screen.append("\n")


def _table(title: str, arms: Sequence[Paying], bar: int, mark: str, name: int) -> list[Text]:
    """The lines of a table: name, bar, share, wins."""
    lines = [Text(f"{title:{name + bar}}{'share':>{NUMBER}}{'wins':>{NUMBER}}", "cyan")]
    longest = max((arm.share for arm in arms), default=0) or 1
    for arm in arms:
        line = Text(f"{arm.name:{name}.{name}}")
        line.append(f" {mark * round((bar - 1) * arm.share / longest):{bar}}"[:bar], "green")
        lines.append(line.append(f"{arm.share:>{NUMBER}.0%}{arm.wins:>{NUMBER},}"))
    return lines


def cut(name: str, width: int) -> str:
    """A name in so many columns; its end stays."""
    if len(name) <= width:
        return name
    return f"{name[: max(width - PLACE - 3, 0)]}...{name[-PLACE:]}"
