"""A backward law that is learned: walk back from x by an editor and a stop policy of its own.

    b(x_0..x_{t-1} | x_t) = prod_{i=t}^1 (1 - b_stop(x_i)) b_A(x_{i-1} | x_i) b_stop(x_0),

where the last factor is 1 at t = max_edits. It is learned by maximum likelihood on trajectories
that q has drawn: at its best b is q(trajectory | x), and then all trajectories to x have the same
weight q / b. A law that is fixed can give much of its mass to trajectories that q never draws. An
estimate of q(x) from few trajectories is then off, and no draw of q shows it.

A small share of the draws comes from the inverse proposal, so that all that q can draw is possible:

    s_x = (1 - inverse_share) b + inverse_share inverse.
"""

from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int, Key

from aloex.base.errors import require
from aloex.proposals.inverse import Inverse
from aloex.samplers import LocalSearch
from aloex.trajectory import BufferSizes, Trajectory


class LearnedInverse(eqx.Module):
    """Backward walks by learned edits; see the module's docstring.

    Args:
        editor: b_A, which draws the state before (`Flip`, `PositionValue`).
        stop: b_stop, the log-odds that a state is x_0 (`Stop`).
        inverse: what the rest of the draws come from; it tells space and max_edits.
        inverse_share: how many of them, in (0, 1).

    Example:
        >>> import jax
        >>> from aloex import proposals, samplers, spaces
        >>> space, keys = spaces.Bits(4), jax.random.split(jax.random.key(0), 4)
        >>> proposal = proposals.LearnedInverse(
        ...     samplers.Flip(space, hidden=(4,), key=keys[0]),
        ...     samplers.Stop(space, hidden=(4,), key=keys[1]),
        ...     proposals.Inverse(space=space, max_edits=3),
        ... )
        >>> x = space.sample(keys[2])
        >>> trajectory, log_s = proposal.sample(keys[3], x)
        >>> bool((trajectory.last == x).all()), bool(log_s < 0)
        (True, True)
    """

    editor: Any
    stop: Any
    inverse: Inverse
    inverse_share: float = eqx.field(static=True, default=0.05)

    def __check_init__(self):
        require(
            0 < self.inverse_share < 1,
            f"inverse_share must be in (0, 1), got {self.inverse_share}",
        )

    @property
    def space(self) -> Any:
        """What x is."""
        return self.inverse.space

    @property
    def max_edits(self) -> int:
        """Bound on the length of a walk."""
        return self.inverse.max_edits

    def sample(
        self, key: Key[Array, ""], x: Int[Array, " dim"], z: Array | None = None
    ) -> tuple[Trajectory, Float[Array, ""]]:
        """One trajectory to x and log s_x of it."""
        key_which, key_inverse, key_walk = jax.random.split(key, 3)
        from_inverse, _ = self.inverse.sample(key_inverse, x, z)
        walked = _reversed(self._walks_from(x).sample(key_walk, z))
        is_inverse = jax.random.bernoulli(key_which, self.inverse_share)
        pick = lambda a, b: jnp.where(is_inverse, a, b)
        trajectory = jax.tree.map(pick, from_inverse, walked)
        return trajectory, self.log_prob(trajectory, z)

    def sample_many(
        self, key: Key[Array, ""], x: Int[Array, " dim"], z: Array | None, n: int
    ) -> tuple[Trajectory, Float[Array, " n"]]:
        """n independent trajectories to x, and log s_x of each."""
        return jax.vmap(lambda k: self.sample(k, x, z))(jax.random.split(key, n))

    def log_prob(self, trajectory: Trajectory, z: Array | None = None) -> Float[Array, ""]:
        """log s_x of a trajectory, x being its end."""
        learned = self.log_prob_learned(trajectory, z)
        return jnp.logaddexp(
            np.log1p(-self.inverse_share) + learned,
            np.log(self.inverse_share) + self.inverse.log_prob(trajectory, z).astype(learned.dtype),
        )

    def log_prob_learned(self, trajectory: Trajectory, z: Array | None = None) -> Float[Array, ""]:
        """log b of a trajectory: what is maximised."""
        return self._walks_from(trajectory.last).log_prob(_reversed(trajectory), z)

    def buffer_sizes(self, num_targets: int, n: int) -> BufferSizes:
        """Rows enough to score any n trajectories for each target."""
        every = num_targets * n
        return BufferSizes(every * self.max_edits, every, (every,) * self.space.dim)

    def _walks_from(self, x: Int[Array, " dim"]) -> LocalSearch:
        """The search that begins at x: a walk back is one of its runs."""
        return LocalSearch(_Point(x), self.editor, self.stop, self.max_edits)


class _Point(eqx.Module):
    """All mass on one state."""

    x: Int[Array, " dim"]

    def sample(self, key: Key[Array, ""], z: Array | None = None) -> Int[Array, " dim"]:
        return self.x

    def log_prob(self, x: Int[Array, " dim"], z: Array | None = None) -> Float[Array, ""]:
        return jnp.zeros(())


def _reversed(trajectory: Trajectory) -> Trajectory:
    """x_t, ..., x_0, padded with x_0: what was an end is the start."""
    steps = jnp.arange(trajectory.max_edits + 1)
    backwards = trajectory.x[jnp.maximum(trajectory.num_edits - steps, 0)]
    return Trajectory(backwards, trajectory.num_edits)
