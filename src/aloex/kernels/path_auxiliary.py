"""Path-auxiliary proposals: several sites change one after the other, and the path is remembered.

A path from x has l steps, l uniform on 1, ..., 2 mean_length - 1. Each step picks a site not yet
changed, and a new value for it, with probability in proportion to exp(d_iv / 2), where
d_iv = f(x with x_i = v) - f(x) is taken at x for all steps. The way back is the same path in
reverse order with the differences at its end, so that x' and path are accepted with probability

    min(1, exp(f(x') - f(x)) q(reversed path | x') / q(path | x)).

This is the fast version (PAFS) of Sun, Dai, Xia and Ramamurthy (2022), "Path auxiliary proposal for
MCMC in discrete space": f and its differences are evaluated at the two ends only.
"""

import itertools
from typing import NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jax.core import Tracer
from jaxtyping import Array, Float, Int, Key

from aloex.base.errors import require
from aloex.cursor import Energy
from aloex.differences import How, check_how, num_evaluations
from aloex.kernels import informed
from aloex.kernels import metropolis_hastings as mh
from aloex.kernels.base import check_same_space, check_space
from aloex.kernels.informed import InformedState
from aloex.kernels.metropolis_hastings import MetropolisInfo
from aloex.spaces import Space, values_per_site


class Path(NamedTuple):
    """The first `length` of these sites change, in this order; the others might have."""

    sites: Int[Array, " max_path"]
    length: Int[Array, ""]


class PathAuxiliary(eqx.Module):
    """An informed path of changes, and a test at its end.

    Args:
        space: what x is, `Bits`, `Categorical` or `Mixed`.
        mean_length: of the paths, at most (max_path + 1) / 2, which is also what it is unless
            given where that is less than 2, else 2. An array, which may be tuned.
        max_path: the longest path; all sites that can change unless given. As many sites are
            sorted, so that less takes less time and memory.
        differences: how f is looked up around x, `auto`, `exact` or `gradient`; see
            `aloex.differences`.

    Example:
        >>> import jax, jax.numpy as jnp
        >>> from aloex import kernels, spaces
        >>> kernel = kernels.PathAuxiliary(spaces.Bits(3), mean_length=2.0)
        >>> likes_ones = lambda x, z=None: 9.0 * jnp.sum(x)
        >>> x = jnp.zeros(3, jnp.int32)
        >>> kernels.run(kernel, jax.random.key(0), x, likes_ones, num_steps=20).tolist()
        [1, 1, 1]
    """

    mean_length: Float[Array, ""]
    space: Space = eqx.field(static=True)
    max_path: int = eqx.field(static=True)
    differences: How = eqx.field(static=True)

    def __init__(
        self,
        space: Space,
        *,
        mean_length: float | Float[Array, ""] | None = None,
        max_path: int | None = None,
        differences: How = "auto",
    ):
        check_space(space, "PathAuxiliary")
        check_how(differences)
        num_sites = sum(n > 1 for n in values_per_site(space))
        self.space, self.differences = space, differences
        self.max_path = num_sites if max_path is None else max_path
        require(
            1 <= self.max_path <= num_sites,
            f"max_path must be in 1..{num_sites}, the sites that can change, got {max_path}",
        )
        longest = (self.max_path + 1) / 2
        mean_length = min(2.0, longest) if mean_length is None else mean_length
        self.mean_length = jnp.asarray(mean_length, float)
        if not isinstance(self.mean_length, Tracer):
            require(
                1 <= float(self.mean_length) <= longest,
                f"mean_length must be in 1..{longest}, half of max_path + 1, got {mean_length}",
            )

    def init(
        self, key: Key[Array, ""], x: Int[Array, " dim"], f: Energy, z: Array | None = None
    ) -> InformedState:
        """A chain at x; needs no randomness."""
        return informed.start(f, self.space, x, z, self.differences)

    def num_start_evaluations(
        self, f: Energy, x: Int[Array, " dim"], z: Array | None = None
    ) -> int:
        """What `init` and each step cost, in evaluations of f."""
        return num_evaluations(f, self.space, x, z, how=self.differences)

    def step(
        self, key: Key[Array, ""], state: InformedState, f: Energy
    ) -> tuple[InformedState, MetropolisInfo]:
        """One path."""
        key_length, key_path, key_accept = jax.random.split(key, 3)
        cumulative = jnp.cumsum(self._length_probs())[:-1]
        u = jax.random.uniform(key_length, (), cumulative.dtype)
        length = 1 + jnp.sum(u >= cumulative, dtype=jnp.int32)
        path, x = self._draw_path(key_path, state, length)
        proposed = informed.look_around(f, self.space, x, state.z, self.differences)
        log_ratio = _log_ratio(path, state, proposed)
        after, acceptance = mh.accept(key_accept, log_ratio, state, proposed)
        count = self.num_start_evaluations(f, x, state.z)
        return after, informed.info(acceptance, state, after, count)

    def _length_probs(self) -> Float[Array, " max_path"]:
        """P(l) for l = 1, 2, ...: uniform on 1..2 mean - 1, the last in part if that is broken."""
        longest = jnp.clip(2 * self.mean_length - 1, 1, self.max_path)
        return jnp.clip(longest - jnp.arange(self.max_path), 0, 1) / longest

    def _draw_path(
        self, key: Key[Array, ""], state: InformedState, length: Int[Array, ""]
    ) -> tuple[Path, Int[Array, " dim"]]:
        """A path and where it leads.

        The sites with the largest scores plus Gumbel noise, the largest first, are draws without
        replacement (Plackett-Luce), and within a site the value of the largest has the law asked
        for.
        """
        scores = _scores(state)
        noisy = scores + jax.random.gumbel(key, scores.shape, scores.dtype)
        _, sites = jax.lax.top_k(noisy.max(axis=1), self.max_path)
        changes = jnp.arange(self.max_path) < length
        values = jnp.argmax(noisy, axis=1)[sites].astype(state.x.dtype)
        x = state.x.at[sites].set(jnp.where(changes, values, state.x[sites]))
        return Path(sites, length), x

    def transition_matrix(
        self, space: Space, f: Energy, z: Array | None = None
    ) -> Float[Array, "size size"]:
        """The matrix K[x, x'] of a step, by enumeration of this kernel's space and all paths."""
        check_same_space(space, self.space)
        look = lambda x: informed.look_around(f, space, x, z, self.differences)
        values = jax.vmap(lambda x: look(x).value)(space.enumerate())

        def of_path(path: Path) -> Float[Array, "size size"]:
            changes = jnp.where(jnp.arange(self.max_path) < path.length, path.sites, space.dim)
            changes = jnp.zeros(space.dim, bool).at[changes].set(True, mode="drop")
            log_length = jnp.log(self._length_probs())[path.length - 1]

            def pair(x: Array, x_next: Array) -> tuple[Array, Array]:
                current, proposed = look(x), look(x_next)
                leads_there = jnp.all(changes == (x != x_next))
                log_q = jnp.where(leads_there, log_length + _log_q(path, current, x_next), -jnp.inf)
                return log_q, _log_ratio(path, current, proposed)

            row = lambda x: jax.vmap(lambda x_next: pair(x, x_next))(space.enumerate())
            return mh.transition_matrix(*jax.vmap(row)(space.enumerate()), values)

        return jax.vmap(of_path)(_all_paths(space.dim, self.max_path)).sum(axis=0)


