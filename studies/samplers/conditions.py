"""The study of families f(x; z): one learned sampler for all z, against starting anew for each.

A method is prepared once (a learned sampler learns then, SMC does nothing), then asked for each of
some z that no preparation has seen. A row has the errors over these z, the seconds of preparing and
the seconds of each z, so that a reader can see from how many z on preparing pays.
"""

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Key

from aloex import LearnedSampler, baselines, learn_sampler, learning, log_z, mcmc, samplers
from studies import results
from studies.samplers.errors import errors
from studies.samplers.families import FAMILIES, Family, unseen_conditions
from studies.samplers.methods import Found, of_particles, weighted
from studies.samplers.problems import Problem
from studies.samplers.sampling import device, in_words

KEYS = ("family", "method", "seed", "device", "settings")


@dataclass(frozen=True)
class Settings:
    """Sizes of a run; each row of results has them.

    Attributes:
        num_conditions: unseen z to be asked for.
        num_draws: for each of them, of learned samplers and chains.
        num_steps: of learning.
        batch: draws in a step of learning.
        hidden: width of the networks.
        num_taught: z for which the amortised model is taught by SMC, with 64 draws each.
    """

    num_conditions: int = 20
    num_draws: int = 4_000
    num_steps: int = 10_000
    batch: int = 1_024
    hidden: int = 256
    num_taught: int = 2_048


Ask = Callable[[Key[Array, ""], Array], Found]  # seconds of this z
Prepare = Callable[[int, Family, Settings], Ask]


def learned(**how: Any) -> Prepare:
    """A sampler that is learned for all z."""

    def prepare(seed: int, family: Family, settings: Settings) -> Ask:
        width = settings.hidden
        sampler = learn_sampler(
            family.f,
            family.space,
            z=lambda key, n: jax.vmap(family.draw)(jax.random.split(key, n)),
            num_steps=settings.num_steps,
            num_draws=settings.batch,
            q0_hidden=(width, width),
            q0_head=width,
            q_hidden=(width, width),
            kernel=family.kernel,
            seed=seed,
            progress=False,
            **how,
        )
        return lambda key, z: ask_sampler(sampler, key, z, settings.num_draws)

    return prepare


def ask_sampler(sampler: LearnedSampler, key: Key[Array, ""], z: Array, n: int) -> Found:
    """Weighted draws for one z."""
    begin = time.perf_counter()
    draws = sampler.sample(n, z=np.asarray(z), seed=int(jax.random.bits(key)) % 2**31)
    return weighted(draws.x, draws.log_w, time.perf_counter() - begin, float(draws.gap.mean()))


def smc(num_particles: int, num_temperatures: int) -> Prepare:
    """Sequential Monte Carlo, begun anew for each z."""

    def prepare(seed: int, family: Family, settings: Settings) -> Ask:
        def ask(key: Key[Array, ""], z: Array) -> Found:
            begin = time.perf_counter()
            found = log_z.smc(
                key,
                family.f,
                family.space,
                z,
                num_particles=num_particles,
                ladder=num_temperatures,
                kernel=family.kernel,
                num_steps=2,
            )
            return of_particles(found, begin)

        return ask

    return prepare


def tempering(num_replicas: int, num_warmup: int) -> Prepare:
    """Parallel tempering, begun anew for each z."""

    def prepare(seed: int, family: Family, settings: Settings) -> Ask:
        def ask(key: Key[Array, ""], z: Array) -> Found:
            begin, num_chains = time.perf_counter(), 80
            algorithm = mcmc.parallel_tempering(
                family.f, family.space, jnp.linspace(0, 1, num_replicas), z=z, kernel=family.kernel
            )
            draws = mcmc.sample(
                key,
                algorithm,
                settings.num_draws // num_chains,
                num_chains=num_chains,
                num_warmup=num_warmup,
                progress=False,
            )
            x = np.asarray(draws.x).reshape(-1, family.space.dim)
            return Found(x, None, None, None, time.perf_counter() - begin)

        return ask

    return prepare


def amortised(seed: int, family: Family, settings: Settings) -> Ask:
    """An autoregressive q(x | z) fitted to draws of SMC for many z, then weighted."""
    key_z, key_smc, key_q = jax.random.split(jax.random.key(seed), 3)
    z = jax.vmap(family.draw)(jax.random.split(key_z, settings.num_taught))
    x, z = taught(key_smc, family, z)
    width = settings.hidden
    q = samplers.AutoregressiveMLP(
        family.space,
        hidden=(width, width),
        head_hidden=width,
        cond_dim=family.cond_dim,
        key=key_q,
    )
    optimizer = learning.clipped_adam(2e-3, num_steps=settings.num_steps)
    learner = baselines.MaximumLikelihood(optimizer_q=optimizer)
    state = learning.fit(
        learner,
        learner.init(q),
        np.asarray(x),
        np.asarray(z),
        num_steps=settings.num_steps,
        batch_size=settings.batch,
        seed=seed,
        progress=False,
    )

    @jax.jit
    def draw(key: Key[Array, ""], z: Array) -> tuple[Array, Array]:
        x = jax.vmap(lambda k: state.ema_q.sample(k, z))(jax.random.split(key, settings.num_draws))
        return x, jax.vmap(lambda x: family.f(x, z) - state.ema_q.log_prob(x, z))(x)

    def ask(key: Key[Array, ""], z: Array) -> Found:
        begin = time.perf_counter()
        x, log_w = (np.asarray(a) for a in draw(key, z))
        return weighted(x, log_w, time.perf_counter() - begin)

    return ask


