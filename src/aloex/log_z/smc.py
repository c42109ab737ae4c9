"""Sequential Monte Carlo (Del Moral, Doucet, Jasra 2006): annealed chains that are resampled.

Particles start at draws of the base. For each step of the ladder from b to b' their weights are
multiplied by exp(f_{b'}(x) - f_b(x)). Where the effective sample size has fallen below a share of
the particles, they are resampled: heavy ones are copied, light ones dropped. Then a kernel moves
them that leaves p_{b'} unchanged. The product of the mean weights has mean Z on a fixed ladder.

The particles live on islands, which know nothing of each other: each has an unbiased estimate of
its own, Z is their mean, and how they differ gives the error. That holds for any resampling.
Errors from the particles' genealogy (Lee and Whiteley 2018) need one run only, but ask for
multinomial resampling and break down where few ancestors are left. What all islands miss shows in
neither.
"""

from functools import partial
from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
from jax.core import Tracer
from jaxtyping import Array, Float, Int, Key

from aloex.base.errors import require
from aloex.cursor import Energy
from aloex.importance_weights import effective_sample_size, log_mean_exp, systematic
from aloex.kernels import Kernel
from aloex.log_z.annealed import Ladder
from aloex.log_z.estimate import LogZ, log_z_from_weights
from aloex.log_z.path import AdaptiveLadder, Path, path, rungs
from aloex.samplers import Tractable
from aloex.spaces import Space


class Particles(NamedTuple):
    """What `smc` returns: the estimate, and weighted draws of p_f.

    Averages under p_f are sums over particles with weights softmax(log_w); resampled by `log_w`,
    the particles are draws of p_f. The mean of exp(log_w) is the estimate of Z.

    Args:
        log_z: the estimate.
        x: particles [n, dim].
        log_w: their log weights [n].
        inverse_temperatures: the ladder that was used; from compiled code an adaptive one comes
            filled up with 1.

    Example:
        >>> import jax
        >>> from aloex import log_z, spaces
        >>> f = lambda x, z=None: 1.0 * x.sum()
        >>> found = log_z.smc(jax.random.key(0), f, spaces.Bits(3), ladder=5, num_particles=64)
        >>> found.x.shape, found.log_w.shape, found.inverse_temperatures.tolist()
        ((64, 3), (64,), [0.0, 0.25, 0.5, 0.75, 1.0])
    """

    log_z: LogZ
    x: Int[Array, "n dim"]
    log_w: Float[Array, " n"]
    inverse_temperatures: Float[Array, " temperatures"]


class SMCState(NamedTuple):
    x: Int[Array, "islands particles dim"]
    log_w: Float[Array, "islands particles"]  # since the island was last resampled
    log_z: Float[Array, " islands"]  # until then
    ancestor: Int[Array, "islands particles"]  # which of the first particles each descends from


