"""Block Gibbs sampling: redraw a few sites together from their joint conditional.

A block B of b sites takes the values v with probability p(x_B = v | rest) ~ exp f(x with x_B = v),
all K^b of them being evaluated. Sites that hold each other fast one at a time move together.
"""

from itertools import combinations
from typing import Literal

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


class BlockGibbs(eqx.Module):
    """A sweep over blocks of sites; ceil(dim / block_size) updates a step.

    Args:
        space: what x is, `Bits`, `Categorical` or `Mixed`.
        block_size: sites in a block. At most 2^14 values of a block are evaluated.
        scan: `systematic` (neighbouring sites, in order; the last block overlaps the one before it
            if it must) or `random` (each block is a new random set of sites).

    Example:
        >>> import jax, jax.numpy as jnp
        >>> from aloex import kernels, spaces
        >>> kernel = kernels.BlockGibbs(spaces.Bits(4), block_size=2)
        >>> pairs = lambda x, z=None: 50.0 * (x[0] * x[1] + x[2] * x[3])  # worth nothing singly
        >>> kernels.run(kernel, jax.random.key(0), jnp.zeros(4, jnp.int32), pairs).tolist()
        [1, 1, 1, 1]
    """

    space: Space = eqx.field(static=True)
    block_size: int = eqx.field(static=True, kw_only=True, default=2)
    scan: Literal["systematic", "random"] = eqx.field(
        static=True, kw_only=True, default="systematic"
    )

    def __check_init__(self):
        check_space(self.space, "BlockGibbs")
        blocks.check_block_size(self.space, self.block_size)
        blocks.all_shifts(self.space, self.block_size, self.block_size)
        scans = ("systematic", "random")
        require(self.scan in scans, f"scan must be one of {scans}, got {self.scan!r}")

    def init(
        self, key: Key[Array, ""], x: Int[Array, " dim"], f: Energy, z: Array | None = None
    ) -> Cursor:
        """A chain at x; needs no randomness."""
        cursor = start(f, checked_state(self.space, x), z)
        check_energy(cursor.value)
        return cursor

    def step(self, key: Key[Array, ""], state: Cursor, f: Energy) -> tuple[Cursor, GibbsInfo]:
        """One sweep."""
        key_sites, key_values = jax.random.split(key)
        in_order = jnp.asarray(self._blocks_in_order())
        num_blocks, sites = len(in_order), in_order
        if self.scan == "random":
            block = lambda k: blocks.random_block(k, self.space, self.block_size)
            sites = jax.vmap(block)(jax.random.split(key_sites, num_blocks))

        def update(cursor: Cursor, inputs: tuple[Array, Array]) -> tuple[Cursor, None]:
            sites, key = inputs
            return blocks.redraw(key, f, self.space, cursor, sites, self._shifts()), None

        inputs = (sites, jax.random.split(key_values, num_blocks))
        after, _ = jax.lax.scan(update, refresh(f, state), inputs)
        count = num_blocks * (self.space.num_values**self.block_size - 1)
        return after, GibbsInfo(num_changed(state.x, after.x), jnp.asarray(count, jnp.int32))

    def _blocks_in_order(self) -> Int[np.ndarray, "blocks block_size"]:
        num_blocks = -(-self.space.dim // self.block_size)
        first = np.minimum(
            np.arange(num_blocks) * self.block_size, self.space.dim - self.block_size
        )
        return first[:, None] + np.arange(self.block_size)

    def _shifts(self) -> Int[Array, "candidates block_size"]:
        """All values of a block, as shifts from the current ones."""
        return jnp.asarray(blocks.all_shifts(self.space, self.block_size, self.block_size))

    def transition_matrix(
        self, space: Space, f: Energy, z: Array | None = None
    ) -> Float[Array, "size size"]:
        """The matrix K[x, x'] of a step, by enumeration of this kernel's space."""
        check_same_space(space, self.space)
        in_order = self._blocks_in_order()
        if self.scan == "random":
            every = np.array(list(combinations(range(space.dim), self.block_size)))
            matrix = self._block_matrices(f, every, z).mean(axis=0)
            return jnp.linalg.matrix_power(matrix, len(in_order))
        sweep = jnp.eye(space.size)
        for matrix in self._block_matrices(f, in_order, z):
            sweep = sweep @ matrix
        return sweep

    def _block_matrices(
        self, f: Energy, sites: Int[np.ndarray, "blocks block_size"], z: Array | None
    ) -> Float[Array, "blocks size size"]:
        def row(sites: Array, x: Array) -> Float[Array, " size"]:
            here, shifts = start(f, x, z), self._shifts()
            others, scores = blocks.candidates(f, self.space, here, sites, shifts)
            to = jax.vmap(self.space.index)(jnp.concatenate([x[None], others.x]))
            probs = jax.nn.softmax(scores)
            return jnp.zeros(self.space.size, probs.dtype).at[to].add(probs, mode="drop")

        states = self.space.enumerate()
        return jax.vmap(lambda b: jax.vmap(lambda x: row(b, x))(states))(jnp.asarray(sites))
