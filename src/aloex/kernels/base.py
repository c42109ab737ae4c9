"""What a kernel is, and how to run one."""

from typing import Any, Protocol, runtime_checkable

import jax
from jaxtyping import Array, Float, Int, Key

from aloex.cursor import Energy


@runtime_checkable
class Kernel(Protocol):
    """State must have a field `x`; it belongs to one f and is made anew when f changes."""

    def init(self, key: Key[Array, ""], x: Array, f: Energy, z: Array | None = None) -> Any: ...
    def step(self, key: Key[Array, ""], state: Any, f: Energy) -> tuple[Any, Any]: ...
    def transition_matrix(
        self, space: Any, f: Energy, z: Array | None = None
    ) -> Float[Array, "size size"]: ...


def run(
    kernel: Kernel,
    key: Key[Array, ""],
    x: Int[Array, " dim"],
    f: Energy,
    z: Array | None = None,
    *,
    num_steps: int = 1,
) -> Int[Array, " dim"]:
    """Where `num_steps` steps of the kernel lead from x."""
    key_init, key_steps = jax.random.split(key)
    state = kernel.init(key_init, x, f, z)
    if num_steps == 1:  # no loop around the usual single step
        return kernel.step(key_steps, state, f)[0].x
    keys = jax.random.split(key_steps, num_steps)
    state, _ = jax.lax.scan(lambda s, k: (kernel.step(k, s, f)[0], None), state, keys)
    return state.x
