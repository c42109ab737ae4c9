"""Learn a sampler of an energy in one call."""

import os
from collections.abc import Callable
from typing import Any, cast

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Key

from aloex.base.errors import InputError, require
from aloex.base.seeds import check_seed
from aloex.cursor import Energy, check_energy_type
from aloex.energies import as_energy
from aloex.kernels import Gibbs, Kernel
from aloex.learning.build import build_backward, build_search
from aloex.learning.config import Q0, Config
from aloex.learning.data.sources import numbers
from aloex.learning.fit import fit
from aloex.learning.learned_sampler import LearnedSampler
from aloex.learning.model import settings_of
from aloex.learning.sampler_learner import SamplerLearner, SamplerState
from aloex.learning.settings import number, whole
from aloex.learning.updates import clipped_adam
from aloex.spaces import Mixed, Space, require_fixed_length

INIT = 2**32 - 1  # folded into the seed for the initial weights, as `fit` folds in its steps
NUM_LOOKS = 64  # states at which an energy is looked at before anything is learned

Conditions = Callable[[Key[Array, ""], int], Float[Array, "n cond"]]


def learn_sampler(
    f: Energy | Callable[[Array], Array],
    space: Space,
    *,
    z: Any = None,
    num_steps: int = 2000,
    seed: int = 0,
    folder: str | os.PathLike[str] | None = None,
    resume: bool = False,
    progress: bool = True,
    checkpoint_every: int = 1000,
    log_every: int = 50,
    on_log: Callable[[dict[str, Any]], None] | None = None,
    kernel: Kernel | None = None,
    q0: Q0 = "mlp",
    q0_hidden: tuple[int, ...] = (64, 64),
    q0_head: int = 64,
    lookahead: int = 1,
    bfloat16: bool = False,
    q_hidden: tuple[int, ...] = (64, 64),
    max_edits: int = 4,
    num_draws: int = 256,
    num_per_condition: int = 32,
    anneal_share: float = 0.6,
    num_kernel_steps: int = 1,
    persistence: int = 1,
    num_trajectories: int = 4,
    learning_rate: float = 2e-3,
    ema_decay: float = 0.99,
) -> LearnedSampler:
    """Learn to draw from p(x | z) ~ exp f(x, z) without data.

    It pays where one sampler serves many draws or many z; for a few draws of one energy chains are
    cheaper. docs/learned_sampler.md says when.

    Args:
        f: the energy, f(x) or f(x, z) -> scalar, that JAX can compile.
        space: what x is, `Bits`, `Categorical` or `Mixed`.
        z: if f is conditional, what conditions to learn for: rows [n, c] of numbers, drawn with
            replacement, or a function (key, n) -> [n, c] that JAX can compile.
        num_steps: steps of learning.
        seed: of all randomness, 0..2^32 - 1.
        folder: where to keep the run. It can be resumed, and ends with its sampler.safetensors.
        resume: go on with the run in `folder`.
        progress: whether to show a bar.
        checkpoint_every, log_every: in steps.
        on_log: called with every row of metrics; see `SamplerInfo` for the columns.
        kernel: moves draws towards p_f, a Gibbs sweep unless given.
        q0, q0_hidden, q0_head, lookahead, bfloat16: the start of a search, as in `Config`.
        q_hidden: layers of the editors and of the stop policies.
        max_edits: bound on the edits of a search; with 0 it is the start alone.
        num_draws: fresh draws in a step.
        num_per_condition: how many of them share a condition.
        anneal_share: the share of the steps in which the energy cools, in (0, 1].
        num_kernel_steps: of each draw in a step.
        persistence: steps that a draw lives for.
        num_trajectories: for each gradient of log q.
        learning_rate: of q and of its backward law; it falls to 0 at the end.
        ema_decay: of the moving averages that are returned.

    Returns:
        The sampler: its draws have weights, and its estimates errors.

    Raises:
        InputError: f is no energy of this space, or a setting is out of range.

    Example:
        >>> import aloex
        >>> from aloex.spaces import Bits
        >>> likes_ones = lambda x, z=None: 1.0 * x.sum()
        >>> sampler = aloex.learn_sampler(likes_ones, Bits(3), num_steps=50, progress=False)
        >>> print(sampler.log_z(1000).value.round(1))  # 3 log (1 + e)
        3.9
    """
    require_fixed_length(space, "learn_sampler")
    draw_z, cond_dim = _conditions(z)
    f = as_energy(f, None if draw_z is None else draw_z(jax.random.key(0), 1)[0])
    values = _values(f, space, draw_z)
    _look_at(values)
    config = Config(
        dim=space.dim,
        num_values=space.values_per_site if isinstance(space, Mixed) else space.num_values,
        cond_dim=cond_dim,
        q0=q0,
        q0_hidden=q0_hidden,
        q0_head=q0_head,
        lookahead=lookahead,
        bfloat16=bfloat16,
        q_hidden=q_hidden,
        max_edits=max_edits,
        num_trajectories=num_trajectories,
        num_sweeps=num_kernel_steps,
        persistence=persistence,
        learning_rate_q=learning_rate,
        ema_decay=ema_decay,
        batch_size=num_draws * persistence,
    )
    steps, share = whole("num_steps", num_steps, 1), number("anneal_share", anneal_share)
    require(0 < share <= 1, f"anneal_share must be in (0, 1], got {anneal_share}")
    learner = SamplerLearner(
        f,
        Gibbs(space) if kernel is None else kernel,
        num_draws=whole("num_draws", num_draws, 1),
        num_anneal_steps=max(1, int(share * steps)),
        num_per_condition=whole("num_per_condition", num_per_condition, 1) if cond_dim else 1,
        num_trajectories=num_trajectories if max_edits else 1,
        num_kernel_steps=num_kernel_steps,
        persistence=persistence,
        optimizer=clipped_adam(learning_rate, num_steps=steps),
        ema_decay=ema_decay,
    )
    per, total = learner.num_per_condition, config.batch_size
    repeated = lambda key, n: None if draw_z is None else jnp.repeat(draw_z(key, n // per), per, 0)
    key = jax.random.fold_in(jax.random.key(check_seed(seed)), INIT)
    state: SamplerState = fit(
        learner,
        _first_state(learner, config, key, repeated(key, total)),
        lambda key, n: (None, repeated(key, n)),
        seed=seed,
        num_steps=steps,
        batch_size=learner.num_draws,
        folder=folder,
        resume=resume,
        config={**settings_of(config, None), "num_per_condition": per, "anneal_share": share}
        | {"energy": _fingerprint(values)},
        checkpoint_every=checkpoint_every,
        log_every=log_every,
        progress=progress,
        on_log=on_log,
    )
    sampler = LearnedSampler(config, f, *state.ema)
    if folder is not None:
        sampler.save(os.path.join(folder, "sampler.safetensors"))
    return sampler


def _first_state(
    learner: SamplerLearner, config: Config, key: Key[Array, ""], z: Array | None
) -> SamplerState:
    """The state before the first step, with fresh networks and chains anywhere in the space."""
    key_q, key_backward, key_chains = jax.random.split(key, 3)
    q, backward = build_search(config, key_q), build_backward(config, key_backward)
    keys = jax.random.split(key_chains, config.batch_size)
    return learner.init(q, backward, jax.vmap(config.space.sample)(keys), z)


def _conditions(z: Any) -> tuple[Conditions | None, int]:
    """How conditions are drawn, and how many numbers one has."""
    if z is None:
        return None, 0
    if callable(z):
        shape = jax.eval_shape(lambda key: z(key, 2), jax.random.key(0)).shape
        require(
            len(shape) == 2 and shape[0] == 2,
            f"z(key, n) must give conditions of shape (n, c), got {shape} for n = 2",
        )
        return cast(Conditions, z), shape[1]
    rows = np.asarray(numbers(z))
    rows = rows[:, None] if rows.ndim == 1 else rows
    require(
        rows.ndim == 2 and len(rows) > 0,
        f"z must be rows of conditions (n, c), or a function that draws them, got {rows.shape}",
    )
    table = jnp.asarray(rows, float)

    def draw(key: Key[Array, ""], n: int) -> Array:
        return table[jax.random.randint(key, (n,), 0, len(table))]

    return draw, rows.shape[1]


def _values(f: Energy, space: Space, draw_z: Conditions | None) -> np.ndarray:
    """f at some states drawn uniformly, always the same ones."""
    keys = jax.random.split(jax.random.key(0), NUM_LOOKS)
    x = jax.vmap(space.sample)(keys)
    z = None if draw_z is None else draw_z(jax.random.key(1), NUM_LOOKS)
    check_energy_type(jax.eval_shape(f, x[0], None if z is None else z[0]))
    return np.asarray(jax.jit(jax.vmap(f))(x, z))


def _look_at(values: np.ndarray) -> None:
    """An `InputError` if these are plainly not the values of an energy."""
    bad = int(np.isnan(values).sum())
    require(bad == 0, f"f is NaN at {bad} of {NUM_LOOKS} states drawn uniformly; mend the energy")
    if np.isneginf(values).all():
        raise InputError(
            f"f is -inf at all of {NUM_LOOKS} states drawn uniformly, so there is nothing to begin "
            "with; make what is forbidden dear instead, such as f - 10 * num_violations"
        )


def _fingerprint(values: np.ndarray) -> list[float]:
    """What tells this energy from another, for runs that are resumed."""
    return [round(v, 3) if np.isfinite(v) else -1e30 for v in values[:8].astype(float).tolist()]
