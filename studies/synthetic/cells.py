"""A mean over seeds with its standard error, as tables and text show it."""

import math

import numpy as np


def mean_cell(values: np.ndarray, form: str) -> str:
    """mean ± standard error over the seeds."""
    if values.size == 0:
        return "–"
    if values.size == 1:
        return f"{values[0]:{form}}"
    return cell(values.mean(), values.std(ddof=1) / math.sqrt(values.size), form)


def cell(mean: float, error: float, form: str) -> str:
    """mean ± error."""
    return f"{mean:{form}} ± {error:{form}}"
