"""Metropolis-Hastings with a learned search: proposals come from q, wherever the chain is.

A search draws a trajectory tau with probability q(tau). How likely it is to end in x by any way is
a sum that nobody can compute. With a backward law s(tau | x) over the trajectories that end in x
the chain can do without it. Its states are pairs of x and tau, with the law p_f(x) s(tau | x), and
a step has two parts that leave it unchanged:

1. draw tau from s(. | x) anew, a Gibbs step;
2. draw a trajectory tau' from q, which ends in x', and accept it with probability

       min(1, w(tau') / w(tau)),  w(tau) = exp f(x) s(tau | x) / q(tau).

So p_f is left unchanged whatever q and s are, and the chain gets there sooner the better q knows
p_f and s knows q. (Importance weights in the place of an intractable density: Andrieu and Roberts
2009.) Every state must be the end of a trajectory that both q and s can draw.
"""

from typing import NamedTuple, Protocol, runtime_checkable

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, Int, Key

from aloex import exact
from aloex.base.errors import require
from aloex.cursor import Energy, check_energy
from aloex.kernels import metropolis_hastings as mh
from aloex.kernels.base import check_same_space, check_space, checked_state, num_changed
from aloex.kernels.metropolis_hastings import MetropolisInfo
from aloex.spaces import Space, contains
from aloex.trajectory import Trajectory


@runtime_checkable
class Search(Protocol):
    """What draws trajectories and scores them, such as `samplers.LocalSearch`.

    Example:
        >>> from aloex import kernels, samplers, spaces
        >>> q = samplers.LocalSearch(samplers.Factorized(spaces.Bits(2)))
        >>> isinstance(q, kernels.Search)
        True
    """

    def sample(self, key: Key[Array, ""], z: Array | None = None, /) -> Trajectory:
        """A trajectory."""
        ...

    def log_prob(self, trajectory: Trajectory, z: Array | None = None, /) -> Float[Array, ""]:
        """log q of it."""
        ...


@runtime_checkable
class Backward(Protocol):
    """A law of trajectories that end in a given x, such as `proposals.Inverse`.

    Example:
        >>> from aloex import kernels, proposals, spaces
        >>> isinstance(proposals.Inverse(space=spaces.Bits(2), max_edits=1), kernels.Backward)
        True
    """

    def sample(
        self, key: Key[Array, ""], x: Int[Array, " dim"], z: Array | None = None, /
    ) -> tuple[Trajectory, Float[Array, ""]]:
        """A trajectory that ends in x, and log s of it."""
        ...

    def log_prob(self, trajectory: Trajectory, z: Array | None = None, /) -> Float[Array, ""]:
        """log s of a trajectory, given its end."""
        ...


class SearchState(NamedTuple):
    x: Int[Array, " dim"]
    z: Array | None
    value: Float[Array, ""]  # f(x, z)
    trajectory: Trajectory  # that ends in x
    log_s_less_log_q: Float[Array, ""]  # of the trajectory


