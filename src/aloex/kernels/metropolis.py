"""Random-walk Metropolis: propose one uniform change of one site.

All single-site changes are equally likely, in both directions, so that x' is accepted with
probability min(1, exp(f(x') - f(x))) (Metropolis et al. 1953). It is the plainest kernel there is,
and what others are compared with.
"""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int, Key

from aloex import exact
from aloex.base.errors import require
from aloex.cursor import Cursor, Energy, change, check_energy, refresh, start
from aloex.kernels import metropolis_hastings as mh
from aloex.kernels.base import check_same_space, check_space, checked_state, num_changed
from aloex.kernels.metropolis_hastings import MetropolisInfo
from aloex.spaces import Space, values_per_site


class RandomWalk(eqx.Module):
    """Metropolis with uniform changes of single sites.

    Args:
        space: what x is, `Bits`, `Categorical` or `Mixed`.
        num_proposals: proposals in a step, one after the other. An `Incremental` energy's first
            layer is computed afresh once a step, so that longer steps cost less a proposal.

    Example:
        >>> import jax, jax.numpy as jnp
        >>> from aloex import kernels, spaces
        >>> kernel = kernels.RandomWalk(spaces.Bits(3), num_proposals=50)
        >>> likes_ones = lambda x, z=None: 50.0 * jnp.sum(x)
        >>> kernels.run(kernel, jax.random.key(0), jnp.zeros(3, jnp.int32), likes_ones).tolist()
        [1, 1, 1]
    """

    space: Space = eqx.field(static=True)
    num_proposals: int = eqx.field(static=True, kw_only=True, default=1)

    def __check_init__(self):
        check_space(self.space, "RandomWalk")
        require(
            self.num_proposals >= 1, f"num_proposals must be at least 1, got {self.num_proposals}"
        )

    def init(
        self, key: Key[Array, ""], x: Int[Array, " dim"], f: Energy, z: Array | None = None
    ) -> Cursor:
        """A chain at x; needs no randomness."""
        cursor = start(f, checked_state(self.space, x), z)
        check_energy(cursor.value)
        return cursor

    def step(self, key: Key[Array, ""], state: Cursor, f: Energy) -> tuple[Cursor, MetropolisInfo]:
        """`num_proposals` proposals; the info has their mean acceptance."""

        def propose(cursor: Cursor, key: Array) -> tuple[Cursor, Array]:
            key_change, key_accept = jax.random.split(key)
            sites, shifts = self._changes()
            which = jax.random.randint(key_change, (), 0, len(sites))
            other = self._changed(f, cursor, jnp.asarray(sites)[which], jnp.asarray(shifts)[which])
            return mh.accept(key_accept, other.value - cursor.value, cursor, other)

        keys = jax.random.split(key, self.num_proposals)
        after, acceptance = jax.lax.scan(propose, refresh(f, state), keys)
        count = jnp.asarray(self.num_proposals, jnp.int32)
        return after, MetropolisInfo(acceptance.mean(), num_changed(state.x, after.x), count)

    def _changes(self) -> tuple[np.ndarray, np.ndarray]:
        """Every change of a site: which, and by how much the value goes up, cyclically."""
        num_values = np.array(values_per_site(self.space))
        site, shift = np.nonzero(np.arange(self.space.num_values) < num_values[:, None])
        return site[shift > 0], shift[shift > 0]

    def _changed(self, f: Energy, cursor: Cursor, site: Array, shift: Array) -> Cursor:
        num_values = jnp.asarray(values_per_site(self.space), cursor.x.dtype)[site]
        return change(f, cursor, site, (cursor.x[site] + shift) % num_values)

    def transition_matrix(
        self, space: Space, f: Energy, z: Array | None = None
    ) -> Float[Array, "size size"]:
        """The matrix K[x, x'] of a step, by enumeration of this kernel's space."""
        check_same_space(space, self.space)
        sites, shifts = (jnp.asarray(a) for a in self._changes())
        changed = lambda cursor: jax.vmap(lambda i, s: self._changed(f, cursor, i, s).x)(
            sites, shifts
        )
        to = jax.vmap(lambda x: jax.vmap(space.index)(changed(start(f, x, z))))(space.enumerate())
        values = exact.energies(f, space, z)
        log_q = jnp.full((space.size, space.size), -jnp.inf, values.dtype)
        log_q = log_q.at[jnp.arange(space.size)[:, None], to].set(-np.log(len(sites)))
        matrix = mh.transition_matrix(log_q, values[None, :] - values[:, None], values)
        return jnp.linalg.matrix_power(matrix, self.num_proposals)
