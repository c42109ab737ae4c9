"""The edit distance proposal: start from q0, walk the shortest way to x (Eq. short_proposal).

    s_x(x_0..x_{t-1}) = q0(x_0) [t = d(x_0, x)] W(x_0..x_t) / N(x_0, x).

N counts the shortest lists of edits from x_0 to x, one of which is drawn uniformly, and W those of
them that pass through the states x_0..x_t. The paper leaves the choice of a shortest path open.

- Bits and categories: d is the Hamming distance, an edit sets a site to its value in x, so the t
  edits come in any order: N = t! and W = 1.
- Sequences: d is the Levenshtein distance, an edit inserts, deletes or replaces one token. N is
  counted in `alignment`, over the lists whose states all fit in max_length. W is the product of
  m(x_i, x_{i+1}), the number of edits that turn x_i into x_{i+1}: 1 for a replacement, the length
  of the run for a token inserted into, or deleted from, a run of its equals.

The support is shortest paths only: the estimate of grad log q(x) keeps a bias however many are
drawn, unless the editor makes shortest paths only. No gradient goes through s_x, neither to q0 nor
to z.
"""

from typing import Any, Protocol, runtime_checkable

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, Int, Key

from aloex.base.errors import InputError, require
from aloex.proposals import alignment
from aloex.spaces import Sequences, Space
from aloex.trajectory import BufferSizes, Trajectory


@runtime_checkable
class StartSampler(Protocol):
    """What a q0 offers."""

    def sample(self, key: Any, z: Any = None) -> Array: ...
    def log_prob(self, x: Any, z: Any = None) -> Array: ...


@runtime_checkable
class HasStart(Protocol):
    """What `following` asks of a search."""

    @property
    def q0(self) -> Any: ...