def _log_ratio(path: Path, current: InformedState, proposed: InformedState) -> Float[Array, ""]:
    """f(x') - f(x) + log q(reversed path | x') - log q(path | x)."""
    there = _log_q(path, current, proposed.x)
    back = _log_q(path, proposed, current.x, backwards=True)
    log_ratio = proposed.value - current.value + back - there
    return informed.not_hiding_nan(log_ratio, proposed)


def _log_q(
    path: Path, state: InformedState, x_next: Int[Array, " dim"], *, backwards: bool = False
) -> Float[Array, ""]:
    """log probability that a path from this state, or one in reverse order, leads to x_next."""
    scores = _scores(state)
    of_site = jax.nn.logsumexp(scores, axis=1)
    changes = jnp.arange(path.sites.shape[0]) < path.length
    on_path = of_site[path.sites]
    # Each step chooses among the sites that no step before it has changed: those that are not in
    # `sites`, those that the path does not get to, and those on it that are still to come.
    others = jnp.ones(of_site.shape, bool).at[path.sites].set(False)
    others = jax.nn.logsumexp(jnp.where(others, of_site, -jnp.inf))
    if backwards:
        not_reached = jax.nn.logsumexp(jnp.where(changes, -jnp.inf, on_path))
        others = jnp.logaddexp(others, not_reached)
    left = jnp.logaddexp(others, jax.lax.cumlogsumexp(on_path, reverse=not backwards))
    log_steps = scores[path.sites, x_next[path.sites]] - left
    return jnp.sum(jnp.where(changes, log_steps, 0))


def _scores(state: InformedState) -> Float[Array, "dim values"]:
    """log weights of all changes; -inf of none."""
    is_current = jax.nn.one_hot(state.x, state.differences.shape[1], dtype=bool)
    return jnp.where(is_current, -jnp.inf, informed.half_differences(state))


def _all_paths(dim: int, max_path: int) -> Path:
    """All orders of 1 to max_path sites, filled up with sites that are not on the path."""
    paths = [p for n in range(1, max_path + 1) for p in itertools.permutations(range(dim), n)]
    filled = [(*p, *(i for i in range(dim) if i not in p))[:max_path] for p in paths]
    return Path(jnp.asarray(np.array(filled)), jnp.array([len(p) for p in paths]))
