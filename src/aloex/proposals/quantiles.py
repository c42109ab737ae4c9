"""Quantiles of sums of many independent counts, exact up to 1e-12 and in milliseconds."""

import numpy as np
from scipy.fft import next_fast_len

OUTSIDE = 1e-12  # probability that is not looked at, far below any risk one would ask for


def sum_quantiles(
    pmfs: list[np.ndarray], copies: list[int], times: int, *, risk: float
) -> list[int]:
    """The 1 - risk quantiles of sums of independent counts, one for each row of the pmfs.

    Count i has the distributions pmfs[i][row] and enters copies[i] * times times. The sum's
    distribution is computed modulo the width of a window outside of which it has less than OUTSIDE
    of its mass, by Bernstein's inequality: tails are exact up to that, and the transforms short.
    """
    values = np.arange(max(pmf.shape[1] for pmf in pmfs))
    pmfs = [np.pad(pmf, ((0, 0), (0, len(values) - pmf.shape[1]))) for pmf in pmfs]
    total = lambda rows: times * np.tensordot(copies, rows, 1)
    means = [pmf @ values for pmf in pmfs]
    mean, square = total(means), [pmf @ values**2 for pmf in pmfs]
    variance = total([s - m**2 for s, m in zip(square, means, strict=True)])
    largest = total([np.where(pmf > 1e-15, values, 0).max(axis=1) for pmf in pmfs])
    log_outside = np.log(2 / OUTSIDE)
    rest = log_outside / 3 * values[-1]  # no count is farther than this from its mean, times a log
    reach = rest + np.sqrt(rest**2 + 2 * log_outside * np.maximum(variance, 0))
    low = np.maximum(np.floor(mean - reach), 0).astype(int)
    high = np.minimum(np.ceil(mean + reach), largest).astype(int)
    size = max(int(next_fast_len(int((high - low).max()) + 1) or 0), len(values))
    transform = np.ones((len(low), size // 2 + 1), complex)
    for pmf, c in zip(pmfs, copies, strict=True):
        transform *= _power(np.fft.rfft(pmf, size), c)
    law = np.fft.irfft(_power(transform, times), size)
    law = np.take_along_axis(law, (low[:, None] + np.arange(size)) % size, axis=1)
    quantile = low + np.argmax(1 - np.cumsum(law, axis=1) < risk, axis=1)
    return np.minimum(quantile, largest).tolist()


def _power(base: np.ndarray, exponent: int) -> np.ndarray:
    """base ** exponent by squaring, for complex numbers far faster than NumPy's own."""
    result = np.ones_like(base)
    while exponent > 0:
        if exponent % 2:
            result = result * base
        base, exponent = base * base, exponent // 2
    return result
