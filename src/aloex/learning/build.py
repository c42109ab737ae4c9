"""The learner, the networks and the first state that a config asks for."""

from functools import lru_cache
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Key

from aloex.energies import MLP
from aloex.kernels import Gibbs
from aloex.learning.aloe import ALOE, ALOEState
from aloex.learning.config import Config
from aloex.learning.updates import clipped_adam, clipped_muon
from aloex.proposals import EditDistance, Inverse, LearnedInverse, Proposal
from aloex.samplers import (
    AutoregressiveMLP,
    AutoregressiveRNN,
    Factorized,
    Flip,
    LocalSearch,
    PositionValue,
    Stop,
)
from aloex.spaces import Bits


@lru_cache(maxsize=64)  # equal configs share optimizers, and so the programs compiled with them
def build_learner(config: Config) -> ALOE:
    """The algorithm with its settings.

    Args:
        config: sizes and settings.

    Returns:
        The learner, the same object for the same config.

    Example:
        >>> from aloex.learning import Config, build_learner
        >>> build_learner(Config(dim=6, num_trajectories=3)).num_trajectories
        3
    """
    decay, rounds = config.decay_steps, config.num_f_steps
    clipped = clipped_muon if config.optimizer_f == "muon" else clipped_adam
    return ALOE(
        Gibbs(config.space),
        _build_proposal(config),
        num_trajectories=config.num_trajectories,
        num_power_steps=config.num_power_steps,
        num_f_steps=rounds,
        num_data=config.num_data,
        num_kernel_steps=config.num_sweeps,
        persistence=config.persistence,
        resample=config.resample,
        ema_decay=config.ema_decay,
        optimizer_f=clipped(config.learning_rate_f, num_steps=decay and decay * rounds),
        optimizer_q=clipped_adam(config.learning_rate_q, num_steps=decay),
    )


def _build_proposal(config: Config) -> Proposal:
    if config.proposal == "edit_distance":
        return EditDistance(space=config.space, max_edits=config.max_edits)
    return Inverse(
        space=config.space,
        max_edits=config.max_edits,
        walk_stop_prob=config.walk_stop_prob,
        repeats=config.repeats,
    )


def first_state(
    config: Config, key: Key[Array, ""], z: np.ndarray | Array | None = None
) -> ALOEState:
    """The state before the first step, with fresh networks and chains anywhere in the space.

    Args:
        config: sizes and settings.
        key: of the weights and the chains.
        z: conditions of the data [n, cond_dim]; chains that persist take theirs from these rows.

    Returns:
        What `build_learner(config).step` takes.

    Example:
        >>> import jax
        >>> from aloex.learning import Config, first_state
        >>> int(first_state(Config(dim=6), jax.random.key(0)).step)
        0
    """
    learner, networks = build_learner(config), build_networks(config, key)
    backward = None
    if config.proposal == "learned":
        backward = _build_learned(config, jax.random.fold_in(key, 2))
    if config.persistence == 1:
        return learner.init(*networks, backward=backward)
    keys = jax.random.split(jax.random.fold_in(key, 0), config.batch_size)
    chains = jax.vmap(config.space.sample)(keys)
    if z is None:
        return learner.init(*networks, chains, backward=backward)
    rows = jax.random.randint(jax.random.fold_in(key, 1), (config.batch_size,), 0, len(z))
    return learner.init(*networks, chains, jnp.asarray(z[np.asarray(rows)]), backward)


def build_networks(config: Config, key: Key[Array, ""]) -> tuple[MLP, LocalSearch]:
    """f and q with fresh weights.

    Args:
        config: sizes of the networks.
        key: of the weights.

    Returns:
        The energy and the sampler.

    Example:
        >>> import jax
        >>> from aloex.learning import Config, build_networks
        >>> f, q = build_networks(Config(dim=6, f_hidden=(8,)), jax.random.key(0))
        >>> q.sample(jax.random.key(1)).last.shape
        (6,)
    """
    key_f, *keys_q = jax.random.split(key, 4)
    f = MLP(config.space, hidden=config.f_hidden, cond_dim=config.cond_dim, key=key_f)
    return f, _build_search(config, keys_q)


def build_search(config: Config, key: Key[Array, ""]) -> LocalSearch:
    """q with fresh weights.

    Args:
        config: sizes of the networks.
        key: of the weights.

    Returns:
        The sampler.

    Example:
        >>> import jax
        >>> from aloex.learning import Config, build_search
        >>> q = build_search(Config(dim=6), jax.random.key(0))
        >>> q.sample(jax.random.key(1)).last.shape
        (6,)
    """
    return _build_search(config, list(jax.random.split(key, 3)))


def build_backward(config: Config, key: Key[Array, ""]) -> Inverse | LearnedInverse:
    """A backward law that can be learned, with fresh weights; without edits there is none to learn.

    Args:
        config: sizes of the networks.
        key: of the weights.

    Returns:
        The law of trajectories that end in x.

    Example:
        >>> import jax
        >>> from aloex.learning import Config, build_backward
        >>> type(build_backward(Config(dim=6), jax.random.key(0))).__name__
        'LearnedInverse'
    """
    if config.max_edits == 0:
        return Inverse(space=config.space, max_edits=0)
    return _build_learned(config, key)


def _build_learned(config: Config, key: Key[Array, ""]) -> LearnedInverse:
    inverse = Inverse(
        space=config.space, max_edits=config.max_edits, walk_stop_prob=config.walk_stop_prob
    )
    return LearnedInverse(*_build_edits(config, *jax.random.split(key)), inverse)


def _build_search(config: Config, keys: list[Array]) -> LocalSearch:
    key_q0, key_editor, key_stop = keys
    q0 = _build_q0(config, key_q0)
    if config.max_edits == 0:
        return LocalSearch(q0)
    return LocalSearch(q0, *_build_edits(config, key_editor, key_stop), config.max_edits)


def _build_edits(
    config: Config, key_editor: Array, key_stop: Array
) -> tuple[Flip | PositionValue, Stop]:
    """An editor and a stop policy."""
    kind = Flip if isinstance(config.space, Bits) else PositionValue
    sizes: dict[str, Any] = {"hidden": config.q_hidden, "cond_dim": config.cond_dim}
    return (
        kind(config.space, **sizes, key=key_editor),
        Stop(config.space, **sizes, max_stop_prob=config.max_stop_prob, key=key_stop),
    )


def _build_q0(
    config: Config, key: Key[Array, ""]
) -> AutoregressiveMLP | AutoregressiveRNN | Factorized:
    space, cond_dim, hidden, head = config.space, config.cond_dim, config.q0_hidden, config.q0_head
    if config.q0 == "mlp":
        return AutoregressiveMLP(
            space,
            hidden=hidden,
            head_hidden=head,
            cond_dim=cond_dim,
            lookahead=config.lookahead,
            dtype=jnp.bfloat16 if config.bfloat16 else None,
            key=key,
        )
    if config.q0 == "rnn":
        return AutoregressiveRNN(
            space, hidden=hidden[0], head_hidden=head, cond_dim=cond_dim, key=key
        )
    return Factorized(space, cond_dim=cond_dim)
