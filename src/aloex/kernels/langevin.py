"""Discrete Langevin proposals: all sites may change at once, each by its own law,

    q(x' | x) = prod_i softmax_v (d_iv / 2 - [v != x_i] / (2 step_size))(x'_i),

with d_iv = f(x with x_i = v) - f(x) (Zhang, Liu and Liu 2022, Eq. 4: x'_i - x_i squared is
[v != x_i] for bits; here it is that for categories too, which have no order). A small step changes
few sites. With the Metropolis-Hastings test (DMALA) p_f is left unchanged; without it (DULA) the
chain's law is only near p_f, nearer for smaller steps.
"""

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, Int, Key

from aloex.cursor import Energy
from aloex.differences import How, check_how, num_evaluations
from aloex.kernels import informed
from aloex.kernels import metropolis_hastings as mh
from aloex.kernels.base import check_positive, check_same_space, check_space
from aloex.kernels.informed import InformedState
from aloex.kernels.metropolis_hastings import MetropolisInfo
from aloex.spaces import Space


class DiscreteLangevin(eqx.Module):
    """DMALA, or DULA with `adjusted=False`.

    Args:
        space: what x is, `Bits`, `Categorical` or `Mixed`.
        step_size: more changes more sites; an array, which may be tuned.
        adjusted: whether the test is made. Without it p_f is not left unchanged.
        differences: how f is looked up around x, `auto`, `exact` or `gradient`; see
            `aloex.differences`.

    Example:
        >>> import jax, jax.numpy as jnp
        >>> from aloex import kernels, spaces
        >>> kernel = kernels.DiscreteLangevin(spaces.Bits(3), step_size=0.5)
        >>> likes_ones = lambda x, z=None: 50.0 * jnp.sum(x)
        >>> kernels.run(kernel, jax.random.key(0), jnp.zeros(3, jnp.int32), likes_ones).tolist()
        [1, 1, 1]
    """

    step_size: Float[Array, ""]
    space: Space = eqx.field(static=True)
    adjusted: bool = eqx.field(static=True)
    differences: How = eqx.field(static=True)

    def __init__(
        self,
        space: Space,
        *,
        step_size: float | Float[Array, ""] = 0.2,
        adjusted: bool = True,
        differences: How = "auto",
    ):
        self.step_size = jnp.asarray(step_size, float)
        self.space, self.adjusted, self.differences = space, adjusted, differences

    def __check_init__(self):
        check_space(self.space, "DiscreteLangevin")
        check_positive(self.step_size, "step_size")
        check_how(self.differences)

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
        """One proposal; without the test it is always accepted."""
        key_sites, key_accept = jax.random.split(key)
        x = informed.draw_sites(key_sites, self._log_values(state), state.x.dtype)
        proposed = informed.look_around(f, self.space, x, state.z, self.differences)
        acceptance = jnp.ones((), state.value.dtype)
        if self.adjusted:
            log_ratio = informed.log_ratio(self._log_q, state, proposed)
            after, acceptance = mh.accept(key_accept, log_ratio, state, proposed)
        else:  # what is NaN stays, so that it is found
            after = mh.select(jnp.isnan(state.value), state, proposed)
        count = self.num_start_evaluations(f, x, state.z)
        return after, informed.info(acceptance, state, after, count)

    def _log_values(self, state: InformedState) -> Float[Array, "dim values"]:
        """log q of each value of each site."""
        stays = jax.nn.one_hot(state.x, state.differences.shape[1], dtype=bool)
        penalty = (1 / (2 * self.step_size)).astype(state.value.dtype)
        scores = informed.half_differences(state) - jnp.where(stays, 0, penalty)
        return jax.nn.log_softmax(scores, axis=1)

    def _log_q(self, state: InformedState, x_next: Int[Array, " dim"]) -> Float[Array, ""]:
        return jnp.take_along_axis(self._log_values(state), x_next[:, None], axis=1).sum()

    def transition_matrix(
        self, space: Space, f: Energy, z: Array | None = None
    ) -> Float[Array, "size size"]:
        """The matrix K[x, x'] of a step, by enumeration of this kernel's space."""
        check_same_space(space, self.space)
        if not self.adjusted:
            return jnp.exp(informed.log_proposals(self._log_q, f, space, z, self.differences))
        return informed.transition_matrix(self._log_q, f, space, z, self.differences)
