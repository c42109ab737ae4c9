"""What kernels share that redraw a few sites together: f at all values of a block of sites."""

import math
from itertools import combinations, product

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int, Key

from aloex.base.errors import require
from aloex.cursor import Cursor, Energy, change_sites
from aloex.spaces import Mixed, Space

MAX_CANDIDATES = 2**14  # states that are evaluated side by side for one draw


def check_block_size(space: Space, block_size: int) -> None:
    require(
        1 <= block_size <= space.dim,
        f"block_size must be in 1..{space.dim}, the sites of {space}, got {block_size}",
    )


def all_shifts(
    space: Space, block_size: int, radius: int
) -> Int[np.ndarray, "candidates block_size"]:
    """Cyclic shifts of the values of a block that change at most `radius` sites; first, none.

    An `InputError` where they are more than `MAX_CANDIDATES`.
    """
    others = space.num_values - 1
    number = sum(math.comb(block_size, n) * others**n for n in range(radius + 1))
    require(
        number <= MAX_CANDIDATES,
        f"blocks of {block_size} sites of {space} with up to {radius} changes have {number} "
        f"values, more than the {MAX_CANDIDATES} that are evaluated at once; take a smaller "
        "block_size",
    )
    shifts = np.zeros((number, block_size), np.int32)
    changes = (
        (list(sites), values)
        for n in range(radius + 1)
        for sites in combinations(range(block_size), n)
        for values in product(range(1, space.num_values), repeat=n)
    )
    for row, (sites, values) in zip(shifts, changes, strict=True):
        row[sites] = values
    return shifts


def random_block(key: Key[Array, ""], space: Space, block_size: int) -> Int[Array, " block_size"]:
    """Different sites, all sets of them equally likely.

    By Floyd's algorithm, whose cost does not depend on how many sites there are (Bentley and Floyd
    1987, "A sample of brilliance").
    """
    last = space.dim - block_size + jnp.arange(block_size)
    return different_sites(jax.random.randint(key, (block_size,), 0, last + 1), last)


def different_sites(
    drawn: Int[Array, " block_size"], last: Int[Array, " block_size"]
) -> Int[Array, " block_size"]:
    """The sites that were drawn, the n-th of 0..last[n]; where one was there before, last[n]."""

    def add(n: Array, sites: Array) -> Array:
        return sites.at[n].set(jnp.where(jnp.any(sites == drawn[n]), last[n], drawn[n]))

    none = jnp.full(drawn.shape, -1, drawn.dtype)
    return jax.lax.fori_loop(0, len(drawn), add, none, unroll=min(len(drawn), 16))


def shifted(
    space: Space,
    x: Int[Array, " dim"],
    sites: Int[Array, " block_size"],
    shifts: Int[Array, "candidates block_size"],
) -> tuple[Int[Array, "candidates block_size"], Float[Array, " candidates"]]:
    """The block's values after each shift, and 0 or -inf where a site has no such value."""
    values = (x[sites] + shifts) % space.num_values
    if not isinstance(space, Mixed):
        return values, jnp.zeros(len(shifts))
    has_value = jnp.all(values < jnp.asarray(space.values_per_site)[sites], axis=1)
    return values, jnp.where(has_value, 0, -jnp.inf)


def candidates(
    f: Energy,
    space: Space,
    cursor: Cursor,
    sites: Int[Array, " block_size"],
    shifts: Int[Array, "candidates block_size"],
) -> tuple[Cursor, Float[Array, " candidates"]]:
    """Cursors after all shifts but the first, and f after all of them; -inf for no states.

    The first shift is none: f is known there.
    """
    values, log_allowed = shifted(space, cursor.x, sites, shifts)
    others = jax.vmap(lambda v: change_sites(f, cursor, sites, v))(values[1:])
    scores = jnp.concatenate([cursor.value[None], others.value])
    return others, jnp.where(jnp.isneginf(log_allowed), -jnp.inf, scores)


def redraw(
    key: Key[Array, ""],
    f: Energy,
    space: Space,
    cursor: Cursor,
    sites: Int[Array, " block_size"],
    shifts: Int[Array, "candidates block_size"],
) -> Cursor:
    """One of the candidates, with probability in proportion to exp(score).

    If one of them is NaN it is taken, so that it is found.
    """
    others, scores = candidates(f, space, cursor, sites, shifts)
    choice = jnp.argmax(scores + jax.random.gumbel(key, scores.shape, scores.dtype))
    # Of x only the block is written: with increments an update costs no more in a larger space.
    values, _ = shifted(space, cursor.x, sites, shifts)
    x = cursor.x.at[sites].set(values[choice].astype(cursor.x.dtype))
    pick = lambda other, here: jnp.where(choice == 0, here, other[jnp.maximum(choice - 1, 0)])
    hidden = None if cursor.hidden is None else pick(others.hidden, cursor.hidden)
    return cursor._replace(x=x, value=pick(others.value, cursor.value), hidden=hidden)
