"""Which sites are coupled, and how strongly: a symmetric matrix, given by its edges."""

import jax.numpy as jnp
import numpy as np
from equinox import Module
from jaxtyping import Array, Float, Int

from aloex.base.errors import InputError, require


class SparseCouplings(Module):
    """A symmetric matrix J with zeros on its diagonal, by the edges (i, j) with J_ij = weight.

    A product with it costs dim times the most neighbours that a site has. The weights can be
    trained.

    Args:
        dim: number of sites.
        edges: pairs of sites [edges, 2]; several between the same two add up.
        weights: one for each edge [edges], or one number for all.

    Example:
        >>> import jax.numpy as jnp
        >>> from aloex import energies
        >>> couplings = energies.SparseCouplings(3, [(0, 1), (1, 2)], [1.0, -2.0])
        >>> (couplings @ jnp.array([1.0, 10.0, 100.0])).tolist()
        [10.0, -199.0, -20.0]
    """

    weights: Float[Array, " edges"]
    edges: Int[Array, "edges 2"]
    neighbours: Int[Array, "dim degree"]
    edge_of: Int[Array, "dim degree"]  # to each neighbour; the number of edges where there is none

    def __init__(self, dim: int, edges: object, weights: object):
        ends = np.asarray(edges, np.int32).reshape(-1, 2)
        require(
            len(ends) > 0 and bool(np.all((ends >= 0) & (ends < dim))),
            f"edges must be pairs of the sites 0..{dim - 1}, got {edges}",
        )
        loops = np.flatnonzero(ends[:, 0] == ends[:, 1])
        require(
            loops.size == 0,
            f"an edge must join two sites, got {ends[loops[:1]].tolist()}; what depends on one "
            "site only belongs to the field",
        )
        self.weights, self.edges = _for_each(weights, len(ends)), jnp.asarray(ends)
        near: list[list[tuple[int, int]]] = [[] for _ in range(dim)]
        for e, (i, j) in enumerate(ends.tolist()):
            near[i].append((j, e))
            near[j].append((i, e))
        degree = max(map(len, near))
        table = np.array([row + [(0, len(ends))] * (degree - len(row)) for row in near], np.int32)
        self.neighbours, self.edge_of = jnp.asarray(table[..., 0]), jnp.asarray(table[..., 1])

    def __matmul__(self, values: Float[Array, "dim ..."]) -> Float[Array, "dim ..."]:
        """J values."""
        weights = jnp.append(self.weights, 0)[self.edge_of]
        return jnp.einsum("nd,nd...->n...", weights, values[self.neighbours])


Couplings = Float[Array, "dim dim"] | SparseCouplings


def times(couplings: Couplings, values: Float[Array, "dim ..."]) -> Float[Array, "dim ..."]:
    """J values, where of a dense J only its symmetric part without the diagonal counts.

    Training may then do with all its numbers what it likes: the energies stay pairwise.
    """
    if isinstance(couplings, SparseCouplings):
        return couplings @ values
    symmetric = (couplings + couplings.T) / 2
    return jnp.fill_diagonal(symmetric, 0, inplace=False) @ values


def checked(couplings: object) -> Couplings:
    """Couplings as a square array, unless they are sparse."""
    if isinstance(couplings, SparseCouplings):
        return couplings
    matrix = jnp.asarray(couplings, float)
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1]:
        raise InputError(
            f"couplings must be a matrix of shape (dim, dim), or SparseCouplings, got shape "
            f"{matrix.shape}"
        )
    return matrix


def num_sites(couplings: Couplings) -> int:
    """How many sites they are of."""
    sparse = isinstance(couplings, SparseCouplings)
    return (couplings.neighbours if sparse else couplings).shape[0]


def lattice_edges(height: int, width: int, *, periodic: bool = False) -> Int[np.ndarray, "edges 2"]:
    """Neighbours on a grid whose sites are numbered row by row: first those in a row, then below.

    Args:
        height: rows.
        width: sites in a row.
        periodic: opposite borders meet; both sides must be at least 3, or two sites would be
            neighbours twice.

    Returns:
        Pairs of sites [edges, 2].

    Example:
        >>> from aloex import energies
        >>> energies.lattice_edges(2, 2).tolist()
        [[0, 1], [2, 3], [0, 2], [1, 3]]
    """
    least = 3 if periodic else 1
    require(
        min(height, width) >= least and height * width >= 2,
        f"a{' periodic' if periodic else ''} lattice needs sides of at least {least} and two "
        f"sites, got {height} x {width}",
    )
    sites = np.arange(height * width, dtype=np.int32).reshape(height, width)
    right, below = np.roll(sites, -1, axis=1), np.roll(sites, -1, axis=0)
    across, down = np.stack([sites, right], axis=-1), np.stack([sites, below], axis=-1)
    if not periodic:
        across, down = across[:, :-1], down[:-1]
    return np.concatenate([across.reshape(-1, 2), down.reshape(-1, 2)])


def lattice(
    height: int, width: int, coupling: object, *, periodic: bool = False
) -> SparseCouplings:
    """The couplings of a grid: one number, or one for each of `lattice_edges`."""
    edges = lattice_edges(height, width, periodic=periodic)
    return SparseCouplings(height * width, edges, coupling)


def _for_each(weights: object, num_edges: int) -> Float[Array, " edges"]:
    array = jnp.asarray(weights, float)
    require(
        array.shape in ((), (num_edges,)),
        f"couplings of {num_edges} edges must be one number or {num_edges} numbers, got shape "
        f"{array.shape}",
    )
    return jnp.broadcast_to(array, (num_edges,))
