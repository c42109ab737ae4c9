"""Importance weights of draws of a search, whose q(x) is a sum over trajectories.

With a backward law s, every trajectory tau that ends in x gives an estimate q(tau) / s(tau | x) of
q(x), unbiased for tau ~ s. From K of them, tau_1 the one that was drawn and the others from s,

    q_K(x) = 1/K sum_k q(tau_k) / s(tau_k | x),    w = exp f(x) / q_K(x),

the mean of w is Z for every K: given x, the drawn one is among the K as any of them might be
(as for the importance-weighted bounds of Burda, Grosse and Salakhutdinov 2016). The larger K, the
nearer is w to exp f(x) / q(x).

How near can be seen. log q_K(x) is too high on average, since the drawn trajectory is one that q
likes; without it, the mean of the other K - 1 makes it too low. The gap between the two bounds what
the weights may hide. The effective sample size is blind to it: where s gives a share m of its mass
to trajectories that q never draws, all weights are alike, and log Z is low by -log(1 - m^K).
"""

from typing import NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, Key

from aloex.base.errors import require
from aloex.cursor import Energy
from aloex.importance_weights import log_mean_exp
from aloex.proposals.base import Proposal
from aloex.samplers import LocalSearch
from aloex.spaces import contains
from aloex.trajectory import Trajectory


class SearchWeight(NamedTuple):
    """The weight of a draw, and how well q(x) is known.

    Example:
        >>> import jax.numpy as jnp
        >>> from aloex import proposals
        >>> log_w, log_q, log_q_of_others = jnp.array([1.5, -1.0, -1.25])
        >>> weight = proposals.SearchWeight(log_w, log_q, log_q_of_others)
        >>> float(weight.log_q - weight.log_q_of_others)  # the gap
        0.25
    """

    log_w: Float[Array, "*n"]  # f(x, z) - log_q; -inf outside of the space
    log_q: Float[Array, "*n"]  # log q_K(x): too high on average
    log_q_of_others: Float[Array, "*n"]  # the same without the drawn trajectory: too low


def weigh(
    key: Key[Array, ""],
    f: Energy,
    q: LocalSearch,
    proposal: Proposal,
    drawn: Trajectory,
    z: Array | None = None,
    *,
    num_trajectories: int = 1,
) -> SearchWeight:
    """The weight of one draw of a search, from K trajectories that end where it does.

    Args:
        key: of the other K - 1 trajectories.
        f: the energy, f(x, z) -> scalar.
        q: the search that has drawn it.
        proposal: s, the backward law.
        drawn: the trajectory.
        z: the condition, if f and q have one.
        num_trajectories: K.

    Returns:
        log w with E_q[w] = Z, and two estimates of log q(x); NaN for that of the others if K is 1.

    Example:
        >>> import jax
        >>> from aloex import proposals, samplers, spaces
        >>> space = spaces.Bits(3)
        >>> q, s = samplers.LocalSearch(samplers.Factorized(space)), proposals.Inverse(
        ...     space=space, max_edits=0
        ... )
        >>> key = jax.random.key(0)
        >>> weight = proposals.weigh(key, lambda x, z: 0.0 * x.sum(), q, s, q.sample(key))
        >>> round(float(weight.log_w), 3)  # log 8
        2.079
    """
    require(num_trajectories >= 1, f"num_trajectories must be at least 1, got {num_trajectories}")
    # One by one: draws of `sample_many` may depend on each other.
    keys = jax.random.split(key, num_trajectories - 1)
    others = jax.vmap(lambda k: proposal.sample(k, drawn.last, z)[0])(keys)
    return weight_from(f, q, proposal, drawn, others, z)


def weight_from(
    f: Energy,
    q: LocalSearch,
    proposal: Proposal,
    drawn: Trajectory,
    others: Trajectory,
    z: Array | None = None,
) -> SearchWeight:
    """The weight of a drawn trajectory, given the K - 1 others; a function without randomness."""
    every = jax.tree.map(lambda a, b: jnp.concatenate([a[None], b]), drawn, others)
    log_ratio = lambda t: q.log_prob(t, z) - proposal.log_prob(t, z)
    ratios = jax.vmap(log_ratio)(every)
    log_q = log_mean_exp(ratios)
    alone = ratios.shape[0] == 1
    log_q_of_others = jnp.full_like(log_q, jnp.nan) if alone else log_mean_exp(ratios[1:])
    value = jnp.where(contains(proposal.space, drawn.last), f(drawn.last, z), -jnp.inf)
    return SearchWeight(value - log_q, log_q, log_q_of_others)
