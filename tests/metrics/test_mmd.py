"""MMD^2: the U-statistic is the double sum, unbiased; one kernel sees what the other cannot."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy.stats import norm

from aloex import exact
from aloex.base.errors import InputError
from aloex.metrics import exp_hamming, linear_hamming, mmd, repeated
from aloex.metrics.mmd import MAX_ROWS, mean_and_error
from aloex.spaces import Bits, Categorical
from stats import ALPHA, compiled

both_kernels = compiled(lambda x, y, num_values=2: mmd(x, y, KERNELS, num_values=num_values))
KERNELS = {"exp": exp_hamming, "linear": linear_hamming}
BITS, CATEGORIES = Bits(2), Categorical(1, 3)
SPACES = pytest.mark.parametrize("space", [BITS, CATEGORIES], ids=repr)

# Two distributions over pairs of bits whose bits are fair coins, one by one.
EQUAL_BITS, UNEQUAL_BITS = np.array([0.5, 0, 0, 0.5]), np.array([0, 0.5, 0.5, 0])


def gram(name, x, y):
    """k of all pairs of rows, by the definition."""
    x, y = np.asarray(x), np.asarray(y)
    distance = (x[:, None] != y[None]).sum(axis=2)
    return np.exp(-0.1 * distance) if name == "exp" else x.shape[1] - distance


def population(name, space, p, q):
    """MMD^2 between two distributions over a space."""
    states = space.enumerate()
    return (p - q) @ gram(name, states, states) @ (p - q)


def expectation(space, p, q, n, m):
    """E mmd(x, y) over every outcome of n draws from p and m from q, for both kernels."""
    states = space.enumerate()
    outcomes = np.indices((space.size,) * (n + m)).reshape(n + m, -1).T
    probs = np.prod(p[outcomes[:, :n]], axis=1) * np.prod(q[outcomes[:, n:]], axis=1)
    statistic = lambda o: mmd(states[o[:n]], states[o[n:]], KERNELS, num_values=space.num_values)
    values = compiled(jax.vmap(statistic))(jnp.asarray(outcomes))
    return {name: probs @ np.asarray(value) for name, value in values.items()}


def distributions(space):
    return np.random.default_rng(0).dirichlet(np.ones(space.size), size=2)


@pytest.mark.parametrize(("n", "m", "dim", "num_values"), [(7, 5, 6, 2), (4, 9, 5, 4)])
def test_it_is_the_double_sum(n, m, dim, num_values):
    rng = np.random.default_rng(0)
    x, y = (rng.integers(num_values, size=(rows, dim), dtype=np.int32) for rows in (n, m))
    with exact.float64():
        found = both_kernels(jnp.asarray(x), jnp.asarray(y), num_values)
    for name in KERNELS:
        off_diagonal = lambda k: (k.sum() - np.trace(k)) / (len(k) * (len(k) - 1))
        within = off_diagonal(gram(name, x, x)) + off_diagonal(gram(name, y, y))
        np.testing.assert_allclose(found[name], within - 2 * gram(name, x, y).mean(), rtol=1e-12)


@SPACES
def test_it_is_unbiased(space):
    p, q = distributions(space)
    with exact.float64():
        found = expectation(space, p, q, n=2, m=3)
        for name in KERNELS:
            np.testing.assert_allclose(found[name], population(name, space, p, q), rtol=1e-12)
            assert found[name] > 0.001


@SPACES
def test_linear_hamming_compares_the_marginals(space):
    p, q = distributions(space)
    sites = np.eye(space.num_values)[np.asarray(space.enumerate())]  # [state, site, value]
    marginals = [np.einsum("s,siv->iv", d, sites) for d in (p, q)]
    expected = np.sum((marginals[0] - marginals[1]) ** 2)
    np.testing.assert_allclose(population("linear", space, p, q), expected, rtol=1e-12)


def test_linear_hamming_is_blind_where_exp_hamming_sees():
    with exact.float64():
        found = expectation(BITS, EQUAL_BITS, UNEQUAL_BITS, n=2, m=2)
    assert abs(found["linear"]) < 1e-14
    np.testing.assert_allclose(found["exp"], 1 + np.exp(-0.2) - 2 * np.exp(-0.1), rtol=1e-12)


def test_the_form_of_the_answer_is_that_of_the_kernels():
    x, y = BITS.enumerate(), BITS.enumerate()[1:]
    alone, pair, named = mmd(x, y), mmd(x, y, (exp_hamming, linear_hamming)), mmd(x, y, KERNELS)
    assert alone.shape == ()
    assert pair == (named["exp"], named["linear"])
    assert alone == pair[0] != pair[1]


def test_thousands_of_rows_lose_little_to_rounding():
    """In float32, to the digits that an MMD^2 of about 1e-4 needs."""
    rng = np.random.default_rng(0)
    x, y = (jnp.asarray(rng.integers(2, size=(3000, 32), dtype=np.int32)) for _ in range(2))
    single = both_kernels(x, y)
    with exact.float64():
        double = both_kernels(x, y)
    assert single["exp"].dtype == jnp.float32 and double["exp"].dtype == jnp.float64
    np.testing.assert_allclose(single["exp"], double["exp"], atol=1e-7)
    np.testing.assert_allclose(single["linear"], double["linear"], atol=3e-6)


def draw_from(space, probs):
    """draw(key, n) of independent states."""
    states, log_probs = space.enumerate(), jnp.log(jnp.asarray(probs))
    return lambda key, n: states[jax.random.categorical(key, log_probs, shape=(n,))]


@pytest.mark.parametrize(
    ("space", "p", "q"),
    [
        (BITS, EQUAL_BITS, EQUAL_BITS),
        (BITS, EQUAL_BITS, UNEQUAL_BITS),
        (CATEGORIES, *distributions(CATEGORIES)),
    ],
    ids=["data-against-data", "equal-marginals", "categories"],
)
def test_repeated(space, p, q):
    """Null hypothesis, at level ALPHA: the mean over repeats is the exact MMD^2."""
    found = repeated(
        jax.random.key(0),
        draw_from(space, p),
        draw_from(space, q),
        num_repeats=400,
        n=50,
        kernel=KERNELS,
        num_values=space.num_values,
    )
    for name, estimate in found.items():
        z = abs(estimate.mean - population(name, space, p, q)) / estimate.standard_error
        assert z < norm.isf(ALPHA / (2 * len(KERNELS)))
        assert 0 < estimate.standard_error < 0.02  # seen: 0.0002 to 0.007
    sees = (p != q).any()
    assert sees == (found["exp"].mean > norm.isf(ALPHA) * found["exp"].standard_error)


def test_mean_and_error():
    mean, error = mean_and_error(jnp.array([1.0, 2.0, 6.0]))
    np.testing.assert_allclose([mean, error], [3, np.sqrt(7 / 3)], rtol=1e-6)


@pytest.mark.parametrize(
    ("n", "m", "settings", "message"),
    [
        (1, 3, {}, "two rows or more on either side, got 1 and 3"),
        (3, MAX_ROWS + 1, {}, f"up to {MAX_ROWS} rows a side, got 3 and {MAX_ROWS + 1}"),
        (3, 3, {"num_values": 1}, "num_values must be at least 2, got 1"),
    ],
    ids=["too few", "too many", "num_values"],
)
def test_bad_arguments(n, m, settings, message):
    with pytest.raises(InputError, match=message):
        mmd(jnp.zeros((n, 2), jnp.int32), jnp.zeros((m, 2), jnp.int32), **settings)


def test_as_many_rows_as_allowed_are_taken():
    rows = jax.ShapeDtypeStruct((MAX_ROWS, 2), jnp.int32)
    assert jax.eval_shape(mmd, rows, rows).shape == ()  # traced only: there are 2^30 pairs


def test_an_error_needs_two_repeats():
    draw = draw_from(BITS, EQUAL_BITS)
    with pytest.raises(InputError, match="num_repeats must be at least 2 for an error, got 1"):
        repeated(jax.random.key(0), draw, draw, num_repeats=1)


@pytest.mark.parametrize("wrap", [lambda f: f, jax.jit], ids=["plain", "compiled"])
def test_values_out_of_range_are_refused(wrap):
    x = jnp.array([[0], [1], [2]], jnp.int32)
    with pytest.raises(RuntimeError, match=r"num_values=2, but a row holds a value outside 0\.\.1"):
        jax.block_until_ready(wrap(mmd)(x, x))
