"""Contrastive divergence: the negatives are where a few steps of the kernel lead.

CD starts its chains at the data. PCD goes on with old chains, kept in a replay buffer and now and
then restarted uniformly over the space (Tieleman 2008; buffer and restarts after Du & Mordatch
2019). The paper runs K = 10 sweeps of Gibbs and tunes the restart rate in {0.05, 0.1, 1}.
"""

from abc import abstractmethod
from typing import NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import optax
from jaxtyping import Array, Float, Int, Key

from aloex.base.errors import InputError, require
from aloex.cursor import Energy
from aloex.kernels import Kernel, run
from aloex.learning.learner import ShardedLearner, check_num_data, gather, mean_over
from aloex.learning.updates import apply_gradients, clipped_adam, mle_loss, moving_average
from aloex.spaces import Space

Chains = Int[Array, "chains dim"]


class CDState(NamedTuple):
    """All that training carries from step to step."""

    f: Energy
    ema_f: Energy  # exponential moving average of f
    opt_f: optax.OptState
    chains: Chains | None  # PCD's replay buffer
    step: Int[Array, ""]


class CDInfo(NamedTuple):
    """Means over the batch."""

    f_loss: Float[Array, ""]
    f_data: Float[Array, ""]
    f_neg: Float[Array, ""]


class _ContrastiveDivergence(ShardedLearner):
    """All but the question where chains start."""

    kernel: Kernel
    num_kernel_steps: int = eqx.field(static=True, kw_only=True, default=1)
    num_data: int = eqx.field(static=True, kw_only=True, default=1)  # to each negative
    optimizer_f: optax.GradientTransformation = eqx.field(
        static=True, kw_only=True, default_factory=clipped_adam
    )

    def _init(self, f: Energy, chains: Chains | None) -> CDState:
        opt_f = self.optimizer_f.init(eqx.filter(f, eqx.is_inexact_array))
        return CDState(f, f, opt_f, chains, jnp.zeros((), jnp.int32))

    def step_on_shard(
        self,
        keys: Key[Array, " batch"],
        state: CDState,
        x: Int[Array, "batch dim"],
        z: Array | None = None,
        *,
        axis: str | None = None,
    ) -> tuple[CDState, CDInfo]:
        check_num_data(self.num_data, x)
        mean = mean_over(axis)
        # A negative goes with the first of its examples: its key, its state, its condition.
        keys, x_0, z_0 = jax.tree.map(lambda a: a[:: self.num_data], (keys, x, z))
        x_neg, chains = self._negatives(keys, state.f, state.chains, x_0, z_0, axis)
        (f_loss, parts), grads = eqx.filter_value_and_grad(mle_loss, has_aux=True)(
            state.f, x, x_neg, z, z_0
        )
        f, opt_f = apply_gradients(self.optimizer_f, mean(grads), state.opt_f, state.f)
        ema_f = moving_average(state.ema_f, f, self.ema_decay, state.step)
        return CDState(f, ema_f, opt_f, chains, state.step + 1), mean(CDInfo(f_loss, *parts))

    @abstractmethod
    def _negatives(
        self,
        keys: Key[Array, " batch"],
        f: Energy,
        chains: Chains | None,
        x: Int[Array, "batch dim"],
        z: Array | None,
        axis: str | None,
    ) -> tuple[Int[Array, "batch dim"], Chains | None]:
        """x_neg, and the chains after this step."""

    def _run(
        self,
        keys: Key[Array, " batch"],
        x: Int[Array, "batch dim"],
        f: Energy,
        z: Array | None,
    ) -> Int[Array, "batch dim"]:
        go = lambda key, x, z: run(self.kernel, key, x, f, z, num_steps=self.num_kernel_steps)
        return jax.vmap(go)(keys, x, z)


class CD(_ContrastiveDivergence):
    """Contrastive divergence, with or without a condition: chains start at the data.

    Args:
        kernel: k_f.
        num_kernel_steps: from data to negatives; a step of `Gibbs` is a sweep.
        num_data: examples to each negative, which starts at the first of them.
        optimizer_f: Adam with clipped gradients unless given.
        ema_decay: of the moving average of f.

    >>> import equinox as eqx, jax
    >>> from aloex import energies, kernels, spaces
    >>> space = spaces.Bits(3)
    >>> f = energies.MLP(space, hidden=(4,), key=jax.random.key(0))
    >>> cd = CD(kernels.Gibbs(space))
    >>> x = jax.numpy.array([[0, 1, 1], [1, 1, 1]])
    >>> state, info = eqx.filter_jit(cd.step)(jax.random.key(1), cd.init(f), x)
    >>> int(state.step), info._fields
    (1, ('f_loss', 'f_data', 'f_neg'))
    """

    def init(self, f: Energy) -> CDState:
        """The state before the first step."""
        return self._init(f, None)

    def _negatives(
        self,
        keys: Key[Array, " batch"],
        f: Energy,
        chains: Chains | None,
        x: Int[Array, "batch dim"],
        z: Array | None,
        axis: str | None,
    ) -> tuple[Int[Array, "batch dim"], None]:
        return self._run(keys, x, f, z), None


