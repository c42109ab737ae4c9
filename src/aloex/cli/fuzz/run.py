"""`aloex fuzz run`: a campaign."""

import sys
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from aloex.base.errors import InputError, require
from aloex.cli.choices import help_with_choices
from aloex.cli.fuzz.choices import FailOn, GuideName, RepairName, SanitizerName
from aloex.cli.options import Seed

if TYPE_CHECKING:
    from aloex.apps.fuzz.campaign import CampaignEnd

REPAIR = help_with_choices("What is mended in each mutant.", RepairName)
SANITIZER = help_with_choices("Which mutants run with sanitizers, too.", SanitizerName)
LEAVE_OUT = help_with_choices(
    "What the search is not to go by, to see what it is worth; names with commas between them.",
    GuideName,
)
FAIL_ON = help_with_choices("Exit with status 1 on", FailOn)
DICTIONARY = "Tokens, as for AFL and libFuzzer; used beside those of the target."


def run(
    target: Annotated[str, typer.Argument(help="A built target, a library, a libFuzzer binary.")],
    inputs: Annotated[int | None, typer.Option(help="Mutants to run; seeds not counted.")] = None,
    seconds: Annotated[float | None, typer.Option(help="Seconds to run.")] = None,
    workers: Annotated[int | None, typer.Option(help="Processes; default: all cores.")] = None,
    seeds: Annotated[Path | None, typer.Option(help="Inputs; default: the target's own.")] = None,
    out: Annotated[Path | None, typer.Option(help="Folder; default: runs/<target>.")] = None,
    seed: Seed = 0,
    dictionary: Annotated[Path | None, typer.Option("--dict", help=DICTIONARY)] = None,
    model: Annotated[Path | None, typer.Option(help="A model by aloex fuzz learn.")] = None,
    keep: Annotated[int, typer.Option(help="Bytes at the beginning that stay as they are.")] = 0,
    repair: Annotated[RepairName, typer.Option(help=REPAIR)] = RepairName.NONE,
    sanitizer: Annotated[SanitizerName, typer.Option(help=SANITIZER)] = SanitizerName.SOME,
    leave_out: Annotated[str, typer.Option(help=LEAVE_OUT)] = "",
    timeout: Annotated[float, typer.Option(help="Seconds that an input may take.")] = 1.0,
    memory: Annotated[int, typer.Option(help="MiB that an input may allocate.")] = 2048,
    fail_on: Annotated[FailOn | None, typer.Option(help=FAIL_ON)] = None,
    baseline: Annotated[
        Path | None, typer.Option(help="Known bugs: bugs.json or bugs.sarif of an earlier run.")
    ] = None,
) -> None:
    """Run mutants of seeds and keep those that cover something new or fail.

    The same command resumes a campaign that was stopped, by ctrl-C or otherwise. --inputs and
    --seconds count from its beginning and may be raised.

    The exit status is 1 if --fail-on applies, and 2 if the command has a mistake or the target
    fails on all inputs that there are to start from; there is a report of those failures, too.
    """
    left_out = guides_in(leave_out)
    require(
        fail_on != FailOn.NEW_BUG or baseline is not None,
        "--fail-on new-bug needs to know the old ones; add --baseline FILE with the bugs.json or "
        "bugs.sarif of an earlier run",
    )
    from aloex.apps.fuzz.target import Target

    Target.load(target)  # a mistake there is told before anything large is loaded
    from aloex.apps.fuzz.bugs import Baseline, fail_reason
    from aloex.apps.fuzz.campaign import CampaignSettings, run_campaign
    from aloex.apps.fuzz.report import write_report

    known = None if baseline is None else Baseline.load(baseline)
    settings = CampaignSettings(
        target=target,
        seeds=seeds,
        out=out,
        num_inputs=inputs,
        max_seconds=seconds,
        dictionary=dictionary,
        model=model,
        sanitizer=sanitizer.value,
        leave_out=left_out,
        seed=seed,
        keep=keep,
        repair=repair.value,
        timeout=timeout,
        memory_mb=memory,
        workers=workers,
    )
    end = run_campaign(settings, partial(write_report, baseline=known))
    tell(end)
    if end.signal is not None:
        print("stopped; repeat the command to resume", file=sys.stderr)
        raise typer.Exit(128 + end.signal)
    failed = fail_reason(end.bugs, None if fail_on is None else fail_on.value, known)
    if failed is not None:
        print(*filter(None, [end.problem]), f"failed on {failed}", sep="\n", file=sys.stderr)
        raise typer.Exit(1)
    require(end.problem is None, str(end.problem))


def guides_in(text: str) -> tuple[str, ...]:
    """The names of guides in a list with commas."""
    names = tuple(name.strip() for name in text.split(",") if name.strip())
    known = [guide.value for guide in GuideName]
    for name in names:
        if name not in known:
            raise InputError(f"--leave-out must name some of {', '.join(known)}, got {name!r}")
    return names


def tell(end: "CampaignEnd") -> None:
    """Print the numbers that matter most, the bugs, and where the report is."""
    numbers = end.numbers
    print(
        f"inputs: {how_many(numbers['inputs'], 'mutant')} of {how_many(numbers['seeds'], 'seed')}"
    )
    covered = f"{numbers['edges']} of {numbers['edges_of_target']}"
    print(f"edges: {covered}, {numbers['edges_gained']} more than the seeds")
    print(f"bugs: {len(numbers['bugs'])} ({how_many(numbers['failing_inputs'], 'input')})")
    for bug in numbers["bugs"]:
        print(f"  {bug['name']}: {how_many(bug['inputs'], 'input')}, {end.out / bug['file']}")
    for note in numbers["notes"]:
        if note != end.problem:  # that is told last
            print(note, file=sys.stderr)
    print(f"report: {end.out / 'report.html'}")


def how_many(number: int, noun: str) -> str:
    """1 seed, 2000 seeds."""
    return f"{number} {noun}{'' if number == 1 else 's'}"
