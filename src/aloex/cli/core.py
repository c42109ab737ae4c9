"""`aloex learn` and `aloex sample`: models of tables of integers, without writing Python."""

from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer

from aloex.base.errors import InputError, require


def learn(
    data: Annotated[Path, typer.Argument(help="Integers [examples, sites]: .npy or .csv.")],
    out: Annotated[Path, typer.Option(help="Folder of the run.")],
    z: Annotated[
        Path | None, typer.Option(help="Conditions [examples, columns]: .npy, .csv")
    ] = None,
    steps: Annotated[int, typer.Option(help="Training steps.")] = 5000,
    q0: Annotated[
        str, typer.Option(help="Initial sampler: factorized, mlp or rnn.")
    ] = "factorized",
    batch_size: Annotated[int, typer.Option(help="Examples per step.")] = 128,
    max_edits: Annotated[int | None, typer.Option(help="Most edits of the local search.")] = None,
    seed: Annotated[int, typer.Option(help="Seed of all randomness.")] = 0,
    resume: Annotated[bool, typer.Option("--resume", help="Go on with the run in --out.")] = False,
    checkpoint_every: Annotated[int, typer.Option(help="Steps between checkpoints.")] = 1000,
    distributed: Annotated[
        bool, typer.Option("--distributed", help="Join the other processes of a cluster job.")
    ] = False,
    coordinator: Annotated[
        str | None, typer.Option(help="host:port of process 0, outside a known cluster.")
    ] = None,
    num_processes: Annotated[int | None, typer.Option(help="With --coordinator.")] = None,
    process_id: Annotated[int | None, typer.Option(help="With --coordinator, from 0.")] = None,
) -> None:
    """Learn a model of a table of integers, on all devices in sight."""
    from aloex.learning import learn as learn_model
    from aloex.runs import devices  # JAX loads slowly: only for those who need it

    x = read_table(data)
    conditions = None if z is None else read_table(z)
    if distributed or coordinator is not None:
        devices.initialize(coordinator, num_processes, process_id)
    settings: dict[str, Any] = {} if max_edits is None else {"max_edits": max_edits}
    learn_model(
        x,
        conditions,
        num_steps=steps,
        q0=q0,  # pyright: ignore[reportArgumentType]  (learn tells a wrong name)
        batch_size=batch_size,
        seed=seed,
        folder=out,
        resume=resume,
        checkpoint_every=checkpoint_every,
        **settings,
    )
    if devices.is_main():
        print(f"model: {out / 'model.safetensors'}\nmetrics: {out / 'metrics.jsonl'}")


def sample(
    model: Annotated[Path, typer.Argument(help="A model file, or the folder of its run.")],
    out: Annotated[Path, typer.Option(help="Where to write the draws: .npy or .csv.")],
    n: Annotated[int, typer.Option("--n", "-n", help="Number of draws.")] = 1000,
    z: Annotated[Path | None, typer.Option(help="Conditions, a row per draw: .npy, .csv")] = None,
    sweeps: Annotated[int, typer.Option(help="Gibbs sweeps after the search; 0: q alone.")] = 1,
    seed: Annotated[int, typer.Option(help="Seed of all randomness.")] = 0,
) -> None:
    """Draw from a learned model."""
    from aloex.learning import load

    require(out.suffix in (".npy", ".csv"), f"--out must end in .npy or .csv, got {out}")
    learned = load(model / "model.safetensors" if model.is_dir() else model)
    x = learned.sample(n, z=None if z is None else read_table(z), seed=seed, num_sweeps=sweeps)
    out.parent.mkdir(parents=True, exist_ok=True)
    if out.suffix == ".npy":
        np.save(out, x)
    else:
        np.savetxt(out, x, fmt="%d", delimiter=",")
    print(f"{n} draws: {out}")


def read_table(path: Path) -> np.ndarray:
    """The table in a .npy or .csv file, or an `InputError` that says what is wrong with it."""
    require(path.suffix in (".npy", ".csv"), f"{path} must be a .npy or .csv file")
    try:
        if path.suffix == ".npy":
            return np.load(path, allow_pickle=False)
        require(path.stat().st_size > 0, f"{path} is empty")
        table = np.loadtxt(path, delimiter=",", ndmin=2)
    except FileNotFoundError:
        raise InputError(f"there is no file {path}; check the path") from None
    except (OSError, EOFError, ValueError) as error:
        raise InputError(f"{path} cannot be read as a table of numbers: {error}") from None
    return table.astype(np.int64) if np.all(table == np.round(table)) else table
