"""Algorithm 2: move q towards q k_f by maximum likelihood on kernel-improved draws.

grad log q(x) is an expectation over the trajectories that end in x (Eq. grad_q), estimated from N
of them drawn from a proposal s_x with self-normalised weights:

    grad log q(x) ~ sum_j w_j grad log q(trajectory_j),   w_j = (q_j / s_j) / sum_k (q_k / s_k).

The paper's Eq. monte_carlo_grad leaves s_x out of the normalising sum; as printed, the gradient's
length shrinks with N. tests/learning/test_power_iteration.py decides the matter by enumeration.
"""

from typing import NamedTuple, Protocol, runtime_checkable

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, Int, Key

from aloex.importance_weights import effective_sample_size, log_mean_exp
from aloex.proposals import Proposal
from aloex.samplers import LocalSearch
from aloex.samplers.local_search import score
from aloex.trajectory import BufferSizes, Trajectory


@runtime_checkable
class Following(Protocol):
    """A proposal that depends on the search that is being trained."""

    def following(self, q: LocalSearch) -> Proposal: ...


class QInfo(NamedTuple):
    log_q: Float[Array, ""]  # mean importance estimate of log q(x): low, exact as N grows
    effective_sample_size: Float[Array, ""]  # mean effective number of trajectories, 1..N
    dropped_fraction: Float[Array, ""]  # share of the trajectories that found no room


def surrogate(
    q: LocalSearch,
    x: Int[Array, "targets dim"],
    trajectories: Trajectory,
    log_s: Float[Array, "targets n"],
    z: Array | None = None,
    sizes: BufferSizes | None = None,
) -> tuple[Float[Array, ""], QInfo]:
    """A loss whose gradient is minus the estimate of the mean of grad log q(x)."""
    log_q, fits = score(q, x, trajectories, z, sizes)
    log_w = jnp.where(fits, jax.lax.stop_gradient(log_q) - log_s, -jnp.inf)
    weights = jnp.where(fits.any(axis=1)[:, None], jax.nn.softmax(log_w, axis=1), 0)
    loss = -jnp.mean(jnp.sum(weights * jnp.where(fits, log_q, 0), axis=1))
    # Over the targets with a trajectory left; all of them, but for an overflow.
    found = fits.any(axis=1)
    info = QInfo(
        log_q=jnp.mean(log_mean_exp(log_w), where=found),
        effective_sample_size=jnp.mean(effective_sample_size(log_w), where=found),
        dropped_fraction=jnp.mean(~fits, dtype=log_q.dtype),
    )
    return loss, info


def follow(proposal: Proposal, q: LocalSearch) -> Proposal:
    """The proposal for the q of this moment, to which no gradient goes through it.

    A proposal that starts at draws of q0 (Eq. short_proposal) has a method `following(q)`; others,
    which do not depend on q, are returned as they are.
    """
    if not isinstance(proposal, Following):
        return proposal
    trained, fixed = eqx.partition(q, eqx.is_inexact_array)
    return proposal.following(eqx.combine(jax.lax.stop_gradient(trained), fixed))


def q_loss(
    q: LocalSearch,
    keys: Key[Array, " targets"],
    x: Int[Array, "targets dim"],
    z: Array | None,
    *,
    proposal: Proposal,
    num_trajectories: int,
) -> tuple[Float[Array, ""], QInfo]:
    """The surrogate with N fresh trajectories for each x."""
    proposal = follow(proposal, q)
    draw = lambda key, x, z: proposal.sample_many(key, x, z, num_trajectories)
    trajectories, log_s = jax.lax.optimization_barrier(jax.vmap(draw)(keys, x, z))
    sizes = proposal.buffer_sizes(x.shape[0], num_trajectories)
    return surrogate(q, x, trajectories, log_s.astype(jnp.result_type(float)), z, sizes)
