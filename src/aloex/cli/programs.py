"""`aloex programs`: make tasks, train the networks that write programs, and the energy."""

from pathlib import Path
from typing import Annotated, Any

import typer

from aloex.base.errors import require
from aloex.base.extras import require_extra
from aloex.cli.choices import Choice, help_with_choices
from aloex.cli.options import MAX_SEED, Resume

app = typer.Typer(
    help="The paper's string programs: tasks, and training of what writes and ranks them.",
    no_args_is_help=True,
    rich_markup_mode=None,
)
train = typer.Typer(
    help="Train a network that writes programs, or the energy that ranks them.",
    no_args_is_help=True,
    rich_markup_mode=None,
)
app.add_typer(train, name="train")


class Size(Choice):
    """Of a network."""

    FULL = "full", "the size that was measured"
    TINY = "tiny", "for a try on a CPU"


class Q0Kind(Choice):
    """Which q0 to train."""

    PAPER = "paper", "LSTMs"
    BEST = "best", "attention, guided by running programs"


# Parameters are named as those of the functions that they go to, so that all are passed at once.
Out = Annotated[Path, typer.Option("--out", help="Folder of the run.")]
Steps = Annotated[
    int, typer.Option("--steps", help="Training steps; the rate falls to 0 along them.")
]
Batch = Annotated[int, typer.Option("--batch", help="Tasks for a step.")]
Rate = Annotated[float, typer.Option(help="The largest learning rate.")]
SizeOption = Annotated[Size, typer.Option(help=help_with_choices("Of the network.", Size))]
Seed = Annotated[int, typer.Option(min=0, max=MAX_SEED, help="Of the tasks and first weights.")]
Seconds = Annotated[float | None, typer.Option(min=0, help="Save and stop after so many seconds.")]
Threads = Annotated[int, typer.Option("--threads", help="Threads that make tasks.")]
Every = Annotated[int, typer.Option(help="Steps between checkpoints.")]


@app.command()
def tasks(
    out: Annotated[Path, typer.Option(help="Where to write them; it should end in .tsv.xz.")],
    number: Annotated[int, typer.Option("--number", "-n", min=1, help="How many tasks.")] = 10_000,
    seed: Annotated[
        int, typer.Option(min=0, max=MAX_SEED, help="Each seed has its own endless set of tasks.")
    ] = 100,
    first: Annotated[
        int, typer.Option(min=0, max=2**62, help="The number of the first task in that set.")
    ] = 0,
) -> None:
    """Make tasks: programs with ten examples each."""
    require_extra("networks")
    from aloex.apps.programs.tasks import generate, require_free, save

    require_free(seed)
    save(out, generate(number, seed=seed, first=first).tasks())
    print(f"{number} tasks: {out}")


@train.command("q0")
def train_q0(
    folder: Out,
    model: Annotated[
        Q0Kind, typer.Option(help=help_with_choices("Which q0.", Q0Kind))
    ] = Q0Kind.BEST,
    num_steps: Steps = 20_000,
    batch_size: Batch = 4096,
    learning_rate: Rate = 1e-3,
    size: SizeOption = Size.FULL,
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
    """Train a q0, a network that writes a program for some examples, on fresh tasks."""
    options: dict[str, Any] = {**locals(), "model": model.value, "size": size.value}
    _check(learning_rate)
    from aloex.apps.programs.networks import train_q0  # JAX loads slowly

    train_q0(**options)
    _say_where(folder / "model.safetensors", folder)


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
    size: SizeOption = Size.FULL,
    seed: Seed = 200,
    resume: Resume = False,
    seconds: Seconds = None,
    num_threads: Threads = 8,
    checkpoint_every: Every = 2000,
) -> None:
    """Train the editor of a q0, by shortest edits from its draws to the right programs."""
    options: dict[str, Any] = {**locals(), "size": size.value}
    _check(learning_rate)
    from aloex.apps.programs.networks import train_editor  # JAX loads slowly

    train_editor(**options)
    _say_where(folder / "model.safetensors", folder)


@train.command("energy")
def train_energy(
    folder: Out = Path("runs/fill/energy"),
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
    """Learn to rank the programs that fit some examples; a CPU will do."""
    options = {**locals()}
    numbers = {"--steps": num_steps, "--batch": batch_size, "--negatives": num_neg, "--jobs": jobs}
    for name, number in numbers.items():
        require(number >= 1, f"{name} must be at least 1, got {number}")
    _check(learning_rate)
    from aloex.apps.programs.energy import train_energy  # JAX loads slowly

    _say_where(train_energy(**options), folder)


def _check(learning_rate: float) -> None:
    """What all training needs; this comes first, before JAX is loaded."""
    require_extra("networks")
    good = 0 < learning_rate < float("inf")
    require(good, f"--learning-rate must be positive, got {learning_rate}")


def _say_where(model: Path | None, folder: Path) -> None:
    """The outputs of a run; a run that ran out of time has no model yet."""
    if model is not None:
        print(f"model: {model}")
    print(f"metrics: {folder / 'metrics.jsonl'}")