class EditDistance(eqx.Module):
    """Shortest paths from a draw of q0; see the module's docstring.

    Args:
        q0: where paths start. None waits for that of the q which is being trained: training asks
            for `following(q)` in each step, so that starts are always the current q0's.
        space: what x is.
        max_edits: at least the largest distance between two states, `space.dim`.

    Example:
        >>> import jax
        >>> from aloex import proposals, samplers, spaces
        >>> space = spaces.Bits(4)
        >>> proposal = proposals.EditDistance(samplers.Factorized(space), space=space, max_edits=4)
        >>> x = space.sample(jax.random.key(0))
        >>> trajectory, log_s = proposal.sample(jax.random.key(1), x)
        >>> bool((trajectory.last == x).all())
        True
        >>> int((trajectory.first != x).sum() - trajectory.num_edits)  # a shortest path
        0
    """

    q0: StartSampler | None = None
    space: Space = eqx.field(static=True, kw_only=True)
    max_edits: int = eqx.field(static=True, kw_only=True)

    def __check_init__(self):
        require(
            self.max_edits >= self.space.dim,
            f"edit distance proposals need max_edits >= {self.space.dim}, the largest distance in "
            f"{self.space}, got max_edits={self.max_edits}",
        )

    def following(self, q: HasStart) -> "EditDistance":
        """The same proposal with the q0 of a search; no gradient goes to it."""
        trained, fixed = eqx.partition(q.q0, eqx.is_inexact_array)
        q0 = eqx.combine(jax.lax.stop_gradient(trained), fixed)
        return EditDistance(q0, space=self.space, max_edits=self.max_edits)

    @property
    def _start(self) -> StartSampler:
        if self.q0 is None:
            raise InputError(
                "this EditDistance has no q0 yet: use proposal.following(q), or give it a q0"
            )
        return self.q0

    def sample(
        self, key: Key[Array, ""], x: Int[Array, " dim"], z: Array | None = None
    ) -> tuple[Trajectory, Float[Array, ""]]:
        """One trajectory to x and log s_x of it."""
        key_start, key_path = jax.random.split(key)
        x_0 = self._start.sample(key_start, z).astype(x.dtype)
        if isinstance(self.space, Sequences):
            trajectory, log_num = self._sequence_path(key_path, x_0, x, self.space.pad)
        else:
            trajectory, log_num = self._site_path(key_path, x_0, x)
        return trajectory, self._log_start(x_0, z) + self._log_ways(trajectory) - log_num

    def sample_many(
        self, key: Key[Array, ""], x: Int[Array, " dim"], z: Array | None, n: int
    ) -> tuple[Trajectory, Float[Array, " n"]]:
        """n independent trajectories to x, and log s_x of each."""
        return jax.vmap(lambda k: self.sample(k, x, z))(jax.random.split(key, n))

    def _site_path(self, key: Array, x_0: Array, x: Array) -> tuple[Trajectory, Float[Array, ""]]:
        """Set the sites that differ in random order; also log N."""
        differs = x_0 != x
        order = jnp.argsort(jnp.where(differs, jax.random.uniform(key, x.shape), jnp.inf))
        states = self._states(x_0, x, jnp.argsort(order))
        num_edits = jnp.sum(differs, dtype=jnp.int32)
        return Trajectory(states, num_edits), jax.lax.lgamma(num_edits + 1.0)

    def _sequence_path(
        self, key: Array, x_0: Array, x: Array, pad: int
    ) -> tuple[Trajectory, Float[Array, ""]]:
        """Align x_0 and x, edit the columns in random order; also log N."""
        key_alignment, key_order = jax.random.split(key)
        scripts = alignment.count_scripts(x_0, x, pad)
        columns = alignment.sample_alignment(key_alignment, scripts, x_0, x, pad)
        turns = alignment.sample_order(key_order, columns, pad)
        states = jax.vmap(lambda row: alignment.close_gaps(row, x.size, pad))(
            self._states(columns.source, columns.target, turns)
        )
        return Trajectory(states, scripts.distance), scripts.log_num

    def _states(self, source: Array, target: Array, turns: Array) -> Int[Array, "steps columns"]:
        """State i shows the target where the edit's turn is before i, the source elsewhere."""
        done = turns < jnp.arange(self.max_edits + 1)[:, None]
        return jnp.where(done, target, source)

    def log_prob(self, trajectory: Trajectory, z: Array | None = None) -> Float[Array, ""]:
        """log s_x of a trajectory, x being its end; -inf where it cannot be drawn."""
        x_0, x = trajectory.first, trajectory.last
        if isinstance(self.space, Sequences):
            scripts = alignment.count_scripts(x_0, x, self.space.pad)
            distance, log_num = scripts.distance, scripts.log_num
        else:
            distance = jnp.sum(x_0 != x)
            log_num = jax.lax.lgamma(distance + 1.0)
        log_s = self._log_start(x_0, z) + self._log_ways(trajectory) - log_num
        return jnp.where(trajectory.num_edits == distance, log_s, -jnp.inf)

    def _log_start(self, x_0: Array, z: Array | None) -> Float[Array, ""]:
        return jax.lax.stop_gradient(self._start.log_prob(x_0, z))

    def _log_ways(self, trajectory: Trajectory) -> Float[Array, ""]:
        """log W; -inf where a step is not one edit or the padding is not x."""
        before, after = trajectory.x[:-1], trajectory.x[1:]
        made = jnp.arange(trajectory.max_edits) < trajectory.num_edits
        differences = jnp.sum(before != after, axis=1)
        if isinstance(self.space, Sequences):
            pad = self.space.pad
            ways = jax.vmap(lambda x, y: alignment.count_edits(x, y, pad))(before, after)
        else:
            ways = differences == 1
        return jnp.sum(jnp.log(jnp.where(made, ways, differences == 0).astype(float)))

    def buffer_sizes(self, num_targets: int, n: int) -> BufferSizes:
        """Nothing is known about the distances from q0, so room for the longest."""
        rows = num_targets * n
        return BufferSizes(rows * self.max_edits, rows, (rows,) * self.space.dim)
