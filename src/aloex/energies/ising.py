"""The Ising model: pairs of bits that prefer to agree, or not, in a field."""

import equinox as eqx
import jax.numpy as jnp
from jaxtyping import Array, Float, Int

from aloex.base.errors import require
from aloex.energies.couplings import Couplings, checked, lattice, num_sites, times


class Ising(eqx.Module):
    """f(x) = sum_{i < j} J_ij s_i s_j + sum_i h_i s_i with spins s = 2x - 1.

    Every energy of bits with pairwise terms has this form. J and h can be trained.

    Args:
        couplings: J, a matrix [dim, dim], of which the mean of J and its transpose counts and the
            diagonal does not; or `SparseCouplings`.
        field: h, a number or one for each site [dim].

    Example:
        >>> import jax.numpy as jnp
        >>> from aloex import energies
        >>> f = energies.Ising([[0.0, 0.5], [0.5, 0.0]], field=[1.0, 2.0])
        >>> float(f(jnp.array([1, 0])))  # -0.5 + 1 - 2
        -1.5
        >>> f.differences(jnp.array([1, 0])).tolist()
        [[-1.0, 0.0], [0.0, 5.0]]
    """

    couplings: Couplings
    field: Float[Array, " dim"]
    differences_are_exact = True

    def __init__(self, couplings: object, field: object = 0.0):
        self.couplings = checked(couplings)
        dim, h = num_sites(self.couplings), jnp.asarray(field, float)
        require(
            h.shape in ((), (dim,)),
            f"the field of {dim} sites must be one number or {dim} numbers, got shape {h.shape}",
        )
        self.field = jnp.broadcast_to(h, (dim,))

    def __call__(
        self, x: Int[Array, " dim"] | Float[Array, " dim"], z: Array | None = None
    ) -> Float[Array, ""]:
        """f(x)."""
        spins = 2 * x.astype(self.field.dtype) - 1
        return spins @ (times(self.couplings, spins) / 2 + self.field)

    def differences(self, x: Int[Array, " dim"], z: Array | None = None) -> Float[Array, "dim 2"]:
        """(s(v) - s_i) ((J s)_i + h_i): one product with J."""
        spins = 2 * x.astype(self.field.dtype) - 1
        local_field = times(self.couplings, spins) + self.field
        return 2 * (jnp.arange(2) - x[:, None]) * local_field[:, None]


def ising_lattice(
    height: int,
    width: int,
    coupling: object = 1.0,
    field: object = 0.0,
    *,
    periodic: bool = False,
) -> Ising:
    """An Ising model on a grid, whose sites are numbered row by row.

    Without a field its two kinds of order appear beyond the coupling log(1 + sqrt 2) / 2 = 0.4407.

    Args:
        height: rows.
        width: sites in a row.
        coupling: J, a number, or one for each of `lattice_edges` [edges].
        field: h, a number or one for each site [height * width].
        periodic: opposite borders meet.

    Returns:
        The energy; `exact.ising_lattice` with the same arguments has its log Z.

    Example:
        >>> import jax.numpy as jnp
        >>> from aloex import energies
        >>> f = energies.ising_lattice(2, 3, coupling=0.5, field=0.1)
        >>> round(float(f(jnp.ones(6, jnp.int32))), 3)  # 7 edges, 6 sites
        4.1
    """
    return Ising(lattice(height, width, coupling, periodic=periodic), field)
