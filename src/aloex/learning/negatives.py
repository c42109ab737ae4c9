"""Where negatives come from: draws of the search, chains that live on, resampling by weights.

Draws. x_hat ~ q(. | z), then x_neg ~ k_f(. | x_hat, z), as in Algorithm 1.

Chains. With `persistence` = L > 1 a draw of q lives for L steps: every step takes batch / L new
draws, moves all by one kernel step, uses all as negatives, and gives the oldest, which have been
through L kernel steps, to q as its targets. A chain keeps the condition z that it was drawn for.

Resampling. q(x) itself is a sum over trajectories, but with the proposal s_x as an auxiliary law
every trajectory tau to x has a weight of its own,

    w = exp f(x, z) s_x(tau) / q(tau | z),    with E_q[w] = Z_f(z),

so that the weighted draws of a z follow p_f(. | z). That moves mass between modes, which the kernel
cannot. For the same reason chains are resampled by exp(f(x, z) - f_then(x, z)) before they move on,
where f_then is the f that moved them last: their share in a mode keeps up with f.

Z_f depends on z, so weights say nothing across conditions: a pair (x, z) that took another's row
would give a z more negatives, the larger its Z_f. States are resampled among the rows of equal z
only. The conditions stay where they are, and a row whose z no other row has keeps its state.
"""

from typing import NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, Int, Key

from aloex.base.errors import require
from aloex.cursor import Energy
from aloex.importance_weights import capped, systematic, systematic_in_groups
from aloex.kernels import Kernel, run
from aloex.learning.learner import gather, shard, split_keys
from aloex.learning.power_iteration import follow
from aloex.proposals import LearnedInverse, Proposal
from aloex.samplers import LocalSearch
from aloex.samplers.local_search import sample_ends
from aloex.trajectory import Trajectory


class Chains(NamedTuple):
    """States for the kernel to move; leading axes are [rows], or [starts, ages], youngest first."""

    x: Int[Array, "*rows dim"]
    z: Array | None = None  # the condition of each, for life
    f: Float[Array, "*rows"] | None = None  # by the f that moved it last; kept to resample


