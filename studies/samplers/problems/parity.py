"""Parity checks satisfied softly: flat but for cliffs, and blind to every single bit.

f(x) = -cost * (number of checks that fail), check j failing where (A x + b)_j = 1 over GF(2). The
states with the same A x are a coset of the kernel of A, all of one size, so Z is a sum over the
image of A: Z = 2^(dim - rank) sum_{s in image} exp(-cost |s + b|).
"""

import equinox as eqx
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int

from aloex.base.errors import require
from aloex.spaces import Bits
from studies.samplers.problems.problem import Expectation, Problem, of_bits


class ParityChecks(eqx.Module):
    """f(x) = -cost sum_j ((A x + b)_j mod 2)."""

    checks: Int[Array, "checks dim"]
    odd: Int[Array, " checks"]
    cost: Float[Array, ""]
    differences_are_exact = True

    def fails(self, x: Array) -> Int[Array, " checks"]:
        """1 where a check fails."""
        return (self.checks @ x.astype(self.checks.dtype) + self.odd) % 2

    def __call__(self, x: Array, z: Array | None = None) -> Float[Array, ""]:
        """f(x)."""
        return -self.cost * self.fails(x).sum()

    def differences(self, x: Array, z: Array | None = None) -> Float[Array, "dim 2"]:
        """A flip turns all checks of its bit."""
        flip = -self.cost * ((1 - 2 * self.fails(x)) @ self.checks)
        return jnp.where(jnp.arange(2) == x[:, None], 0, flip[:, None])


def parity(
    dim: int = 64, num_checks: int = 16, *, weight: int = 6, cost: float = 3.0, seed: int = 0
) -> Problem:
    """Each check is of `weight` random bits."""
    rng = np.random.default_rng(seed)
    checks = np.zeros((num_checks, dim), int)
    for row in checks:
        row[rng.choice(dim, weight, replace=False)] = 1
    odd = rng.integers(0, 2, num_checks)
    reduced, pivots = row_reduced(checks)
    require(len(pivots) <= 20, f"checks of rank 20 at most can be listed, got {len(pivots)}")
    # The columns of A at the pivots are a basis of its image.
    combos = (np.arange(2 ** len(pivots))[:, None] >> np.arange(len(pivots))) & 1
    sums = combos @ checks[:, pivots].T % 2
    fails = (sums + odd) % 2
    weights = np.exp(-cost * fails.sum(axis=1))
    p = weights / weights.sum()
    # A bit is a function of A x if its unit vector is in the span of the checks; then it is a row
    # of the reduced matrix, and the bit is that combination's pivot. Otherwise it is fair.
    ones = np.full(dim, 0.5)
    for row, pivot, bit in zip(reduced, pivots, combos.T, strict=True):
        if row.sum() == 1:
            ones[pivot] = p @ bit
    f = ParityChecks(jnp.asarray(checks), jnp.asarray(odd), jnp.asarray(cost, float))
    return Problem(
        name=f"parity-{dim}x{num_checks}",
        space=Bits(dim),
        f=f,
        log_z=float((dim - len(pivots)) * np.log(2) + np.log(weights.sum())),
        marginals=of_bits(ones),
        expectations={
            "all hold": Expectation(
                lambda x: 1.0 * (f.fails(x).sum() == 0), float(p @ (fails.sum(axis=1) == 0))
            ),
            "failing": Expectation(lambda x: 1.0 * f.fails(x).sum(), float(p @ fails.sum(axis=1))),
        },
    )


def row_reduced(matrix: Int[np.ndarray, "rows columns"]) -> tuple[np.ndarray, list[int]]:
    """The reduced row echelon form over GF(2) without its zero rows, and its pivots' columns."""
    rows = matrix.copy() % 2
    pivots: list[int] = []
    for column in range(rows.shape[1]):
        rank = len(pivots)
        below = np.flatnonzero(rows[rank:, column])
        if below.size == 0:
            continue
        rows[[rank, rank + below[0]]] = rows[[rank + below[0], rank]]
        others = rows[:, column].astype(bool)
        others[rank] = False
        rows[others] ^= rows[rank]
        pivots.append(column)
        if len(pivots) == len(rows):
            break
    return rows[: len(pivots)], pivots
