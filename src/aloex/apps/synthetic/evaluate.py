"""How good a trained model is: its NLL above the floor, and MMD of its samples against data.

The data's own law is known (`density`), which helps in two ways. NLL minus floor is
estimated as log Z + E[log p_data(x) - f(x)] over fresh data: p_f is close to p_data, so the terms
vary little and 10^5 of them give an error of 10^-4. And a mixture of p_data and the uniform law is
a proposal that covers p_f: its weights, held against those of p_data whose mean is known, give log
Z where there is no accelerator to enumerate all 2^32 states, and, resampled by their weights, its
draws are draws of p_f itself.
"""

import math
from collections.abc import Callable
from functools import cache
from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int, Key, UInt

from aloex import exact
from aloex.apps.synthetic.data import DataSet, pack, unpack
from aloex.apps.synthetic.density import FLOOR, density
from aloex.apps.synthetic.methods import SPACE
from aloex.apps.synthetic.trained import Trained
from aloex.cursor import Energy
from aloex.importance_weights import systematic
from aloex.kernels import Gibbs, run
from aloex.log_z import Bracket, LogZ, bracket, log_z_from_weights
from aloex.metrics import Estimate, exp_hamming, linear_hamming, repeated
from aloex.metrics.mmd import mean_and_error
from aloex.nets import on_cpu
from aloex.samplers import Factorized

NUM_DATA, NUM_PROPOSALS = 2**17, 2**18
KERNELS = {"exp": exp_hamming, "linear": linear_hamming}
LOG_UNIFORM = -32 * math.log(2)


class Known(NamedTuple):
    """Draws whose log probability under the data's law is known."""

    x: UInt[Array, " n"]  # packed bits
    log_p: Float[Array, " n"]


class Proposals(NamedTuple):
    """Draws of a mixture, as many of either law, one after the other."""

    x: UInt[Array, " n"]
    log_mix: Float[Array, " n"]
    log_p: Float[Array, " n"]  # of the data's law


@cache
def fresh_data(name: str, n: int = NUM_DATA) -> Known:
    """Data that no training run has seen."""
    data = DataSet(name)
    points = data.points(jax.random.key(2**31), n)
    log_p = np.log(density(name, np.asarray(points))) - 2 * math.log(data.int_scale)
    return Known(pack(data.encode(points)), jnp.asarray(log_p, jnp.float32))


