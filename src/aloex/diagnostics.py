"""Have the chains mixed, and what are their draws worth? R-hat, effective sample size, MCSE.

After Vehtari, Gelman, Simpson, Carpenter and Buerkner (2021), "Rank-normalization, folding, and
localization: An improved R-hat". Each chain is cut into halves, so that a trend within a chain
shows as well. Values become normal scores of their ranks, so that moments need not exist,

    z = Phi^-1((rank - 3/8) / (S + 1/4)),  S the number of draws of all chains.

R-hat compares the variance of all draws with that within half-chains; of z, and of the distances
from the median likewise, the larger one counts. It should be below 1.01. The effective sample size
(ESS) is S over 1 + 2 (the sum of the autocorrelations), which is cut by Geyer's initial monotone
sequence: of z for the bulk, of x <= quantile for the tails. All is NaN of a quantity that does not
change: look at f(x) and at functions of all of x, not at a bit which may be constant.
"""

import math
from typing import NamedTuple

import numpy as np
from jaxtyping import Bool, Float, Int
from scipy.special import ndtri
from scipy.stats import rankdata

from aloex.base.errors import require

Values = (
    Float[np.ndarray, "chains draws"]
    | Int[np.ndarray, "chains draws"]
    | Bool[np.ndarray, "chains draws"]
)
TAILS = (0.05, 0.95)


class Diagnosis(NamedTuple):
    """What there is to say about a quantity of which chains made draws.

    Example:
        >>> import numpy as np
        >>> from aloex import diagnostics
        >>> found = diagnostics.diagnose(np.zeros((4, 100)))
        >>> found.mean, found.r_hat, found.note
        (0.0, nan, 'constant: all draws are 0')
    """

    mean: float
    sd: float
    mcse: float  # standard error of the mean
    ess_bulk: float
    ess_tail: float
    r_hat: float
    note: str  # why there are no numbers, or ""


def diagnose(values: Values) -> Diagnosis:
    """All diagnostics of one quantity.

    Args:
        values: of the quantity, [chains, draws].

    Returns:
        Mean, standard deviation, MCSE, ESS and R-hat; NaN with a note where they are undefined.

    Example:
        >>> import numpy as np
        >>> from aloex import diagnostics
        >>> found = diagnostics.diagnose(np.random.default_rng(0).normal(size=(4, 1000)))
        >>> round(found.r_hat, 1), found.ess_bulk > 2000, found.note
        (1.0, True, '')
    """
    x = _as_floats(values)
    with np.errstate(invalid="ignore"):  # infinite values have a note
        mean, sd = float(x.mean()), float(x.std(ddof=1)) if x.size > 1 else math.nan
    found = (mcse_mean(values), ess_bulk(values), ess_tail(values), rhat(values))
    note = why_undefined(values)
    if not note and math.isnan(found[2]):
        note = f"no tails: more than 95% of the draws are {x.max():g}, the largest value"
    return Diagnosis(mean, sd, *found, note)


def rhat(values: Values) -> float:
    """Rank-normalised split R-hat: 1 if all chains have the same law, more if they differ.

    R-hat = sqrt((W (n - 1) / n + B / n) / W), n draws in a half-chain, W and B the variances within
    and between half-chains (times n); the larger one of the scores and of the folded scores.

    Args:
        values: of one quantity, [chains, draws].

    Returns:
        R-hat, or NaN where it is undefined (`why_undefined`).

    Example:
        >>> import numpy as np
        >>> from aloex import diagnostics
        >>> apart = np.random.default_rng(0).normal(size=(2, 1000)) + [[0.0], [9.0]]
        >>> diagnostics.rhat(apart) > 1.5
        True
    """
    if why_undefined(values):
        return math.nan
    halves = _split(_as_floats(values))
    folded = np.abs(halves - np.median(halves))
    found = [_rhat(_normal_scores(part)) for part in (halves, folded)]
    return float(np.nanmax(found)) if not np.isnan(found).all() else math.nan


def ess_bulk(values: Values) -> float:
    """How many independent draws know the centre of the law as well.

    Args:
        values: of one quantity, [chains, draws].

    Returns:
        The effective sample size of the normal scores, or NaN where it is undefined.

    Example:
        >>> import numpy as np
        >>> from aloex import diagnostics
        >>> slow = np.cumsum(np.random.default_rng(0).normal(size=(4, 1000)), axis=1)
        >>> diagnostics.ess_bulk(slow) < 40
        True
    """
    return math.nan if why_undefined(values) else _ess(_normal_scores(_split(_as_floats(values))))


