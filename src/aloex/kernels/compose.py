"""Kernels one after the other: if each leaves p_f unchanged, so does their composition."""

from typing import Any, NamedTuple

import equinox as eqx
import jax
from jaxtyping import Array, Float, Int, Key

from aloex.base.errors import require
from aloex.cursor import Energy
from aloex.kernels.base import Kernel
from aloex.spaces import Space


class ComposeState(NamedTuple):
    x: Int[Array, " dim"]
    z: Array | None


class Compose(eqx.Module):
    """One step is a step of each kernel in turn (each starts afresh: one evaluation of f more).

    Args:
        kernels: at least one.

    Example:
        >>> import jax, jax.numpy as jnp
        >>> from aloex import kernels, spaces
        >>> space = spaces.Bits(3)
        >>> both = (kernels.Gibbs(space), kernels.Gibbs(space, scan="random"))
        >>> likes_ones = lambda x, z=None: 50.0 * jnp.sum(x)
        >>> x = kernels.run(
        ...     kernels.Compose(both), jax.random.key(0), jnp.zeros(3, jnp.int32), likes_ones
        ... )
        >>> x.tolist()
        [1, 1, 1]
    """

    kernels: tuple[Kernel, ...]

    def __check_init__(self):
        require(len(self.kernels) > 0, "Compose needs at least one kernel, got none")

    def init(
        self, key: Key[Array, ""], x: Int[Array, " dim"], f: Energy, z: Array | None = None
    ) -> ComposeState:
        """A chain at x."""
        return ComposeState(x, z)

    def step(
        self, key: Key[Array, ""], state: ComposeState, f: Energy
    ) -> tuple[ComposeState, tuple[Any, ...]]:
        """A step of each: the state after them, and the info of each."""
        x: Array = state.x
        infos: list[Any] = []
        for key_kernel, kernel in zip(
            jax.random.split(key, len(self.kernels)), self.kernels, strict=True
        ):
            key_init, key_step = jax.random.split(key_kernel)
            inner, info = kernel.step(key_step, kernel.init(key_init, x, f, state.z), f)
            x = inner.x
            infos.append(info)
        return ComposeState(x, state.z), tuple(infos)

    def transition_matrix(
        self, space: Space, f: Energy, z: Array | None = None
    ) -> Float[Array, "size size"]:
        """The product of the kernels' matrices."""
        matrix = self.kernels[0].transition_matrix(space, f, z)
        for kernel in self.kernels[1:]:
            matrix = matrix @ kernel.transition_matrix(space, f, z)
        return matrix
