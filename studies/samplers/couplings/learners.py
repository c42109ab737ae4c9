"""Couplings by sampling: PCD with each kernel, and ALOE, on the same samples with the same penalty.

All start at J = 0, take Adam with a rate that falls to 0, see all samples in each step and have 100
negatives. What a step may spend is the same too: to each negative about as many evaluations of f
as there are sites, a sweep of Gibbs. (A gradient counts as one evaluation more than the value.)
What drawing and learning q costs ALOE beside the kernel is in the seconds only.
"""

import time
from collections.abc import Callable
from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import optax
from jaxtyping import Array

from aloex.base.errors import require
from aloex.baselines import PCD
from aloex.energies import Ising
from aloex.kernels import (
    DiscreteLangevin,
    Gibbs,
    GibbsWithGradients,
    HammingBall,
    Kernel,
    PathAuxiliary,
    RandomWalk,
)
from aloex.learning import ALOE, Config, build_search, clipped_adam
from aloex.proposals import Inverse
from aloex.spaces import Bits
from studies.samplers.couplings.problem import Matrix, Spins

NUM_NEGATIVES = 100
LEARNING_RATE = 5e-3  # of C = 2 J
NUM_RECORDS = 10  # moments at which the couplings are looked at
MAX_EDITS = 16
TRAINING = 1  # its keys are not those of the samples


class Moment(NamedTuple):
    """Couplings C = 2 J in the course of training, and the seconds until then."""

    seconds: float
    couplings: Matrix


class Trained(NamedTuple):
    """The course of training; the last moment is its end."""

    moments: list[Moment]
    compile_seconds: float
    evaluations: int  # of f, by the kernel for each negative, in all steps


KERNELS: dict[str, Callable[[Bits], Kernel]] = {
    "gibbs": Gibbs,
    "random-walk": RandomWalk,
    "gwg": GibbsWithGradients,
    "dmala": DiscreteLangevin,
    "path-auxiliary": lambda space: PathAuxiliary(space, max_path=min(16, space.dim)),
    "hamming-ball": HammingBall,
}

ALOES: dict[str, dict[str, Any]] = {  # settings of q and of ALOE
    "aloe": {"q0": "factorized"},
    "aloe-start": {"q0": "factorized", "max_edits": 0},
    "aloe-mlp": {"q0": "mlp"},
    "aloe-persistent": {"q0": "factorized", "persistence": 10},
}

METHODS = [*(f"pcd-{name}" for name in KERNELS), *ALOES]


