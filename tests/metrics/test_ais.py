"""Annealed importance sampling: E[w] = Z by enumeration, then the code's draws against that."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy.stats import norm

from aloex import cursor, exact
from aloex.base.errors import InputError
from aloex.energies import MLP, Tabular
from aloex.kernels import Gibbs
from aloex.metrics import Uniform, ais
from aloex.samplers import AutoregressiveMLP, Factorized
from aloex.spaces import Bits, Categorical, Sequences
from stats import ALPHA, assert_mean_matches, compiled, condition, randomised, tiny_q0

BITS, CATEGORIES = Bits(3), Categorical(2, 3)
mlp = lambda space, **kwargs: randomised(MLP, space, hidden=(4,), embed_dim=2, **kwargs)

# f, base, condition, and whether first-layer sums are kept.
CASES = {
    "MLP-uniform": (BITS, lambda: mlp(BITS), lambda: Uniform(BITS), None, True),
    "MLP-factorized": (BITS, lambda: mlp(BITS), lambda: tiny_q0(Factorized, BITS), None, True),
    "MLP-categories-z": (
        CATEGORIES,
        lambda: mlp(CATEGORIES, cond_dim=2),
        lambda: tiny_q0(Factorized, CATEGORIES, cond_dim=2),
        condition(2),
        True,
    ),
    "Tabular-factorized": (
        CATEGORIES,
        lambda: randomised(Tabular, CATEGORIES),
        lambda: tiny_q0(Factorized, CATEGORIES),
        None,
        False,
    ),
    "MLP-autoregressive": (
        BITS,
        lambda: mlp(BITS),
        lambda: randomised(AutoregressiveMLP, BITS, hidden=(4,), head_hidden=4, scale=0.5),
        None,
        False,
    ),
}
by_case = pytest.mark.parametrize("name", CASES)
NUM_TEMPERATURES = 4


def double(name):
    space, build_f, build_base, z, incremental = CASES[name]
    return space, exact.to_float64(build_f()), exact.to_float64(build_base()), z, incremental


@pytest.fixture(scope="module", autouse=True)
def compiled_in_haste():
    """All programs here run once or twice."""
    jax.config.update("jax_disable_most_optimizations", True)
    yield
    jax.config.update("jax_disable_most_optimizations", False)


@pytest.fixture
def double_precision():
    with exact.float64():
        yield


@by_case
def test_tempered_runs_from_the_base_to_f(name, double_precision):
    space, f, base, z, _ = double(name)
    of = lambda e: np.asarray(exact.energies(e, space, z))
    at = lambda b: of(ais.tempered(f, base, space, jnp.asarray(b), z))
    log_base = of(base.log_prob)
    np.testing.assert_allclose(at(0.0), log_base, rtol=1e-13)
    np.testing.assert_allclose(at(1.0), of(f), rtol=1e-13)
    np.testing.assert_allclose(at(0.3), 0.7 * log_base + 0.3 * of(f), rtol=1e-12)
    assert np.std(of(f) - log_base) > 0.1


@by_case
def test_increments_equal_scores_from_scratch(name, double_precision):
    space, f, base, z, incremental = double(name)
    f_b = ais.tempered(f, base, space, jnp.asarray(0.3), z)
    rng = np.random.default_rng(0)
    c = cursor.start(f_b, space.enumerate()[1], z)
    assert (c.hidden is not None) == incremental
    change = compiled(cursor.change)
    for _ in range(12):
        site, value = rng.integers(space.dim), rng.integers(space.num_values)
        c = change(f_b, c, jnp.asarray(site), jnp.asarray(value))
        np.testing.assert_allclose(c.value, f_b(c.x, z), rtol=1e-12)


@compiled
def slopes_and_matrices(f, base, space, z, bs):
    """df_b / db of every state, and the sweep's matrix at each temperature."""
    slope = exact.energies(f, space, z) - exact.energies(base.log_prob, space, z)
    at = lambda b: ais.tempered(f, base, space, b, z)
    matrix = lambda b: Gibbs(space).transition_matrix(space, at(b), z)
    return slope, jax.vmap(matrix)(bs), exact.log_p(at(bs[0]), space, z), exact.log_z(f, space, z)


def exact_moments(name, way):
    """E[w] and E[w^2] of a chain from p_0 to p_1 or back, by matrices in float64, and log Z."""
    with exact.float64():
        space, f, base, z, _ = double(name)
        bs = ais.temperatures(NUM_TEMPERATURES, ais.sigmoid)[::way]
        found = slopes_and_matrices(f, base, space, z, bs)
        slope, matrices, log_start, log_z, bs = (np.asarray(a) for a in (*found, bs))
    first = second = np.exp(log_start)
    for step, matrix in zip(np.diff(bs), matrices[1:], strict=True):
        first = first * np.exp(step * slope) @ matrix
        second = second * np.exp(2 * step * slope) @ matrix
    return first.sum(), second.sum(), float(log_z)


