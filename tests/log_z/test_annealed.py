"""Annealed importance sampling and RAISE: their means by enumeration, then the draws."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy.stats import norm

from aloex import cursor, exact, log_z
from aloex import differences as diff
from aloex.base.errors import InputError
from aloex.energies import MLP, Tabular
from aloex.kernels import Gibbs, RandomWalk
from aloex.log_z.annealed import log_weights
from aloex.log_z.path import LogProb, SumOfSites, path, rungs
from aloex.samplers import AutoregressiveMLP, Factorized, Uniform
from aloex.spaces import Bits, Categorical, Mixed, Sequences
from stats import ALPHA, assert_mean_matches, compiled, condition, randomised, tiny_q0

BITS, CATEGORIES = Bits(3), Categorical(2, 3)
mlp = lambda space, **kwargs: randomised(MLP, space, hidden=(4,), embed_dim=2, **kwargs)

# space, f, base, condition, whether first-layer sums are kept, kernel and number of its steps.
CASES = {
    "MLP-uniform": (BITS, lambda: mlp(BITS), lambda: Uniform(BITS), None, True, Gibbs(BITS), 1),
    "MLP-factorized-walk": (
        BITS,
        lambda: mlp(BITS),
        lambda: tiny_q0(Factorized, BITS),
        None,
        True,
        RandomWalk(BITS),
        2,
    ),
    "MLP-categories-z": (
        CATEGORIES,
        lambda: mlp(CATEGORIES, cond_dim=2),
        lambda: tiny_q0(Factorized, CATEGORIES, cond_dim=2),
        condition(2),
        True,
        Gibbs(CATEGORIES),
        1,
    ),
    "Tabular-factorized": (
        CATEGORIES,
        lambda: randomised(Tabular, CATEGORIES),
        lambda: tiny_q0(Factorized, CATEGORIES),
        None,
        False,
        Gibbs(CATEGORIES, scan="random"),
        1,
    ),
    "MLP-autoregressive": (
        BITS,
        lambda: mlp(BITS),
        lambda: randomised(AutoregressiveMLP, BITS, hidden=(4,), head_hidden=4, scale=0.5),
        None,
        False,
        Gibbs(BITS),
        1,
    ),
}
by_case = pytest.mark.parametrize("name", CASES)
LADDER = log_z.sigmoid_ladder(4)


def single(name):
    space, build_f, build_base, z, _, kernel, num_steps = CASES[name]
    return space, build_f(), build_base(), z, {"kernel": kernel, "num_steps": num_steps}


def double(name):
    space, f, base, z, how = single(name)
    return space, exact.to_float64(f), exact.to_float64(base), z, how


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
def test_the_path_runs_from_the_base_to_f(name, double_precision):
    space, f, base, z, how = double(name)
    way = path(f, space, z, base=base, **how)
    of = lambda e: np.asarray(exact.energies(e, space, z))
    log_p = lambda energies: energies - np.logaddexp.reduce(energies)
    at = lambda b: log_p(of(way.at(jnp.asarray(b))))
    log_base = of(base.log_prob)
    np.testing.assert_allclose(at(0.0), log_base, rtol=1e-12)
    np.testing.assert_allclose(at(1.0), log_p(of(f)), rtol=1e-12)
    np.testing.assert_allclose(at(0.3), log_p(0.7 * log_base + 0.3 * of(f)), rtol=1e-12)
    slope = jax.vmap(way.slope)(space.enumerate())
    np.testing.assert_allclose(slope, of(f) - log_base, rtol=1e-12)
    assert np.std(slope) > 0.1


@by_case
def test_increments_equal_scores_from_scratch(name, double_precision):
    space, f, base, z, how = double(name)
    f_b = path(f, space, z, base=base, **how).at(jnp.asarray(0.3))
    rng = np.random.default_rng(0)
    c = cursor.start(f_b, space.enumerate()[1], z)
    assert (c.hidden is not None) == CASES[name][4]
    change = compiled(cursor.change)
    for _ in range(12):
        site, value = rng.integers(space.dim), rng.integers(space.num_values)
        c = change(f_b, c, jnp.asarray(site), jnp.asarray(value))
        np.testing.assert_allclose(c.value, f_b(c.x, z), rtol=1e-12)


def test_a_base_of_independent_sites_has_exact_differences(double_precision):
    space, f, base, z, _ = double("MLP-categories-z")
    of_sites = path(f, space, z, base=base).log_base
    assert isinstance(of_sites, SumOfSites) and diff.are_own_and_exact(of_sites)
    x = jnp.array([2, 1])
    own = diff.differences(of_sites, space, x, z, how="exact")
    by_changes = diff.differences(LogProb(base), space, x, z, how="exact")
    np.testing.assert_allclose(own, by_changes, rtol=1e-11)


@compiled
def slopes_and_matrices(space, way, bs):
    """df_b / db of every state; at each b the law and the matrix of the moves."""
    slope = jax.vmap(way.slope)(space.enumerate())
    matrix = lambda b: way.kernel.transition_matrix(space, way.at(b), way.z)
    moves = jax.vmap(lambda b: jnp.linalg.matrix_power(matrix(b), way.num_steps))(bs)
    return slope, jax.vmap(lambda b: exact.log_p(way.at(b), space, way.z))(bs), moves


def exact_moments(name, way):
    """E[w] and E[w^2] over all paths from p_0 to p_1 or back, in float64, and log Z."""
    with exact.float64():
        space, f, base, z, how = double(name)
        bs = rungs(LADDER)[::way]
        found = slopes_and_matrices(space, path(f, space, z, base=base, **how), bs)
        slope, log_p, matrices = map(np.asarray, found)
        log_z_exact = float(exact.log_z(f, space, z))
    first = second = np.exp(log_p[0])
    for step, matrix in zip(np.diff(bs), matrices[1:], strict=True):
        first = first * np.exp(step * slope) @ matrix
        second = second * np.exp(2 * step * slope) @ matrix
    return first.sum(), second.sum(), log_z_exact


by_way = pytest.mark.parametrize("way", [1, -1], ids=["forward", "reverse"])


@by_case
@by_way
def test_the_expected_weight_is_z(name, way):
    first, second, log_z_exact = exact_moments(name, way)
    np.testing.assert_allclose(first, np.exp(way * log_z_exact), rtol=1e-12)
    assert second > 1.001 * first**2


@by_case
@by_way
def test_draws_of_the_weight(name, way):
    """Its mean is Z, its second moment that of the enumeration, which depends on the moves."""
    first, second, log_z_exact = exact_moments(name, way)
    space, f, base, z, how = single(name)
    num_chains = 5000
    key_start, key = jax.random.split(jax.random.key(0))
    log_start = jax.vmap(lambda x: base.log_prob(x, z))(space.enumerate())
    if way == -1:
        log_start = exact.log_p(f, space, z)
    x = space.enumerate()[jax.random.categorical(key_start, log_start, shape=(num_chains,))]
    log_w = log_weights(key, x, path(f, space, z, base=base, **how), rungs(LADDER)[::way])
    w = np.exp(np.asarray(log_w, np.float64) - way * log_z_exact)
    assert_mean_matches(np.stack([w, w**2], axis=1), [1, second / first**2])


def annealed_law(name):
    """p_ann by matrices: the base, moved at each b by the reversal of the kernel; and E[w | x].

    Also the reversal of the moves at b = 1.
    """
    with exact.float64():
        space, f, base, z, how = double(name)
        bs = rungs(LADDER)
        found = slopes_and_matrices(space, path(f, space, z, base=base, **how), bs)
        slope, log_p, matrices = map(np.asarray, found)
        f_x, bs = np.asarray(exact.energies(f, space, z)), np.asarray(bs)
    p = np.exp(log_p)
    reversals = [m.T * p_b / p_b[:, None] for m, p_b in zip(matrices, p, strict=True)]
    p_ann = p[0]
    for reversal in reversals[1:]:
        p_ann = p_ann @ reversal
    w = np.ones(len(slope))  # E[w] of the rest of the way, from each state
    for k in range(1, len(bs)):
        w = matrices[k] @ (np.exp(-(bs[k] - bs[k - 1]) * slope) * w)
    return p_ann, np.exp(f_x) * w, reversals[-1]


@by_case
def test_raise_has_the_mean_of_the_annealed_sampler(name):
    p_ann, expected, _ = annealed_law(name)
    np.testing.assert_allclose(p_ann.sum(), 1, rtol=1e-12)
    np.testing.assert_allclose(expected, p_ann, rtol=1e-11)
    with exact.float64():
        space, f, _, z, _ = double(name)
        p_f = np.exp(exact.log_p(f, space, z))
    assert np.abs(p_ann - p_f).max() > 1e-4  # so that the test could tell


def test_the_reversal_of_a_sweep_is_the_sweep_in_the_opposite_order():
    _, _, reversal = annealed_law("MLP-uniform")
    with exact.float64():
        space, f, *_ = double("MLP-uniform")
        gibbs = Gibbs(space)
        sites = [np.asarray(gibbs._site_matrix(f, i, None)) for i in range(space.dim)]
    np.testing.assert_allclose(reversal, sites[2] @ sites[1] @ sites[0], rtol=1e-11)


@by_case
def test_draws_of_raise(name):
    """Null hypothesis: the mean weight of each state is p_ann; and their logarithms are lower."""
    p_ann, *_ = annealed_law(name)
    space, f, base, z, how = single(name)
    num_chains, x = 1500, space.enumerate()
    once = lambda rows, **settings: log_z.raise_(
        jax.random.key(0), f, space, rows, z, base=base, ladder=LADDER, **how, **settings
    )
    found = once(jnp.tile(x, (num_chains, 1)))
    w = np.exp(np.asarray(found.log_probs, np.float64)).reshape(num_chains, -1)
    assert_mean_matches(w, p_ann)
    tight = once(x, num_chains=num_chains)
    assert np.log(w).mean() < tight.mean < np.log(p_ann).mean() + 0.05
    np.testing.assert_allclose(tight.mean, tight.log_probs.mean(), rtol=1e-5)
    error = np.std(tight.log_probs, ddof=1) / np.sqrt(len(x))
    np.testing.assert_allclose(tight.standard_error, error, rtol=1e-4)
    assert f"{len(x)} points, {num_chains} chains each" in str(tight) and tight.bound == "lower"


def test_what_is_impossible_has_no_likelihood():
    f = lambda x, z=None: jnp.where(x[0] == 1, -jnp.inf, 1.0 * x[1])
    found = log_z.raise_(jax.random.key(0), f, BITS, BITS.enumerate(), ladder=4)
    assert (np.isneginf(found.log_probs) == (BITS.enumerate()[:, 0] == 1)).all()
    forward = log_z.ais(jax.random.key(0), f, BITS, ladder=4, num_chains=300)
    error = norm.isf(ALPHA / 2) * forward.standard_error
    assert abs(forward.value - exact.log_z(f, BITS)) < error


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
    f, log_z_exact, x = peaked
    found = log_z.bracket(jax.random.key(0), f, PEAKED, x, base=base, ladder=100)
    z = norm.isf(ALPHA / 4)  # two-sided, two estimates
    for estimate in found:
        assert abs(estimate.value - log_z_exact) < z * estimate.standard_error
        assert 0 < estimate.standard_error < 0.2  # seen: 0.03
        assert 32 < estimate.effective_sample_size < 64
    assert (found.lower.bound, found.upper.bound) == ("lower", "upper")
    between = np.hypot(found.lower.standard_error, found.upper.standard_error)
    assert found.lower.value < found.upper.value + z * between


def test_many_conditions_at_once():
    space, f, _, _, _ = single("MLP-categories-z")
    z, key = jnp.eye(2), jax.random.key(0)
    once = lambda z: log_z.ais(key, f, space, z, ladder=3, num_chains=20)
    many = jax.vmap(once)(z)
    for i in range(2):
        one = once(z[i])
        np.testing.assert_allclose(many.value[i], one.value, rtol=1e-5)
        np.testing.assert_allclose(many.standard_error[i], one.standard_error, rtol=1e-4)


@pytest.mark.parametrize("ladder", [log_z.linear_ladder, log_z.sigmoid_ladder])
def test_ladders(ladder):
    bs = np.asarray(rungs(ladder(11)))
    assert bs[0] == 0 and bs[-1] == 1
    np.testing.assert_allclose(bs, 1 - bs[::-1], atol=1e-6)
    first, middle = bs[1] - bs[0], bs[6] - bs[5]
    assert np.isclose(first, middle) if ladder is log_z.linear_ladder else first < middle / 2
    np.testing.assert_array_equal(rungs(11), np.linspace(0, 1, 11, dtype=np.float32))


@pytest.mark.parametrize(
    ("space", "settings", "message"),
    [
        (Sequences(2, 2), {}, "annealing needs Bits or Categorical"),
        (BITS, {"ladder": 1}, "num_temperatures must be at least 2 .*, got 1"),
        (BITS, {"ladder": np.array([1.0])}, "a ladder needs two temperatures or more"),
        (BITS, {"num_chains": 1}, "an error needs two chains or more, got 1"),
        (BITS, {"num_steps": 0}, "num_steps must be at least 1, got 0"),
        (BITS, {"ladder": np.array([0.0, 2.0])}, r"must rise from 0 to 1, got .* \[0. 2.\]"),
        (BITS, {"ladder": np.array([0.0, 0.6, 0.5, 1.0])}, "must rise from 0"),
        (Mixed((2, 3)), {"base": Factorized(Categorical(2, 3))}, "some sites of Mixed.* do not ha"),
    ],
)
def test_bad_arguments(space, settings, message):
    with pytest.raises(InputError, match=message):
        log_z.ais(jax.random.key(0), lambda x, z=None: 0.0, space, **settings)


@pytest.mark.parametrize(
    ("x", "message"),
    [
        (np.zeros((1, 3), np.int32), "an error needs two (chains|points) or more, got 1"),
        (np.zeros((2, 4), np.int32), "x has 4 sites, but the space has 3"),
        (np.full((2, 3), 2, np.int32), r"x must lie in 0..1 \(bits\), got 2"),
    ],
    ids=["one-row", "sites", "values"],
)
@pytest.mark.parametrize("method", [log_z.reverse_ais, log_z.raise_])
def test_bad_starts(method, x, message):
    with pytest.raises(InputError, match=message):
        method(jax.random.key(0), mlp(BITS), BITS, jnp.asarray(x))


def test_raise_needs_a_chain():
    with pytest.raises(InputError, match="num_chains must be at least 1, got 0"):
        log_z.raise_(jax.random.key(0), mlp(BITS), BITS, BITS.enumerate(), num_chains=0)
