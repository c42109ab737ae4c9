"""Learn a model of data in one call."""

# JAX and NumPy are typed in part, so what they return is not known to pyright.
# pyright: reportUnknownMemberType=false, reportUnknownArgumentType=false
# pyright: reportUnknownVariableType=false, reportUnknownLambdaType=false

import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import jax

from aloex.base.errors import require
from aloex.base.seeds import check_seed
from aloex.learning import sources
from aloex.learning.build import build_learner, first_state
from aloex.learning.config import Q0, Config, OptimizerName, ProposalName
from aloex.learning.fit import fit
from aloex.learning.model import Model, settings_of
from aloex.runs import devices

INIT = 2**32 - 1  # folded into the seed for the initial weights, as `fit` folds in its steps

if TYPE_CHECKING:
    from numpy.typing import ArrayLike
    from pandas import DataFrame  # pyright: ignore[reportMissingTypeStubs]

    Batches = Iterator[sources.Batch]
    Data = ArrayLike | DataFrame | Callable[[jax.Array, int], Any] | Batches
else:
    ArrayLike = Data = Any


def learn(
    x: "Data",
    z: "ArrayLike | None" = None,
    *,
    num_steps: int = 5000,
    seed: int = 0,
    folder: str | os.PathLike[str] | None = None,
    resume: bool = False,
    progress: bool = True,
    checkpoint_every: int = 1000,
    log_every: int = 50,
    on_log: Callable[[dict[str, Any]], None] | None = None,
    num_values: int | tuple[int, ...] | None = None,
    f_hidden: tuple[int, ...] = (256, 256),
    q0: Q0 = "factorized",
    q0_hidden: tuple[int, ...] = (256,),
    q0_head: int = 256,
    lookahead: int = 1,
    bfloat16: bool = False,
    q_hidden: tuple[int, ...] = (256, 256),
    max_edits: int | None = None,
    max_stop_prob: float = 0.95,
    proposal: ProposalName = "inverse",
    walk_stop_prob: float = 0.5,
    repeats: bool = True,
    num_trajectories: int = 10,
    num_power_steps: int = 1,
    num_f_steps: int = 1,
    num_data: int = 1,
    num_sweeps: int = 1,
    persistence: int = 1,
    resample: bool = False,
    optimizer_f: OptimizerName = "adam",
    learning_rate_f: float = 1e-3,
    learning_rate_q: float = 1e-3,
    decay_steps: int | None = None,
    ema_decay: float = 0.999,
    batch_size: int = 128,
) -> Model:
    """Learn a model of x, or of x given conditions z.

    Args:
        x: a table of integers [n, d]; a memory-mapped one (np.memmap), which is read batch by batch
            and may be larger than memory; a pandas DataFrame, whose columns may be of text, numbers
            or booleans with missing values; a function (key, n) -> batch that JAX can compile; or
            an iterator of NumPy tables. Streams may give pairs (x, z).
        z: conditions, numbers [n, c] or [n].
        num_steps: steps of training.
        seed: of all randomness, 0..2^32 - 1.
        folder: where to keep the run. It can be resumed, and ends with its model.safetensors.
        resume: go on with the run in `folder`. A run on an iterator goes on with its next batches.
        progress: whether to show a progress bar.
        checkpoint_every: steps between checkpoints.
        log_every: steps between rows of metrics.
        on_log: called with every row of metrics.
        num_values: values of a site, or a tuple with the number for each; told from the data if
            it is left out, which a stream cannot do.
        max_edits: bound on the number of edits; 16 or d, whichever is less, if it is left out (d
            for proposal="edit_distance").
        f_hidden, q0, q0_hidden, q0_head, lookahead, bfloat16, q_hidden, max_stop_prob, proposal,
            walk_stop_prob, repeats, num_trajectories, num_power_steps, num_f_steps, num_data,
            num_sweeps, persistence, resample, optimizer_f, learning_rate_f, learning_rate_q,
            decay_steps, ema_decay, batch_size: see `Config`.

    Returns:
        The model.

    Raises:
        InputError: data or a setting that cannot be used.
        Stopped, NonFiniteLossError: see `fit`.

    Example:
        >>> import aloex
        >>> x = [[0, 0, 1], [1, 1, 0]] * 20
        >>> small = dict(f_hidden=(8,), q_hidden=(8,), num_trajectories=2, batch_size=8)
        >>> model = aloex.learn(x, num_steps=2, progress=False, **small)
        >>> model.sample(4).shape
        (4, 3)
    """
    source = sources.read(x, z)
    config = Config(
        dim=source.dim,
        num_values=_num_values(source, num_values),
        cond_dim=source.cond_dim,
        f_hidden=f_hidden,
        q0=q0,
        q0_hidden=q0_hidden,
        q0_head=q0_head,
        lookahead=lookahead,
        bfloat16=bfloat16,
        q_hidden=q_hidden,
        max_edits=_max_edits(source.dim, proposal) if max_edits is None else max_edits,
        max_stop_prob=max_stop_prob,
        proposal=proposal,
        walk_stop_prob=walk_stop_prob,
        repeats=repeats,
        num_trajectories=num_trajectories,
        num_power_steps=num_power_steps,
        num_f_steps=num_f_steps,
        num_data=num_data,
        num_sweeps=num_sweeps,
        persistence=persistence,
        resample=resample,
        optimizer_f=optimizer_f,
        learning_rate_f=learning_rate_f,
        learning_rate_q=learning_rate_q,
        decay_steps=decay_steps,
        ema_decay=ema_decay,
        batch_size=batch_size,
    )
    data = source.for_fit(config)
    key = jax.random.fold_in(jax.random.key(check_seed(seed)), INIT)
    state = fit(
        build_learner(config),
        first_state(config, key, source.example_conditions(config)),
        data,
        source.z,
        seed=seed,
        num_steps=num_steps,
        batch_size=config.batch_size * config.num_data,
        folder=folder,
        resume=resume,
        config=settings_of(config, source.columns),
        checkpoint_every=checkpoint_every,
        log_every=log_every,
        progress=progress,
        on_log=on_log,
    )
    model = Model(config, state.ema_f, state.q, source.columns)
    if folder is not None and devices.is_main():
        model.save(Path(folder) / "model.safetensors")
    return model


def _num_values(
    source: sources.Source, given: int | tuple[int, ...] | None
) -> int | tuple[int, ...]:
    """As given, or as the data show."""
    if given is not None:
        return given
    require(
        source.num_values is not None,
        "a stream does not tell how many values a site has: give num_values (2 for bits)",
    )
    assert source.num_values is not None
    return source.num_values


def _max_edits(dim: int, proposal: ProposalName) -> int:
    return dim if proposal == "edit_distance" else min(16, dim)