by_way = pytest.mark.parametrize("way", [1, -1], ids=["forward", "reverse"])


@by_case
@by_way
def test_the_expected_weight_is_z(name, way):
    first, second, log_z = exact_moments(name, way)
    np.testing.assert_allclose(first, np.exp(way * log_z), rtol=1e-12)
    assert second > 1.001 * first**2


@by_case
@by_way
def test_draws_of_the_weight(name, way):
    """Its mean is Z, its second moment that of the enumeration, which depends on the sweeps."""
    first, second, log_z = exact_moments(name, way)
    space, build_f, build_base, z, _ = CASES[name]
    f, base = build_f(), build_base()
    num_chains = 5000
    key_start, key = jax.random.split(jax.random.key(0))
    log_start = jax.vmap(lambda x: base.log_prob(x, z))(space.enumerate())
    if way == -1:
        log_start = exact.log_p(f, space, z)
    x = space.enumerate()[jax.random.categorical(key_start, log_start, shape=(num_chains,))]
    bs = ais.temperatures(NUM_TEMPERATURES, ais.sigmoid)[::way]
    log_w = ais.log_weights(key, x, f, space, z, base=base, bs=bs)
    w = np.exp(np.asarray(log_w, np.float64) - way * log_z)
    assert_mean_matches(np.stack([w, w**2], axis=1), [1, second / first**2])


PEAKED = Bits(8)


@pytest.fixture(scope="module")
def peaked():
    """An energy of 256 states, the likeliest at 0.14, with its log Z and 64 exact draws."""
    f = randomised(MLP, PEAKED, hidden=(8, 8))
    log_p = exact.log_p(f, PEAKED)
    assert 0.1 < np.exp(log_p.max()) < 0.5
    rows = jax.random.categorical(jax.random.key(1), log_p, shape=(64,))
    return f, float(exact.log_z(f, PEAKED)), PEAKED.enumerate()[rows]


@pytest.mark.parametrize("base", [None, tiny_q0(Factorized, PEAKED)], ids=["default", "factorized"])
def test_the_bracket_holds_log_z(peaked, base):
    """Null hypothesis, at level ALPHA: either estimate is log Z up to its stated error."""
    f, log_z, x = peaked
    found = ais.bracket(jax.random.key(0), f, PEAKED, x, base=base, num_temperatures=100)
    z = norm.isf(ALPHA / 4)  # two-sided, two estimates
    for estimate in found:
        assert abs(estimate.value - log_z) < z * estimate.standard_error
        assert 0 < estimate.standard_error < 0.2  # seen: 0.03
        assert 32 < estimate.effective_sample_size < 64
    between = np.hypot(found.lower.standard_error, found.upper.standard_error)
    assert found.lower.value < found.upper.value + z * between


@pytest.mark.parametrize("schedule", [ais.linear, ais.sigmoid])
def test_schedules(schedule):
    bs = np.asarray(ais.temperatures(11, schedule))
    assert bs[0] == 0 and bs[-1] == 1
    np.testing.assert_allclose(bs, 1 - bs[::-1], atol=1e-6)
    first, middle = bs[1] - bs[0], bs[6] - bs[5]
    assert np.isclose(first, middle) if schedule is ais.linear else first < middle / 2


@pytest.mark.parametrize(
    ("arguments", "settings", "message"),
    [
        ((Sequences(2, 2),), {}, "annealed importance sampling needs Bits or Categorical"),
        ((BITS,), {"num_temperatures": 1}, "num_temperatures must be at least 2 .*, got 1"),
        ((BITS,), {"num_chains": 1}, "an error needs two chains or more, got 1"),
        ((BITS,), {"schedule": lambda t: 2 * t}, r"must rise from 0 .* to 1 .*, got b = \[0"),
        ((BITS,), {"schedule": lambda t: 4 * (t - 0.5) ** 2}, "must rise from 0"),
        ((BITS,), {"schedule": lambda t: t[1:]}, "must rise from 0"),
    ],
    ids=["sequences", "num_temperatures", "num_chains", "too-far", "up-and-down", "too-few"],
)
def test_bad_arguments(arguments, settings, message):
    with pytest.raises(InputError, match=message):
        ais.forward(jax.random.key(0), mlp(BITS), *arguments, **settings)


@pytest.mark.parametrize(
    ("x", "message"),
    [
        (np.zeros((1, 3), np.int32), "an error needs two chains or more, got 1"),
        (np.zeros((2, 4), np.int32), "x has 4 sites, but the space has 3"),
        (np.full((2, 3), 2, np.int32), r"x must lie in 0..1 \(bits\), got 2"),
    ],
    ids=["one-row", "sites", "values"],
)
def test_bad_starts(x, message):
    with pytest.raises(InputError, match=message):
        ais.reverse(jax.random.key(0), mlp(BITS), BITS, jnp.asarray(x))
