"""Differences of single-site changes against f itself, in each of the ways to get them."""

import jax
import jax.numpy as jnp
import jaxtyping
import numpy as np
import pytest

from aloex import differences as diff
from aloex import exact
from aloex.base.errors import InputError
from aloex.cursor import start
from aloex.energies import MLP, Tabular
from aloex.spaces import Bits, Categorical, Mixed, Sequences, values_per_site
from stats import compiled, randomised

BITS, CATEGORIES, MIXED = Bits(3), Categorical(2, 3), Mixed((2, 3, 1))
SPACES = pytest.mark.parametrize("space", [BITS, CATEGORIES, MIXED], ids=repr)


energies = compiled(lambda f, space: exact.energies(f, space))


def by_definition(f, space, x):
    """Each entry by looking up two states among all."""
    states = map(tuple, np.asarray(space.enumerate()).tolist())
    value = dict(zip(states, np.asarray(energies(f, space)), strict=True))
    table, here = np.full((space.dim, space.num_values), -np.inf), np.asarray(x).tolist()
    for i, num_values in enumerate(values_per_site(space)):
        for v in range(num_values):
            there = (*here[:i], v, *here[i + 1 :])
            table[i, v] = value[there] - value[tuple(here)]
    return table


class Quadratic:
    """x' W x, with or without differences of its own."""

    weight = jnp.array([[0.5, 1.0, -2.0], [0.0, -1.0, 3.0], [0.0, 0.0, 2.0]])

    def __call__(self, x, z=None):
        return x @ self.weight @ x


class WithOwn(Quadratic):
    differences_are_exact = True
    table = jnp.arange(6.0).reshape(3, 2)

    def differences(self, x, z=None):
        return self.table


class Approximate(WithOwn):
    differences_are_exact = False


def indexed(x, z=None):
    """What is an index must be an integer: no gradient."""
    return 1.5 * jnp.sum(x[1:] == x[:-1]) + jnp.array([0.0, 2.0])[x[0]]


def compared(x, z=None):
    """A gradient that is 0 everywhere says nothing: as good as none."""
    return 1.5 * jnp.sum(x[1:] == x[:-1])


@SPACES
def test_exact_differences_are_those_of_f(space):
    f = randomised(MLP, space, hidden=(4,), embed_dim=2)
    with exact.float64():
        f = exact.to_float64(f)
        tables = compiled(jax.vmap(lambda x: diff.differences(f, space, x, how="exact")))
        found = tables(space.enumerate())
        for x, table in zip(space.enumerate(), found, strict=True):
            np.testing.assert_allclose(table, by_definition(f, space, x), atol=1e-12)


@SPACES
@pytest.mark.parametrize("at_once", [1, 2, 3])
def test_changed_states_are_evaluated_some_at_a_time(space, at_once, monkeypatch):
    """Whether a multiple of all of them or not, and without increments."""
    f = randomised(MLP, space, hidden=(4,), embed_dim=2)
    plain, x = (lambda x, z=None: f(x)), space.enumerate()[-2]
    monkeypatch.setattr(diff, "MAX_NUMBERS", at_once * space.dim)
    table = compiled(lambda x: diff.differences(plain, space, x, how="exact"))(x)
    np.testing.assert_allclose(table, by_definition(f, space, x), atol=1e-5)


def test_memory_of_differences_does_not_grow_with_the_square():
    """Four times as many sites take four times the memory, not sixteen times."""

    def temporary(dim):
        plain = lambda x, z=None: 1.0 * jnp.sum(x[1:] == x[:-1])
        table = jax.jit(lambda x: diff.differences(plain, Bits(dim), x))
        compiled = table.lower(jnp.zeros(dim, jnp.int32)).compile()
        return compiled.memory_analysis().temp_size_in_bytes

    assert temporary(4096) < 6 * temporary(1024)