def taught(key: Key[Array, ""], family: Family, z: Array, each: int = 64) -> tuple[Array, Array]:
    """Draws of SMC for each z, resampled, and their conditions."""

    @jax.jit
    def some(keys: Key[Array, " n"], z: Array) -> Array:
        def one(key: Key[Array, ""], z: Array) -> Array:
            key_run, key_rows = jax.random.split(key)
            found = log_z.smc(
                key_run,
                family.f,
                family.space,
                z,
                num_particles=256,
                num_islands=2,
                ladder=100,
                kernel=family.kernel,
            )
            return found.x[jax.random.categorical(key_rows, found.log_w, shape=(each,))]

        return jax.vmap(one)(keys, z)

    keys, parts = jax.random.split(key, len(z)), list[Array]()
    for i in range(0, len(z), 128):
        parts.append(some(keys[i : i + 128], z[i : i + 128]))
    return jnp.concatenate(parts).reshape(-1, family.space.dim), jnp.repeat(z, each, axis=0)


METHODS: dict[str, Prepare] = {
    "learned": learned(max_edits=4),
    "learned-start": learned(max_edits=0),
    "amortised": amortised,
    **{f"smc-{n}x{t}": smc(n, t) for n in (256, 1_024, 4_096) for t in (20, 50, 200)},
    **{f"tempering-{n}x{w}": tempering(n, w) for n, w in ((8, 200), (12, 1_000))},
}


@cache
def problem_of(name: str, i: int, num: int) -> tuple[np.ndarray, Problem]:
    """The i-th unseen z of a family, and the problem there; some take seconds."""
    family = FAMILIES[name]()
    z = unseen_conditions(family, num)[i]
    return z, family.problem_at(z)


def families(
    out: Path,
    chosen: Sequence[str],
    methods: Sequence[str],
    settings: Settings,
    *,
    num_seeds: int,
    within: float,
) -> None:
    """Run what `out` does not have yet, until `within` seconds are over."""
    end = time.monotonic() + within
    for name, method, seed in missing(out, chosen, methods, settings, num_seeds):
        if time.monotonic() > end:
            print("the time is over; the same command goes on")
            return
        row = job(name, method, seed, settings)
        results.save(out, [row], KEYS, quiet=True)
        shown = {key: row[key] for key in ("log_z", "marginals", "modes", "prepared", "seconds")}
        print(f"{name} {method} seed {seed}: {shown}", flush=True)


def missing(
    out: Path,
    chosen: Sequence[str],
    methods: Sequence[str],
    settings: Settings,
    num_seeds: int,
) -> Iterator[tuple[str, str, int]]:
    """Jobs without a row."""
    rows = results.read(out) if out.exists() else []
    done = {tuple(row[key] for key in KEYS) for row in rows}
    for name in chosen or FAMILIES:
        for method in methods or METHODS:
            for seed in range(num_seeds):
                if (name, method, seed, device(), in_words(settings)) not in done:
                    yield name, method, seed


def job(name: str, method: str, seed: int, settings: Settings) -> dict[str, Any]:
    """A row: root mean squares of the errors over the unseen z."""
    family, begin = FAMILIES[name](), time.perf_counter()
    ask = METHODS[method](seed, family, settings)
    prepared = time.perf_counter() - begin
    found, num = list[dict[str, Any]](), settings.num_conditions
    for i in range(num):
        z, problem = problem_of(name, i, num)
        key = jax.random.fold_in(jax.random.key(seed + 1), i)
        found.append(errors(problem, ask(key, jnp.asarray(z, float))))
    seconds = [row["seconds"] for row in found]
    about = {"family": name, "method": method, "seed": seed, "device": device()}
    return {
        **about,
        "settings": in_words(settings),
        **{key: rms([row[key] for row in found]) for key in ("log_z", "marginals", "modes")},
        "log_z_error": rms([row["log_z_error"] for row in found]),
        "gap": rms([row["gap"] for row in found]),
        "prepared": round(prepared, 2),
        "first": seconds[0],  # with what it compiles
        "seconds": round(float(np.median(seconds[1:])), 6),
    }


def rms(values: Sequence[float | None]) -> float | None:
    """The root of the mean square; None if there are none."""
    known = [value for value in values if value is not None]
    return float(np.sqrt(np.mean(np.square(known)))) if known else None
