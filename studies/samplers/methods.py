"""The methods of the sampling study, all asked alike: draws of a problem, in growing numbers.

A method takes a key, a problem and settings, and yields what it has `Found` for each number of
draws: what a user who stops there would have. `seconds` is the time since it began, compiling
included. Chains and learned samplers go on from number to number; SMC, whose particles are its
draws, begins anew for each.
"""

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Key

from aloex import learn_sampler, log_z, mcmc
from aloex.energies import Ising, Potts, SparseCouplings
from studies.samplers.problems import Problem
from studies.samplers.rivals import (
    THRML,
    Autoregressive,
    BlackJAX,
    BlackJAXSMC,
    Budget,
    GFlowNet,
    NumPyro,
    Rival,
    SwendsenWang,
)
from studies.samplers.rivals import Draws as RivalDraws


@dataclass(frozen=True)
class Settings:
    """Sizes of a run; each row of results has them.

    Attributes:
        num_draws: numbers of draws, ascending, multiples of the chains and of 16.
        num_chains: of methods that run chains.
        num_warmup: steps of a chain before its first draw.
        num_temperatures: of SMC's ladder.
        num_replicas: of tempering's.
        num_steps: of learning.
        batch: draws in a step of learning.
        hidden: width of the networks of learned samplers.
    """

    num_draws: tuple[int, ...] = (400, 2_000, 10_000)
    num_chains: int = 80
    num_warmup: int = 1_000
    num_temperatures: int = 200
    num_replicas: int = 12
    num_steps: int = 4_000
    batch: int = 512
    hidden: int = 128


class Found(NamedTuple):
    """What a method has after so many draws."""

    x: np.ndarray  # [n, dim]
    log_w: np.ndarray | None  # [n]; None where all count alike
    log_z: float | None
    log_z_error: float | None  # as the method states it
    seconds: float  # since the method began
    gap: float | None = None  # of log q(x), of a search with edits


Run = Callable[[Key[Array, ""], Problem, Settings], Iterator[Found]]


class Method(NamedTuple):
    """A way to sample a problem."""

    run: Run
    fits: Callable[[Problem], bool] = lambda problem: True


def chains(build: Callable[[Problem, Settings], mcmc.SamplingAlgorithm]) -> Run:
    """Chains from uniform states, warmed up and tuned."""

    def run(key: Key[Array, ""], problem: Problem, settings: Settings) -> Iterator[Found]:
        begin, parts, done = time.perf_counter(), list[np.ndarray](), 0
        algorithm, last = build(problem, settings), None
        for number in settings.num_draws:
            key, key_sample = jax.random.split(key)
            draws = mcmc.sample(
                key_sample,
                algorithm,
                (number - done) // settings.num_chains,
                num_chains=settings.num_chains if last is None else None,
                num_warmup=settings.num_warmup if last is None else 0,
                initial=last,
                progress=False,
            )
            algorithm, last, done = draws.algorithm, draws.last, number
            parts.append(np.asarray(draws.x).reshape(-1, problem.dim))
            yield Found(np.concatenate(parts), None, None, None, time.perf_counter() - begin)

    return run


def smc(*, adaptive: bool = False) -> Run:
    """Sequential Monte Carlo, as many particles as draws."""

    def run(key: Key[Array, ""], problem: Problem, settings: Settings) -> Iterator[Found]:
        ladder = log_z.AdaptiveLadder() if adaptive else settings.num_temperatures
        for number in settings.num_draws:
            begin, (key, key_run) = time.perf_counter(), jax.random.split(key)
            found = log_z.smc(
                key_run,
                problem.f,
                problem.space,
                ladder=ladder,
                num_particles=number,
                kernel=problem.kernel,
                num_steps=2,
            )
            yield of_particles(found, begin)

    return run


def of_particles(particles: log_z.Particles, begin: float) -> Found:
    """What SMC has found, since `begin`."""
    x, log_w = np.asarray(particles.x), np.asarray(particles.log_w)
    value, error = float(particles.log_z.value), float(particles.log_z.standard_error)
    return Found(x, log_w, value, error, time.perf_counter() - begin)


def learned(**how: Any) -> Run:
    """A sampler that is learned for the energy."""

    def run(key: Key[Array, ""], problem: Problem, settings: Settings) -> Iterator[Found]:
        begin, seed = time.perf_counter(), int(jax.random.bits(key)) % 2**31
        width = settings.hidden
        sampler = learn_sampler(
            problem.f,
            problem.space,
            num_steps=settings.num_steps,
            num_draws=settings.batch,
            q0_hidden=(width, width),
            q0_head=width,
            q_hidden=(width, width),
            kernel=problem.kernel,
            seed=seed,
            progress=False,
            **how,
        )
        for number in settings.num_draws:
            draws = sampler.sample(number, seed=seed)
            seconds = time.perf_counter() - begin
            yield weighted(draws.x, draws.log_w, seconds, float(np.mean(draws.gap)))

    return run


