"""Kernels one after the other: if each leaves p_f unchanged, so does their composition."""

from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, Int, Key

from aloex.base.errors import require
from aloex.cursor import Energy
from aloex.kernels.base import Kernel, num_changed, num_start_evaluations
from aloex.spaces import Space


class ComposeState(NamedTuple):
    x: Int[Array, " dim"]
    z: Array | None
    value: Float[Array, ""]  # f(x, z)


class ComposeInfo(NamedTuple):
    kernels: tuple[Any, ...]  # what each has to say
    num_changed: Int[Array, ""]  # sites that differ after the step
    num_evaluations: Int[Array, ""]  # of f, by all


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
        """A chain at x, checked by the first kernel."""
        return self._state(self.kernels[0].init(key, x, f, z), f, z)

    def num_start_evaluations(
        self, f: Energy, x: Int[Array, " dim"], z: Array | None = None
    ) -> int:
        """What `init` costs, in evaluations of f."""
        return num_start_evaluations(self.kernels[0], f, x, z)

    def step(
        self, key: Key[Array, ""], state: ComposeState, f: Energy
    ) -> tuple[ComposeState, ComposeInfo]:
        """A step of each: the state after them, and the info of each."""
        inner: Any = state
        infos: list[Any] = []
        for key_kernel, kernel in zip(
            jax.random.split(key, len(self.kernels)), self.kernels, strict=True
        ):
            key_init, key_step = jax.random.split(key_kernel)
            inner, info = kernel.step(key_step, kernel.init(key_init, inner.x, f, state.z), f)
            infos.append(info)
        after = self._state(inner, f, state.z)
        starts = sum(num_start_evaluations(k, f, state.x, state.z) for k in self.kernels)
        num_evaluations = sum(info.num_evaluations for info in infos) + starts
        changed = num_changed(state.x, after.x)
        return after, ComposeInfo(tuple(infos), changed, jnp.asarray(num_evaluations, jnp.int32))

    def _state(self, inner: Any, f: Energy, z: Array | None) -> ComposeState:
        """That of a kernel with what all have; one that does not know f(x) costs an evaluation."""
        value = inner.value if hasattr(inner, "value") else f(inner.x, z)
        return ComposeState(inner.x, z, value)

    def transition_matrix(
        self, space: Space, f: Energy, z: Array | None = None
    ) -> Float[Array, "size size"]:
        """The product of the kernels' matrices."""
        matrix = self.kernels[0].transition_matrix(space, f, z)
        for kernel in self.kernels[1:]:
            matrix = matrix @ kernel.transition_matrix(space, f, z)
        return matrix
