"""The inverse proposal: walk backwards from x (Eq. inv_proposal).

    s_x(x_0..x_{t-1}) = Geo(t) prod_{i=0}^{t-1} A'(x_i | x_{i+1}),

with Geo a geometric distribution truncated at max_edits and A' an editor that is not trained,
uniform over single-site changes unless another is given. With `repeats=False` no site is changed
twice, as in the paper's appendix: such walks are shortest paths only, so the estimate of
grad log q(x) keeps a bias however many are drawn. With repeats (the default) the bias vanishes.

n draws for one x are not independent, which saves most of the work of scoring them. They are
stratified by length: draw j has its length from the j-th n-th part of Geo, so the number of edits
in a batch hardly varies and little room is wasted. And draws that cannot have the same length share
one backward walk, the shorter being a part of the longer, so their common edits are scored once.
The average law of the n draws is still s_x.
"""

from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int, Key
from scipy.special import gammaln

from aloex.base.errors import require
from aloex.proposals.quantiles import sum_quantiles
from aloex.spaces import Space, require_fixed_length
from aloex.trajectory import BufferSizes, Trajectory

RISK = 1e-6  # accepted probability that a batch overflows a buffer, and trajectories are left out


class Inverse(eqx.Module):
    """Backward walks of geometric length; see the module's docstring.

    Args:
        editor: A', which draws the state before; None is uniform over single-site changes.
        space: what x is, `Bits` or categories.
        max_edits: bound on the length of a walk; that of the search which is trained.
        walk_stop_prob: probability that a walk stops, at each step.
        repeats: whether a site may be changed twice.

    Example:
        >>> import jax
        >>> from aloex import proposals, spaces
        >>> space = spaces.Bits(4)
        >>> proposal = proposals.Inverse(space=space, max_edits=3)
        >>> x = space.sample(jax.random.key(0))
        >>> trajectory, log_s = proposal.sample(jax.random.key(1), x)
        >>> bool((trajectory.last == x).all())
        True
        >>> bool(abs(log_s - proposal.log_prob(trajectory)) < 1e-5)
        True
    """

    editor: Any = None
    space: Space = eqx.field(static=True, kw_only=True)
    max_edits: int = eqx.field(static=True, kw_only=True)
    walk_stop_prob: float = eqx.field(static=True, kw_only=True, default=0.5)
    repeats: bool = eqx.field(static=True, kw_only=True, default=True)

    def __check_init__(self):
        require_fixed_length(self.space, "Inverse")
        require(self.max_edits >= 0, f"max_edits must not be negative, got {self.max_edits}")
        require(
            0 < self.walk_stop_prob < 1,
            f"walk_stop_prob must be in (0, 1), got {self.walk_stop_prob}",
        )
        require(
            self.repeats or (self.max_edits <= self.space.dim and self.editor is None),
            f"repeats=False needs the uniform editor and max_edits <= {self.space.dim} sites, "
            f"got max_edits={self.max_edits}",
        )

    def _length_probs(self) -> np.ndarray:
        probs = self.walk_stop_prob * (1 - self.walk_stop_prob) ** np.arange(self.max_edits + 1)
        return probs / probs.sum()

    def _log_walk_probs(self) -> np.ndarray:
        """log prod A' of a uniform walk of t = 0..max_edits steps."""
        t, dim = np.arange(self.max_edits + 1), self.space.dim
        sites = gammaln(dim + 1) - gammaln(dim - t + 1) if not self.repeats else t * np.log(dim)
        return -sites - t * np.log(self.space.num_values - 1)

    def sample(
        self, key: Key[Array, ""], x: Int[Array, " dim"], z: Array | None = None
    ) -> tuple[Trajectory, Float[Array, ""]]:
        """One trajectory to x and log s_x of it."""
        trajectories, log_s = self.sample_many(key, x, z, 1)
        return jax.tree.map(lambda a: a[0], trajectories), log_s[0]

    def sample_many(
        self, key: Key[Array, ""], x: Int[Array, " dim"], z: Array | None, n: int
    ) -> tuple[Trajectory, Float[Array, " n"]]:
        """n stratified trajectories to x, and log s_x of each."""
        key_length, key_walk = jax.random.split(key)
        probs, walk = self._length_probs(), self._walk_of_draw(n)
        u = (jnp.arange(n) + jax.random.uniform(key_length, (n,))) / n
        num_edits = jnp.sum(u[:, None] >= np.cumsum(probs)[:-1], axis=1, dtype=jnp.int32)
        keys = jax.random.split(key_walk, walk.max() + 1)
        if self.editor is None:
            backwards = jax.vmap(lambda k: self._uniform_walk(k, x))(keys)
            log_walk = jnp.asarray(self._log_walk_probs())[num_edits]
        else:
            backwards, log_walks = jax.vmap(lambda k: self._editor_walk(k, x, z))(keys)
            log_walk = log_walks[walk, num_edits]
        # x_i is i steps from the walk's far end; after x_t comes padding, which is x again.
        step = jnp.maximum(num_edits[:, None] - jnp.arange(self.max_edits + 1), 0)
        states = backwards[walk[:, None], step]
        return Trajectory(states, num_edits), jnp.asarray(np.log(probs))[num_edits] + log_walk

    def _stratified(self, n: int) -> np.ndarray:
        """[j, t]: probability that draw j of n has length t."""
        cdf = np.concatenate([[0.0], np.cumsum(self._length_probs())])
        cuts = np.arange(n + 1) / n
        overlap = np.minimum(cuts[1:, None], cdf[1:]) - np.maximum(cuts[:-1, None], cdf[:-1])
        return n * np.where(overlap > 1e-12, overlap, 0)

    def _walk_of_draw(self, n: int) -> np.ndarray:
        """Which walk each draw follows: the longest first, each joins where all are longer."""
        walk, shortest, probs = np.zeros(n, int), [], self._stratified(n)
        for j in reversed(range(n)):
            lengths = np.flatnonzero(probs[j])
            joins = [w for w, least in enumerate(shortest) if lengths.max() < least]
            if joins:
                walk[j] = joins[0]
                shortest[joins[0]] = lengths.min()
            elif lengths.max() > 0 or not shortest:
                walk[j] = len(shortest)
                shortest.append(lengths.min())
        return walk

    def _uniform_walk(self, key: Array, x: Array) -> Int[Array, "steps dim"]:
        """x and max_edits uniform changes of it, each state a step from the one before."""
        dim, num_values, steps = self.space.dim, self.space.num_values, self.max_edits
        key_site, key_value = jax.random.split(key)
        if self.repeats:
            sites = jax.random.randint(key_site, (steps,), 0, dim)
        else:
            sites = jax.random.permutation(key_site, dim)[:steps]
        shifts = jax.nn.one_hot(sites, dim, dtype=jnp.int32)
        if num_values > 2:
            shifts *= jax.random.randint(key_value, (steps, 1), 1, num_values)
        total = jnp.pad(jnp.cumsum(shifts, axis=0), ((1, 0), (0, 0)))
        return (x + total) % num_values

    def _editor_walk(self, key: Array, x: Array, z: Array | None) -> tuple[Array, Array]:
        def back(x: Array, key: Array) -> tuple[Array, tuple[Array, Array]]:
            before = self.editor.sample(key, x, z)
            return before, (before, self.editor.log_prob(x, before, z))

        _, (states, log_steps) = jax.lax.scan(back, x, jax.random.split(key, self.max_edits))
        return jnp.concatenate([x[None], states]), jnp.pad(jnp.cumsum(log_steps), (1, 0))

    def log_prob(self, trajectory: Trajectory, z: Array | None = None) -> Float[Array, ""]:
        """log s_x of a trajectory, x being its end; -inf where it cannot be drawn."""
        before, after = trajectory.x[:-1], trajectory.x[1:]
        made = jnp.arange(self.max_edits) < trajectory.num_edits
        log_length = jnp.asarray(np.log(self._length_probs()))[trajectory.num_edits]
        if self.editor is not None:
            log_steps = jax.vmap(lambda y, x: self.editor.log_prob(y, x, z))(after, before)
            return log_length + jnp.where(made, log_steps, 0).sum()
        changed = before != after
        possible = jnp.all(changed.sum(axis=1) == made)
        if not self.repeats:
            possible &= jnp.all(changed.sum(axis=0) <= 1)
        log_walk = jnp.asarray(self._log_walk_probs())[trajectory.num_edits]
        return jnp.where(possible, log_length + log_walk, -jnp.inf)

    def buffer_sizes(self, num_targets: int, n: int) -> BufferSizes:
        """Rows enough to score n trajectories for each target, in all but a share RISK of batches.

        Args:
            num_targets: states x in a batch.
            n: trajectories for each of them.

        Returns:
            The sizes of the buffers in which they are scored.
        """
        if self.max_edits == 0:
            return BufferSizes(0, 0, (0,) * self.space.dim)
        lengths, walk = self._stratified(n), self._walk_of_draw(n)
        # What counts is how many steps a walk serves: P(draw >= l) for each draw and l = 1, 2, ...
        reaches = [lengths[walk == w][::-1, ::-1].cumsum(axis=1)[:, ::-1] for w in set(walk)]
        walks, copies = _distinct(reaches)
        enough = lambda counts: sum_quantiles(counts, copies, num_targets, risk=RISK)
        (edits,) = enough([-np.diff(reach[:1], append=0) for reach in walks])
        (starts,) = enough([_count(reach[:, 1])[None] for reach in walks])
        if self.editor is not None:
            return BufferSizes(edits, starts, (starts,) * self.space.dim)
        # If step l of a walk is the first to touch a site before i, draws of length >= l changed.
        # (Row l - 1 of `touched` is that probability; the last row is "never".)
        touched = -np.diff(self._untouched_before(), axis=0, append=0)
        counts = [
            np.stack([_count(p) for p in reach[:, 1:].T] + [_count(reach[:, 0] * 0)])
            for reach in walks
        ]
        changed_before = tuple(enough([touched.T @ count for count in counts]))
        return BufferSizes(edits, starts, changed_before)

    def _untouched_before(self) -> np.ndarray:
        """[t, i]: probability that t steps all fall on site i or later."""
        t, dim = np.arange(self.max_edits + 1)[:, None], self.space.dim
        later = dim - np.arange(dim)[None, :]
        if self.repeats:
            return (later / dim) ** t
        log_share = gammaln(later + 1) - gammaln(np.maximum(later - t, 0) + 1)
        log_share = log_share - (gammaln(dim + 1) - gammaln(dim - t + 1))
        return np.where(t <= later, np.exp(log_share), 0)


def _count(probs: np.ndarray) -> np.ndarray:
    """The distribution of the number of successes in independent trials."""
    pmf = np.ones(1)
    for p in np.clip(probs, 0, 1):
        pmf = np.convolve(pmf, [1 - p, p])
    return pmf


def _distinct(walks: list[np.ndarray]) -> tuple[list[np.ndarray], list[int]]:
    """The different walks and how often each occurs: with many draws most walks are alike."""
    groups: dict[bytes, list[np.ndarray]] = {}
    for reach in walks:
        groups.setdefault(reach.round(12).tobytes(), []).append(reach)
    return [same[0] for same in groups.values()], [len(same) for same in groups.values()]
