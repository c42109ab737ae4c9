"""What the parts of a search are. z is the condition, None for models without one."""

from collections.abc import Sequence
from typing import Any, Protocol, runtime_checkable

from jaxtyping import Array


@runtime_checkable
class Tractable(Protocol):
    """A law that can be drawn from and scored, such as q0: q0(x | z).

    Example:
        >>> import jax, jax.numpy as jnp
        >>> from aloex import samplers
        >>> class FairBits:
        ...     def sample(self, key, z=None):
        ...         return jax.random.bernoulli(key, shape=(3,)).astype(jnp.int32)
        ...
        ...     def log_prob(self, x, z=None):
        ...         return -3 * jnp.log(2.0)
        >>> isinstance(FairBits(), samplers.Tractable)
        True
        >>> samplers.LocalSearch(FairBits()).sample(jax.random.key(0)).last.shape
        (3,)
    """

    def sample(self, key: Array, z: Any, /) -> Array:
        """A draw x."""
        ...

    def log_prob(self, x: Array, z: Any, /) -> Array:
        """log q0(x | z)."""
        ...


@runtime_checkable
class ScoresVariants(Protocol):
    """What a q0 may offer beyond that: to score states that are nearly alike for less."""

    def log_prob_near(
        self, x: Array, variants: Array, owner: Array, z: Any, max_changed_before: Sequence[int], /
    ) -> tuple[Array, Array, Array]:
        """log q0 of targets x, of variants of them, and which variants found room in the buffer.

        `owner` names the target of each variant; `max_changed_before[i]` bounds the number of
        variants that differ from their target before site i.
        """
        ...


@runtime_checkable
class Editor(Protocol):
    """An editor q_A(x' | x, z): it changes one part of x, always.

    Example:
        >>> import jax, jax.numpy as jnp
        >>> from aloex import samplers
        >>> class AnyBit:  # q_A(x' | x) = 1 / dim
        ...     def sample(self, key, x, z=None):
        ...         site = jax.random.randint(key, (), 0, x.size)
        ...         return x.at[site].set(1 - x[site])
        ...
        ...     def log_prob(self, x, x_next, z=None):
        ...         is_edit = jnp.sum(x != x_next) == 1
        ...         return jnp.where(is_edit, -jnp.log(1.0 * x.size), -jnp.inf)
        >>> isinstance(AnyBit(), samplers.Editor)
        True
        >>> int(AnyBit().sample(jax.random.key(0), jnp.zeros(3, jnp.int32)).sum())
        1
    """

    def sample(self, key: Array, x: Array, z: Any, /) -> Array:
        """A draw x'."""
        ...

    def log_prob(self, x: Array, x_next: Array, z: Any, /) -> Array:
        """log q_A(x' | x, z); -inf if no single edit leads there."""
        ...


@runtime_checkable
class StopPolicy(Protocol):
    """A stop policy: q_stop(x | z) = sigmoid of what it returns.

    Example:
        >>> import jax, jax.numpy as jnp
        >>> from aloex import samplers
        >>> class HalfTheTime:
        ...     def __call__(self, x, z=None):
        ...         return jnp.array(0.0)
        >>> isinstance(HalfTheTime(), samplers.StopPolicy)
        True
        >>> float(jax.nn.sigmoid(HalfTheTime()(jnp.array([0, 1]))))
        0.5
    """

    def __call__(self, x: Array, z: Any, /) -> Array:
        """The log-odds of stopping at x."""
        ...
