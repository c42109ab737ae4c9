"""Annealed importance sampling: log Z along f_b(x) = (1 - b) log p_base(x) + b f(x), b from 0 to 1.

A chain starts at a draw of p_0 = base. At each temperature it multiplies its weight w by
exp(f_{b'}(x) - f_b(x)), for the step from b to b', then makes a Gibbs sweep that leaves p_{b'}
unchanged. Then E[w] = Z, whatever the number of temperatures; more of them make w vary less.
So log mean(w) is a stochastic lower bound: E[log mean(w)] <= log Z. The same walk from b = 1 to 0,
started at exact draws of p_f, has E[w] = 1 / Z, and -log mean(w) is a stochastic upper bound.
"""

from collections.abc import Callable
from dataclasses import replace
from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int, Key

from aloex.base.errors import require
from aloex.cursor import Energy, Incremental
from aloex.kernels import Gibbs, run
from aloex.metrics.importance import LogZ, Uniform, log_z_from_weights
from aloex.samplers import Factorized, Tractable
from aloex.spaces import Space, require_fixed_length

Schedule = Callable[[np.ndarray], np.ndarray]  # b of times from 0 to 1


class Bracket(NamedTuple):
    lower: LogZ  # forward
    upper: LogZ  # reverse


def linear(time: np.ndarray) -> np.ndarray:
    """b = time."""
    return time


def sigmoid(time: np.ndarray) -> np.ndarray:
    """b on a logistic curve: smaller steps at both ends."""
    return (1 + np.tanh(4 * time - 2) / np.tanh(2)) / 2


def forward(
    key: Key[Array, ""],
    f: Energy,
    space: Space,
    z: Array | None = None,
    *,
    base: Tractable | None = None,
    num_temperatures: int = 1000,
    num_chains: int = 256,
    schedule: Schedule = linear,
) -> LogZ:
    """From draws of the base to p_f: too low on average.

    Args:
        f: the energy.
        space: of x.
        z: the condition, one for all chains.
        base: a law to start from, uniform unless given.
        num_temperatures: values of b, 0 and 1 among them.
        num_chains: independent chains.
        schedule: b of times from 0 to 1.

    Returns:
        The estimate of log Z, its standard error and the effective sample size of the weights.

    >>> import jax
    >>> from aloex.spaces import Bits
    >>> f = lambda x, z=None: 0.0 * x.sum()
    >>> found = forward(jax.random.key(0), f, Bits(3), num_temperatures=3, num_chains=4)
    >>> round(float(found.value), 3)  # log 8
    2.079
    """
    _check(space, num_temperatures, num_chains)
    base = Uniform(space) if base is None else base
    key_start, key_chains = jax.random.split(key)
    x = jax.vmap(lambda k: base.sample(k, z))(jax.random.split(key_start, num_chains))
    bs = temperatures(num_temperatures, schedule)
    return log_z_from_weights(log_weights(key_chains, x, f, space, z, base=base, bs=bs))


def reverse(
    key: Key[Array, ""],
    f: Energy,
    space: Space,
    x: Int[Array, "chains dim"],
    z: Array | None = None,
    *,
    base: Tractable | None = None,
    num_temperatures: int = 1000,
    schedule: Schedule = linear,
) -> LogZ:
    """From independent draws x of p_f, a chain each, to the base: too high on average.

    That holds for exact draws. Those of a chain that has not converged may give anything.
    """
    _check(space, num_temperatures, x.shape[0])
    x = jnp.asarray(space.check(np.asarray(x), "x"))
    base = Uniform(space) if base is None else base
    bs = temperatures(num_temperatures, schedule)[::-1]
    minus = log_z_from_weights(log_weights(key, x, f, space, z, base=base, bs=bs))
    return minus._replace(value=-minus.value)


def bracket(
    key: Key[Array, ""],
    f: Energy,
    space: Space,
    x: Int[Array, "chains dim"],
    z: Array | None = None,
    **settings: Any,
) -> Bracket:
    """Both bounds, with as many chains forward as there are rows of x."""
    key_forward, key_reverse = jax.random.split(key)
    lower = forward(key_forward, f, space, z, num_chains=x.shape[0], **settings)
    return Bracket(lower, reverse(key_reverse, f, space, x, z, **settings))