def ess_tail(values: Values) -> float:
    """How many independent draws know the tails as well: the smaller ESS of 5% and 95% quantiles.

    A quantile that is the largest value, as is usual where there are few values, does not count.

    Args:
        values: of one quantity, [chains, draws].

    Returns:
        The effective sample size, or NaN where it is undefined.

    Example:
        >>> import numpy as np
        >>> from aloex import diagnostics
        >>> diagnostics.ess_tail(np.random.default_rng(0).normal(size=(4, 1000))) > 2000
        True
    """
    if why_undefined(values):
        return math.nan
    x = _as_floats(values)
    below = [_split((x <= np.quantile(x, p)).astype(float)) for p in TAILS]
    return min((_ess(part) for part in below if np.ptp(part) > 0), default=math.nan)


def mcse_mean(values: Values) -> float:
    """The standard error of the mean: sd / sqrt(ESS of the values themselves).

    Args:
        values: of one quantity, [chains, draws].

    Returns:
        The error, or NaN where it is undefined.

    Example:
        >>> import numpy as np
        >>> from aloex import diagnostics
        >>> independent = np.random.default_rng(0).normal(size=(4, 2500))
        >>> round(diagnostics.mcse_mean(independent), 2)
        0.01
    """
    if why_undefined(values):
        return math.nan
    x = _as_floats(values)
    return float(x.std(ddof=1) / math.sqrt(_ess(_split(x))))


def why_undefined(values: Values) -> str:
    """Why a quantity has no R-hat and no effective sample size.

    Args:
        values: of one quantity, [chains, draws].

    Returns:
        The reason, or "" if it has them.

    Example:
        >>> import numpy as np
        >>> from aloex import diagnostics
        >>> diagnostics.why_undefined(np.ones((2, 3)))
        'fewer than 4 draws in a chain'
    """
    x = _as_floats(values)
    if x.shape[1] < 4:
        return "fewer than 4 draws in a chain"
    if not np.isfinite(x).all():
        bad = x[~np.isfinite(x)]
        return f"{bad.size} of {x.size} draws are NaN or infinite, such as {bad[0]:g}"
    return f"constant: all draws are {x[0, 0]:g}" if np.ptp(x) == 0 else ""


def _as_floats(values: Values) -> Float[np.ndarray, "chains draws"]:
    x = np.asarray(values, np.float64)
    require(
        x.ndim == 2 and len(x) >= 1,
        f"diagnostics need the values of one quantity, [chains, draws], got shape {x.shape}",
    )
    return x


def _split(x: Float[np.ndarray, "chains draws"]) -> Float[np.ndarray, "halves n"]:
    """The first and the last half of each chain; of an odd number the one in the middle is lost."""
    n = x.shape[1] // 2
    return np.concatenate([x[:, :n], x[:, -n:]])


def _normal_scores(x: Float[np.ndarray, "m n"]) -> Float[np.ndarray, "m n"]:
    ranks = rankdata(x, method="average").reshape(x.shape)
    return ndtri((ranks - 3 / 8) / (x.size + 1 / 4))


def _rhat(x: Float[np.ndarray, "m n"]) -> float:
    """Of half-chains; infinite if each stays where it is, NaN if all stay at the same value."""
    n, within = x.shape[1], float(x.var(axis=1, ddof=1).mean())
    between = float(x.mean(axis=1).var(ddof=1))
    if within > 0:
        return math.sqrt((n - 1) / n + between / within)
    return math.inf if between > 0 else math.nan


def _ess(x: Float[np.ndarray, "m n"]) -> float:
    """m n / tau, tau = 1 + 2 (rho_1 + rho_2 + ...), of half-chains."""
    m, n = x.shape
    autocovariance = _autocovariance(x).mean(axis=0)
    within = autocovariance[0] * n / (n - 1)
    pooled = within * (n - 1) / n + x.mean(axis=1).var(ddof=1)
    rho = 1 - (within - autocovariance) / pooled
    rho[0] = 1
    # rho_2k + rho_2k+1 is positive and falls with k in a reversible chain: what is not is noise.
    num_pairs = max(1, (n - 1) // 2)
    pairs = rho[: 2 * num_pairs].reshape(num_pairs, 2).sum(axis=1)
    negative = np.flatnonzero(pairs < 0)
    end = int(negative[0]) if negative.size else num_pairs - 1
    tau = -1 + 2 * np.minimum.accumulate(pairs[:end]).sum() + max(float(rho[2 * end]), 0.0)
    return float(m * n / max(tau, 1 / math.log10(m * n)))


def _autocovariance(x: Float[np.ndarray, "m n"]) -> Float[np.ndarray, "m n"]:
    """At lags 0..n - 1, by the Fourier transform."""
    n = x.shape[1]
    centred = x - x.mean(axis=1, keepdims=True)
    spectrum = np.abs(np.fft.rfft(centred, 2 * n, axis=1)) ** 2
    return np.fft.irfft(spectrum, 2 * n, axis=1)[:, :n] / n