def train(method: str, spins: Spins, l1: float, *, seed: int, num_steps: int) -> Trained:
    """C by a method of `METHODS`, from samples."""
    space, x = Bits(spins.shape[1]), jnp.asarray((spins + 1) / 2, jnp.int32)
    f, optimizer = Ising(jnp.zeros((space.dim, space.dim))), penalised(l1, num_steps)
    key_init, key_steps = jax.random.split(jax.random.fold_in(jax.random.key(seed), TRAINING))
    if method in ALOES:
        build, name = _aloe, method
    else:
        build, name = _pcd, method.removeprefix("pcd-")
    shared = {"num_data": len(x) // NUM_NEGATIVES, "optimizer_f": optimizer}
    learner, state, evaluations = build(name, key_init, f, space, num_steps, shared)
    moments, compile_seconds = _run(learner, state, x, key_steps, num_steps)
    return Trained(moments, compile_seconds, evaluations * num_steps)


def penalised(l1: float, num_steps: int) -> optax.GradientTransformation:
    """Adam on the slope of the loss and of the penalty."""
    adam = clipped_adam(LEARNING_RATE, clip=1e6, num_steps=num_steps)
    return optax.chain(optax.stateless(lambda grads, f: with_penalty(grads, f, l1)), adam)


def with_penalty(grads: Any, f: Any, l1: float) -> Any:
    """The slope by an `Ising` f of the loss + l1 sum_{i < j} |C_ij|; the field stays 0.

    Each pair has two entries in f.couplings, and each of them half of the pair's slope.
    """
    towards_zero = grads.couplings + l1 / 2 * jnp.sign(f.couplings)
    parts = lambda f: (f.couplings, f.field)
    return eqx.tree_at(parts, grads, (towards_zero, jnp.zeros_like(grads.field)))


def steps_of_a_sweep(kernel: Kernel, f: Ising, space: Bits) -> tuple[int, int]:
    """How many steps of a kernel evaluate f about as often as there are sites; how often that is.

    The chain's start, which is evaluated anew in each step of training, comes on top.
    """
    state = kernel.init(jax.random.key(0), jnp.zeros(space.dim, jnp.int32), f)
    each = int(kernel.step(jax.random.key(0), state, f)[1].num_evaluations)
    num = max(1, round(space.dim / each))
    return num, num * each


def _pcd(
    name: str, key: Array, f: Ising, space: Bits, num_steps: int, shared: dict[str, Any]
) -> tuple[PCD, Any, int]:
    """Chains go on without restarts, as in the literature: as many as negatives."""
    kernel = KERNELS[name](space)
    num, evaluations = steps_of_a_sweep(kernel, f, space)
    learner = PCD(
        kernel, space, num_chains=NUM_NEGATIVES, restart=0.0, num_kernel_steps=num, **shared
    )
    return learner, learner.init(key, f), evaluations


def _aloe(
    name: str, key: Array, f: Ising, space: Bits, num_steps: int, shared: dict[str, Any]
) -> tuple[ALOE, Any, int]:
    """x_hat ~ q, then a sweep of Gibbs."""
    settings: dict[str, Any] = {"max_edits": MAX_EDITS, "persistence": 1} | ALOES[name]
    persistence, max_edits = settings.pop("persistence"), settings["max_edits"]
    sizes: dict[str, Any] = {"q_hidden": (128,), "q0_hidden": (128,), "q0_head": 128}
    key_q, key_chains = jax.random.split(key)
    q = build_search(Config(dim=space.dim, **sizes, **settings), key_q)
    learner = ALOE(
        Gibbs(space),
        Inverse(space=space, max_edits=max_edits),
        num_trajectories=4,
        persistence=persistence,
        optimizer_q=clipped_adam(1e-3, num_steps=num_steps),
        **shared,
    )
    chains = jax.vmap(space.sample)(jax.random.split(key_chains, NUM_NEGATIVES))
    return learner, learner.init(f, q, chains.astype(jnp.int32)), space.dim


def _run(
    learner: PCD | ALOE, state: Any, x: Array, key: Array, num_steps: int
) -> tuple[list[Moment], float]:
    """Steps, looked at `NUM_RECORDS` times; the time to compile is apart."""
    arrays, rest = eqx.partition(state, eqx.is_array)
    # What is weakly typed would come out of the first steps otherwise.
    strong = lambda a: jax.lax.convert_element_type(a, a.dtype) if eqx.is_inexact_array(a) else a
    arrays = jax.tree.map(strong, arrays)

    def steps(arrays: Any, x: Array, numbers: Array) -> Any:
        def one(arrays: Any, i: Array) -> tuple[Any, None]:
            after, _ = learner.step(jax.random.fold_in(key, i), eqx.combine(arrays, rest), x)
            return eqx.filter(after, eqx.is_array), None

        return jax.lax.scan(one, arrays, numbers)[0]

    require(
        num_steps % NUM_RECORDS == 0, f"steps must be a multiple of {NUM_RECORDS}, got {num_steps}"
    )
    parts = jnp.arange(num_steps).reshape(NUM_RECORDS, -1)
    begin = time.perf_counter()
    program = jax.jit(steps).lower(arrays, x, parts[0]).compile()
    compiled = time.perf_counter()
    moments: list[Moment] = []
    for numbers in parts:
        arrays = program(arrays, x, numbers)
        couplings = np.asarray(eqx.combine(arrays, rest).f.couplings, np.float64)
        symmetric = (couplings + couplings.T) / 2
        np.fill_diagonal(symmetric, 0)
        moments.append(Moment(time.perf_counter() - compiled, symmetric))
    return moments, compiled - begin
