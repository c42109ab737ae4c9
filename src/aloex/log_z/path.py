"""The way from a law that can be drawn from to p_f, and how fine its steps are.

f_b(x) = (1 - b) log p_base(x) + b f(x), b from 0 to 1. Between two values of b a weight changes by
exp((b' - b) df_b/db), and df_b/db = f - log p_base is the same for all b.
"""

from typing import NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jax.core import Tracer
from jaxtyping import Array, Float, Int, Key

from aloex.base.errors import require
from aloex.cursor import Energy
from aloex.energies import as_energy
from aloex.kernels import Gibbs, Kernel, run
from aloex.kernels.tempered import Tempered, tempered
from aloex.samplers import Factorized, Tractable, Uniform
from aloex.spaces import Mixed, Space, require_fixed_length


class Path(eqx.Module):
    """f_b for every b, under one condition, and the kernel that moves states there."""

    f: Energy
    base: Tractable
    kernel: Kernel
    z: Array | None
    log_base: "LogProb | None"  # None if it is the same everywhere
    num_steps: int = eqx.field(static=True)

    def start(self, key: Key[Array, ""]) -> Int[Array, " dim"]:
        """A draw at b = 0."""
        return self.base.sample(key, self.z)

    def at(self, b: Float[Array, ""]) -> Tempered:
        """f_b, but for a constant if the base is uniform."""
        return tempered(self.f, b, self.log_base)

    def slope(self, x: Int[Array, " dim"]) -> Float[Array, ""]:
        """df_b(x) / db."""
        return self.f(x, self.z) - self.base.log_prob(x, self.z)

    def move(
        self, key: Key[Array, ""], x: Int[Array, " dim"], b: Float[Array, ""]
    ) -> Int[Array, " dim"]:
        """Steps of the kernel that leave p_b unchanged."""
        return run(self.kernel, key, x, self.at(b), self.z, num_steps=self.num_steps)


def path(
    f: Energy,
    space: Space,
    z: Array | None = None,
    *,
    base: Tractable | None = None,
    kernel: Kernel | None = None,
    num_steps: int = 1,
) -> Path:
    """The path to f, by Gibbs sweeps from the uniform law unless told otherwise."""
    require_fixed_length(space, "annealing")
    require(num_steps >= 1, f"num_steps must be at least 1, got {num_steps}")
    require(
        not (isinstance(space, Mixed) and isinstance(base, Factorized)),
        f"Factorized draws values that some sites of {space} do not have; leave base out",
    )
    base = Uniform(space) if base is None else base
    kernel = Gibbs(space) if kernel is None else kernel
    return Path(as_energy(f, z), base, kernel, z, _log_base(base, space, z), num_steps)


class LogProb(eqx.Module):
    """log p_base(x | z) as an energy."""

    base: Tractable

    def __call__(self, x: Int[Array, " dim"], z: Array | None = None) -> Float[Array, ""]:
        return self.base.log_prob(x, z)


class SumOfSites(LogProb):
    """The same for independent sites under one z: it offers increments and exact differences."""

    log_ratios: Float[Array, "dim values"]  # log p_i(v) / p_i(0)
    differences_are_exact: bool = eqx.field(static=True, default=True)

    def hidden(self, x: Int[Array, " dim"], z: Array | None = None) -> Float[Array, " one"]:
        return self.base.log_prob(x, z)[None]

    def site(self, i: Int[Array, ""] | int, v: Int[Array, ""]) -> Float[Array, " one"]:
        return self.log_ratios[i, v][None]

    def head(self, hidden: Float[Array, " one"]) -> Float[Array, ""]:
        return hidden[0]

    def differences(
        self, x: Int[Array, " dim"], z: Array | None = None
    ) -> Float[Array, "dim values"]:
        return self.log_ratios - jnp.take_along_axis(self.log_ratios, x[:, None], axis=1)


def _log_base(base: Tractable, space: Space, z: Array | None) -> LogProb | None:
    if isinstance(base, Uniform):
        return None
    if not isinstance(base, Factorized):
        return LogProb(base)
    zeros = jnp.zeros(space.dim, jnp.int32)
    ratio = lambda i, v: base.log_prob(zeros.at[i].set(v), z) - base.log_prob(zeros, z)
    sites, values = jnp.arange(space.dim), jnp.arange(space.num_values, dtype=zeros.dtype)
    return SumOfSites(base, jax.vmap(lambda i: jax.vmap(lambda v: ratio(i, v))(values))(sites))


class AdaptiveLadder(NamedTuple):
    """Each next b is as far as a set conditional effective sample size allows.

    The steps are as long as particles can follow, short where p_b changes fast. The conditional
    effective sample size is that of the weights of one step, among particles weighted as they are
    (Zhou, Johansen and Aston 2016), as a share of all.

    Args:
        share: of the particles; nearer to 1 means more temperatures.
        max_temperatures: when there are so many, the last of them is 1 in any case.

    Example:
        >>> from aloex import log_z
        >>> log_z.AdaptiveLadder(share=0.995).max_temperatures
        1000
    """

    share: float = 0.99
    max_temperatures: int = 1000


def linear_ladder(num_temperatures: int) -> Float[np.ndarray, " num_temperatures"]:
    """Inverse temperatures b from 0 to 1 in equal steps.

    Args:
        num_temperatures: how many, 0 and 1 among them.

    Returns:
        Their values [num_temperatures].

    Example:
        >>> from aloex import log_z
        >>> log_z.linear_ladder(3).tolist()
        [0.0, 0.5, 1.0]
    """
    return np.linspace(0, 1, _at_least_two(num_temperatures))


def sigmoid_ladder(num_temperatures: int) -> Float[np.ndarray, " num_temperatures"]:
    """Inverse temperatures b on a logistic curve from 0 to 1: smaller steps at both ends.

    Args:
        num_temperatures: how many, 0 and 1 among them.

    Returns:
        Their values [num_temperatures].

    Example:
        >>> from aloex import log_z
        >>> log_z.sigmoid_ladder(5).round(3).tolist()
        [0.0, 0.105, 0.5, 0.895, 1.0]
    """
    time = np.linspace(0, 1, _at_least_two(num_temperatures))
    return (1 + np.tanh(4 * time - 2) / np.tanh(2)) / 2


def rungs(ladder: Float[Array, " n"] | Float[np.ndarray, " n"] | int) -> Float[Array, " n"]:
    """The inverse temperatures of a ladder, checked where they can be seen."""
    bs = linear_ladder(ladder) if isinstance(ladder, int) else ladder
    require(bs.ndim == 1 and len(bs) >= 2, f"a ladder needs two temperatures or more, got {bs}")
    if not isinstance(bs, Tracer):
        bs = np.asarray(bs)
        ok = bs[0] == 0 and bs[-1] == 1 and np.all(np.diff(bs) > 0)
        require(bool(ok), f"a ladder must rise from 0 to 1, got inverse temperatures {bs}")
    return jnp.asarray(bs, float)


def _at_least_two(num_temperatures: int) -> int:
    require(
        num_temperatures >= 2,
        f"num_temperatures must be at least 2 (b = 0 and b = 1), got {num_temperatures}",
    )
    return num_temperatures
