"""How a quantity grows with a size: the exponent a of a law c size^a, by least squares."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np


class Exponent(NamedTuple):
    """The slope of log y over log size."""

    value: float
    error: float  # standard error of the slope; NaN of two points
    last: float  # the slope between the two largest sizes

    def __str__(self) -> str:
        error = "" if np.isnan(self.error) else f" ± {self.error:.2f}"
        return f"{self.value:.2f}{error}"


def exponent(sizes: Sequence[float], values: Sequence[float]) -> Exponent:
    """The exponent of two or more sizes, in ascending order, and positive values."""
    x, y = np.log(sizes), np.log(values)
    x = x - x.mean()
    slope = float(x @ y / (x @ x))
    left = y - y.mean() - slope * x
    error = np.sqrt(left @ left / (len(x) - 2) / (x @ x)) if len(x) > 2 else np.nan
    return Exponent(slope, float(error), float((y[-1] - y[-2]) / (x[-1] - x[-2])))
