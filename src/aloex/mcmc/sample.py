"""Run chains: a warm-up that tunes the algorithm, then draws, in one compiled program."""

import operator
from collections.abc import Callable, Mapping
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.core import Tracer
from jaxtyping import Array, Key

from aloex.base.errors import InputError, require
from aloex.mcmc.adapt import parameter_of
from aloex.mcmc.algorithm import SamplingAlgorithm
from aloex.mcmc.draws import Draws
from aloex.mcmc.loop import Task
from aloex.mcmc.run import Run
from aloex.spaces import Space


def sample(
    key: Key[Array, ""],
    algorithm: SamplingAlgorithm,
    num_samples: int,
    *,
    num_chains: int | None = None,
    num_warmup: int = 1000,
    adapt: bool = True,
    thin: int = 1,
    initial: Any = None,
    keep: Callable[[Array], Any] | None = None,
    functions: Mapping[str, Callable[[Array], Array]] | None = None,
    progress: bool = True,
) -> Draws:
    """Draws of several chains, after a warm-up that tunes what the algorithm has to tune.

    Ctrl-C returns the draws so far, with a warning; a second one interrupts at once.

    Args:
        key: of all randomness, also of the first states.
        algorithm: such as `mcmc.gibbs(f, space)`.
        num_samples: draws of each chain.
        num_chains: chains; 4 unless given, or as many as `initial` has.
        num_warmup: steps of each chain before the first draw. None of them is kept.
        adapt: whether the warm-up tunes `step_size` of `dmala`, `mean_length` of `path_auxiliary`
            (to an acceptance of 0.574) and the temperatures of `parallel_tempering`.
        thin: steps from one draw to the next.
        initial: where chains begin: states [chains, dim], or `draws.last` to go on from there;
            uniform draws of the space unless given.
        keep: what to keep of each draw in the place of x, a function of x [dim] that returns an
            array or a tree of arrays.
        functions: named functions of x [dim] that return a number, recorded and diagnosed beside
            f(x).
        progress: whether to show a bar.

    Returns:
        The draws, with f(x), the functions, diagnostics (`summary()`), and the tuned algorithm.

    Raises:
        InputError: an argument is wrong, the energy is no floating-point number, or it became NaN.
        Stopped: Ctrl-C in the warm-up, or SIGTERM.

    Example:
        >>> import jax, jax.numpy as jnp
        >>> from aloex import mcmc, spaces
        >>> gibbs = mcmc.gibbs(lambda x: 0.5 * x.sum(), spaces.Bits(3))
        >>> ones = {"ones": jnp.sum}
        >>> draws = mcmc.sample(jax.random.key(0), gibbs, 100, functions=ones, progress=False)
        >>> draws.x.shape, draws.energy.shape, draws.functions["ones"].shape
        ((4, 100, 3), (4, 100), (4, 100))
        >>> go_on = {"initial": draws.last, "num_warmup": 0, "progress": False}
        >>> more = mcmc.sample(jax.random.key(1), draws.algorithm, 50, **go_on)
        >>> more.num_chains, more.num_draws
        (4, 50)
    """
    num_samples = _whole_number("num_samples", num_samples, 1)
    num_warmup = _whole_number("num_warmup", num_warmup, 0)
    thin = _whole_number("thin", thin, 1)
    # Checked for callers who run no type checker.
    require(
        isinstance(algorithm, SamplingAlgorithm),  # pyright: ignore[reportUnnecessaryIsInstance]
        "sample needs an algorithm, such as mcmc.gibbs(f, space), or mcmc.algorithm(kernel, f) for "
        f"a kernel, got {algorithm!r}",
    )
    require(not isinstance(key, Tracer), "sample runs programs: call it outside of jit and vmap")
    key_first, key_start, key_chains = jax.random.split(key, 3)
    first = _first_states(key_first, algorithm.space, num_chains, initial)
    task = Task(
        algorithm,
        parameter_of(algorithm.kernel) if adapt and num_warmup > 0 else None,
        jax.random.split(key_chains, len(getattr(first, "x", first))),
        jnp.array(num_warmup, jnp.int32),
        _itself if keep is None else keep,
        dict(functions or {}),
    )
    return Run(task, num_samples, thin, adapt).run(first, key_start, progress=progress)


def _first_states(key: Key[Array, ""], space: Space, num_chains: int | None, initial: Any) -> Any:
    """States of the space [chains, dim], or of a kernel if these are given."""
    if initial is None:
        num_chains = 4 if num_chains is None else _whole_number("num_chains", num_chains, 1)
        return jax.vmap(space.sample)(jax.random.split(key, num_chains))
    if not hasattr(initial, "x"):
        initial = jnp.asarray(space.check(np.asarray(initial), "initial"))
    num_given = len(getattr(initial, "x", initial))
    require(
        num_chains in (None, num_given),
        f"initial has {num_given} states, one for each chain, but num_chains is {num_chains}; "
        "leave num_chains out",
    )
    return initial


def _whole_number(name: str, value: Any, least: int) -> int:
    try:
        number = operator.index(value)
    except TypeError:
        raise InputError(f"{name} must be a whole number, got {value!r}") from None
    require(number >= least, f"{name} must be at least {least}, got {number}")
    return number


def _itself(x: Array) -> Array:
    """What is kept unless `keep` says otherwise; one function, so that programs are used again."""
    return x
