"""Gibbs with gradients: propose one change of a site, likelier the more it raises f.

    q(x with x_i = v | x) ~ exp(d_iv / 2) for v != x_i, d_iv = f(x with x_i = v) - f(x),

then a Metropolis-Hastings test (Grathwohl, Swersky, Hashemi, Duvenaud and Maddison 2021, "Oops I
took a gradient"). With exact differences it is the locally balanced proposal of Zanella (2020).
With those of a gradient a step costs two evaluations of f, however many sites there are.
"""

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, Int, Key

from aloex.cursor import Energy
from aloex.differences import How, check_how, num_evaluations
from aloex.kernels import informed
from aloex.kernels import metropolis_hastings as mh
from aloex.kernels.base import check_same_space, check_space
from aloex.kernels.informed import InformedState
from aloex.kernels.metropolis_hastings import MetropolisInfo
from aloex.spaces import Space


class GibbsWithGradients(eqx.Module):
    """One informed change of a site, and a test.

    Args:
        space: what x is, `Bits`, `Categorical` or `Mixed`.
        differences: how f is looked up around x, `auto`, `exact` or `gradient`; see
            `aloex.differences`.

    Example:
        >>> import jax, jax.numpy as jnp
        >>> from aloex import kernels, spaces
        >>> kernel = kernels.GibbsWithGradients(spaces.Bits(3))
        >>> likes_ones = lambda x, z=None: 50.0 * jnp.sum(x)
        >>> x = jnp.zeros(3, jnp.int32)
        >>> kernels.run(kernel, jax.random.key(0), x, likes_ones, num_steps=3).tolist()
        [1, 1, 1]
    """

    space: Space = eqx.field(static=True)
    differences: How = eqx.field(static=True, kw_only=True, default="auto")

    def __check_init__(self):
        check_space(self.space, "GibbsWithGradients")
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
        """One proposal."""
        key_change, key_accept = jax.random.split(key)
        change = jax.random.categorical(key_change, _log_changes(state).reshape(-1))
        site, value = jnp.divmod(change, self.space.num_values)
        x = state.x.at[site].set(value.astype(state.x.dtype))
        proposed = informed.look_around(f, self.space, x, state.z, self.differences)
        log_ratio = informed.log_ratio(_log_q, state, proposed)
        after, acceptance = mh.accept(key_accept, log_ratio, state, proposed)
        count = self.num_start_evaluations(f, x, state.z)
        return after, informed.info(acceptance, state, after, count)

    def transition_matrix(
        self, space: Space, f: Energy, z: Array | None = None
    ) -> Float[Array, "size size"]:
        """The matrix K[x, x'] of a step, by enumeration of this kernel's space."""
        check_same_space(space, self.space)
        return informed.transition_matrix(_log_q, f, space, z, self.differences)


def _log_changes(state: InformedState) -> Float[Array, "dim values"]:
    """log q of each change; -inf of none."""
    is_current = jax.nn.one_hot(state.x, state.differences.shape[1], dtype=bool)
    return jax.nn.log_softmax(
        jnp.where(is_current, -jnp.inf, informed.half_differences(state)), axis=None
    )


def _log_q(state: InformedState, x_next: Int[Array, " dim"]) -> Float[Array, ""]:
    changed = state.x != x_next
    site = jnp.argmax(changed)
    return jnp.where(changed.sum() == 1, _log_changes(state)[site, x_next[site]], -jnp.inf)
