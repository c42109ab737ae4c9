"""The Hamming ball sampler: redraw a block of sites among the values near those of a random centre.

A step picks a block of sites at random. In it, the ball of x holds the states that differ from x in
at most `radius` sites. First a centre u is drawn from the ball of x, all members alike; then x' is
drawn from the ball of u, with probability in proportion to exp f(x'). Both are Gibbs steps on
p(x) p(u | x), so p_f is left unchanged (Titsias and Yau 2017). So up to 2 radius sites change at
the price of a ball, far below the K^b values of the block.
"""

from itertools import combinations

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int, Key

from aloex.base.errors import require
from aloex.cursor import Cursor, Energy, check_energy, refresh, start
from aloex.kernels import blocks
from aloex.kernels.base import check_same_space, check_space, checked_state, num_changed
from aloex.kernels.gibbs import GibbsInfo
from aloex.spaces import Space


class HammingBall(eqx.Module):
    """One block of sites, redrawn within a ball.

    Args:
        space: what x is, `Bits`, `Categorical` or `Mixed`.
        block_size: sites of a block; all, up to 16, unless given.
        radius: sites that differ from the centre, at most. A ball has at most 2^14 members.

    Example:
        >>> import jax, jax.numpy as jnp
        >>> from aloex import kernels, spaces
        >>> kernel = kernels.HammingBall(spaces.Bits(4), radius=2)
        >>> pairs = lambda x, z=None: 50.0 * (x[0] * x[1] + x[2] * x[3])  # worth nothing singly
        >>> x = jnp.zeros(4, jnp.int32)
        >>> kernels.run(kernel, jax.random.key(0), x, pairs, num_steps=10).tolist()
        [1, 1, 1, 1]
    """

    space: Space = eqx.field(static=True)
    block_size: int = eqx.field(static=True)
    radius: int = eqx.field(static=True)

    def __init__(self, space: Space, *, block_size: int | None = None, radius: int = 1):
        check_space(space, "HammingBall")
        self.space, self.radius = space, radius
        self.block_size = min(space.dim, 16) if block_size is None else block_size
        blocks.check_block_size(space, self.block_size)
        require(
            1 <= radius <= self.block_size,
            f"radius must be in 1..{self.block_size}, the sites of a block, got {radius}",
        )
        blocks.all_shifts(space, self.block_size, radius)

    def init(
        self, key: Key[Array, ""], x: Int[Array, " dim"], f: Energy, z: Array | None = None
    ) -> Cursor:
        """A chain at x; needs no randomness."""
        cursor = start(f, checked_state(self.space, x), z)
        check_energy(cursor.value)
        return cursor

    def step(self, key: Key[Array, ""], state: Cursor, f: Energy) -> tuple[Cursor, GibbsInfo]:
        """A centre, and a draw around it."""
        key_sites, key_centre, key_value = jax.random.split(key, 3)
        sites = blocks.random_block(key_sites, self.space, self.block_size)
        centre = jax.random.categorical(key_centre, self._log_centres(state.x, sites))
        here, shifts = refresh(f, state), self._shifts(centre)
        after = blocks.redraw(key_value, f, self.space, here, sites, shifts)
        count = jnp.asarray(len(self._ball()) - 1, jnp.int32)
        return after, GibbsInfo(num_changed(state.x, after.x), count)

    def _ball(self) -> Int[np.ndarray, "ball block_size"]:
        """The members of a ball, as shifts from its centre."""
        return blocks.all_shifts(self.space, self.block_size, self.radius)

    def _log_centres(
        self, x: Int[Array, " dim"], sites: Int[Array, " block_size"]
    ) -> Float[Array, " ball"]:
        """log p(u | x), not normalised: the same for all members, -inf for what is no state.

        A site has as many other values wherever it stands, so that all balls of a block are of the
        same size, and p(u | x) = p(x | u).
        """
        return blocks.shifted(self.space, x, sites, jnp.asarray(self._ball()))[1]

    def _shifts(self, centre: Int[Array, ""]) -> Int[Array, "ball block_size"]:
        """The members of the ball around a centre; first x itself, whose energy is known."""
        ball = self._ball()
        undo = _numbers_of(-ball % self.space.num_values, ball)
        order = (jnp.asarray(undo)[centre] + jnp.arange(len(ball))) % len(ball)
        return (jnp.asarray(ball)[centre] + jnp.asarray(ball)[order]) % self.space.num_values

    def transition_matrix(
        self, space: Space, f: Energy, z: Array | None = None
    ) -> Float[Array, "size size"]:
        """The matrix K[x, x'] of a step, by enumeration of this kernel's space."""
        check_same_space(space, self.space)
        centres = jnp.arange(len(self._ball()))
        every = np.array(list(combinations(range(space.dim), self.block_size)))

        def row(sites: Array, x: Array) -> Float[Array, " size"]:
            cursor = start(f, x, z)
            around = lambda centre: blocks.candidates(f, space, cursor, sites, self._shifts(centre))
            others, scores = jax.vmap(around)(centres)
            probs = jax.nn.softmax(self._log_centres(x, sites))[:, None] * jax.nn.softmax(scores)
            itself = jnp.broadcast_to(x, (len(centres), 1, space.dim))
            to = jax.vmap(jax.vmap(space.index))(jnp.concatenate([itself, others.x], axis=1))
            return jnp.zeros(space.size, probs.dtype).at[to].add(probs, mode="drop")

        rows = lambda sites: jax.vmap(lambda x: row(sites, x))(space.enumerate())
        return jax.vmap(rows)(jnp.asarray(every)).mean(axis=0)


def _numbers_of(rows: np.ndarray, table: np.ndarray) -> np.ndarray:
    """Where each row is in the table."""
    number = {tuple(row): i for i, row in enumerate(table.tolist())}
    return np.array([number[tuple(row)] for row in rows.tolist()])
