"""Gibbs sampling: redraw one site from its conditional, p(x_i = v | rest) ~ exp f(x with x_i = v).

A step is `num_sweeps` sweeps of d site updates, in order (`systematic`) or at sites drawn uniformly
(`random`). The current value's energy is known, so an update costs one evaluation for a bit and
K - 1 for a site of K values.

In a sequence only tokens are redrawn: padding stays padding, and so the length stays what it is.
"""

from typing import Any, Literal, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, Int, Key

from aloex import exact
from aloex.base.errors import require
from aloex.cursor import Cursor, Energy, change, check_energy, refresh, start
from aloex.kernels.base import check_same_space, check_space, check_state, num_changed
from aloex.nets import on_cpu
from aloex.spaces import Mixed, Sequences, Space


class GibbsInfo(NamedTuple):
    num_changed: Int[Array, ""]  # sites that differ after the step
    num_evaluations: Int[Array, ""]  # of f


class Gibbs(eqx.Module):
    """Gibbs sampling of the states of a space.

    Args:
        space: what x is. States of another space are refused.
        scan: `systematic` (sites in order) or `random`.
        num_sweeps: sweeps in a step.

    Example:
        >>> import jax, jax.numpy as jnp
        >>> from aloex import kernels, spaces
        >>> space = spaces.Categorical(dim=4, num_values=3)
        >>> gibbs = kernels.Gibbs(space)
        >>> likes_twos = lambda x, z=None: 50.0 * jnp.sum(x == 2)
        >>> x = kernels.run(gibbs, jax.random.key(0), jnp.zeros(4, jnp.int32), likes_twos)
        >>> x.tolist()
        [2, 2, 2, 2]
    """

    space: Space = eqx.field(static=True)
    scan: Literal["systematic", "random"] = eqx.field(static=True, default="systematic")
    num_sweeps: int = eqx.field(static=True, default=1)

    def __check_init__(self):
        check_space(self.space, "Gibbs", fixed_length=False)
        require(self.num_sweeps >= 1, f"num_sweeps must be at least 1, got {self.num_sweeps}")
        scans = ("systematic", "random")
        require(self.scan in scans, f"scan must be one of {scans}, got {self.scan!r}")

    def init(
        self, key: Key[Array, ""], x: Int[Array, " dim"], f: Energy, z: Array | None = None
    ) -> Cursor:
        """A chain at x; needs no randomness.

        Raises:
            InputError: x has another shape than the space's states, or values outside of it (the
                values can be seen outside compiled code only); or f(x) is no floating-point number.
        """
        check_state(self.space, x)
        cursor = start(f, x, z)
        check_energy(cursor.value)
        return cursor

    def step(self, key: Key[Array, ""], state: Cursor, f: Energy) -> tuple[Cursor, GibbsInfo]:
        """`num_sweeps` sweeps: the state after them, and what changed."""
        sweep = lambda state, key: (self._sweep(key, refresh(f, state), f), None)
        after, _ = jax.lax.scan(sweep, state, jax.random.split(key, self.num_sweeps))
        count = self.num_sweeps * self.space.dim * (self.space.num_values - 1)
        return after, GibbsInfo(num_changed(state.x, after.x), jnp.asarray(count, jnp.int32))

    def _sweep(self, key: Key[Array, ""], cursor: Cursor, f: Energy) -> Cursor:
        dim, num_values = self.space.dim, self.space.num_values
        key_sites, key_noise = jax.random.split(key)
        if self.scan == "systematic":
            sites = jnp.arange(dim)
        else:
            sites = jax.random.randint(key_sites, (dim,), 0, dim)
        noise = jax.random.gumbel(key_noise, (dim, num_values), cursor.value.dtype)

        def flip(cursor: Cursor, site_and_noise: tuple[Array, Array]):
            """The update of a bit, which has a single other value."""
            site, noise = site_and_noise
            value = 1 - cursor.x[site]
            other = change(f, cursor, site, value)
            # Not "other > current": NaN is moved to, and stays, so that it shows.
            flips = ~(other.value + noise[1] <= cursor.value + noise[0]) & ~jnp.isnan(cursor.value)
            return self._moved(cursor, other, site, value, flips)

        def update(cursor: Cursor, site_and_noise: tuple[Array, Array]):
            site, noise = site_and_noise
            others, scores = self._candidates(f, cursor, site)
            # Gumbel-max over [current, others]: a draw from the softmax of their energies.
            choice = jnp.argmax(scores + noise)
            numbers = others.value, others.hidden
            at, hidden = jax.tree.map(lambda o: o[jnp.maximum(choice - 1, 0)], numbers)
            picked = others._replace(value=at, hidden=hidden)
            value = (cursor.x[site] + choice.astype(cursor.x.dtype)) % num_values
            return self._moved(cursor, picked, site, value, choice != 0)

        if num_values == 1:  # a single token: nothing to choose
            return cursor
        one = flip if num_values == 2 and not isinstance(self.space, Mixed) else update
        unroll = 1 if on_cpu() else 8
        return jax.lax.scan(one, cursor, (sites, noise), unroll=unroll)[0]

    def _moved(
        self, cursor: Cursor, other: Cursor, site: Array, value: Array, moves: Array
    ) -> tuple[Cursor, None]:
        """The cursor with the site at that value, where f and h are the other's, if it moves.

        It never does where there is padding. Of x only the site is written: with increments an
        update costs no more in a larger space.
        """
        if isinstance(self.space, Sequences):
            moves = moves & (cursor.x[site] != self.space.pad)
        pick = lambda a, b: jnp.where(moves, a, b)
        x = cursor.x.at[site].set(pick(value, cursor.x[site]))
        numbers = (other.value, other.hidden), (cursor.value, cursor.hidden)
        f_value, hidden = jax.tree.map(pick, *numbers)
        return cursor._replace(x=x, value=f_value, hidden=hidden), None

    def _candidates(
        self, f: Energy, cursor: Cursor, site: Any
    ) -> tuple[Cursor, Float[Array, " values"]]:
        """Cursors at the K - 1 other values of a site, and f of the current and of these.

        f is -inf for values that this site does not have.
        """
        num_values = self.space.num_values
        steps = jnp.arange(num_values, dtype=cursor.x.dtype)
        values = (cursor.x[site] + steps) % num_values
        others = jax.vmap(lambda v: change(f, cursor, site, v))(values[1:])
        scores = jnp.concatenate([cursor.value[None], others.value])
        if isinstance(self.space, Mixed):
            allowed = jnp.asarray(self.space.values_per_site)[site]
            scores = jnp.where(values < allowed, scores, -jnp.inf)
        return others, scores

    def log_conditional(
        self, f: Energy, x: Int[Array, " dim"], site: int, z: Array | None = None
    ) -> Float[Array, " values"]:
        """log p(x_site = v | the rest) for v = 0..K-1, where the site is no padding."""
        _, scores = self._candidates(f, start(f, x, z), site)
        return jnp.roll(jax.nn.log_softmax(scores), x[site])

    def transition_matrix(
        self, space: Space, f: Energy, z: Array | None = None
    ) -> Float[Array, "size size"]:
        """The matrix K[x, x'] of a step, by enumeration of this kernel's space."""
        check_same_space(space, self.space)
        sites = [self._site_matrix(f, i, z) for i in range(space.dim)]
        if self.scan == "systematic":
            sweep = sites[0] if len(sites) == 1 else jnp.linalg.multi_dot(sites)
        else:
            sweep = jnp.linalg.matrix_power(sum(sites) / space.dim, space.dim)
        return jnp.linalg.matrix_power(sweep, self.num_sweeps)

    def _site_matrix(self, f: Energy, i: int, z: Array | None) -> Float[Array, "size size"]:
        log_conditional = lambda x: self.log_conditional(f, x, i, z)
        matrix = exact.site_matrix(self.space, log_conditional, i)
        if not isinstance(self.space, Sequences):
            return matrix
        padding = self.space.enumerate()[:, i] == self.space.pad
        return jnp.where(padding[:, None], jnp.eye(self.space.size, dtype=matrix.dtype), matrix)
