"""`aloex synth train energy`: the energy that ranks programs."""

from pathlib import Path
from typing import Annotated

import typer

from aloex.base.errors import require
from aloex.cli.fill.networks import Batch, Out, Rate, Resume, Seconds, Seed, Steps


def energy(
    folder: Out = Path("runs/synth/energy"),
    num_steps: Steps = 1000,
    batch_size: Batch = 64,
    num_neg: Annotated[
        int, typer.Option("--negatives", help="Draws from each task's version space.")
    ] = 4,
    learning_rate: Rate = 3e-3,
    seed: Seed = 0,
    resume: Resume = False,
    seconds: Seconds = None,
    jobs: Annotated[int, typer.Option(help="Processes that draw negatives.")] = 1,
) -> None:
    """Learn to rank the programs that fit some examples; a CPU will do, in about 20 minutes."""
    given = {**locals()}
    numbers = {"--steps": num_steps, "--batch": batch_size, "--negatives": num_neg, "--jobs": jobs}
    for name, number in numbers.items():
        require(number >= 1, f"{name} must be at least 1, got {number}")
    from aloex.apps.fill.energy import learn  # JAX loads slowly

    path = learn.train(**given)
    if path is not None:
        print(f"model: {path}")
    print(f"metrics: {folder / 'metrics.jsonl'}")