class PCD(_ContrastiveDivergence):
    """Persistent contrastive divergence with a replay buffer and random restarts.

    The buffer is cut into as many stretches of equal length (give or take one) as there are
    examples in a batch. Every example goes on with a chain drawn from its own stretch, so no chain
    is picked twice, which would leave it open what is written back.

    Args:
        kernel: k_f.
        space: in which chains restart.
        num_chains: size of the buffer, no less than the batch.
        restart: probability that a chain starts anew, uniformly over the space.
        num_kernel_steps, num_data, optimizer_f, ema_decay: as for `CD`.

    >>> import equinox as eqx, jax
    >>> from aloex import energies, kernels, spaces
    >>> space = spaces.Bits(3)
    >>> f = energies.MLP(space, hidden=(4,), key=jax.random.key(0))
    >>> pcd = PCD(kernels.Gibbs(space), space, num_chains=8)
    >>> state = pcd.init(jax.random.key(1), f)
    >>> x = jax.numpy.array([[0, 1, 1], [1, 1, 1]])
    >>> state, info = eqx.filter_jit(pcd.step)(jax.random.key(2), state, x)
    >>> state.chains.shape
    (8, 3)
    """

    space: Space = eqx.field(static=True)
    num_chains: int = eqx.field(static=True, kw_only=True, default=10_000)
    restart: float = eqx.field(static=True, kw_only=True, default=0.05)

    def __check_init__(self):
        require(0 <= self.restart <= 1, f"restart is a probability in [0, 1], got {self.restart}")

    def init(self, key: Key[Array, ""], f: Energy) -> CDState:
        """The state before the first step, with chains drawn uniformly over the space."""
        return self._init(f, jax.vmap(self.space.sample)(jax.random.split(key, self.num_chains)))

    def _negatives(
        self,
        keys: Key[Array, " batch"],
        f: Energy,
        chains: Chains | None,
        x: Int[Array, "batch dim"],
        z: Array | None,
        axis: str | None,
    ) -> tuple[Int[Array, "batch dim"], Chains]:
        if z is not None:
            raise InputError(
                f"PCD's chains belong to one distribution, so it takes no condition, but got z of "
                f"shape {z.shape}; use CD for conditional energies"
            )
        assert chains is not None, "`init` makes them"
        keys_row, keys_start, keys_kernel = jax.vmap(lambda k: jax.random.split(k, 3))(keys).T
        rows = self._rows(keys_row, axis)
        starts = jax.vmap(self._start)(keys_start, chains[rows])
        x_neg = self._run(keys_kernel, starts, f, None)
        chains = chains.at[gather(rows, axis)].set(gather(x_neg, axis), unique_indices=True)
        return x_neg, chains

    def _rows(self, keys: Key[Array, " batch"], axis: str | None) -> Int[Array, " batch"]:
        """The chain that each example on this device goes on with."""
        num_shards, shard = (jax.lax.axis_size(axis), jax.lax.axis_index(axis)) if axis else (1, 0)
        num_own = keys.shape[0]
        batch_size = num_own * num_shards
        require(
            self.num_chains >= batch_size,
            f"a batch of {batch_size} needs as many chains or more, got "
            f"num_chains={self.num_chains}",
        )
        bounds = jnp.asarray(np.arange(batch_size + 1) * self.num_chains // batch_size, jnp.int32)
        own = jax.lax.dynamic_slice_in_dim(bounds, num_own * shard, num_own + 1)
        draw = lambda key, first, end: jax.random.randint(key, (), first, end, jnp.int32)
        return jax.vmap(draw)(keys, own[:-1], own[1:])

    def _start(self, key: Key[Array, ""], chain: Int[Array, " dim"]) -> Int[Array, " dim"]:
        key_restart, key_uniform = jax.random.split(key)
        restarts = jax.random.bernoulli(key_restart, self.restart)
        return jnp.where(restarts, self.space.sample(key_uniform), chain)
