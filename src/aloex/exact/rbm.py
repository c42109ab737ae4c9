"""Restricted Boltzmann machines with few hidden units, by listing the states of those."""

from typing import NamedTuple

import numpy as np
from jaxtyping import Float

from aloex.base.errors import require

MAX_HIDDEN = 24


class RBMAnswers(NamedTuple):
    """What is known of an RBM.

    Example:
        >>> import numpy as np
        >>> from aloex import exact
        >>> found = exact.rbm(np.zeros((1, 3)))
        >>> found.marginals.round(3).tolist(), found.hidden_marginals.round(3).tolist()
        ([0.5, 0.5, 0.5], [0.5])
    """

    log_z: float
    marginals: Float[np.ndarray, " dim"]  # p(x_i = 1)
    hidden_marginals: Float[np.ndarray, " hidden"]  # p(u_j = 1), the mean of sigmoid(c + W x)_j


def rbm(weights: object, visible_bias: object = 0.0, hidden_bias: object = 0.0) -> RBMAnswers:
    """log Z and marginals of `energies.RBM`, in float64 by NumPy.

    Z = sum_u exp(c'u) prod_i (1 + exp(b_i + (W'u)_i)): 2^hidden terms of dim factors each.

    Args:
        weights: W [hidden, dim], with at most 24 hidden units.
        visible_bias: b, a number or one for each site [dim].
        hidden_bias: c, a number or one for each hidden unit [hidden].

    Returns:
        The answers.

    Example:
        >>> from aloex import exact
        >>> round(exact.rbm([[1.0, 2.0]]).log_z, 3)  # log(4 + (1 + e) (1 + e^2))
        3.561
    """
    w = np.asarray(weights, np.float64)
    require(
        w.ndim == 2 and 1 <= w.shape[0] <= MAX_HIDDEN,
        f"weights must have shape (hidden, dim) with 1 to {MAX_HIDDEN} hidden units, got shape "
        f"{w.shape}",
    )
    num_hidden, dim = w.shape
    b = np.broadcast_to(np.asarray(visible_bias, np.float64), (dim,))
    c = np.broadcast_to(np.asarray(hidden_bias, np.float64), (num_hidden,))
    log_z, means, hidden_means = -np.inf, np.zeros(dim), np.zeros(num_hidden)
    rows = 2 ** min(num_hidden, 14)
    for begin in range(0, 2**num_hidden, rows):
        u = (np.arange(begin, begin + rows)[:, None] >> np.arange(num_hidden)) & 1
        inputs = b + u @ w
        log_joint = u @ c + np.logaddexp(0, inputs).sum(axis=1)
        before, log_z = log_z, float(np.logaddexp.reduce(np.append(log_joint, log_z)))
        p, kept = np.exp(log_joint - log_z), np.exp(before - log_z)
        means = kept * means + p @ np.exp(-np.logaddexp(0, -inputs))
        hidden_means = kept * hidden_means + p @ u
    return RBMAnswers(log_z, means, hidden_means)
