"""Energies: a cursor that moves by single-site changes always knows the score from scratch."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from aloex import cursor, exact
from aloex.base.errors import InputError
from aloex.energies import MLP, Tabular
from aloex.samplers import (
    AutoregressiveMLP,
    AutoregressiveRNN,
    Factorized,
    Flip,
    PositionValue,
    Stop,
)
from aloex.spaces import Bits, Categorical, Sequences
from stats import compiled, condition, randomised

BITS, CATEGORIES = Bits(4), Categorical(3, 4)
plain = lambda x, z=None: jnp.sin(x @ jnp.arange(1.0, 5.0)) + (0 if z is None else z[1])

ENERGIES = {
    "MLP-bits": (BITS, lambda: randomised(MLP, BITS, hidden=(4, 3)), None),
    "MLP-bits-z": (BITS, lambda: randomised(MLP, BITS, hidden=(4,), cond_dim=2), condition(2)),
    "MLP-categories": (CATEGORIES, lambda: randomised(MLP, CATEGORIES, hidden=(4,)), None),
    "MLP-categories-z": (
        CATEGORIES,
        lambda: randomised(MLP, CATEGORIES, hidden=(4,), cond_dim=2, embed_dim=3),
        condition(2),
    ),
    "plain-callable": (BITS, lambda: plain, None),
    "plain-callable-z": (BITS, lambda: plain, condition(2)),
    "Tabular": (CATEGORIES, lambda: randomised(Tabular, CATEGORIES), None),
    "Tabular-z": (
        BITS,
        lambda: randomised(Tabular, BITS, num_conditions=2),
        jnp.array(1),
    ),
}


@pytest.fixture
def double_precision():
    with exact.float64():
        yield


@pytest.mark.parametrize("name", ENERGIES)
def test_incremental_scores_equal_scores_from_scratch(name, double_precision):
    space, build, z = ENERGIES[name]
    f, rng = build(), np.random.default_rng(0)
    num_changes = 40
    sites = jnp.asarray(rng.integers(space.dim, size=num_changes))
    values = jnp.asarray(rng.integers(space.num_values, size=num_changes), jnp.int32)

    @compiled
    def walk(f, x):
        def move(c, site_and_value):
            c = cursor.change(f, c, *site_and_value)
            return c, (c.x, c.value, f(c.x, z))

        end, visited = jax.lax.scan(move, cursor.start(f, x, z), (sites, values))
        return cursor.start(f, x, z).value, f(x, z), visited, end, cursor.refresh(f, end)

    x = space.enumerate()[-1]
    started, from_scratch, (states, incremental, scratch), end, fresh = walk(f, x)
    np.testing.assert_allclose(started, from_scratch, rtol=1e-14)
    np.testing.assert_allclose(incremental, scratch, atol=1e-13)
    assert np.std(scratch) > 0.1

    expected = np.array(x)
    for site, value, state in zip(sites, values, states, strict=True):
        expected[site] = value
        np.testing.assert_array_equal(state, expected)
    np.testing.assert_array_equal(fresh.x, expected)
    if end.hidden is None:
        assert fresh.hidden is None
    else:
        np.testing.assert_allclose(fresh.hidden, f.hidden(end.x, z), rtol=1e-14)


def test_refresh_removes_rounding_errors():
    f = randomised(MLP, BITS, hidden=(4,))
    c = cursor.start(f, jnp.array([0, 1, 1, 0]))
    drifted = c._replace(hidden=c.hidden + 1.0)
    np.testing.assert_allclose(cursor.refresh(f, drifted).hidden, c.hidden)


def test_a_new_table_is_normal_with_the_given_scale():
    key, drawn = jax.random.key(3), lambda *shape: jax.random.normal(jax.random.key(3), shape)
    np.testing.assert_array_equal(Tabular(BITS, key=key).table, drawn(1, 16))
    scaled = Tabular(BITS, num_conditions=2, scale=3.0, key=key)
    np.testing.assert_allclose(scaled.table, 3 * drawn(2, 16), rtol=1e-6)


def test_padding_is_not_a_token():
    f = randomised(MLP, Sequences(2, 3), hidden=(4,))
    assert f(jnp.array([1, 3])) != f(jnp.array([1, 2]))


NETWORKS = [MLP, Stop, Flip, PositionValue, Factorized, AutoregressiveMLP, AutoregressiveRNN]


@pytest.mark.parametrize("kind", NETWORKS, ids=lambda kind: kind.__name__)
@pytest.mark.parametrize(
    ("cond_dim", "z", "message"),
    [
        (0, condition(2), r"cond_dim=0, but got a condition z of shape \(2,\)"),
        (2, None, "cond_dim=2, but got no condition z"),
        (2, condition(3), r"cond_dim=2, but got a condition z of shape \(3,\)"),
    ],
    ids=["unwanted", "missing", "wrong size"],
)
def test_a_condition_must_fit_the_network(kind, cond_dim, z, message):
    sizes = {} if kind is Factorized else {"hidden": 4 if kind is AutoregressiveRNN else (4,)}
    network = randomised(kind, BITS, cond_dim=cond_dim, **sizes)
    x = jnp.zeros(4, jnp.int32)
    call = network if callable(network) else network.log_prob
    states = (x, x) if kind in (Flip, PositionValue) else (x,)
    with pytest.raises(InputError, match=message):
        jax.eval_shape(lambda: call(*states, z))
    if hasattr(network, "sample"):
        with pytest.raises(InputError, match=message):
            jax.eval_shape(lambda: network.sample(jax.random.key(0), *states[1:], z))
