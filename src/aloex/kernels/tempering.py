"""Parallel tempering: replicas at inverse temperatures b_1 < ... < b_n = 1 exchange their states.

Replica i leaves p_i ~ exp f_i unchanged, f_i = (1 - b_i) base + b_i f (`tempered`), so that hot
ones (small b) cross what separates the modes of p_f. After a step of each, neighbours i and i + 1
swap their states with probability

    min(1, exp(f_i(x_{i+1}) + f_{i+1}(x_i) - f_i(x_i) - f_{i+1}(x_{i+1}))),

pairs with even i after one step, with odd i after the next: this order carries states from end to
end fastest (Syed, Bouchard-Cote, Deligiannidis and Doucet 2022, "Non-reversible parallel
tempering"). A round trip is a state's way from the coldest to the hottest replica and back; their
number tells whether the ladder works.
"""

from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
from jax.core import Tracer
from jaxtyping import Array, Bool, Float, Int, Key

from aloex.base.errors import require
from aloex.cursor import Energy
from aloex.kernels import metropolis_hastings as mh
from aloex.kernels.base import Kernel, num_changed, num_start_evaluations
from aloex.kernels.tempered import tempered
from aloex.spaces import Space


class TemperingState(NamedTuple):
    replicas: Any  # states of the kernel, the hottest first, the coldest last
    z: Array | None
    parity: Int[Array, ""]  # of the i of the pairs (i, i + 1) that swap next
    walker: Int[Array, " n"]  # which of n walkers each replica holds: swaps exchange walkers
    phase: Int[
        Array, " n"
    ]  # of each walker: 1 once it was coldest, 2 once it was hottest after that
    num_round_trips: Int[Array, ""]  # of all walkers

    @property
    def x(self) -> Int[Array, " *batch dim"]:
        """The state of the coldest replica."""
        return self.replicas.x[..., -1, :]

    @property
    def value(self) -> Float[Array, " *batch"]:
        """f of it."""
        return self.replicas.value[..., -1]


class TemperingInfo(NamedTuple):
    kernel: Any  # what the kernel has to say, for each replica
    swap_acceptance: Float[Array, " pairs"]  # probability with which i and i + 1 were swapped
    swap_proposed: Bool[Array, " pairs"]  # whether it was their turn; acceptance is 0 if not
    num_changed: Int[Array, ""]  # sites of the coldest that differ after the step
    num_evaluations: Int[Array, ""]  # of f, by all replicas


