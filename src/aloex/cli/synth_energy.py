"""`aloex synth train energy`: the energy that ranks programs."""

from pathlib import Path
from typing import Annotated

import typer

from aloex.errors import require


def energy(
    out: Annotated[Path, typer.Option(help="Folder of the run.")] = Path("runs/synth/energy"),
    steps: Annotated[int, typer.Option(help="Training steps; the rate falls to 0.")] = 1000,
    batch: Annotated[int, typer.Option(help="Tasks for a step.")] = 64,
    negatives: Annotated[int, typer.Option(help="Draws from each task's version space.")] = 4,
    learning_rate: Annotated[float, typer.Option(help="The largest learning rate.")] = 3e-3,
    seed: Annotated[int, typer.Option(help="Of the tasks and the first weights.")] = 0,
    resume: Annotated[bool, typer.Option("--resume", help="Go on with the run in --out.")] = False,
    seconds: Annotated[float | None, typer.Option(help="Save and stop after so long.")] = None,
    jobs: Annotated[int, typer.Option(help="Processes that draw negatives.")] = 1,
) -> None:
    """Learn to rank the programs that fit some examples; a CPU will do, in about 20 minutes."""
    from aloex.apps.synth.energy import learn  # JAX loads slowly

    numbers = {"--steps": steps, "--batch": batch, "--negatives": negatives, "--jobs": jobs}
    for name, number in numbers.items():
        require(number >= 1, f"{name} must be at least 1, got {number}")
    path = learn.train(
        out,
        num_steps=steps,
        batch_size=batch,
        num_neg=negatives,
        learning_rate=learning_rate,
        seed=seed,
        resume=resume,
        seconds=seconds,
        jobs=jobs,
    )
    if path is not None:
        print(f"model: {path}")
    print(f"metrics: {out / 'metrics.jsonl'}")