class SearchMetropolis(eqx.Module):
    """Independent proposals of a learned search, with an exact test on trajectories.

    Args:
        q: draws trajectories (`samplers.LocalSearch`).
        backward: the law of trajectories given their end, with as many edits as q makes at most
            (`proposals.Inverse`, or a learned one).
        space: what x is. What q draws outside of it is refused.

    Example:
        >>> import jax, jax.numpy as jnp
        >>> from aloex import kernels, proposals, samplers, spaces
        >>> space = spaces.Bits(3)
        >>> q = samplers.LocalSearch(samplers.Factorized(space))  # draws x_0 and makes no edits
        >>> backward = proposals.Inverse(space=space, max_edits=0)
        >>> kernel = kernels.SearchMetropolis(q, backward, space=space)
        >>> likes_ones = lambda x, z=None: 9.0 * jnp.sum(x)
        >>> x = jnp.zeros(3, jnp.int32)
        >>> kernels.run(kernel, jax.random.key(0), x, likes_ones, num_steps=50).tolist()
        [1, 1, 1]
    """

    q: Search
    backward: Backward
    space: Space = eqx.field(static=True, kw_only=True)

    def __check_init__(self):
        check_space(self.space, "SearchMetropolis", fixed_length=False)

    def init(
        self, key: Key[Array, ""], x: Int[Array, " dim"], f: Energy, z: Array | None = None
    ) -> SearchState:
        """A chain at x, with a trajectory from the backward law.

        Raises:
            InputError: as for `Gibbs`; or q and the backward law differ in how many edits a
                trajectory may have.
        """
        x = checked_state(self.space, x)
        ours, theirs = (
            jax.eval_shape(draw, key).x.shape
            for draw in (lambda k: self.q.sample(k, z), lambda k: self.backward.sample(k, x, z)[0])
        )
        require(
            ours == theirs and ours[-1:] == x.shape,
            f"q and the backward law must make trajectories of the same shape (edits + 1, sites), "
            f"got {ours} from q and {theirs}; give both the same max_edits",
        )
        value = f(x, z)
        check_energy(value)
        return self._with_new_trajectory(key, x, z, value)

    def step(
        self, key: Key[Array, ""], state: SearchState, f: Energy
    ) -> tuple[SearchState, MetropolisInfo]:
        """A new trajectory for x, and one proposal of q: one evaluation of f."""
        key_back, key_search, key_accept = jax.random.split(key, 3)
        current = self._with_new_trajectory(key_back, state.x, state.z, state.value)
        trajectory = self.q.sample(key_search, state.z)
        proposed = self._proposed(trajectory, state.z, f)
        after, acceptance = mh.accept(key_accept, _log_ratio(current, proposed), current, proposed)
        info = MetropolisInfo(acceptance, num_changed(state.x, after.x), jnp.ones((), jnp.int32))
        return after, info

    def _with_new_trajectory(
        self, key: Key[Array, ""], x: Int[Array, " dim"], z: Array | None, value: Float[Array, ""]
    ) -> SearchState:
        trajectory, log_s = self.backward.sample(key, x, z)
        log_ratio = (log_s - self.q.log_prob(trajectory, z)).astype(value.dtype)
        return SearchState(x, z, value, trajectory, log_ratio)

    def _proposed(self, trajectory: Trajectory, z: Array | None, f: Energy) -> SearchState:
        """The state at the end of a trajectory; f is -inf outside of the space."""
        x = trajectory.last
        value = jnp.where(contains(self.space, x), f(x, z), -jnp.inf)
        log_ratio = self.backward.log_prob(trajectory, z) - self.q.log_prob(trajectory, z)
        return SearchState(x, z, value, trajectory, log_ratio.astype(value.dtype))

    def transition_matrix(
        self, space: Space, f: Energy, z: Array | None = None
    ) -> Float[Array, "size size"]:
        """The matrix K[x, x'] of a step, by enumeration of this kernel's space and trajectories.

        For searches by single-site edits; outside compiled code their number of edits is found by
        drawing one.
        """
        check_same_space(space, self.space)
        drawn = jax.eval_shape(lambda k: self.q.sample(k, z), jax.random.key(0))
        with jax.ensure_compile_time_eval():
            states = list(space.enumerate())
            ending = [exact.trajectories(space, x, drawn.max_edits) for x in states]
        every = jax.tree.map(lambda *parts: jnp.concatenate(parts), *ending)
        proposed = jax.vmap(lambda t: self._proposed(t, z, f))
        states = proposed(every)._replace(z=None)
        log_q = jax.vmap(lambda t: self.q.log_prob(t, z))(every)
        pairs = jax.vmap(jax.vmap(_log_ratio, in_axes=(None, 0)), in_axes=(0, None))
        matrix = mh.transition_matrix(
            jnp.broadcast_to(log_q, (len(log_q), len(log_q))), pairs(states, states), states.value
        )
        # Of trajectories; to those of states, each of which begins with a draw of s.
        ends = jax.nn.one_hot(jax.vmap(space.index)(states.x), space.size, dtype=matrix.dtype)
        s = jnp.exp(jax.vmap(lambda t: self.backward.log_prob(t, z))(every))
        return (ends * s[:, None]).T @ matrix @ ends


def _log_ratio(current: SearchState, proposed: SearchState) -> Float[Array, ""]:
    """log w(tau') - log w(tau)."""
    log_w = lambda state: state.value + state.log_s_less_log_q
    return log_w(proposed) - log_w(current)