def temperatures(num_temperatures: int, schedule: Schedule = linear) -> Float[Array, " n"]:
    """The values of b, from 0 to 1."""
    bs = np.asarray(schedule(np.linspace(0, 1, num_temperatures)))
    ends = bs[[0, -1]].tolist() if bs.shape == (num_temperatures,) else None
    require(
        ends == [0, 1] and bool(np.all(np.diff(bs) > 0)),
        f"a schedule must rise from 0 at time 0 to 1 at time 1, got b = {bs}",
    )
    return jnp.asarray(bs, float)


@eqx.filter_jit
def log_weights(
    key: Key[Array, ""],
    x: Int[Array, "chains dim"],
    f: Energy,
    space: Space,
    z: Array | None = None,
    *,
    base: Tractable,
    bs: Float[Array, " temperatures"],
) -> Float[Array, " chains"]:
    """log w of each chain that starts at a row of x and goes through the temperatures bs."""
    kernel = Gibbs(space)
    path = tempered(f, base, space, bs[0], z)
    slope = lambda x: f(x, z) - base.log_prob(x, z)  # df_b(x) / db

    def step(
        state: tuple[Array, Array], inputs: tuple[Array, Array, Array]
    ) -> tuple[tuple[Array, Array], None]:
        x, log_w = state
        key, b, b_next = inputs
        log_w = log_w + (b_next - b) * slope(x)
        return (run(kernel, key, x, replace(path, b=b_next), z), log_w), None

    def chain(key: Key[Array, ""], x: Int[Array, " dim"]) -> Float[Array, ""]:
        # A sweep after the last change of b would not touch the weight.
        inputs = (jax.random.split(key, len(bs) - 2), bs[:-2], bs[1:-1])
        (x, log_w), _ = jax.lax.scan(step, (x, jnp.zeros((), bs.dtype)), inputs)
        return log_w + (bs[-1] - bs[-2]) * slope(x)

    return jax.vmap(chain)(jax.random.split(key, x.shape[0]), x)


class Tempered(eqx.Module):
    """f_b(x, z) = (1 - b) log p_base(x | z) + b f(x, z), an energy."""

    f: Any  # an Energy, or an Incremental one
    base: Tractable
    b: Float[Array, ""]

    def __call__(self, x: Int[Array, " dim"], z: Array | None = None) -> Float[Array, ""]:
        return (1 - self.b) * self.base.log_prob(x, z) + self.b * self.f(x, z)


class IncrementalTempered(Tempered):
    """The same with increments: log p_base is a sum over sites, carried behind f's first layer."""

    log_ratios: Float[Array, "dim values"]  # log p_i(v) / p_i(0)

    def hidden(self, x: Int[Array, " dim"], z: Array | None = None) -> Float[Array, " width"]:
        return jnp.append(self.f.hidden(x, z), self.base.log_prob(x, z))

    def site(self, i: Int[Array, ""] | int, v: Int[Array, ""]) -> Float[Array, " width"]:
        return jnp.append(self.f.site(i, v), self.log_ratios[i, v])

    def head(self, hidden: Float[Array, " width"]) -> Float[Array, ""]:
        return (1 - self.b) * hidden[-1] + self.b * self.f.head(hidden[:-1])


def tempered(
    f: Energy, base: Tractable, space: Space, b: Float[Array, ""], z: Array | None = None
) -> Tempered:
    """f_b under the condition z, with increments if f offers them and the base is a product."""
    if not (isinstance(f, Incremental) and isinstance(base, Uniform | Factorized)):
        return Tempered(f, base, b)
    zeros = jnp.zeros(space.dim, jnp.int32)
    ratio = lambda i, v: base.log_prob(zeros.at[i].set(v), z) - base.log_prob(zeros, z)
    sites, values = jnp.arange(space.dim), jnp.arange(space.num_values, dtype=zeros.dtype)
    log_ratios = jax.vmap(lambda i: jax.vmap(lambda v: ratio(i, v))(values))(sites)
    return IncrementalTempered(f, base, b, log_ratios)


def _check(space: Space, num_temperatures: int, num_chains: int) -> None:
    require_fixed_length(space, "annealed importance sampling")
    require(
        num_temperatures >= 2,
        f"num_temperatures must be at least 2 (b = 0 and b = 1), got {num_temperatures}",
    )
    require(num_chains >= 2, f"an error needs two chains or more, got {num_chains}")
