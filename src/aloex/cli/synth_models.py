"""`aloex synth train`, `eval`: the networks that write programs."""

import json
from pathlib import Path
from typing import Annotated

import typer

from aloex.cli.numbers import listed
from aloex.errors import require

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
Prune = Annotated[
    bool | None,
    typer.Option(help="Drop beams that do not write the outputs; default: for best only."),
]

UntilFit = Annotated[
    bool,
    typer.Option("--until-fit", help="Edit on while the public outputs are not written."),
]
Wider = Annotated[
    str, typer.Option("--wider", help="Also Top-1 of beams of these widths, such as 81,810.")
]


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
    from aloex.apps.synth.models.train import train_q0  # JAX loads slowly

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
    from aloex.apps.synth.models.train_editor import train_editor

    train_editor(**given)
    print(f"model: {folder / 'model.safetensors'}\nmetrics: {folder / 'metrics.jsonl'}")


def evaluate(
    model: Annotated[Path, typer.Argument(help="A q0: a model file, or the folder of its run.")],
    editor: Annotated[Path | None, typer.Option(help="An editor that goes on from it.")] = None,
    tasks: Annotated[int, typer.Option(help="How many tasks of the set, from its first.")] = 1000,
    of: Annotated[str, typer.Option("--set", help="test or validation.")] = "test",
    public: Annotated[int, typer.Option(help="Public pairs of each task.")] = 4,
    prune: Prune = None,
    until_fit: UntilFit = False,
    wider: Wider = "",
) -> None:
    """Top-1 Beam-1, Top-1 Beam-10 and Top-10 Beam-10 on frozen tasks, as JSON."""
    from aloex.apps.synth.models.network import load_network
    from aloex.apps.synth.tasks import frozen

    require(tasks > 0, f"--tasks must be positive, got {tasks}")
    require(1 <= public <= 4, f"--public must be 1 to 4, got {public}")
    network = load_network(model, editor, prune, until_fit)
    row = network.rate(frozen(of)[:tasks], public, widths(wider))
    print(json.dumps({"set": of, **row}))


def widths(wider: str) -> tuple[int, ...]:
    """Those that `--wider` asks for."""
    return listed(wider, "--wider") if wider else ()
