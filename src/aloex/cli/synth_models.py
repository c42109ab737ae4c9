"""`aloex synth train`, `eval`: the networks that write programs."""

import json
from pathlib import Path
from typing import Annotated

import typer

from aloex.errors import require

train = typer.Typer(
    help="Train the networks that write programs, and the energy that ranks them.",
    no_args_is_help=True,
    rich_markup_mode=None,
)

Out = Annotated[Path, typer.Option(help="Folder of the run.")]
Steps = Annotated[int, typer.Option(help="Training steps; the rate falls to 0 along them.")]
Rate = Annotated[float, typer.Option(help="The largest learning rate.")]
Size = Annotated[str, typer.Option(help="full, or tiny for a try.")]
Seed = Annotated[int, typer.Option(help="Of the tasks and the first weights.")]
Resume = Annotated[bool, typer.Option("--resume", help="Go on with the run in --out.")]
Seconds = Annotated[float | None, typer.Option(help="Save and stop after so long.")]
Threads = Annotated[int, typer.Option(help="Threads that make tasks.")]
Every = Annotated[int, typer.Option(help="Steps between checkpoints.")]


@train.command("q0")
def train_q0(
    out: Out,
    model: Annotated[str, typer.Option(help="paper (LSTMs) or best (attention).")] = "best",
    steps: Steps = 20_000,
    batch: Annotated[int, typer.Option(help="Tasks for a step.")] = 4096,
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
    threads: Threads = 8,
    checkpoint_every: Every = 2000,
) -> None:
    """Train a q0 on fresh tasks."""
    from aloex.apps.synth.models.train import train_q0  # JAX loads slowly

    train_q0(
        out,
        model=model,
        size=size,
        num_steps=steps,
        batch_size=batch,
        learning_rate=learning_rate,
        seed=seed,
        fewer=fewer,
        start=start,
        resume=resume,
        seconds=seconds,
        num_threads=threads,
        checkpoint_every=checkpoint_every,
    )
    print(f"model: {out / 'model.safetensors'}\nmetrics: {out / 'metrics.jsonl'}")


@train.command("editor")
def train_editor(
    out: Out,
    q0: Annotated[Path, typer.Option(help="The q0, which stays as it is: a file or a run.")],
    steps: Steps = 10_000,
    batch: Annotated[int, typer.Option(help="Tasks for a step.")] = 4096,
    learning_rate: Rate = 1e-3,
    trajectories: Annotated[int, typer.Option(help="Trajectories for a task.")] = 1,
    size: Size = "full",
    seed: Seed = 200,
    resume: Resume = False,
    seconds: Seconds = None,
    threads: Threads = 8,
    checkpoint_every: Every = 2000,
) -> None:
    """Train the editor of a q0, by shortest ways from its draws to the right programs."""
    from aloex.apps.synth.models.train_editor import train_editor

    train_editor(
        out,
        q0_path=q0,
        size=size,
        num_steps=steps,
        batch_size=batch,
        learning_rate=learning_rate,
        num_trajectories=trajectories,
        seed=seed,
        resume=resume,
        seconds=seconds,
        num_threads=threads,
        checkpoint_every=checkpoint_every,
    )
    print(f"model: {out / 'model.safetensors'}\nmetrics: {out / 'metrics.jsonl'}")


def evaluate(
    model: Annotated[Path, typer.Argument(help="A q0: a model file, or the folder of its run.")],
    editor: Annotated[Path | None, typer.Option(help="An editor that goes on from it.")] = None,
    tasks: Annotated[int, typer.Option(help="How many tasks of the set, from its first.")] = 1000,
    of: Annotated[str, typer.Option("--set", help="test or validation.")] = "test",
    public: Annotated[int, typer.Option(help="Public pairs of each task.")] = 4,
    prune: Annotated[
        bool | None,
        typer.Option(help="Drop what does not write the outputs; default: for best only."),
    ] = None,
) -> None:
    """Top-1 Beam-1, Top-1 Beam-10 and Top-10 Beam-10 on frozen tasks, as JSON."""
    from aloex.apps.synth.models import evaluate as measure
    from aloex.apps.synth.models import q0
    from aloex.apps.synth.models.editor_file import load_editor
    from aloex.apps.synth.tasks import frozen

    require(tasks > 0, f"--tasks must be positive, got {tasks}")
    net, settings = q0.load(model)
    pruned = settings["model"] == "best" if prune is None else prune
    search = measure.by_beam(net, prune=pruned)
    if editor is not None:
        edit, settings["editor"] = load_editor(editor)
        search = measure.by_joint_beam(net, edit, prune=pruned)
    row = measure.evaluate(search, frozen(of)[:tasks], num_public=public)
    print(json.dumps({**settings, "set": of, "prune": pruned, **row}))
