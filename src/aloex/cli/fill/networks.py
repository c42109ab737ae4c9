"""`aloex synth train`: the networks that write programs."""

from pathlib import Path
from typing import Annotated

import typer

train = typer.Typer(
    help="Train the networks that write programs, and the energy that ranks them.",
    no_args_is_help=True,
    rich_markup_mode=None,
)

# Parameters are named as those of the functions that they go to, so that all are passed at once.
Out = Annotated[Path, typer.Option("--out", help="Folder of the run.")]
Steps = Annotated[
    int, typer.Option("--steps", help="Training steps; the rate falls to 0 along them.")
]
Batch = Annotated[int, typer.Option("--batch", help="Tasks for a step.")]
Rate = Annotated[float, typer.Option(help="The largest learning rate.")]
Size = Annotated[str, typer.Option(help="full, or tiny for a try.")]
Seed = Annotated[int, typer.Option(help="Of the tasks and the first weights.")]
Resume = Annotated[bool, typer.Option("--resume", help="Go on with the run in --out.")]
Seconds = Annotated[float | None, typer.Option(help="Save and stop after so long.")]
Threads = Annotated[int, typer.Option("--threads", help="Threads that make tasks.")]
Every = Annotated[int, typer.Option(help="Steps between checkpoints.")]


@train.command("q0")
def train_q0(
    folder: Out,
    model: Annotated[str, typer.Option(help="paper (LSTMs) or best (attention).")] = "best",
    num_steps: Steps = 20_000,
    batch_size: Batch = 4096,
    learning_rate: Rate = 1e-3,
    size: Size = "full",
    seed: Seed = 100,
    fewer: Annotated[
        float, typer.Option(help="Share of the tasks shown with 1 to 3 public pairs.")
    ] = 0.0,
    start: Annotated[
        Path | None, typer.Option(help="A model or run whose weights to begin with.")
    ] = None,
    resume: Resume = False,
    seconds: Seconds = None,
    num_threads: Threads = 8,
    checkpoint_every: Every = 2000,
) -> None:
    """Train a q0 on fresh tasks."""
    given = {**locals()}
    from aloex.apps.fill.networks.train.train import train_q0  # JAX loads slowly

    train_q0(**given)
    print(f"model: {folder / 'model.safetensors'}\nmetrics: {folder / 'metrics.jsonl'}")


@train.command("editor")
def train_editor(
    folder: Out,
    q0_path: Annotated[
        Path, typer.Option("--q0", help="The q0, which stays as it is: a file or a run.")
    ],
    num_steps: Steps = 10_000,
    batch_size: Batch = 4096,
    learning_rate: Rate = 1e-3,
    num_trajectories: Annotated[
        int, typer.Option("--trajectories", help="Trajectories for a task.")
    ] = 1,
    size: Size = "full",
    seed: Seed = 200,
    resume: Resume = False,
    seconds: Seconds = None,
    num_threads: Threads = 8,
    checkpoint_every: Every = 2000,
) -> None:
    """Train the editor of a q0, by shortest ways from its draws to the right programs."""
    given = {**locals()}
    from aloex.apps.fill.networks.train.train_editor import train_editor

    train_editor(**given)
    print(f"model: {folder / 'model.safetensors'}\nmetrics: {folder / 'metrics.jsonl'}")
