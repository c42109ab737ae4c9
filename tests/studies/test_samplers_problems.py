"""Problems and families of the sampling study: what is said to be exact, by enumeration."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from aloex import differences, exact, kernels
from stats import compiled
from studies.samplers.families import (
    FAMILIES,
    couplings_family,
    fields_family,
    ising_family,
    mixture_family,
    rbm_family,
    temperature_family,
    unseen_conditions,
)
from studies.samplers.problems import PROBLEMS, problem
from studies.samplers.problems.bernoulli import bernoulli
from studies.samplers.problems.clusters import clusters
from studies.samplers.problems.hmm import factorial_hmm
from studies.samplers.problems.lattices import glass, ising, potts
from studies.samplers.problems.machines import rbm
from studies.samplers.problems.parity import parity, row_reduced

TINY = {
    "bernoulli": lambda: bernoulli(5),
    "ising": lambda: ising(2, 4),
    "glass": lambda: glass(3, 3),
    "potts": lambda: potts(2, 3, 3, field=0.3),
    "rbm": lambda: rbm(6, 3),
    "hmm": lambda: factorial_hmm(4, 2),
    "hmm-3": lambda: factorial_hmm(2, 4),
    "clusters": lambda: clusters(7, 3),
    "parity": lambda: parity(8, 3, weight=3),
    "parity-single": lambda: parity(6, 4, weight=1, cost=1.0, seed=1),
    "parity-dependent": lambda: parity(6, 8, weight=2, cost=0.5),  # checks exceed the rank
}


@pytest.mark.parametrize("name", TINY)
def test_answers_by_enumeration(name):
    with exact.float64():
        found = TINY[name]()
        assert_answers_are_exact(found)


def assert_answers_are_exact(found):
    space, f = found.space, found.f
    states = space.enumerate()
    functions = [e.function for e in found.expectations.values()]

    @compiled
    def tables(x):
        own = differences.differences(f, space, x, how="auto")
        changes = differences.exact_changes(f, space, differences.start(f, x))
        return f(x), own, changes, [g(x) for g in functions]

    values, own, changes, of_functions = jax.vmap(tables)(states)
    assert values.dtype == jnp.float64 and differences.are_own_and_exact(f)
    np.testing.assert_allclose(own, changes, atol=1e-11)
    log_z = float(jax.nn.logsumexp(values))
    assert found.log_z == pytest.approx(log_z, abs=1e-11)
    p = np.exp(np.asarray(values) - log_z)
    is_value = np.asarray(states)[:, :, None] == np.arange(space.num_values)
    marginals = np.einsum("s,siv->iv", p, is_value)
    np.testing.assert_allclose(found.marginals, marginals, atol=1e-12)
    means = [p @ np.asarray(g) for g in of_functions]
    np.testing.assert_allclose([e.value for e in found.expectations.values()], means, atol=1e-12)
    if found.colours is not None:
        kernels.ColouredGibbs(space, found.colours).check_colours(f, states[-2])


def test_a_parity_of_one_bit_fixes_it():
    """Checks of weight 1: some marginals are not 1/2, so that branch is looked at above."""
    assert (abs(TINY["parity-single"]().marginals[:, 1] - 0.5) > 0.1).any()


def test_row_reduction():
    rng = np.random.default_rng(0)
    matrix = rng.integers(0, 2, (5, 7))
    matrix[3] = matrix[0] ^ matrix[1]
    rows, pivots = row_reduced(matrix)
    combos = lambda m: {tuple((np.array(c) @ m % 2).tolist()) for c in np.ndindex(*(2,) * len(m))}
    assert combos(rows) == combos(matrix) and len(combos(rows)) == 2 ** len(pivots)
    assert np.array_equal(rows[:, pivots], np.eye(len(pivots), dtype=int))


@pytest.mark.parametrize("name", PROBLEMS)
def test_the_registry_has_what_it_says(name):
    if name.startswith("potts"):
        pytest.skip("ten seconds; its sizes are the only difference to those above")
    found = problem(name)
    assert found.name == name and found.marginals.shape == (found.dim, found.space.num_values)
    np.testing.assert_allclose(found.marginals.sum(axis=1), 1, atol=1e-9)
    modes = [e.value for n, e in found.expectations.items() if n.split()[0] == "cluster"]
    assert np.isfinite(found.log_z) and (not modes or abs(sum(modes) - 1) < 1e-9)
    assert found.f(jnp.zeros(found.dim, jnp.int32)).dtype == jnp.float32


TINY_FAMILIES = {
    "ising": lambda: ising_family(2),
    "glass-temperature": lambda: temperature_family(2),
    "ising-fields": lambda: fields_family(2),
    "glass-couplings": lambda: couplings_family(2),
    "rbm": lambda: rbm_family(4, 2, 3),
    "mixture": lambda: mixture_family(4, 3, 2),
}


@pytest.mark.parametrize("name", TINY_FAMILIES)
def test_families_by_enumeration(name):
    """f(x, z) and its differences are those of the problem at z, whose answers are exact."""
    with exact.float64():
        family = TINY_FAMILIES[name]()
        conditions = jnp.asarray(unseen_conditions(family, 3))
        states = family.space.enumerate()

        @compiled
        def tables(z):
            both = lambda x: (family.f(x, z), family.f.differences(x, z))
            return jax.vmap(both)(states)

        for z in conditions:
            values, changes = tables(z)
            there = family.problem_at(np.asarray(z))
            assert there.log_z == pytest.approx(float(jax.nn.logsumexp(values)), abs=1e-11)
            np.testing.assert_allclose(values, jax.vmap(there.f)(states), atol=1e-11)
            np.testing.assert_allclose(changes, jax.vmap(there.f.differences)(states), atol=1e-11)
    assert conditions.shape == (3, family.cond_dim) and FAMILIES.keys() == TINY_FAMILIES.keys()
