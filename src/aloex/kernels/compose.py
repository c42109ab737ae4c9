"""Kernels one after the other: if each leaves p_f unchanged, so does their composition."""

from typing import NamedTuple

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
    """One step is a step of each kernel in turn (each starts afresh: one evaluation of f more)."""

    kernels: tuple[Kernel, ...]

    def __check_init__(self):
        require(len(self.kernels) > 0, "Compose needs at least one kernel, got none")

    def init(
        self, key: Key[Array, ""], x: Int[Array, " dim"], f: Energy, z: Array | None = None
    ) -> ComposeState:
        return ComposeState(x, z)

    def step(
        self, key: Key[Array, ""], state: ComposeState, f: Energy
    ) -> tuple[ComposeState, tuple]:
        x, infos = state.x, []
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
        matrix = self.kernels[0].transition_matrix(space, f, z)
        for kernel in self.kernels[1:]:
            matrix = matrix @ kernel.transition_matrix(space, f, z)
        return matrix
