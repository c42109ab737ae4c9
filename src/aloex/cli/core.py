"""`aloex learn`, `sample` and `score`: models of tables of integers, without writing Python."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from typer import Argument, Option

from aloex.base.errors import require
from aloex.base.extras import require_extra
from aloex.cli.choices import Choice, help_with_choices
from aloex.cli.options import Resume, Seed, listed

if TYPE_CHECKING:
    from aloex.learning import Model

STEPS = 5000  # of a new run


class Q0(Choice):
    """The initial sampler."""

    FACTORIZED = "factorized", "sites drawn independently: fast, coarse"
    MLP = "mlp", "sites drawn one after the other, a network for each prefix"
    RNN = "rnn", "sites drawn one after the other by an LSTM, for long rows"


class Optimizer(Choice):
    """Of the energy."""

    ADAM = "adam", "Adam, as in the paper"
    MUON = "muon", "Muon, which learns the energy in fewer steps"


ModelPath = Annotated[Path, Argument(metavar="MODEL", help="A model file or a run's folder.")]
Conditions = Annotated[Path | None, Option(help="Conditions, a row per example: .npy or .csv.")]


def learn(
    data: Annotated[Path, Argument(help="Integers [examples, sites]: .npy or .csv.")],
    out: Annotated[Path, Option(help="Folder of the run.")],
    z: Conditions = None,
    steps: Annotated[
        int | None, Option(min=0, help=f"Training steps [default: {STEPS}, or the run's own].")
    ] = None,
    q0: Annotated[Q0, Option(help=help_with_choices("Initial sampler.", Q0))] = Q0.FACTORIZED,
    batch_size: Annotated[int, Option(min=1, help="Examples per step.")] = 128,
    max_edits: Annotated[int | None, Option(min=0, help="Most edits of the local search.")] = None,
    num_trajectories: Annotated[int, Option(min=1, help="Trajectories to a target.")] = 10,
    f_hidden: Annotated[str, Option(help="Layers of the energy.")] = "256,256",
    q0_hidden: Annotated[str, Option(help="Layers of the initial sampler; one for rnn.")] = "256",
    q_hidden: Annotated[str, Option(help="Layers of the editor and the stop policy.")] = "256,256",
    optimizer_f: Annotated[
        Optimizer, Option(help=help_with_choices("Optimizer of the energy.", Optimizer))
    ] = Optimizer.ADAM,
    learning_rate_f: Annotated[float, Option(help="Learning rate of the energy.")] = 1e-3,
    learning_rate_q: Annotated[float, Option(help="Learning rate of the sampler.")] = 1e-3,
    decay_steps: Annotated[
        int | None, Option(min=1, help="Step at which the learning rates have fallen to 0.")
    ] = None,
    seed: Seed = 0,
    resume: Resume = False,
    fresh: Annotated[
        bool,
        Option("--fresh", help="Throw away the run in --out, if there is one, and start anew."),
    ] = False,
    checkpoint_every: Annotated[int, Option(min=1, help="Steps between checkpoints.")] = 1000,
    log_every: Annotated[int, Option(min=1, help="Steps between rows of metrics.")] = 50,
    distributed: Annotated[
        bool, Option("--distributed", help="Join the other processes of a cluster job.")
    ] = False,
    coordinator: Annotated[
        str | None, Option(help="host:port of process 0, outside a known cluster.")
    ] = None,
    num_processes: Annotated[int | None, Option(help="With --coordinator.")] = None,
    process_id: Annotated[int | None, Option(help="With --coordinator, from 0.")] = None,
) -> None:
    """Learn a model of a table of integers, on all devices in sight.

    A folder that has a run is left alone unless --resume or --fresh says what to do with it.
    """
    require(not (resume and fresh), "--resume and --fresh contradict each other; give one of them")
    require_extra("learn")
    from aloex.cli.tables import read_table
    from aloex.learning import learn as learn_model
    from aloex.runs import devices, run_folder  # JAX loads slowly: only for those who need it

    x = read_table(data)
    conditions = None if z is None else read_table(z)
    cluster = (coordinator, num_processes, process_id)
    if distributed or cluster != (None, None, None):
        devices.initialize(*cluster)
    if fresh and devices.is_main():
        run_folder.discard_run(out)
    steps = run_folder.recorded_steps(out) if steps is None and resume else steps
    choices: dict[str, Any] = {"q0": q0.value, "optimizer_f": optimizer_f.value}
    learn_model(
        x,
        conditions,
        num_steps=STEPS if steps is None else steps,
        batch_size=batch_size,
        max_edits=max_edits,
        num_trajectories=num_trajectories,
        f_hidden=listed(f_hidden, "--f-hidden"),
        q0_hidden=listed(q0_hidden, "--q0-hidden"),
        q_hidden=listed(q_hidden, "--q-hidden"),
        learning_rate_f=learning_rate_f,
        learning_rate_q=learning_rate_q,
        decay_steps=decay_steps,
        seed=seed,
        folder=out,
        resume=resume,
        checkpoint_every=checkpoint_every,
        log_every=log_every,
        **choices,
    )
    if devices.is_main():
        print(f"model: {out / 'model.safetensors'}\nmetrics: {out / 'metrics.jsonl'}")


def sample(
    model: ModelPath,
    out: Annotated[Path, Option(help="Where to write the draws: .npy or .csv.")],
    n: Annotated[int, Option("--n", "-n", min=1, help="Number of draws.")] = 1000,
    z: Conditions = None,
    sweeps: Annotated[int, Option(min=0, help="Gibbs sweeps after the search; 0: q alone.")] = 1,
    seed: Seed = 0,
) -> None:
    """Draw from a learned model, or from a run's last checkpoint if it has no model yet."""
    from aloex.cli.tables import read_table, require_table_name, write_table  # they need NumPy

    require_table_name(out, "--out")
    learned = _load(model)
    conditions = None if z is None else read_table(z)
    write_table(out, learned.sample(n, z=conditions, seed=seed, num_sweeps=sweeps))
    print(f"{n} draws: {out}")


def score(
    model: ModelPath,
    data: Annotated[Path, Argument(help="Integers [examples, sites]: .npy or .csv.")],
    out: Annotated[Path, Option(help="Where to write a number per example: .npy or .csv.")],
    z: Conditions = None,
) -> None:
    """Give each example its energy f: log p(x) up to a constant, so higher is likelier."""
    from aloex.cli.tables import read_table, require_table_name, write_table

    require_table_name(out, "--out")
    learned, x = _load(model), read_table(data)
    energies = learned.energy(x, None if z is None else read_table(z))
    write_table(out, energies)
    print(f"{len(energies)} energies, mean {energies.mean():.4f}: {out}")


def _load(path: Path) -> "Model":
    """The model of a file or of a run's folder."""
    require_extra("learn")
    from aloex.learning import load
    from aloex.learning.from_run import load_checkpoint

    if not path.is_dir():
        return load(path)
    if (path / "model.safetensors").exists():
        return load(path / "model.safetensors")
    require(
        (path / "config.json").exists(),
        f"there is no model in {path}: neither model.safetensors nor a run; check the path",
    )
    learned, step = load_checkpoint(path)
    print(f"no model yet in {path}: using its checkpoint of step {step}", file=sys.stderr)
    return learned
