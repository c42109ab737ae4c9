"""What a kernel is, and how to run one."""

from typing import Any, Protocol, runtime_checkable

import jax
import jax.numpy as jnp
from jax.core import Tracer
from jaxtyping import Array, Float, Int, Key

from aloex.base.errors import InputError, require
from aloex.cursor import Energy
from aloex.spaces import Space


@runtime_checkable
class Kernel(Protocol):
    """What a kernel offers: `init` starts a chain at x, `step` moves it.

    A state has a field `x`; it belongs to one f and is made anew when f changes.

    Example:
        >>> from aloex import kernels, spaces
        >>> isinstance(kernels.Gibbs(spaces.Bits(3)), kernels.Kernel)
        True
    """

    def init(self, key: Key[Array, ""], x: Array, f: Energy, z: Array | None = None) -> Any:
        """The state of a chain at x."""
        ...

    def step(self, key: Key[Array, ""], state: Any, f: Energy) -> tuple[Any, Any]:
        """The state after one step, and what there is to say about it."""
        ...

    def transition_matrix(
        self, space: Space, f: Energy, z: Array | None = None
    ) -> Float[Array, "size size"]:
        """The matrix K[x, x'] of a step, by enumeration of the space."""
        ...


def run(
    kernel: Kernel,
    key: Key[Array, ""],
    x: Int[Array, " dim"],
    f: Energy,
    z: Array | None = None,
    *,
    num_steps: int = 1,
) -> Int[Array, " dim"]:
    """Where `num_steps` steps of the kernel lead from x.

    Args:
        kernel: such as `Gibbs`.
        key: of all its randomness.
        x: where to begin [dim].
        f: the energy, f(x, z) -> scalar.
        z: the condition, if f has one.
        num_steps: at least 1.

    Returns:
        The state [dim] after the last step.

    Example:
        >>> import jax, jax.numpy as jnp
        >>> from aloex import kernels, spaces
        >>> likes_ones = lambda x, z=None: 50.0 * jnp.sum(x)
        >>> gibbs = kernels.Gibbs(spaces.Bits(3))
        >>> kernels.run(gibbs, jax.random.key(0), jnp.zeros(3, jnp.int32), likes_ones).tolist()
        [1, 1, 1]
    """
    require(num_steps >= 1, f"num_steps must be at least 1, got {num_steps}")
    key_init, key_steps = jax.random.split(key)
    state = kernel.init(key_init, x, f, z)
    if num_steps == 1:  # no loop around the usual single step
        return kernel.step(key_steps, state, f)[0].x
    keys = jax.random.split(key_steps, num_steps)
    state, _ = jax.lax.scan(lambda s, k: (kernel.step(k, s, f)[0], None), state, keys)
    return state.x


def check_energy(value: Array) -> None:
    """An `InputError` unless an energy's value is one floating-point number, and not NaN.

    Whether it is NaN can be seen outside compiled code only.
    """
    value = jnp.asarray(value)
    if value.shape != () or not jnp.issubdtype(value.dtype, jnp.floating):
        raise InputError(
            f"an energy must return one floating-point number, got {value.dtype} of shape "
            f"{value.shape}; return 1.0 * value where integers are meant, value.sum() for an array"
        )
    if not isinstance(value, Tracer):
        require(not bool(jnp.isnan(value)), "the energy of the first state is NaN; mend the energy")
