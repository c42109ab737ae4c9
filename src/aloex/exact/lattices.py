"""Ising and Potts models on grids, by transfer matrices: the states of a row, site by site.

A tensor with an axis for each column holds, for all values of the row's front, the sum of exp f
over what lies behind it. Placing a site replaces the axis of its column; so a site costs
num_values^(width + 1), however high the grid. Where the upper and lower borders meet, this is
done for each state of the last row: num_values^width times the work. All of it is NumPy in
float64, and all terms are positive.
"""

from collections.abc import Iterator
from itertools import product
from typing import Any, NamedTuple

import numpy as np
from jaxtyping import Float

from aloex.base.errors import require

Table = np.ndarray[Any, np.dtype[np.float64]]


class LatticeAnswers(NamedTuple):
    """What is known of a lattice.

    Example:
        >>> from aloex import exact
        >>> found = exact.ising_lattice(2, 2, coupling=0.5, field=0.1)
        >>> found.marginals.shape, found.counts.shape
        ((4, 2), (2, 5))
    """

    log_z: float
    marginals: Float[np.ndarray, "dim values"]  # p(x_i = v)
    counts: Float[np.ndarray, "values dim_and_one"]  # p(n sites have value v)

    def majority(self, value: int = 1, *, ties: float = 0.0) -> float:
        """The probability that more than half of the sites have a value: a mode's share.

        Args:
            value: v.
            ties: the part of the states with exactly half that counts as well.

        Returns:
            One number.

        Example:
            >>> from aloex import exact
            >>> found = exact.ising_lattice(1, 2, coupling=0.0)
            >>> round(found.majority(), 3), round(found.majority(ties=0.5), 3)
            (0.25, 0.5)
        """
        law = self.counts[value]
        dim = len(law) - 1
        half = law[dim // 2] if dim % 2 == 0 else 0.0
        return float(law[dim // 2 + 1 :].sum() + ties * half)


def ising_lattice(
    height: int,
    width: int,
    coupling: object = 1.0,
    field: object = 0.0,
    *,
    periodic: bool = False,
) -> LatticeAnswers:
    """log Z, marginals and the law of the magnetisation of `energies.ising_lattice`.

    Free borders: milliseconds to seconds up to a width of 12 or so, of any height. Periodic ones:
    2^width times that, so the width is best kept to 8. The narrower side should be the width.

    Args:
        height, width, coupling, field, periodic: as for `energies.ising_lattice`.

    Returns:
        The answers; `counts[1]` is the law of the number of spins that are up.

    Example:
        >>> from aloex import exact
        >>> found = exact.ising_lattice(8, 8, coupling=0.6, field=0.01)
        >>> round(found.log_z, 4), round(found.majority(1), 4)
        (70.2095, 0.7468)
    """
    h = np.broadcast_to(np.asarray(field, np.float64), (height * width,))
    spins = np.array([-1.0, 1.0])
    return _answers(height, width, coupling, np.outer(spins, spins), np.outer(h, spins), periodic)


def potts_lattice(
    height: int,
    width: int,
    num_values: int,
    coupling: object = 1.0,
    field: object = 0.0,
    *,
    periodic: bool = False,
) -> LatticeAnswers:
    """log Z, marginals and the laws of the numbers of each value of `energies.potts_lattice`.

    As fast as `ising_lattice` where num_values^width is the same.

    Args:
        height, width, num_values, coupling, field, periodic: as for `energies.potts_lattice`.

    Returns:
        The answers.

    Example:
        >>> from aloex import exact
        >>> found = exact.potts_lattice(4, 4, 3, coupling=1.0, field=[0.0, 0.0, 0.1])
        >>> found.marginals[5].round(3).tolist()
        [0.258, 0.258, 0.484]
    """
    h = np.broadcast_to(np.asarray(field, np.float64), (height * width, num_values))
    return _answers(height, width, coupling, np.eye(num_values), h, periodic)


class _Placement(NamedTuple):
    """A site is placed: a sum over the value above it, times a factor of what is beside it."""

    column: int
    above: Table  # [value above, value]
    factor: Table  # of the new front, one axis for each column


def _answers(
    height: int, width: int, coupling: object, pair: Table, field: Table, periodic: bool
) -> LatticeAnswers:
    """The answers, from a pair's energy at coupling 1 and each site's own energies."""
    placements = list(_placements(height, width, coupling, pair, field, periodic))
    num_values = len(pair)
    if periodic:
        fronts = [np.zeros((num_values,) * width) for _ in range(num_values**width)]
        for front, row in zip(fronts, product(range(num_values), repeat=width), strict=True):
            front[row] = 1
        ends = fronts
    else:
        fronts, ends = [np.ones((1,) * width)], [np.ones((num_values,) * width)]
    log_parts: list[float] = []
    marginals: list[Table] = []
    counts: list[Table] = []
    # With two values, the law of one number says that of the other.
    counted = [1] if num_values == 2 else list(range(num_values))
    for front, end in zip(fronts, ends, strict=True):
        log_part, by_site = _both_ways(placements, front, end)
        log_parts.append(log_part)
        marginals.append(by_site)
        counts.append(np.array([_law_of_count(placements, front, end, v) for v in counted]))
    log_z = float(np.logaddexp.reduce(log_parts))
    share = np.exp(np.array(log_parts) - log_z)
    laws = np.tensordot(share, np.array(counts), axes=1)
    laws = np.array([laws[0, ::-1], laws[0]]) if num_values == 2 else laws
    return LatticeAnswers(log_z, np.tensordot(share, np.array(marginals), axes=1), laws)


def _placements(
    height: int, width: int, coupling: object, pair: Table, field: Table, periodic: bool
) -> Iterator[_Placement]:
    """Site by site; with free borders nothing is above the first row, and its axes have size 1."""
    across, down = _split(height, width, coupling, periodic)
    beside = lambda a, b, table: np.expand_dims(
        table if a < b else table.T, [c for c in range(width) if c not in (a, b)]
    )
    for r in range(height):
        for c in range(width):
            log_factor = field[r * width + c].reshape([-1 if k == c else 1 for k in range(width)])
            if c > 0:
                log_factor = log_factor + across[r, c - 1] * beside(c - 1, c, pair)
            if periodic and c == width - 1:
                log_factor = log_factor + across[r, c] * beside(c, 0, pair)
            if r == 0 and not periodic:
                above = np.ones((1, len(pair)))
            else:
                above = np.exp(down[r - 1, c] * pair)  # down[-1] joins the last row to the first
            yield _Placement(c, above, np.exp(log_factor))


def _split(height: int, width: int, coupling: object, periodic: bool) -> tuple[Table, Table]:
    """Couplings in rows and between rows, from one number or one for each of `lattice_edges`."""
    least = 3 if periodic else 1
    require(
        min(height, width) >= least and height * width >= 2,
        f"a{' periodic' if periodic else ''} lattice needs sides of at least {least} and two "
        f"sites, got {height} x {width}",
    )
    shapes = (height, width - (not periodic)), (height - (not periodic), width)
    num_across, num_down = (a * b for a, b in shapes)
    numbers = np.asarray(coupling, np.float64)
    require(
        numbers.shape in ((), (num_across + num_down,)),
        f"couplings of {num_across + num_down} edges must be one number or as many numbers, got "
        f"shape {numbers.shape}",
    )
    numbers = np.broadcast_to(numbers, (num_across + num_down,))
    return numbers[:num_across].reshape(shapes[0]), numbers[num_across:].reshape(shapes[1])


def _along(front: Table, column: int, matrix: Table) -> Table:
    """The front with the axis of a column multiplied by a matrix [old, new]."""
    return np.moveaxis(np.tensordot(front, matrix, axes=(column, 0)), -1, column)


def _both_ways(placements: list[_Placement], front: Table, end: Table) -> tuple[float, Table]:
    """log of the sum of exp f, and p(x_i = v): forwards, keeping all fronts, and backwards."""
    fronts: list[Table] = []
    log_scale = 0.0
    for p in placements:
        front = _along(front, p.column, p.above) * p.factor
        scale = front.max()
        front, log_scale = front / scale, log_scale + float(np.log(scale))
        fronts.append(front)
    log_sum = log_scale + float(np.log(np.sum(front * end)))
    marginals: list[Table] = []
    behind = end
    for p, front in zip(placements[::-1], fronts[::-1], strict=True):
        others = tuple(c for c in range(front.ndim) if c != p.column)
        weights = np.sum(front * behind, axis=others)
        marginals.append(weights / weights.sum())
        behind = _along(behind * p.factor, p.column, p.above.T)
        behind = behind / behind.max()
    return log_sum, np.array(marginals[::-1])


def _law_of_count(placements: list[_Placement], front: Table, end: Table, value: int) -> Table:
    """p(n sites have the value), n = 0..dim: the fronts with one more axis, n so far."""
    front = np.expand_dims(front, -1)
    for p in placements:
        front = _along(front, p.column, p.above) * np.expand_dims(p.factor, -1)
        front = np.pad(front, [(0, 0)] * (front.ndim - 1) + [(0, 1)])
        of_value = np.moveaxis(front, p.column, 0)[value]  # a view
        of_value[...] = np.roll(of_value, 1, axis=-1)
        front /= front.max()
    law = np.sum(front * np.expand_dims(end, -1), axis=tuple(range(front.ndim - 1)))
    return law / law.sum()
