"""A sampling algorithm: a kernel together with the energy, the space and the condition it is for.

Kernels take f in each step, because training changes f. Who samples one energy wants to give it
once: `algorithm(kernel, f, z)` binds it, and `aloex.mcmc.gibbs(f, space)` and the like are that,
with the kernel of this name. What was tuned is a part of the kernel; what belongs to f alone, such
as f(x), is in the chain's state. So `algorithm(tuned.kernel, other_f)` keeps what was tuned.
"""

from collections.abc import Callable
from typing import Any

import equinox as eqx
import jax
from jaxtyping import Array, Int, Key

from aloex.base.errors import require
from aloex.cursor import Energy
from aloex.energies import as_energy
from aloex.kernels import Compose, Kernel, ParallelTempering
from aloex.spaces import Space


class SamplingAlgorithm(eqx.Module):
    """What moves a chain: `init(x)` and `step(key, state)`, for loops of your own and `sample`.

    Attributes:
        kernel: with what may be tuned, such as `step_size`.
        f: the energy, f(x, z) -> scalar.
        space: what x is.
        z: the condition, or None.

    Example:
        >>> import jax, jax.numpy as jnp
        >>> from aloex import mcmc, spaces
        >>> gibbs = mcmc.gibbs(lambda x: 50.0 * x.sum(), spaces.Bits(3))
        >>> state = gibbs.init(jnp.zeros(3, jnp.int32))
        >>> state, info = jax.jit(gibbs.step)(jax.random.key(0), state)
        >>> state.x.tolist(), float(state.value), int(info.num_changed)
        ([1, 1, 1], 150.0, 3)
    """

    kernel: Kernel
    f: Any  # an Energy
    space: Space = eqx.field(static=True)
    z: Array | None = None

    def init(
        self, x: Int[Array, " dim"], key: Key[Array, ""] | None = None, z: Array | None = None
    ) -> Any:
        """The state of a chain at x; only a learned search needs the key.

        Args:
            x: where the chain begins [dim].
            key: of what is random in the state, `jax.random.key(0)` unless given.
            z: another condition than the algorithm's own.

        Returns:
            The kernel's state, with a field `x`.
        """
        key = jax.random.key(0) if key is None else key
        return self.kernel.init(key, x, self.f, self.z if z is None else z)

    def step(self, key: Key[Array, ""], state: Any) -> tuple[Any, Any]:
        """The state after one step, and what there is to say about it."""
        return self.kernel.step(key, state, self.f)


def algorithm(
    kernel: Kernel,
    f: Energy | Callable[[Array], Array],
    z: Array | None = None,
    *,
    space: Space | None = None,
) -> SamplingAlgorithm:
    """A kernel, bound to an energy and a condition.

    Args:
        kernel: any, such as `kernels.Compose` or one of your own.
        f: the energy, f(x, z) or f(x) -> scalar; p is proportional to exp(+f).
        z: the condition, if f has one.
        space: what x is; the kernel's own unless given.

    Returns:
        The algorithm.

    Example:
        >>> from aloex import kernels, mcmc, spaces
        >>> space = spaces.Bits(3)
        >>> both = kernels.Compose((kernels.Gibbs(space), kernels.GibbsWithGradients(space)))
        >>> mcmc.algorithm(both, lambda x: 1.0 * x.sum()).space
        Bits(dim=3)
    """
    found = _space_of(kernel) if space is None else space
    require(
        isinstance(found, Space),
        f"the space of {type(kernel).__name__} is not known: algorithm(..., space=Bits(8))",
    )
    return SamplingAlgorithm(kernel, as_energy(f, z), found, z)


def _space_of(kernel: Any) -> Any:
    if isinstance(kernel, ParallelTempering):
        return _space_of(kernel.kernel)
    if isinstance(kernel, Compose):
        return _space_of(kernel.kernels[0])
    return getattr(kernel, "space", None)
