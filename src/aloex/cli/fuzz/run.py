"""`aloex fuzz run`: a campaign."""

import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from aloex.cli.choices import help_with_choices
from aloex.cli.fuzz.choices import MutatorName, RepairName
from aloex.cli.options import Seed, listed, whole_or_share

MUTATOR = help_with_choices("How mutants are made.", MutatorName)
VISIBLE = (
    "For learned: fractions of the context that the model sees, numbers from 0 to 1 with commas "
    "between them. Default: 0,0.25,0.5,0.75,1."
)
TEMPERATURE = "For learned: above 1 for more of the unlikely bytes; up to inf."
RELEARN = "For adaptive: train the model further on inputs with new edges."
EDITS = (
    "Edits of a mutant; several numbers: one of them each time; below 1: a fraction of its bytes. "
    "Default: 1,3,10,30,100; resample: 100; best: by what the model knows."
)
REPAIR = help_with_choices("What is mended after the edits.", RepairName)
BATCH = "Mutants of a batch, after which the campaign grows; default: 4000, adaptive 100."


def run(
    target: Annotated[str, typer.Argument(help="A built target, a library, a libFuzzer binary.")],
    mutator: Annotated[MutatorName, typer.Option(help=MUTATOR)] = MutatorName.ADAPTIVE,
    model: Annotated[Path | None, typer.Option(help="A model by aloex fuzz learn.")] = None,
    visible: Annotated[str | None, typer.Option(help=VISIBLE)] = None,
    temperature: Annotated[str, typer.Option(help=TEMPERATURE)] = "1",
    relearn: Annotated[bool, typer.Option("--relearn", help=RELEARN)] = False,
    edits: Annotated[str | None, typer.Option(help=EDITS)] = None,
    keep: Annotated[int, typer.Option(help="Bytes at the beginning that stay as they are.")] = 0,
    repair: Annotated[RepairName | None, typer.Option(help=REPAIR)] = None,
    inputs: Annotated[int | None, typer.Option(help="Mutants to run; seeds not counted.")] = None,
    seconds: Annotated[float | None, typer.Option(help="Seconds to run.")] = None,
    seeds: Annotated[Path | None, typer.Option(help="Inputs; default: the target's own.")] = None,
    out: Annotated[Path | None, typer.Option(help="Default: runs/<target>-<mutator>.")] = None,
    seed: Seed = 0,
    grow: Annotated[bool, typer.Option(help="Mutants start from what was found, too.")] = True,
    batch: Annotated[int | None, typer.Option(help=BATCH)] = None,
    timeout: Annotated[float, typer.Option(help="Seconds that an input may take.")] = 1.0,
    memory: Annotated[int, typer.Option(help="MiB that an input may allocate.")] = 2048,
    workers: Annotated[int | None, typer.Option(help="Processes; default: all cores.")] = None,
) -> None:
    """Run mutants of seeds and keep those that cover something new or fail.

    The same command resumes a campaign that was stopped, by ctrl-C or otherwise. --inputs and
    --seconds count from its beginning and may be raised.
    """
    from aloex.apps.fuzz.campaign import CampaignSettings, run_campaign
    from aloex.apps.fuzz.mutate import MutatorSettings
    from aloex.apps.fuzz.report import write_report

    how = MutatorSettings(
        name=mutator.value,
        model=model,
        visible=None if visible is None else listed(visible, "--visible", float),
        temperatures=listed(temperature, "--temperature", float),
        relearn=relearn,
        edits=None if edits is None else listed(edits, "--edits", whole_or_share),
        keep=keep,
        repair=None if repair is None else repair.value,
        seed=seed,
    )
    settings = CampaignSettings(
        target=target,
        mutator=how,
        seeds=seeds,
        out=out,
        num_inputs=inputs,
        max_seconds=seconds,
        grow=grow,
        batch=batch,
        timeout=timeout,
        memory_mb=memory,
        workers=workers,
    )
    end = run_campaign(settings, write_report)
    tell(end.numbers, end.out)
    if end.signal is not None:
        print("stopped; repeat the command to resume", file=sys.stderr)
        raise typer.Exit(128 + end.signal)


def tell(numbers: dict[str, Any], out: Path) -> None:
    """Print the numbers that matter most, and where the report is."""
    print(f"inputs: {numbers['inputs']} mutants of {numbers['seeds']} seeds")
    covered = f"{numbers['edges']} of {numbers['edges_of_target']}"
    print(f"edges: {covered}, {numbers['edges_gained']} more than the seeds")
    print(f"bugs: {len(numbers['bugs'])} ({numbers['failing_inputs']} inputs)")
    print(f"report: {out / 'report.html'}")