@cache
def proposals(name: str, n: int = NUM_PROPOSALS) -> Proposals:
    """Draws of half p_data, half uniform over the 2^32 states."""
    data = DataSet(name)
    key_data, key_uniform = jax.random.split(jax.random.key(2**31 + 1))
    uniform = jax.random.bits(key_uniform, (n // 2,), jnp.uint32)
    points = np.concatenate(
        [data.points(key_data, n - n // 2), data.decode(unpack(uniform))], dtype=np.float64
    )
    with np.errstate(divide="ignore"):
        log_p = np.log(density(name, points)) - 2 * math.log(data.int_scale)
    log_mix = np.logaddexp(log_p, LOG_UNIFORM) - math.log(2)
    x = pack(data.encode(jnp.asarray(points)))
    return Proposals(x, jnp.asarray(log_mix, jnp.float32), jnp.asarray(log_p, jnp.float32))


def evaluate(
    trained: Trained,
    *,
    num_repeats: int = 10,
    n: int = 4000,
    estimate: bool = False,
    exact_log_z: float | None = None,
) -> dict[str, Any]:
    """A row of the study's table; with num_repeats = 0 it has no MMD.

    With `estimate` log Z is an estimate even on an accelerator; `exact_log_z` comes from one.
    """
    name = trained.about.data
    gap, details = nll(trained, quick=estimate, exact_log_z=exact_log_z)
    row = {
        "method": trained.settings.method,
        "recipe": trained.about.recipe,
        "data": name,
        "seed": trained.about.seed,
        "nll_minus_floor": _round(gap.mean),
        "nll_se": _round(gap.standard_error),
        "floor": FLOOR[name],
    }
    compare = lambda draw: repeated(
        jax.random.key(2**31 + 2),
        draw,
        FromData(name),
        kernel=KERNELS,
        num_repeats=num_repeats,
        n=n,
    )
    for prefix, draw in samples(trained).items() if num_repeats else ():
        row |= {f"{prefix}{column}": value for column, value in _mmd_columns(compare(draw)).items()}
    return row | {
        "steps": trained.settings.num_steps,
        "train_seconds": trained.about.train_seconds,
        "compile_seconds": trained.about.compile_seconds,
        "group_size": trained.about.group_size,
        "device": trained.about.device,
        **{key: _round(value) for key, value in details.items()},
    }


def data_row(name: str, *, num_repeats: int = 10, n: int = 4000) -> dict[str, Any]:
    """Data against data: what a perfect model gets."""
    key = jax.random.key(2**31 + 3)
    data = FromData(name)
    estimates = repeated(key, data, data, kernel=KERNELS, num_repeats=num_repeats, n=n)
    row = {"method": "data", "data": name, "nll_minus_floor": 0.0, "nll_se": 0.0}
    return row | _mmd_columns(estimates)


def _mmd_columns(estimates: dict[str, Estimate]) -> dict[str, float]:
    means = {f"mmd_{kernel}": _round(found.mean) for kernel, found in estimates.items()}
    errors = {f"mmd_{kernel}_se": _round(e.standard_error) for kernel, e in estimates.items()}
    return means | errors


def nll(
    trained: Trained, *, quick: bool = False, exact_log_z: float | None = None
) -> tuple[Estimate, dict[str, Any]]:
    """NLL minus floor, and how it was found.

    log Z is estimated by importance sampling, and AIS checks it from both sides; on an accelerator
    enumeration replaces it, and AIS is left to the first seed. `quick`: importance sampling alone.
    """
    name, f, q = trained.about.data, trained.f, trained.q
    data = fresh_data(name)
    if f is None:
        few = Known(data.x[: 2**14], data.log_p[: 2**14])
        terms = few.log_p - _log_q(q, few.x)
        bound = hasattr(q, "elbo")
        return mean_and_error(terms), {"log_z_by": "bound (IWAE)" if bound else "none needed"}
    terms = mean_and_error(data.log_p - _map(f, data.x))
    by_weights, draws = log_z_by_importance(f, name)
    log_z, error, how = by_weights.value, by_weights.standard_error, "importance sampling"
    details = {
        "importance": by_weights.value,
        "importance_se": by_weights.standard_error,
        "importance_ess": by_weights.effective_sample_size / NUM_PROPOSALS,
    }
    bracketed = not quick and (on_cpu() or trained.about.seed == 0)
    for side, bound in _bracket(f, name, draws)._asdict().items() if bracketed else ():
        details[f"ais_{side}"], details[f"ais_{side}_se"] = bound.value, bound.standard_error
    if exact_log_z is None and not on_cpu() and not quick:
        exact_log_z = exact.streamed_log_z(f, SPACE)
    if exact_log_z is not None:
        log_z, error, how = exact_log_z, 0.0, "enumeration"
    error = jnp.hypot(terms.standard_error, error)
    return Estimate(log_z + terms.mean, error), {"log_z_by": how, "log_z": log_z, **details}


def log_z_by_importance(f: Any, name: str) -> tuple[LogZ, "Converged"]:
    """log Z from the weights of `proposals`, and the draws of p_f that the weights make of them."""
    drawn = proposals(name)
    log_w = _map(f, drawn.x) - drawn.log_mix
    log_known = drawn.log_p - drawn.log_mix
    return log_z_from_weights(log_w, log_known, num_strata=2), Converged(f, drawn.x, log_w)


def _bracket(f: Any, name: str, converged: "Converged", num_chains: int = 64) -> Bracket:
    """Annealing from independent bits with the data's marginals, both ways."""
    mean = jnp.clip(unpack(fresh_data(name).x).mean(axis=0), 1e-3, 1 - 1e-3)
    bias = jnp.log(mean / (1 - mean))[:, None]
    base = eqx.tree_at(lambda q: q.bias, Factorized(SPACE), bias)
    x = converged(jax.random.key(2**31 + 4), num_chains)
    return bracket(jax.random.key(2**31 + 5), f, SPACE, x, base=base)


def samples(trained: Trained) -> dict[str, Any]:
    """What is compared with data, by the prefix of its columns: functions of a key and n."""
    if trained.f is None:
        return {"": FromQ(trained.q), "q_": FromQ(trained.q)}
    draws: dict[str, Any] = {
        "": log_z_by_importance(trained.f, trained.about.data)[1],
        "short_": FromRandom(trained.f),
    }
    return draws if trained.q is None else draws | {"q_": FromQ(trained.q)}


class FromData(eqx.Module):
    """The data set itself."""

    name: str = eqx.field(static=True)

    def __call__(self, key: Key[Array, ""], n: int) -> Int[Array, "n dim"]:
        return DataSet(self.name).sample(key, n)


class FromQ(eqx.Module):
    """The sampler on its own, without any MCMC on f."""

    q: Any

    def __call__(self, key: Key[Array, ""], n: int) -> Int[Array, "n dim"]:
        def draw(key: Key[Array, ""]) -> Int[Array, " dim"]:
            x = self.q.sample(key)
            return getattr(x, "last", x)  # of a local search, where it ends

        return jax.lax.map(draw, jax.random.split(key, n), batch_size=1000)


class FromRandom(eqx.Module):
    """20 Gibbs sweeps from uniform draws, as in the paper."""

    f: Any

    def __call__(self, key: Key[Array, ""], n: int) -> Int[Array, "n dim"]:
        key_start, key_sweeps = jax.random.split(key)
        x = jax.vmap(SPACE.sample)(jax.random.split(key_start, n))
        return _sweep(key_sweeps, self.f, x)


class Converged(eqx.Module):
    """Draws of p_f: proposals resampled by their weights, then 20 Gibbs sweeps on top."""

    f: Any
    x: UInt[Array, " n"]
    log_w: Float[Array, " n"]

    def __call__(self, key: Key[Array, ""], n: int) -> Int[Array, "n dim"]:
        key_choice, key_sweeps = jax.random.split(key)
        chosen = systematic(jax.random.uniform(key_choice), self.log_w, n)
        return _sweep(key_sweeps, self.f, unpack(self.x[chosen]))


def _sweep(
    key: Key[Array, ""], f: Energy, x: Int[Array, "n dim"], num_sweeps: int = 20
) -> Int[Array, "n dim"]:
    kernel = Gibbs(SPACE, num_sweeps=num_sweeps)
    return jax.vmap(lambda key, x: run(kernel, key, x, f))(jax.random.split(key, x.shape[0]), x)


@eqx.filter_jit
def _map(f: Callable[[Array], Array], x: UInt[Array, " n"]) -> Float[Array, " n"]:
    """f of packed states, in the arithmetic in which `streamed_log_z` sums over all of them."""
    with jax.default_matmul_precision("tensorfloat32"):
        return jax.lax.map(lambda packed: f(unpack(packed)), x, batch_size=2**14)


@eqx.filter_jit
def _log_q(q: Any, x: UInt[Array, " n"]) -> Float[Array, " n"]:
    """log q of packed states; of a VAE a lower bound (IWAE)."""
    if not hasattr(q, "elbo"):
        return jax.lax.map(lambda packed: q.log_prob(unpack(packed)), x, batch_size=512)
    keys = jax.random.split(jax.random.key(2**31 + 6), x.shape[0])
    return jax.lax.map(lambda a: q.log_prob(a[0], unpack(a[1])), (keys, x), batch_size=64)


def _round(value: Any) -> Any:
    return value if isinstance(value, str) else float(f"{float(value):.6g}")
