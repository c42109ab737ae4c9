"""The Potts model: neighbours that prefer to have the same one of K values, or not, in a field."""

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, Int

from aloex.base.errors import require
from aloex.energies.couplings import Couplings, checked, lattice, num_sites, times


class Potts(eqx.Module):
    """f(x) = sum_{i < j} J_ij 1[x_i = x_j] + sum_i h_i[x_i].

    Of two values it is the Ising model of half the couplings. J and h can be trained.

    Args:
        couplings: J, as for `Ising`.
        field: h, a table [dim, num_values], or one row for all sites [num_values].

    Example:
        >>> import jax.numpy as jnp
        >>> from aloex import energies
        >>> f = energies.Potts([[0.0, 0.5], [0.5, 0.0]], field=[0.0, 1.0, 2.0])
        >>> float(f(jnp.array([1, 1])))  # 0.5 + 1 + 1
        2.5
        >>> f.differences(jnp.array([1, 1])).tolist()
        [[-1.5, 0.0, 0.5], [-1.5, 0.0, 0.5]]
    """

    couplings: Couplings
    field: Float[Array, "dim values"]
    differences_are_exact = True

    def __init__(self, couplings: object, field: object):
        self.couplings = checked(couplings)
        dim, h = num_sites(self.couplings), jnp.asarray(field, float)
        require(
            h.ndim in (1, 2) and h.shape[:-1] in ((), (dim,)) and h.shape[-1] >= 2,
            f"the field of {dim} sites must have shape (num_values,) or ({dim}, num_values) with "
            f"two values or more, got shape {h.shape}",
        )
        self.field = jnp.broadcast_to(h, (dim, h.shape[-1]))

    def __call__(self, x: Int[Array, " dim"], z: Array | None = None) -> Float[Array, ""]:
        """f(x)."""
        chosen = jax.nn.one_hot(x, self.field.shape[1], dtype=self.field.dtype)
        return jnp.sum(chosen * (times(self.couplings, chosen) / 2 + self.field))

    def differences(
        self, x: Int[Array, " dim"], z: Array | None = None
    ) -> Float[Array, "dim values"]:
        """g_i(v) - g_i(x_i), g_i(v) = h_i(v) + sum_j J_ij 1[x_j = v]: one product with J."""
        chosen = jax.nn.one_hot(x, self.field.shape[1], dtype=self.field.dtype)
        scores = times(self.couplings, chosen) + self.field
        return scores - jnp.take_along_axis(scores, x[:, None], axis=1)


def potts_lattice(
    height: int,
    width: int,
    num_values: int,
    coupling: object = 1.0,
    field: object = 0.0,
    *,
    periodic: bool = False,
) -> Potts:
    """A Potts model on a grid, whose sites are numbered row by row.

    Without a field order appears beyond the coupling log(1 + sqrt(num_values)).

    Args:
        height: rows.
        width: sites in a row.
        num_values: K.
        coupling: J, a number, or one for each of `lattice_edges` [edges].
        field: h, a number, a row [num_values] or a table [height * width, num_values].
        periodic: opposite borders meet.

    Returns:
        The energy; `exact.potts_lattice` with the same arguments has its log Z.

    Example:
        >>> import jax.numpy as jnp
        >>> from aloex import energies
        >>> f = energies.potts_lattice(2, 3, 3, coupling=0.5, field=[0.0, 0.0, 0.1])
        >>> round(float(f(jnp.full(6, 2))), 3)  # 7 edges, 6 sites
        4.1
    """
    h = jnp.asarray(field, float)
    h = jnp.broadcast_to(h, (num_values,)) if h.ndim == 0 else h
    require(
        h.shape[-1] == num_values,
        f"the field of {num_values} values must end in as many numbers, got shape {h.shape}",
    )
    return Potts(lattice(height, width, coupling, periodic=periodic), h)
