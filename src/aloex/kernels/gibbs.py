"""Gibbs sampling: redraw one site from its conditional, p(x_i = v | rest) ~ exp f(x with x_i = v).

A step is `num_sweeps` sweeps of d site updates, in order (`systematic`) or at sites drawn uniformly
(`random`). The current value's energy is known, so an update costs one evaluation for a bit and
K - 1 for a site of K values.
"""

from typing import Literal, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, Int, Key

from aloex import exact
from aloex.base.errors import require
from aloex.cursor import Cursor, Energy, change, refresh, start
from aloex.nets import on_cpu
from aloex.spaces import Space


class GibbsInfo(NamedTuple):
    num_changed: Int[Array, ""]  # site updates that changed their site


class Gibbs(eqx.Module):
    """Gibbs sampling over `num_values` values per site."""

    num_values: int = eqx.field(static=True, default=2)
    scan: Literal["systematic", "random"] = eqx.field(static=True, default="systematic")
    num_sweeps: int = eqx.field(static=True, default=1)

    def __check_init__(self):
        require(self.num_values >= 2, f"num_values must be at least 2, got {self.num_values}")
        require(self.num_sweeps >= 1, f"num_sweeps must be at least 1, got {self.num_sweeps}")
        scans = ("systematic", "random")
        require(self.scan in scans, f"scan must be one of {scans}, got {self.scan!r}")

    def init(
        self, key: Key[Array, ""], x: Int[Array, " dim"], f: Energy, z: Array | None = None
    ) -> Cursor:
        """A chain at x; needs no randomness."""
        return start(f, x, z)

    def step(self, key: Key[Array, ""], state: Cursor, f: Energy) -> tuple[Cursor, GibbsInfo]:
        """`num_sweeps` sweeps."""
        sweep = lambda state, key: self._sweep(key, refresh(f, state), f)
        state, changed = jax.lax.scan(sweep, state, jax.random.split(key, self.num_sweeps))
        return state, GibbsInfo(jnp.sum(changed, dtype=jnp.int32))

    def _sweep(self, key, cursor: Cursor, f: Energy) -> tuple[Cursor, Int[Array, ""]]:
        dim = cursor.x.shape[0]
        key_sites, key_noise = jax.random.split(key)
        if self.scan == "systematic":
            sites = jnp.arange(dim)
        else:
            sites = jax.random.randint(key_sites, (dim,), 0, dim)
        noise = jax.random.gumbel(key_noise, (dim, self.num_values), cursor.value.dtype)

        def flip(cursor, site_and_noise):
            """The update of a bit, which has a single other value."""
            site, noise = site_and_noise
            other = change(f, cursor, site, 1 - cursor.x[site])
            flips = other.value + noise[1] > cursor.value + noise[0]
            return jax.tree.map(lambda a, b: jnp.where(flips, a, b), other, cursor), flips

        def update(cursor, site_and_noise):
            site, noise = site_and_noise
            others = self._others(f, cursor, site)
            # Gumbel-max over [current, others]: a draw from the softmax of their energies.
            scores = jnp.concatenate([cursor.value[None], others.value]) + noise
            choice = jnp.argmax(scores)
            picked = jax.tree.map(lambda o: o[jnp.maximum(choice - 1, 0)], others)
            new = jax.tree.map(lambda a, b: jnp.where(choice == 0, a, b), cursor, picked)
            return new, choice != 0

        update = flip if self.num_values == 2 else update
        unroll = 1 if on_cpu() else 8
        cursor, changed = jax.lax.scan(update, cursor, (sites, noise), unroll=unroll)
        return cursor, jnp.sum(changed, dtype=jnp.int32)

    def _others(self, f: Energy, cursor: Cursor, site) -> Cursor:
        """Cursors at the K - 1 other values of a site."""
        steps = jnp.arange(1, self.num_values, dtype=cursor.x.dtype)
        values = (cursor.x[site] + steps) % self.num_values
        return jax.vmap(lambda v: change(f, cursor, site, v))(values)

    def log_conditional(
        self, f: Energy, x: Int[Array, " dim"], site: int, z: Array | None = None
    ) -> Float[Array, " values"]:
        """log p(x_site = v | the rest) for v = 0..K-1."""
        cursor = start(f, x, z)
        energies = jnp.concatenate([cursor.value[None], self._others(f, cursor, site).value])
        return jnp.roll(jax.nn.log_softmax(energies), x[site])

    def transition_matrix(
        self, space: Space, f: Energy, z: Array | None = None
    ) -> Float[Array, "size size"]:
        """The matrix K[x, x'] of a step, by enumeration."""
        sites = [
            exact.site_matrix(space, lambda x, i=i: self.log_conditional(f, x, i, z), i)
            for i in range(space.dim)
        ]
        if self.scan == "systematic":
            sweep = sites[0] if len(sites) == 1 else jnp.linalg.multi_dot(sites)
        else:
            sweep = jnp.linalg.matrix_power(sum(sites) / space.dim, space.dim)
        return jnp.linalg.matrix_power(sweep, self.num_sweeps)