def smc(
    key: Key[Array, ""],
    f: Energy,
    space: Space,
    z: Array | None = None,
    *,
    base: Tractable | None = None,
    ladder: Ladder | AdaptiveLadder = 200,
    num_particles: int = 4096,
    num_islands: int = 16,
    resample_below: float = 0.5,
    kernel: Kernel | None = None,
    num_steps: int = 1,
) -> Particles:
    """Sequential Monte Carlo from draws of the base to p_f: log Z, and weighted draws of p_f.

    An `AdaptiveLadder` is chosen by the particles themselves, for which the estimate is slightly
    biased and bounds nothing. Run again with `ladder=found.inverse_temperatures` and another key
    for one that does.

    Args:
        key: of all randomness.
        f: the energy, f(x, z) -> scalar.
        space: of x; states of a fixed length.
        z: the condition, one for all particles; `jax.vmap` takes many.
        base: a law to start from, uniform unless given.
        ladder: inverse temperatures, rising from 0 to 1; or how many of them in equal steps; or
            an `AdaptiveLadder`.
        num_particles: of all islands together.
        num_islands: into how many they are divided, evenly. Two at least; the error is that of so
            many independent estimates.
        resample_below: an island is resampled when its effective sample size is below this share
            of its particles; 1 for always, 0 for never (annealed importance sampling).
        kernel: what moves a particle, `kernels.Gibbs(space)` unless given.
        num_steps: its steps at each temperature.

    Returns:
        The estimate, a lower bound on average if the ladder is fixed; particles and log weights.

    Example:
        >>> import jax
        >>> from aloex import log_z, spaces
        >>> f = lambda x, z=None: 0.0 * x.sum()
        >>> found = log_z.smc(jax.random.key(0), f, spaces.Bits(3), ladder=3, num_particles=64)
        >>> print(found.log_z)  # log 8
        log Z = 2.0794 +- 0.0000 (SMC, lower bound on average; ESS 64 of 64; 64 ancestors)
    """
    way = path(f, space, z, base=base, kernel=kernel, num_steps=num_steps)
    require(num_islands >= 2, f"an error needs two islands or more, got {num_islands}")
    require(
        num_particles % num_islands == 0 and num_particles >= 2 * num_islands,
        f"num_particles must be a multiple of num_islands, two on each or more, got "
        f"{num_particles} for {num_islands} islands",
    )
    require(0 <= resample_below <= 1, f"resample_below must be in 0..1, got {resample_below}")
    shape = (num_islands, num_particles // num_islands)
    if not isinstance(ladder, AdaptiveLadder):
        return _fixed(key, way, rungs(ladder), resample_below, shape)
    require(0 < ladder.share < 1, f"share must be between 0 and 1, got {ladder.share}")
    require(
        ladder.max_temperatures >= 2,
        f"max_temperatures must be at least 2, got {ladder.max_temperatures}",
    )
    found, num = _adaptive(key, way, ladder, resample_below, shape)
    if isinstance(num, Tracer):
        return found
    return found._replace(inverse_temperatures=found.inverse_temperatures[: int(num)])


@eqx.filter_jit
def _fixed(
    key: Key[Array, ""],
    path: Path,
    bs: Float[Array, " temperatures"],
    resample_below: float,
    shape: tuple[int, int],
) -> Particles:
    key_start, key_steps = jax.random.split(key)

    def step(state: SMCState, inputs: tuple[Array, Array, Array]) -> tuple[SMCState, None]:
        key, b, b_next = inputs
        slope = _slope(path, state.x)
        return _step(key, state, path, slope, b_next, b_next - b, resample_below), None

    keys = jax.random.split(key_steps, len(bs) - 1)
    state, _ = jax.lax.scan(step, _start(key_start, path, shape), (keys, bs[:-1], bs[1:]))
    return _particles(state, bs, adaptive=False)


@eqx.filter_jit
def _adaptive(
    key: Key[Array, ""],
    path: Path,
    ladder: AdaptiveLadder,
    resample_below: float,
    shape: tuple[int, int],
) -> tuple[Particles, Int[Array, ""]]:
    """The particles with the ladder, filled up with 1, and how long it is."""
    key_start, key_steps = jax.random.split(key)
    state = _start(key_start, path, shape)
    share, size = ladder.share, ladder.max_temperatures
    bs = jnp.ones(size).at[0].set(0)

    def step(carry: tuple[SMCState, Array, Array]) -> tuple[SMCState, Array, Array]:
        state, bs, num = carry
        b = bs[num - 1]
        slope = _slope(path, state.x)
        by = jnp.where(num == size - 1, 1 - b, _longest_step(state.log_w, slope, 1 - b, share))
        b_next = jnp.where(by >= 1 - b, 1.0, b + by)
        key = jax.random.fold_in(key_steps, num)
        state = _step(key, state, path, slope, b_next, b_next - b, resample_below)
        return state, bs.at[num].set(b_next), num + 1

    going_on = lambda carry: carry[1][carry[2] - 1] < 1
    state, bs, num = jax.lax.while_loop(going_on, step, (state, bs, jnp.array(1)))
    return _particles(state, bs, adaptive=True), num


def _start(key: Key[Array, ""], path: Path, shape: tuple[int, int]) -> SMCState:
    keys = jax.random.split(key, shape)
    x = jax.vmap(jax.vmap(path.start))(keys)
    nothing = jnp.zeros(shape)
    ancestor = jnp.broadcast_to(jnp.arange(shape[1]), shape)
    return SMCState(x, nothing, nothing[:, 0], ancestor)


def _slope(path: Path, x: Int[Array, "islands particles dim"]) -> Float[Array, "islands particles"]:
    return jax.vmap(jax.vmap(path.slope))(x)


def _step(
    key: Key[Array, ""],
    state: SMCState,
    path: Path,
    slope: Float[Array, "islands particles"],
    b_next: Float[Array, ""],
    by: Float[Array, ""],
    resample_below: float,
) -> SMCState:
    """From b to b_next = b + by: weigh, resample where needed, move."""
    key_resample, key_move = jax.random.split(key)
    state = state._replace(log_w=state.log_w + jnp.where(by == 0, 0, by * slope))
    needed = effective_sample_size(state.log_w) < resample_below * state.log_w.shape[1]
    resample = partial(_resampled, key_resample, needed=needed)
    state = jax.lax.cond(jnp.any(needed), resample, lambda state: state, state)
    keys = jax.random.split(key_move, state.log_w.shape)
    move = lambda key, x: path.move(key, x, b_next)
    return state._replace(x=jax.vmap(jax.vmap(move))(keys, state.x))


def _resampled(key: Key[Array, ""], state: SMCState, needed: Array) -> SMCState:
    """The islands that need it resampled, the others as they are."""
    offsets = jax.random.uniform(key, needed.shape)
    rows = jax.vmap(systematic)(offsets, state.log_w)
    rows = jnp.where(needed[:, None], rows, jnp.arange(rows.shape[1]))
    return SMCState(
        x=jax.vmap(lambda x, rows: x[rows])(state.x, rows),
        log_w=jnp.where(needed[:, None], 0, state.log_w),
        log_z=jnp.where(needed, state.log_z + log_mean_exp(state.log_w), state.log_z),
        ancestor=jnp.take_along_axis(state.ancestor, rows, axis=1),
    )


def _longest_step(
    log_w: Float[Array, "islands particles"],
    slope: Float[Array, "islands particles"],
    longest: Float[Array, ""],
    share: float,
    num_halvings: int = 20,
) -> Float[Array, ""]:
    """The step whose conditional effective sample size is `share`, by bisection; or the longest."""
    # What becomes impossible at any b above 0 is left out: no step is too short for that.
    log_w = jnp.where(jnp.isneginf(slope), -jnp.inf, log_w)
    log_w = log_w - log_mean_exp(log_w)[:, None]  # islands count alike
    log_sum = jax.nn.logsumexp

    def too_long(by: Array) -> Array:
        """Whether (sum w v)^2 / (sum w sum w v^2) < share, where v = exp(by * slope)."""
        once, twice = log_sum(log_w + by * slope), log_sum(log_w + 2 * by * slope)
        return 2 * once - log_sum(log_w) - twice < jnp.log(share)

    def halve(_: Any, ends: tuple[Array, Array]) -> tuple[Array, Array]:
        low, high = ends
        middle = (low + high) / 2
        long = too_long(middle)
        return jnp.where(long, low, middle), jnp.where(long, middle, high)

    _, by = jax.lax.fori_loop(0, num_halvings, halve, (jnp.zeros_like(longest), longest))
    return jnp.where(too_long(longest), by, longest)


def _particles(state: SMCState, bs: Float[Array, " temperatures"], *, adaptive: bool) -> Particles:
    """All islands together, each with the weight of its own estimate."""
    log_w = state.log_z[:, None] + state.log_w
    of_islands = log_z_from_weights(log_mean_exp(log_w))
    there = jnp.isfinite(state.log_w)  # descendants that weigh nothing do not count
    ancestor = jnp.where(there, state.ancestor, state.log_w.shape[1])
    has_descendants = jax.vmap(
        lambda ancestor: jnp.zeros(len(ancestor), bool).at[ancestor].set(True, mode="drop")
    )(ancestor)
    estimate = LogZ(
        of_islands.value,
        of_islands.standard_error,
        effective_sample_size(log_w.reshape(-1)),
        num_weights=log_w.size,
        bound="none" if adaptive else "lower",
        method="SMC, adaptive ladder" if adaptive else "SMC",
        num_ancestors=jnp.sum(has_descendants),
    )
    return Particles(estimate, state.x.reshape(log_w.size, -1), log_w.reshape(-1), bs)