def test_rows_of_some_sites():
    f, x = randomised(Tabular, MIXED), jnp.array([1, 2, 0])
    rows = compiled(lambda x: diff.exact_changes(f, MIXED, start(f, x), sites=(1, 0)))(x)
    np.testing.assert_allclose(rows, by_definition(f, MIXED, x)[[1, 0]], atol=1e-6)


@SPACES
def test_gradient_of_an_incremental_energy_is_exact_where_the_head_is_linear(space):
    class Linear(MLP):
        def head(self, hidden):
            return hidden @ jnp.arange(4.0)

    f = randomised(Linear, space, hidden=(4,), embed_dim=2)
    x = space.enumerate()[-2]
    table = compiled(lambda x: diff.differences(f, space, x, how="gradient"))(x)
    np.testing.assert_allclose(table, by_definition(f, space, x), rtol=1e-4, atol=1e-4)


def test_gradient_of_bits_is_first_order():
    """df/dx_i (v - x_i), which for a quadratic is off by W_ii where site i changes."""
    f, x = Quadratic(), jnp.array([0, 1, 1])
    table = diff.differences(f, BITS, x, how="gradient")
    missing = jnp.diag(f.weight)[:, None] * (jnp.arange(2) != x[:, None])
    np.testing.assert_allclose(table + missing, by_definition(f, BITS, x), atol=1e-6)


@pytest.mark.parametrize(
    ("f", "space", "how", "cost"),
    [
        (WithOwn(), BITS, "auto", 2),
        (WithOwn(), BITS, "exact", 2),
        (Approximate(), BITS, "auto", 2),
        (Approximate(), BITS, "exact", 1 + 3),
        (Quadratic(), BITS, "auto", 2),
        (Quadratic(), BITS, "exact", 1 + 3),
        (Quadratic(), Categorical(3, 4), "auto", 1 + 9),
        (Quadratic(), MIXED, "auto", 1 + 3),
        (indexed, BITS, "auto", 1 + 3),
        (compared, BITS, "auto", 1 + 3),
        (lambda x, z: 1.0, BITS, "auto", 1 + 3),
        (jax.jit(lambda x, z: jnp.tanh(x.sum())), BITS, "auto", 2),
    ],
)
def test_where_differences_come_from(f, space, how, cost):
    x = jnp.zeros(3, jnp.int32)
    assert diff.num_evaluations(f, space, x, how=how) == cost
    here = compiled(lambda x: diff.value_and_differences(f, space, x, how=how))(x)
    own = isinstance(f, WithOwn) and cost == 2
    assert np.array_equal(here.differences, WithOwn.table) == own
    assert here.value == f(x, None)


def test_no_gradient_says_what_to_do():
    for f, space in ((compared, BITS), (indexed, BITS), (Quadratic(), Categorical(3, 4))):
        with pytest.raises(InputError, match=r"no gradient.*Incremental.*differences='exact'"):
            diff.differences(f, space, jnp.zeros(3, jnp.int32), how="gradient")


@pytest.mark.parametrize(
    ("f", "space", "how", "message"),
    [
        (Quadratic(), Sequences(3, 2), "auto", "needs Bits or Categorical"),
        (Quadratic(), BITS, "finite", "must be one of .*'auto'.*, got 'finite'"),
        (lambda x, z: x.sum(), BITS, "auto", "one floating-point number, got int32"),
        (lambda x, z: x.sum(), BITS, "exact", "one floating-point number, got int32"),
        (WithOwn(), Categorical(3, 5), "auto", r"shape \(3, 5\) .* got shape \(3, 2\)"),
    ],
    ids=["sequences", "how", "integers", "integers-exact", "shape"],
)
def test_what_is_refused(f, space, how, message, monkeypatch):
    monkeypatch.setattr(jaxtyping.config, "jaxtyping_disable", True)  # it would speak first
    with pytest.raises(InputError, match=message):
        diff.differences(f, space, jnp.zeros(space.dim, jnp.int32), how=how)