def weighted(x: np.ndarray, log_w: np.ndarray, seconds: float, gap: float | None = None) -> Found:
    """Draws, and the mean of their weights."""
    w = np.exp(log_w - log_w.max())
    value = float(log_w.max() + np.log(w.mean()))
    error = float(w.std(ddof=1) / w.mean() / np.sqrt(len(w)))
    return Found(x, log_w, value, error, seconds, gap)


def rival(make: Callable[[Settings], Rival], steps: Callable[[Settings], int]) -> Run:
    """A rival of `studies.samplers.rivals`."""

    def run(key: Key[Array, ""], problem: Problem, settings: Settings) -> Iterator[Found]:
        begin, (key_fit, key) = time.perf_counter(), jax.random.split(key)
        fitted = make(settings).fit(key_fit, problem, Budget(steps(settings)))
        for number in settings.num_draws:
            key, key_sample = jax.random.split(key)
            draws = fitted.sample(key_sample, number)
            x = np.asarray(draws.x)
            log_w = None if draws.log_weights is None else np.asarray(draws.log_weights)
            yield Found(x, log_w, fitted.log_z, None, time.perf_counter() - begin)

    return run


class SMCTeacher(NamedTuple):
    """SMC as a rival that draws: what an autoregressive model learns from."""

    settings: Settings

    def fit(self, key: Key[Array, ""], problem: Problem, budget: Budget) -> "SMCTeacher.Fitted":
        """Particles."""
        most = replace(self.settings, num_draws=(max(self.settings.num_draws),))
        (found,) = smc()(key, problem, most)
        return SMCTeacher.Fitted(found)

    class Fitted(NamedTuple):
        """What it found."""

        found: Found

        @property
        def log_z(self) -> float | None:
            """That of SMC."""
            return self.found.log_z

        def sample(self, key: Key[Array, ""], n: int) -> RivalDraws:
            """All its particles."""
            found = self.found
            return RivalDraws(jnp.asarray(found.x), jnp.asarray(found.log_w))


def autoregressive(settings: Settings) -> Autoregressive:
    """The autoregressive network of the learned sampler, fitted to SMC's particles."""
    width = settings.hidden
    return Autoregressive(SMCTeacher(settings), hidden=(width, width), head_hidden=width)


def _is_lattice(problem: Problem) -> bool:
    f = problem.f
    return isinstance(f, Ising | Potts) and isinstance(f.couplings, SparseCouplings)


def _has_clusters(problem: Problem) -> bool:
    return _is_lattice(problem) and (
        isinstance(problem.f, Ising) or bool((np.asarray(problem.f.couplings.weights) >= 0).all())
    )


_steps = lambda settings: settings.num_steps
_warmup = lambda settings: settings.num_warmup

METHODS: dict[str, Method] = {
    "random-walk": Method(chains(lambda p, s: mcmc.random_walk(p.f, p.space, num_proposals=p.dim))),
    "gibbs": Method(chains(lambda p, s: mcmc.gibbs(p.f, p.space))),
    "coloured-gibbs": Method(
        chains(lambda p, s: mcmc.coloured_gibbs(p.f, p.space, colours=p.colours or ())),
        lambda p: p.colours is not None,
    ),
    "block-gibbs": Method(chains(lambda p, s: mcmc.block_gibbs(p.f, p.space))),
    "hamming-ball": Method(chains(lambda p, s: mcmc.hamming_ball(p.f, p.space))),
    "gwg": Method(chains(lambda p, s: mcmc.gwg(p.f, p.space))),
    "dmala": Method(chains(lambda p, s: mcmc.dmala(p.f, p.space))),
    "path-auxiliary": Method(chains(lambda p, s: mcmc.path_auxiliary(p.f, p.space))),
    "tempering": Method(
        chains(
            lambda p, s: mcmc.parallel_tempering(
                p.f, p.space, jnp.linspace(0, 1, s.num_replicas), kernel=p.kernel
            )
        )
    ),
    "smc": Method(smc()),
    "smc-adaptive": Method(smc(adaptive=True)),
    "swendsen-wang": Method(rival(lambda s: SwendsenWang(s.num_chains), _warmup), _has_clusters),
    "learned": Method(learned(max_edits=4)),
    "learned-start": Method(learned(max_edits=0)),
    "learned-factorized": Method(learned(max_edits=16, q0="factorized")),
    "autoregressive": Method(rival(autoregressive, _steps)),
    "gflownet": Method(rival(lambda s: GFlowNet(batch_size=s.batch), _steps)),
    "numpyro-gibbs": Method(rival(lambda s: NumPyro("gibbs", s.num_chains), _warmup)),
    "blackjax": Method(rival(lambda s: BlackJAX(s.num_chains), _warmup)),
    "blackjax-smc": Method(rival(lambda s: BlackJAXSMC(max(s.num_draws)), lambda s: 2)),
    "thrml": Method(rival(lambda s: THRML(s.num_chains), _warmup), _is_lattice),
}


def names(problem: Problem, chosen: Sequence[str] | None = None) -> list[str]:
    """Of the chosen methods, or of all, those that there are for a problem."""
    return [name for name in chosen or METHODS if METHODS[name].fits(problem)]
