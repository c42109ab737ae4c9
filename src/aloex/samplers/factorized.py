"""The simplest q0: every site on its own."""

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, Int, Key

from aloex.nets import check_condition
from aloex.spaces import Space, require_fixed_length


class Factorized(eqx.Module):
    """q0(x | z) = prod_i softmax(bias_i + W_i z)[x_i]; the logit of value 0 is fixed at 0.

    Args:
        space: `Bits` or `Categorical`.
        cond_dim: size of z; 0 without conditions.
        key: not needed, there for uniformity: all values are alike at the start.

    >>> import jax
    >>> from aloex.spaces import Bits
    >>> q0 = Factorized(Bits(3))
    >>> q0.sample(jax.random.key(0)).shape, round(float(q0.log_prob(jax.numpy.zeros(3, int))), 3)
    ((3,), -2.079)
    """

    bias: Float[Array, "dim values_less_one"]
    weight: Float[Array, "dim values_less_one cond"]

    def __init__(self, space: Space, *, cond_dim: int = 0, key: Key[Array, ""] | None = None):
        require_fixed_length(space, "Factorized")
        # Symmetric at the start, so no randomness is needed; the key is there for uniformity.
        self.bias = jnp.zeros((space.dim, space.num_values - 1))
        self.weight = jnp.zeros((*self.bias.shape, cond_dim))

    def _logits(self, z: Array | None) -> Float[Array, "dim values"]:
        check_condition(z, self.weight.shape[-1])
        logits = self.bias if z is None else self.bias + self.weight @ z.astype(self.bias.dtype)
        return jnp.pad(logits, ((0, 0), (1, 0)))

    def sample(self, key: Key[Array, ""], z: Array | None = None) -> Int[Array, " dim"]:
        return jax.random.categorical(key, self._logits(z)).astype(jnp.int32)

    def log_prob(self, x: Int[Array, " dim"], z: Array | None = None) -> Float[Array, ""]:
        log_probs = jax.nn.log_softmax(self._logits(z))
        return jnp.sum(jnp.take_along_axis(log_probs, x[:, None], axis=1))
