"""The table that says whether draws can be trusted, and what they cost."""

import math
from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
from jaxtyping import Float, Shaped

from aloex import diagnostics

HIGHEST_R_HAT, LOWEST_ESS = 1.01, 400  # what Vehtari et al. (2021) advise
COLUMNS = ("mean", "mcse", "ess bulk", "ess tail", "r-hat", "ess/s", "ess/eval")


class Row(NamedTuple):
    """A quantity and what its draws are worth.

    Example:
        >>> from aloex import mcmc
        >>> mcmc.Row._fields[:5]
        ('name', 'mean', 'mcse', 'ess_bulk', 'ess_tail')
    """

    name: str
    mean: float
    mcse: float
    ess_bulk: float
    ess_tail: float
    r_hat: float
    ess_per_second: float  # of sampling, without warm-up and compiling
    ess_per_evaluation: float  # of f, without the warm-up
    note: str  # why numbers are NaN, or ""


class Summary(NamedTuple):
    """Rows for f(x) and each function, then what the chains did; `print` shows it as a table.

    Example:
        >>> import jax
        >>> from aloex import mcmc, spaces
        >>> gibbs = mcmc.gibbs(lambda x: 0.5 * x.sum(), spaces.Bits(8))
        >>> draws = mcmc.sample(jax.random.key(0), gibbs, 500, progress=False)
        >>> summary = draws.summary()
        >>> summary.rows[0].name, summary.warnings
        ('f(x)', [])
    """

    rows: list[Row]
    acceptance: list[float] | None  # of each chain
    hops: list[float]  # sites changed in a step, of each chain
    swap_acceptance: list[float] | None  # of each pair of temperatures
    warnings: list[str]

    def __str__(self) -> str:
        cells = [["", *COLUMNS]] + [[r.name, *(f"{v:.4g}" for v in r[1:8])] for r in self.rows]
        widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
        align = lambda row: (
            [row[0].ljust(widths[0])]
            + [cell.rjust(width) for cell, width in zip(row[1:], widths[1:], strict=True)]
        )
        lines = ["  ".join(align(row)) for row in cells]
        chains = "of each chain"
        if self.acceptance is not None:
            lines.append(f"acceptance {chains}: {_listed(self.acceptance)}")
        lines.append(f"sites changed in a step, {chains}: {_listed(self.hops)}")
        if self.swap_acceptance is not None:
            lines.append(f"swaps of neighbouring temperatures: {_listed(self.swap_acceptance)}")
        return "\n".join(lines + [f"warning: {line}" for line in self.warnings])


def summarise(
    quantities: Mapping[str, Shaped[np.ndarray, "chains draws"]],
    *,
    acceptance: Float[np.ndarray, "chains draws"] | None,
    hops: Float[np.ndarray, "chains draws"],
    swap_acceptance: Float[np.ndarray, " pairs"] | None,
    seconds: float,
    num_evaluations: int | None,
) -> Summary:
    """Diagnose each quantity, and warn of what cannot be trusted."""
    rows = [_row(name, x, seconds, num_evaluations) for name, x in quantities.items()]
    of_chains = lambda a: None if a is None else a.mean(axis=1).tolist()
    swaps = None if swap_acceptance is None else swap_acceptance.tolist()
    told = [line for row in rows for line in _warnings(row)]
    return Summary(rows, of_chains(acceptance), hops.mean(axis=1).tolist(), swaps, told)


def _row(name: str, values: np.ndarray, seconds: float, num_evaluations: int | None) -> Row:
    found = diagnostics.diagnose(values)
    per_second = found.ess_bulk / seconds if seconds > 0 else math.nan
    per_evaluation = found.ess_bulk / num_evaluations if num_evaluations else math.nan
    numbers = (found.mean, found.mcse, found.ess_bulk, found.ess_tail, found.r_hat)
    return Row(name, *numbers, per_second, per_evaluation, found.note)


def _warnings(row: Row) -> list[str]:
    told = [f"{row.name} has {row.note}"] if row.note.startswith("no tails") else []
    if row.note and not told:
        return [f"no R-hat and no effective sample size of {row.name}: {row.note}"]
    if row.r_hat > HIGHEST_R_HAT:
        told.append(
            f"R-hat of {row.name} is {row.r_hat:.3g}, above {HIGHEST_R_HAT}: the chains do not "
            "agree; run longer, or try another algorithm"
        )
    ess = min(row.ess_bulk, np.nan_to_num(row.ess_tail, nan=math.inf))
    if ess < LOWEST_ESS:
        told.append(
            f"the draws of {row.name} are worth {ess:.0f} independent ones, fewer than "
            f"{LOWEST_ESS}: run longer for errors that can be trusted"
        )
    return told


def _listed(values: list[float]) -> str:
    shown = " ".join(f"{v:.3g}" for v in values[:12])
    return shown if len(values) <= 12 else f"{shown} ... (mean {np.mean(values):.3g})"
