"""What tests of random code share: tests of draws and estimators, and tiny models to try them on.

Each statistical test is made at level ALPHA. The suite makes about 250 of them (210 calls of the
two `assert_` functions, the rest in place), so with fresh seeds a correct library would fail in
fewer than 3% of the runs.
The seeds are fixed: what passes once passes always, until code or JAX's generator changes.
"""

from functools import partial

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jax.flatten_util import ravel_pytree
from scipy.stats import chi2, norm

from aloex.samplers import (
    AutoregressiveMLP,
    AutoregressiveRNN,
    Factorized,
    Flip,
    LocalSearch,
    PositionValue,
    Stop,
)
from aloex.spaces import Bits

ALPHA = 1e-4
MIN_EXPECTED = 5  # cells of a smaller expected count are pooled, as the chi-square limit asks


def assert_draws_match(counts, probs, alpha=ALPHA):
    """Null hypothesis: `counts` are those of independent draws from `probs`. Chi-square test."""
    counts, probs = np.asarray(counts, np.float64), np.asarray(probs, np.float64)
    assert counts.shape == probs.shape
    assert abs(probs.sum() - 1) < 1e-4, f"the stated probabilities add up to {probs.sum()}"
    impossible = np.flatnonzero((probs == 0) & (counts > 0))
    assert impossible.size == 0, f"draws of probability 0 in cells {impossible}"
    expected = probs / probs.sum() * counts.sum()
    observed, expected = _pooled(counts[probs > 0], expected[probs > 0])
    assert len(expected) > 1, "fewer than two cells: no such test can fail, draw more"
    statistic = np.sum((observed - expected) ** 2 / expected)
    p_value = chi2.sf(statistic, len(expected) - 1)
    assert p_value >= alpha, (
        f"draws do not match: chi2={statistic:.1f}, {len(expected)} cells, p={p_value:.1e}"
    )


def _pooled(observed, expected):
    """The rarest cells joined into one, until every cell expects MIN_EXPECTED or more."""
    order = np.argsort(expected)
    observed, expected = observed[order], expected[order]
    small = int(np.sum(expected < MIN_EXPECTED))
    while 0 < small < len(expected) and expected[:small].sum() < MIN_EXPECTED:
        small += 1
    if small == 0:
        return observed, expected
    join = lambda cells: np.concatenate([[cells[:small].sum()], cells[small:]])
    return join(observed), join(expected)


def assert_mean_matches(samples, exact, alpha=ALPHA):
    """Null hypothesis: the rows of `samples` have mean `exact`. z-test, all coordinates at once.

    |mean - exact| <= z sd / sqrt(R) in every coordinate, z split between them by Bonferroni.
    """
    samples = np.asarray(samples, np.float64).reshape(len(samples), -1)
    exact = np.asarray(exact, np.float64).reshape(-1)
    assert samples.shape[1] == len(exact)
    deviation = np.abs(samples.mean(axis=0) - exact)
    error = samples.std(axis=0, ddof=1) / np.sqrt(len(samples))
    z = norm.isf(alpha / (2 * len(exact)))
    too_far = deviation > z * error + 1e-12 * (1 + np.abs(exact))
    assert not too_far.any(), (
        f"{int(too_far.sum())} of {len(exact)} means are off, by up to "
        f"{(deviation / np.maximum(error, 1e-300))[too_far].max():.1f} standard errors (z={z:.1f})"
    )


# For code that is run once: twice as fast to compile, slower to run.
compiled = partial(eqx.filter_jit, compiler_options={"xla_backend_optimization_level": 0})


@compiled
def draw_indices(space, draw, key, num_draws):
    """`space.index` of `num_draws` independent states `draw(key)`."""
    return jax.vmap(lambda k: space.index(draw(k)))(jax.random.split(key, num_draws))


def count_draws(space, draw, *, num_draws=20_000, seed=0):
    """How often each state of the space came up in independent draws."""
    indices = draw_indices(space, draw, jax.random.key(seed), num_draws)
    return np.bincount(np.asarray(indices), minlength=space.size)


def randomised(kind, *args, seed=0, scale=1.0, **kwargs):
    """`kind(*args, **kwargs)` with parameters from N(0, scale^2): far from uniform, unlike new.

    Only the shapes of the new model are used, and the noise is numpy's, so nothing is compiled.
    """
    model = eqx.filter_eval_shape(lambda: kind(*args, key=jax.random.key(0), **kwargs))
    noise = np.random.default_rng(seed)
    fill = lambda leaf: jnp.asarray(scale * noise.normal(size=leaf.shape), leaf.dtype)
    is_parameter = lambda leaf: isinstance(leaf, jax.ShapeDtypeStruct)
    return jax.tree.map(lambda leaf: fill(leaf) if is_parameter(leaf) else leaf, model)


def flat_grads(grads):
    """All gradients of a model as one vector."""
    return ravel_pytree(eqx.filter(grads, eqx.is_inexact_array))[0]


def condition(cond_dim):
    """A condition for a network with that cond_dim, or None."""
    return jnp.asarray(np.eye(cond_dim)[-1]) if cond_dim else None


Q0_SIZES = {
    Factorized: {},
    AutoregressiveMLP: {"hidden": (4,), "head_hidden": 4, "embed_dim": 2},
    AutoregressiveRNN: {"hidden": 4, "head_hidden": 4},
}


def tiny_q0(kind, space, *, cond_dim=0, seed=0):
    """A randomised q0 of the given class."""
    return randomised(kind, space, cond_dim=cond_dim, seed=seed, **Q0_SIZES[kind])


def tiny_editor(kind, space, *, cond_dim=0, seed=0):
    """A randomised editor of the given class."""
    return randomised(kind, space, hidden=(4,), cond_dim=cond_dim, seed=seed, scale=0.7)


def tiny_search(space, *, max_edits, q0=Factorized, cond_dim=0, seed=0):
    """A randomised local search that stops about half of the time."""
    editor = Flip if isinstance(space, Bits) else PositionValue
    return LocalSearch(
        q0=tiny_q0(q0, space, cond_dim=cond_dim, seed=seed),
        editor=tiny_editor(editor, space, cond_dim=cond_dim, seed=seed + 1),
        stop=randomised(Stop, space, hidden=(4,), cond_dim=cond_dim, seed=seed + 2, scale=0.5),
        max_edits=max_edits,
    )


def relative_error(estimate, exact):
    """|estimate - exact| / |exact|."""
    return float(np.linalg.norm(estimate - exact) / np.linalg.norm(exact))
