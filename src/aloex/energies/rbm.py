"""The restricted Boltzmann machine, its hidden units summed out."""

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, Int, Key

from aloex.base.errors import require
from aloex.spaces import Bits


class RBM(eqx.Module):
    """f(x) = b'x + sum_j log(1 + exp(c_j + (W x)_j)), the sum over hidden bits u done.

    p(x, u) ~ exp(b'x + c'u + u'W x). All parameters can be trained.

    Args:
        weights: W [hidden, dim].
        visible_bias: b, a number or one for each site [dim].
        hidden_bias: c, a number or one for each hidden unit [hidden].

    Example:
        >>> import jax.numpy as jnp
        >>> from aloex import energies
        >>> f = energies.RBM([[1.0, 2.0]], visible_bias=[0.5, 0.0])
        >>> round(float(f(jnp.array([1, 0]))), 3)  # 0.5 + log(1 + e)
        1.813
    """

    weights: Float[Array, "hidden dim"]
    visible_bias: Float[Array, " dim"]
    hidden_bias: Float[Array, " hidden"]
    differences_are_exact = True

    def __init__(self, weights: object, visible_bias: object = 0.0, hidden_bias: object = 0.0):
        self.weights = jnp.asarray(weights, float)
        require(
            self.weights.ndim == 2,
            f"weights must have shape (hidden, dim), got shape {self.weights.shape}",
        )
        num_hidden, dim = self.weights.shape
        self.visible_bias = _bias(visible_bias, dim, "visible")
        self.hidden_bias = _bias(hidden_bias, num_hidden, "hidden")

    @classmethod
    def random(
        cls, space: Bits, *, num_hidden: int, scale: float = 0.01, key: Key[Array, ""]
    ) -> "RBM":
        """One to train: small normal weights, no biases.

        Args:
            space: of x.
            num_hidden: hidden units.
            scale: standard deviation of the weights.
            key: of the weights.

        Example:
            >>> import jax
            >>> from aloex import energies, spaces
            >>> f = energies.RBM.random(spaces.Bits(4), num_hidden=3, key=jax.random.key(0))
            >>> f.weights.shape
            (3, 4)
        """
        return cls(scale * jax.random.normal(key, (num_hidden, space.dim)))

    def __call__(
        self, x: Int[Array, " dim"] | Float[Array, " dim"], z: Array | None = None
    ) -> Float[Array, ""]:
        """f(x)."""
        return self.head(self.hidden(x, z))

    def hidden(
        self, x: Int[Array, " dim"] | Float[Array, " dim"], z: Array | None = None
    ) -> Float[Array, " hidden_and_one"]:
        """What reaches the hidden units, c + W x, and behind it b'x."""
        x = x.astype(self.weights.dtype)
        return jnp.append(self.hidden_bias + self.weights @ x, self.visible_bias @ x)

    def site(self, i: Int[Array, ""] | int, v: Int[Array, ""]) -> Float[Array, " hidden_and_one"]:
        """What value v at site i adds to it."""
        return jnp.append(self.weights[:, i], self.visible_bias[i]) * v

    def head(self, hidden: Float[Array, " hidden_and_one"]) -> Float[Array, ""]:
        """f from it."""
        return jnp.sum(jax.nn.softplus(hidden[:-1])) + hidden[-1]

    def differences(self, x: Int[Array, " dim"], z: Array | None = None) -> Float[Array, "dim 2"]:
        """Of site i: b_i (v - x_i) and what that changes in each hidden unit, hidden x dim."""
        inputs = self.hidden(x, z)[:-1]
        turn = 1 - 2 * x.astype(self.weights.dtype)  # from x_i to the other value
        after = jax.nn.softplus(inputs[:, None] + self.weights * turn)
        changes = jnp.sum(after - jax.nn.softplus(inputs)[:, None], axis=0)
        changes = changes + self.visible_bias * turn
        return jnp.where(jnp.arange(2) == x[:, None], 0, changes[:, None])


def _bias(bias: object, num: int, what: str) -> Float[Array, " num"]:
    array = jnp.asarray(bias, float)
    require(
        array.shape in ((), (num,)),
        f"the {what} bias must be one number or {num} numbers, got shape {array.shape}",
    )
    return jnp.broadcast_to(array, (num,))