class ParallelTempering(eqx.Module):
    """Replicas of a kernel at several temperatures, and swaps.

    A step is `num_steps` steps of each replica and a swap of every second pair. Both states of a
    pair are evaluated at both temperatures, for which `kernel.init` is called once a step.

    Args:
        kernel: what moves each replica. Its state needs a field `value`.
        inverse_temperatures: ascending, the last 1; an array, which may be tuned.
        base: an energy for b = 0; without one all states are alike there.
        num_steps: steps of the kernel between swaps.

    Example:
        >>> import jax, jax.numpy as jnp
        >>> from aloex import kernels, spaces
        >>> gibbs = kernels.Gibbs(spaces.Bits(3))
        >>> kernel = kernels.ParallelTempering(gibbs, jnp.array([0.0, 0.5, 1.0]))
        >>> all_alike = lambda x, z=None: 9.0 * jnp.max(jnp.array([x.sum(), 3 - x.sum()]))
        >>> state = kernel.init(jax.random.key(0), jnp.zeros(3, jnp.int32), all_alike)
        >>> step = lambda state, key: kernel.step(key, state, all_alike)
        >>> state, info = jax.lax.scan(step, state, jax.random.split(jax.random.key(1), 100))
        >>> bool(state.num_round_trips > 0), info.swap_acceptance.shape
        (True, (100, 2))
    """

    kernel: Kernel
    inverse_temperatures: Float[Array, " n"] = eqx.field(converter=lambda b: jnp.asarray(b, float))
    base: Any = eqx.field(kw_only=True, default=None)  # an Energy
    num_steps: int = eqx.field(static=True, kw_only=True, default=1)

    def __check_init__(self):
        bs = self.inverse_temperatures
        require(self.num_steps >= 1, f"num_steps must be at least 1, got {self.num_steps}")
        require(
            bs.ndim == 1 and len(bs) >= 2,
            f"parallel tempering needs two temperatures or more, got inverse temperatures {bs}",
        )
        if not isinstance(bs, Tracer):
            require(
                bool((bs[0] >= 0) & jnp.all(jnp.diff(bs) > 0) & (bs[-1] == 1)),
                f"inverse temperatures must rise from 0 or more to 1, got {bs}",
            )

    def init(
        self, key: Key[Array, ""], x: Int[Array, " dim"], f: Energy, z: Array | None = None
    ) -> TemperingState:
        """All replicas at x."""
        n = len(self.inverse_temperatures)
        # Outside compiled code this checks x and f, which cannot be seen inside vmap.
        self.kernel.init(key, x, tempered(f, self.inverse_temperatures[-1], self.base), z)
        x = jnp.broadcast_to(x, (n, *x.shape))
        replicas = self._start(key, x, self.inverse_temperatures, f, z)
        phase = (jnp.arange(n) == n - 1).astype(jnp.int32)
        none = jnp.zeros((), jnp.int32)
        return TemperingState(replicas, z, none, jnp.arange(n), phase, none)

    def restart(self, key: Key[Array, ""], state: TemperingState, f: Energy) -> TemperingState:
        """The same replicas at this kernel's temperatures, when these have changed, or f has."""
        bs = self.inverse_temperatures
        return state._replace(replicas=self._start(key, state.replicas.x, bs, f, state.z))

    def num_start_evaluations(
        self, f: Energy, x: Int[Array, " dim"], z: Array | None = None
    ) -> int:
        """What `init` costs, in evaluations of f."""
        return (1 + len(self.inverse_temperatures)) * self._num_restart_evaluations(f, x, z)

    def step(
        self, key: Key[Array, ""], state: TemperingState, f: Energy
    ) -> tuple[TemperingState, TemperingInfo]:
        """`num_steps` steps of each replica, then swaps."""
        n = len(self.inverse_temperatures)
        key_steps, key_start, key_swap = jax.random.split(key, 3)
        moved, info = self._move(key_steps, state.replicas, f)
        partner = _partners(n, state.parity)
        # Each state where it would go: that is what the ratio needs, and it is ready to go on.
        visiting = self._start(key_start, moved.x, self.inverse_temperatures[partner], f, state.z)
        acceptance = _swap_acceptance(moved.value, visiting.value, partner)
        u = jax.random.uniform(key_swap, (n,), acceptance.dtype)[
            jnp.minimum(partner, jnp.arange(n))
        ]
        swaps = (1 - u <= acceptance) & (partner != jnp.arange(n))
        pick = lambda b, a: jnp.where(jnp.expand_dims(swaps, range(1, a.ndim)), b[partner], a)
        replicas = jax.tree.map(pick, visiting, moved)
        walker = jnp.where(swaps, state.walker[partner], state.walker)
        phase, arrived = _follow(walker, state.phase)
        after = TemperingState(
            replicas, state.z, 1 - state.parity, walker, phase, state.num_round_trips + arrived
        )
        proposed = partner[:-1] == jnp.arange(1, n)
        restarts = n * self._num_restart_evaluations(f, state.x, state.z)
        return after, TemperingInfo(
            info,
            jnp.where(proposed, acceptance[:-1], 0),
            proposed,
            num_changed(state.x, after.x),
            jnp.sum(info.num_evaluations, dtype=jnp.int32) + restarts,
        )

    def _move(self, key: Array, replicas: Any, f: Energy) -> tuple[Any, Any]:
        """`num_steps` steps of each replica; infos [n], or [n, num_steps]."""

        def move(key: Array, state: Any, b: Array) -> tuple[Any, Any]:
            f_b = tempered(f, b, self.base)
            if self.num_steps == 1:
                return self.kernel.step(key, state, f_b)
            keys = jax.random.split(key, self.num_steps)
            return jax.lax.scan(lambda s, k: self.kernel.step(k, s, f_b), state, keys)

        keys = jax.random.split(key, len(self.inverse_temperatures))
        return jax.vmap(move)(keys, replicas, self.inverse_temperatures)

    def _start(
        self, key: Array, x: Int[Array, "n dim"], bs: Array, f: Energy, z: Array | None
    ) -> Any:
        """States of the kernel at rows of x and temperatures bs."""
        start = lambda key, x, b: self.kernel.init(key, x, tempered(f, b, self.base), z)
        return jax.vmap(start)(jax.random.split(key, len(x)), x, bs)

    def _num_restart_evaluations(self, f: Energy, x: Array, z: Array | None) -> int:
        f_b = tempered(f, self.inverse_temperatures[-1], self.base)
        return num_start_evaluations(self.kernel, f_b, x, z)

    def transition_matrix(
        self, space: Space, f: Energy, z: Array | None = None, *, parity: int = 0
    ) -> Float[Array, "joint joint"]:
        """The matrix of a step on the joint states of all replicas, by enumeration.

        It leaves the product of the replicas' laws unchanged. Joint states are numbered as digits,
        the hottest replica first: size^n of them.

        Args:
            space, f, z: as for other kernels.
            parity: that of the state before the step, 0 or 1.

        Returns:
            The matrix [size^n, size^n].
        """
        n, bs = len(self.inverse_temperatures), self.inverse_temperatures
        matrix = jnp.ones((1, 1))
        for b in bs:
            of_replica = self.kernel.transition_matrix(space, tempered(f, b, self.base), z)
            matrix = jnp.kron(matrix, jnp.linalg.matrix_power(of_replica, self.num_steps))
        partner = _partners(n, jnp.asarray(parity))
        digits = jnp.stack(jnp.unravel_index(jnp.arange(space.size**n), (space.size,) * n), axis=1)
        at = lambda b: jax.vmap(lambda x: tempered(f, b, self.base)(x, z))(space.enumerate())
        values = jax.vmap(at)(bs)  # [replica, state]
        acceptance = jax.vmap(
            lambda s: _swap_acceptance(values[jnp.arange(n), s], values[partner, s], partner)
        )(digits)
        number = lambda digits: digits @ space.size ** jnp.arange(n - 1, -1, -1)
        for i in range(n - 1):
            swapped = digits.at[:, i].set(digits[:, i + 1]).at[:, i + 1].set(digits[:, i])
            p = jnp.where(partner[i] == i + 1, acceptance[:, i], 0)
            swap = jnp.diag(1 - p).at[jnp.arange(len(p)), number(swapped)].add(p)
            matrix = matrix @ swap
        return matrix


def _partners(n: int, parity: Int[Array, ""]) -> Int[Array, " n"]:
    """With whom each replica may swap: its neighbour on one side, itself at a border."""
    i = jnp.arange(n)
    partner = jnp.where((i + parity) % 2 == 0, i + 1, i - 1)
    return jnp.where((partner >= 0) & (partner < n), partner, i)


def _swap_acceptance(
    staying: Float[Array, " n"], visiting: Float[Array, " n"], partner: Int[Array, " n"]
) -> Float[Array, " n"]:
    """Of each replica and its partner, given the energies of all states there and with partners."""
    gain = visiting - staying
    # NaN stays where it is.
    return mh.acceptance(gain + gain[partner], jnp.zeros_like(gain), jnp.zeros_like(gain))


def _follow(
    walker: Int[Array, " n"], phase: Int[Array, " n"]
) -> tuple[Int[Array, " n"], Int[Array, ""]]:
    """The walkers' phases, and whether one has just ended a round trip."""
    coldest, hottest = walker[-1], walker[0]
    arrived = (phase[coldest] == 2).astype(jnp.int32)
    phase = phase.at[coldest].set(1)
    return phase.at[hottest].set(jnp.where(phase[hottest] == 1, 2, phase[hottest])), arrived