class Negatives(eqx.Module):
    """Draws negatives; it owns no state, so chains go in and come out.

    Args:
        kernel: k_f.
        proposal: s_x, for the weights of draws.
        num_kernel_steps: kernel steps from x_hat to x_neg.
        persistence: L, the steps that a draw lives for.
        resample: by weights, as the module's docstring says.
    """

    kernel: Kernel
    proposal: Proposal
    num_kernel_steps: int = eqx.field(static=True, kw_only=True, default=1)
    persistence: int = eqx.field(static=True, kw_only=True, default=1)
    resample: bool = eqx.field(static=True, kw_only=True, default=False)

    def first_chains(
        self, f: Energy, x: Int[Array, "batch dim"] | None, z: Array | None = None
    ) -> Chains | None:
        """The chains before the first step, if they persist: [batch / L, L - 1]."""
        lives = self.persistence
        if lives == 1:
            return None
        require(
            x is not None and x.shape[0] % lives == 0,
            f"persistence={lives} needs the states at which chains begin: as many as the batch, "
            f"a multiple of {lives}, got {None if x is None else x.shape[0]}",
        )
        assert x is not None
        require(
            z is None or z.shape[0] == x.shape[0],
            f"every chain needs its condition: got {x.shape[0]} chains and conditions of shape "
            f"{None if z is None else z.shape}",
        )
        by_start = lambda a: a.reshape(-1, lives, *a.shape[1:])[:, 1:]
        chains = jax.tree.map(by_start, Chains(x, z))
        if not self.resample:
            return chains
        return chains._replace(f=jax.vmap(jax.vmap(f))(chains.x, chains.z))

    def sample(
        self,
        keys: Key[Array, " batch"],
        f: Energy,
        q: LocalSearch,
        z: Array | None = None,
        chains: Chains | None = None,
        axis: str | None = None,
    ) -> tuple[Chains, Int[Array, " starts"]]:
        """x_neg ~ q k_f and the chains, each a kernel step on, [starts, ages]; edits of each draw.

        There is one key for each state that comes out, and a row of z for each new draw.
        """
        keys_q, keys_kernel = split_keys(keys)
        x_hat, num_edits, _ = self.draw(keys_q, f, q, z, chains, axis)
        return by_age(self.move(keys_kernel, x_hat, f, axis), len(num_edits)), num_edits

    def draw(
        self,
        keys: Key[Array, " batch"],
        f: Energy,
        q: LocalSearch,
        z: Array | None,
        chains: Chains | None,
        axis: str | None,
    ) -> tuple[Chains, Int[Array, " starts"], Trajectory | None]:
        """x_hat ~ q as rows, each before the chains that it joins; the number of edits of each.

        Also the trajectories as q drew them, if s is learned from them.
        """
        keys, drawn = keys[:: 1 if chains is None else 1 + chains.x.shape[1]], None
        if self.resample:
            x, num_edits, drawn = self._resampled_draws(keys, f, q, z, axis)
        elif isinstance(self.proposal, LearnedInverse):
            drawn = jax.vmap(q.sample)(keys, z)
            x, num_edits = drawn.last, drawn.num_edits
        else:
            x, num_edits = sample_ends(q, keys, z)
        return self.joined(f, x, z, chains), num_edits, drawn

    def joined(
        self, f: Energy, x: Int[Array, "starts dim"], z: Array | None, chains: Chains | None
    ) -> Chains:
        """New draws as rows, each before the chains that it joins."""
        if chains is None:
            return Chains(x, z)
        require(
            (z is None) == (chains.z is None),
            "chains and data must both have conditions or neither: pass `init` the conditions of "
            f"the first chains; chains have {'none' if chains.z is None else chains.z.shape}, "
            f"new draws {'none' if z is None else z.shape}",
        )
        new = Chains(x, z, None if chains.f is None else jax.vmap(f)(x, z))
        join = lambda a, b: jnp.concatenate([a[:, None], b], axis=1)
        rows = jax.tree.map(join, new, chains)
        return jax.tree.map(lambda a: a.reshape(-1, *a.shape[2:]), rows)

    def move(
        self, keys: Key[Array, " rows"], chains: Chains, f: Energy, axis: str | None
    ) -> Chains:
        """x_neg ~ k_f(. | x) for every row, after resampling them if they know their old f."""
        x, z = chains.x, chains.z
        if chains.f is not None:
            keys_choice, keys = split_keys(keys)
            log_w = jax.vmap(f)(x, z) - chains.f
            (x,) = resample_rows(keys_choice, log_w, (x,), z, axis)
        step = lambda key, x, z: run(self.kernel, key, x, f, z, num_steps=self.num_kernel_steps)
        x_neg = jax.vmap(step)(keys, x, z)
        return Chains(x_neg, z, None if chains.f is None else jax.vmap(f)(x_neg, z))

    def _resampled_draws(
        self,
        keys: Key[Array, " starts"],
        f: Energy,
        q: LocalSearch,
        z: Array | None,
        axis: str | None,
    ) -> tuple[Int[Array, "starts dim"], Int[Array, " starts"], Trajectory]:
        """Draws of q resampled by their weights, how many edits each took, and all as drawn."""
        keys_q, keys_choice = split_keys(keys)
        drawn = jax.vmap(q.sample)(keys_q, z)
        log_w = log_weights(f, q, self.proposal, drawn, z)
        x, num_edits = resample_rows(keys_choice, log_w, (drawn.last, drawn.num_edits), z, axis)
        return x, num_edits, drawn


def by_age(rows: Chains, num_starts: int) -> Chains:
    """Rows as [starts, ages]: the last column is the oldest, whose life is over."""
    return jax.tree.map(lambda a: a.reshape(num_starts, -1, *a.shape[1:]), rows)


def log_weights(
    f: Energy, q: LocalSearch, proposal: Proposal, trajectories: Trajectory, z: Array | None
) -> Float[Array, " n"]:
    """log w = f(x, z) + log s_x(tau) - log q(tau | z) of every trajectory."""
    log_q = jax.vmap(q.log_prob)(trajectories, z)
    log_s = jax.vmap(follow(proposal, q).log_prob)(trajectories, z)
    return jax.vmap(f)(trajectories.last, z) + log_s - log_q


def resample_rows(
    keys: Key[Array, " n"],
    log_w: Float[Array, " n"],
    rows: tuple[Array, ...],
    z: Array | None,
    axis: str | None,
) -> tuple[Array, ...]:
    """Rows resampled by their weights among those of equal z, over all devices."""
    log_w = gather(log_w, axis)
    offset = gather(jax.vmap(jax.random.uniform)(keys), axis)[0]  # one number for all devices
    if z is None:
        chosen = systematic(offset, capped(log_w))
    else:
        conditions = gather(z, axis).reshape(log_w.shape[0], -1)
        same = jnp.all(conditions[:, None] == conditions, axis=-1)
        chosen = systematic_in_groups(offset, capped(log_w, same), same)
    return tuple(shard(gather(a, axis)[chosen], axis) for a in rows)
