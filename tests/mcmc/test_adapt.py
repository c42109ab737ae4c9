"""Warm-up: acceptance reaches its target, temperatures are swapped alike, p_f is still drawn."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from aloex import energies, exact, kernels, mcmc
from aloex.mcmc import adapt
from aloex.spaces import Bits
from stats import assert_draws_match, compiled

SPACE = Bits(8)
COUPLING = np.random.default_rng(0).normal(size=(8, 8))
COUPLING = jnp.asarray(0.35 * np.triu(COUPLING + COUPLING.T, 1), jnp.float32)
MARGIN = 0.03  # of the acceptance after warm-up; 0.006 was seen


def glass(x):
    spin = 2.0 * x - 1
    return spin @ COUPLING @ spin


@pytest.mark.parametrize(
    "algorithm",
    [
        mcmc.dmala(glass, SPACE, step_size=20.0),
        mcmc.dmala(glass, SPACE, step_size=0.02),
        mcmc.path_auxiliary(glass, SPACE, mean_length=1.0),
    ],
    ids=["dmala-large", "dmala-small", "path"],
)
def test_the_acceptance_gets_to_its_target_and_p_f_is_drawn(algorithm):
    """From far too large and far too small steps; one draw of each of many chains."""
    settings = {"num_warmup": 300, "num_chains": 3000, "progress": False}
    draws = mcmc.sample(jax.random.key(0), algorithm, 2, **settings)
    assert abs(draws.acceptance.mean() - adapt.TARGET) < MARGIN
    index = compiled(jax.vmap(SPACE.index))(jnp.asarray(draws.x[:, -1]))
    p = np.exp(np.asarray(compiled(exact.log_p)(energies.as_energy(glass), SPACE), np.float64))
    assert_draws_match(np.bincount(np.asarray(index), minlength=SPACE.size), p)


def test_few_chains_tune_as_well_and_the_algorithm_keeps_it():
    settings = {"num_chains": 4, "progress": False}
    draws = mcmc.sample(
        jax.random.key(0), mcmc.dmala(glass, SPACE), 2000, num_warmup=1000, **settings
    )
    assert abs(draws.acceptance.mean() - adapt.TARGET) < MARGIN
    kernel = draws.algorithm.kernel
    assert kernel.step_size != 0.2 and kernel.step_size.dtype == jnp.float32
    # Without warm-up it stays what it is, in the next run and for another energy.
    again = mcmc.algorithm(kernel, lambda x: 0.5 * glass(x))
    more = mcmc.sample(jax.random.key(1), again, 3, num_warmup=0, **settings)
    assert more.algorithm.kernel.step_size == kernel.step_size
    fixed = mcmc.sample(jax.random.key(1), again, 3, num_warmup=50, adapt=False, **settings)
    assert fixed.algorithm.kernel.step_size == kernel.step_size


def test_a_target_that_is_out_of_reach_ends_at_a_bound():
    """All states are alike, so all proposals are accepted."""
    flat = lambda x: 0.0 * jnp.sum(x)
    settings = {"num_warmup": 200, "progress": False}
    draws = mcmc.sample(jax.random.key(0), mcmc.path_auxiliary(flat, SPACE), 5, **settings)
    assert draws.acceptance.min() > 0.999
    assert draws.algorithm.kernel.mean_length == (SPACE.dim + 1) / 2


def test_what_is_tuned():
    names = [
        (kernels.DiscreteLangevin(SPACE), "step_size"),
        (kernels.PathAuxiliary(SPACE), "mean_length"),
        (kernels.DiscreteLangevin(SPACE, adjusted=False), None),
        (kernels.Gibbs(SPACE), None),
    ]
    for kernel, name in names:
        found = adapt.parameter_of(kernel)
        assert (found and found.name) == name


def test_the_rule_on_a_known_response():
    """Acceptance 1 / (1 + s) is 0.574 at s = 0.742; noise averages out."""
    parameter = adapt.Parameter("s", 1e-3, 1e3)
    num_warmup = jnp.array(2000)

    @compiled
    def tuned(first, key):
        def step(tuning, inputs):
            step, noise = inputs
            acceptance = 1 / (1 + tuning.value) + noise
            return adapt.update(tuning, parameter, acceptance, step, num_warmup), None

        steps = jnp.arange(2500)
        noise = 0.2 * jax.random.normal(key, steps.shape)
        noise = noise + jnp.where(steps >= num_warmup, 1.0, 0)  # what comes later changes nothing
        start = adapt.Tuning(first, first)
        return jax.lax.scan(step, start, (steps, noise))[0]

    for first in (0.01, 100.0):
        end = tuned(jnp.array(first), jax.random.key(0))
        assert abs(1 / (1 + end.mean) - adapt.TARGET) < 0.01
        assert end.in_use(jnp.array(True)) == end.value and end.in_use(jnp.array(False)) == end.mean


def test_the_barrier_is_divided_evenly():
    bs = np.array([0.0, 0.2, 0.6, 1.0])
    even = adapt.equalised(bs, np.array([0.5, 0.5, 0.5]))
    np.testing.assert_allclose(even, bs)
    # The first pair has 0.6 of a barrier of 0.9: two thirds of it, so two steps of three.
    moved = adapt.equalised(bs, np.array([0.4, 0.8, 0.9]))
    np.testing.assert_allclose(moved, [0, 0.1, 0.2, 1.0])
    assert adapt.equalised(bs, np.ones(3)).tolist() == pytest.approx(bs.tolist())


def test_rounds_double():
    assert adapt.round_ends(1000) == [62, 125, 250, 500, 1000]
    assert adapt.round_ends(40) == [40] and adapt.round_ends(0) == [0]


def test_swaps_are_as_likely_after_warm_up():
    cold = lambda x: 4 * glass(x)
    ladder = [0.0, 0.7, 0.8, 0.9, 1.0]
    algorithm = mcmc.parallel_tempering(cold, SPACE, ladder)
    settings = {"num_chains": 50, "progress": False}
    run = lambda adapt: mcmc.sample(
        jax.random.key(0), algorithm, 200, num_warmup=500, adapt=adapt, **settings
    )
    before, after = run(False), run(True)
    assert np.ptp(before.swap_acceptance) > 0.4 and np.ptp(after.swap_acceptance) < 0.1
    tuned = after.algorithm.kernel.inverse_temperatures
    assert tuned[0] == 0 and tuned[-1] == 1 and (np.diff(tuned) > 0).all()
    assert before.algorithm.kernel.inverse_temperatures.tolist() == pytest.approx(ladder)
    # The replicas' energies are those at the new temperatures.
    x, value = after.last.replicas.x[3], after.last.replicas.value[3]
    expected = tuned * compiled(jax.vmap(cold))(x)
    np.testing.assert_allclose(value, expected, rtol=1e-4, atol=1e-4)
