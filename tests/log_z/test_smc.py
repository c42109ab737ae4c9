"""Sequential Monte Carlo: Z and the weighted particles are unbiased, the ladder finds its steps."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy.stats import norm

from aloex import exact, log_z
from aloex.base.errors import InputError
from aloex.energies import MLP
from aloex.kernels import ColouredGibbs, Gibbs, RandomWalk, checkerboard
from aloex.log_z import AdaptiveLadder
from aloex.log_z.smc import _longest_step
from aloex.samplers import Factorized
from aloex.spaces import Bits, Categorical
from stats import ALPHA, assert_mean_matches, compiled, condition, randomised, tiny_q0

BITS, CATEGORIES = Bits(3), Categorical(2, 3)
mlp = lambda space, **kwargs: randomised(MLP, space, hidden=(4,), embed_dim=2, scale=1.5, **kwargs)
BASE = tiny_q0(Factorized, CATEGORIES, cond_dim=2)

# space, condition, settings.
CASES = {
    "always": (BITS, None, {"resample_below": 1.0, "kernel": RandomWalk(BITS), "num_steps": 2}),
    "at-times": (BITS, None, {"resample_below": 0.7}),
    "never": (BITS, None, {"resample_below": 0.0}),
    "categories-z": (CATEGORIES, condition(2), {"resample_below": 0.9, "base": BASE}),
}
NUM_REPEATS = 3000


@pytest.fixture(scope="module", autouse=True)
def compiled_in_haste():
    """All programs here run once or twice."""
    jax.config.update("jax_disable_most_optimizations", True)
    yield
    jax.config.update("jax_disable_most_optimizations", False)


@pytest.mark.parametrize("name", CASES)
def test_weighted_particles_are_unbiased(name):
    """Null hypothesis: the mean of w 1{x} / Z over few particles is p_f(x), for each x.

    The sum over x is the estimate of Z. Four particles on two islands would show any bias.
    """
    space, z, settings = CASES[name]
    f = mlp(space, cond_dim=0 if z is None else len(z))
    exact_log_z = exact.log_z(f, space, z)

    def histogram(key):
        found = log_z.smc(key, f, space, z, ladder=4, num_particles=4, num_islands=2, **settings)
        w = jnp.exp(found.log_w - exact_log_z) / 4
        cells = jax.vmap(space.index)(found.x)
        return jnp.zeros(space.size).at[cells].add(w), jnp.exp(found.log_z.value - exact_log_z)

    keys = jax.random.split(jax.random.key(0), NUM_REPEATS)
    cells, total = compiled(jax.vmap(histogram))(keys)
    np.testing.assert_allclose(cells.sum(axis=1), total, rtol=1e-4)
    p = np.exp(np.asarray(exact.log_p(f, space, z), np.float64))
    assert_mean_matches(np.column_stack([cells, total]), [*p, 1.0])
    assert np.std(total) > 0.1 and p.max() > 2 / space.size


GRID = Bits(9)


def rows_of_spins(x, z=None):
    """An Ising model of 3 x 3 spins."""
    spin = 2.0 * x.reshape(3, 3) - 1
    pairs = jnp.sum(spin[1:] * spin[:-1]) + jnp.sum(spin[:, 1:] * spin[:, :-1])
    return 0.4 * pairs + 0.1 * jnp.sum(spin)


def assert_covers(found, exact_log_z):
    """Null hypothesis, at level ALPHA: the estimate is log Z up to its stated error."""
    assert 0 < found.standard_error < 0.1
    assert abs(found.value - exact_log_z) < norm.isf(ALPHA / 2) * found.standard_error


@pytest.mark.parametrize(
    "kernel",
    [None, ColouredGibbs(GRID, checkerboard(3, 3)), RandomWalk(GRID)],
    ids=["default", "checkerboard", "walk"],
)
def test_an_adaptive_ladder_and_the_ladder_it_found(kernel):
    exact_log_z = float(exact.log_z(rows_of_spins, GRID))
    settings = {"num_particles": 2048, "num_islands": 64, "kernel": kernel}
    keys = jax.random.split(jax.random.key(0))
    first = log_z.smc(keys[0], rows_of_spins, GRID, ladder=AdaptiveLadder(0.95), **settings)
    bs = np.asarray(first.inverse_temperatures)
    assert bs[0] == 0 and bs[-1] == 1 and (np.diff(bs) > 0).all()
    assert 4 < len(bs) < 40
    assert first.log_z.bound == "none" and "adaptive" in str(first.log_z)
    assert_covers(first.log_z, exact_log_z)
    again = log_z.smc(keys[1], rows_of_spins, GRID, ladder=bs, **settings)
    assert again.log_z.bound == "lower" and again.log_z.warning is None
    np.testing.assert_array_equal(again.inverse_temperatures, bs)
    assert_covers(again.log_z, exact_log_z)


def test_steps_have_the_conditional_effective_sample_size():
    rng = np.random.default_rng(0)
    log_w, slope = rng.normal(size=(2, 500)), 20 * rng.normal(size=(2, 500))
    slope[0, 0] = -np.inf  # what is impossible makes no step short
    with exact.float64():
        longest = jnp.asarray(0.9)
        by = float(_longest_step(jnp.asarray(log_w), jnp.asarray(slope), longest, 0.9))
        flat = jnp.zeros((2, 500))
        all_the_way = float(_longest_step(jnp.asarray(log_w), flat, longest, 0.9))
    w = np.exp(log_w)
    w[0, 0] = 0
    w /= w.mean(axis=1, keepdims=True)
    v = np.exp(by * np.where(np.isfinite(slope), slope, 0))
    share = np.sum(w * v) ** 2 / (np.sum(w) * np.sum(w * v**2))
    np.testing.assert_allclose(share, 0.9, atol=1e-4)
    assert 0 < by < 0.1 and all_the_way == 0.9


def test_a_ladder_that_gets_too_long_ends_at_one():
    ladder = AdaptiveLadder(share=0.9999, max_temperatures=4)
    found = log_z.smc(jax.random.key(0), rows_of_spins, GRID, ladder=ladder, num_particles=64)
    bs = np.asarray(found.inverse_temperatures)
    assert len(bs) == 4 and bs[-1] == 1 and bs[-2] < 0.5


@pytest.mark.parametrize("ladder", [10, AdaptiveLadder(0.9)])
def test_impossible_states(ladder):
    f = lambda x, z=None: jnp.where(x[0] == 1, -jnp.inf, 2.0 * x[1])
    found = log_z.smc(jax.random.key(0), f, BITS, ladder=ladder, num_particles=512)
    assert_covers(found.log_z, exact.log_z(f, BITS))
    assert not found.x[np.isfinite(found.log_w), 0].any()


def test_ancestors_are_counted():
    run = lambda f, **how: (
        log_z.smc(
            jax.random.key(0), f, GRID, ladder=3, num_particles=128, num_islands=2, **how
        ).log_z
    )
    flat = run(lambda x, z=None: 0.0 * x.sum())
    assert flat.num_ancestors == 128 and flat.warning is None
    steep = run(lambda x, z=None: 20.0 * x.sum(), resample_below=1.0)
    assert 2 <= steep.num_ancestors < 30 and steep.warning is not None


def test_many_conditions_in_one_compiled_program():
    f, z, key = mlp(BITS, cond_dim=2), jnp.eye(2), jax.random.key(0)
    ladder = AdaptiveLadder(0.9, max_temperatures=20)
    once = lambda z: log_z.smc(key, f, BITS, z, ladder=ladder, num_particles=64, num_islands=4)
    many = compiled(jax.vmap(once))(z)
    assert many.inverse_temperatures.shape == (2, 20)
    for i in range(2):
        one = once(z[i])
        num = len(one.inverse_temperatures)
        np.testing.assert_allclose(many.log_z.value[i], one.log_z.value, rtol=1e-4)
        np.testing.assert_allclose(
            many.inverse_temperatures[i, :num], one.inverse_temperatures, rtol=1e-4
        )
        assert (many.inverse_temperatures[i, num:] == 1).all()


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"num_islands": 1}, "two islands or more, got 1"),
        ({"num_particles": 40}, "multiple of num_islands, two on each or more, got 40 for 16"),
        ({"num_particles": 16}, "two on each or more, got 16"),
        ({"resample_below": 1.5}, "resample_below must be in 0..1, got 1.5"),
        ({"ladder": np.array([0.5, 1.0])}, "a ladder must rise from 0 to 1"),
        ({"ladder": AdaptiveLadder(1.0)}, "share must be between 0 and 1, got 1.0"),
        ({"ladder": AdaptiveLadder(max_temperatures=1)}, "max_temperatures must be at least 2"),
        ({"kernel": Gibbs(CATEGORIES)}, "shape"),
    ],
)
def test_bad_arguments(settings, message):
    with pytest.raises(InputError, match=message):
        log_z.smc(jax.random.key(0), rows_of_spins, GRID, **settings)
