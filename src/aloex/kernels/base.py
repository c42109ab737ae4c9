"""What a kernel is, and how to run one."""

from typing import Any, Protocol, runtime_checkable

import jax
import jax.numpy as jnp
import numpy as np
from jax.core import Tracer
from jaxtyping import Array, Float, Int, Key

from aloex.base.errors import require
from aloex.cursor import Energy
from aloex.spaces import Mixed, Space, require_fixed_length


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


def check_space(space: Space, kernel: str, *, fixed_length: bool = True) -> None:
    """An `InputError` unless the kernel of that name can move states of `space`."""
    # Checked for callers who run no type checker.
    require(
        isinstance(space, Space),  # pyright: ignore[reportUnnecessaryIsInstance]
        f"{kernel} needs the space of x, such as {kernel}(Bits(8)), got {space!r}",
    )
    if fixed_length:
        require_fixed_length(space, kernel)


def check_state(space: Space, x: Int[Array, " dim"]) -> None:
    """An `InputError` for states of another shape, and for values outside of the space.

    The values can be seen outside compiled code only.
    """
    require(
        x.shape == (space.dim,),
        f"this kernel moves states of {space}, shape ({space.dim},), got a state of "
        f"shape {x.shape}",
    )
    if not isinstance(x, Tracer):
        space.check(np.asarray(x)[None], "x")


def checked_state(space: Space, x: Int[Array, " dim"]) -> Int[Array, " dim"]:
    """x, checked; what cannot be checked in compiled code is made a state.

    In a Mixed space a sampler may draw a value that a site does not have: it becomes the last one
    that the site has.
    """
    check_state(space, x)
    if isinstance(space, Mixed):
        return jnp.minimum(x, jnp.asarray(space.values_per_site, x.dtype) - 1)
    return x


def check_same_space(space: Space, own: Space) -> None:
    """An `InputError` unless a matrix is asked for over the kernel's own space."""
    require(space == own, f"this kernel moves states of {own}, not those of {space}")


def check_possible(value: Array) -> None:
    """An `InputError` if the energy at a chain's start is -inf, where that can be seen."""
    if not isinstance(value, Tracer):
        require(
            not bool(jnp.isneginf(value)),
            "the energy of the first state is -inf, so nothing can be compared with it; begin at a "
            "state that is possible (Gibbs and RandomWalk find one by themselves)",
        )


def check_positive(value: Array, name: str) -> None:
    """An `InputError` unless a number is above 0, where that can be seen."""
    if not isinstance(value, Tracer):
        require(bool(jnp.all(value > 0)), f"{name} must be above 0, got {value}")


def num_changed(before: Int[Array, " dim"], after: Int[Array, " dim"]) -> Int[Array, ""]:
    """How many sites differ."""
    return jnp.sum(before != after, dtype=jnp.int32)


def num_start_evaluations(
    kernel: Kernel, f: Energy, x: Int[Array, " dim"], z: Array | None = None
) -> int:
    """What `init` costs, in evaluations of f: 1, unless the kernel says otherwise."""
    own = getattr(kernel, "num_start_evaluations", None)
    return 1 if own is None else own(f, x, z)
