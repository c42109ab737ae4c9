"""CD and PCD: their gradients and negatives against enumeration, and what happens to the buffer."""

from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import optax
import pytest

from aloex import exact
from aloex.base.errors import InputError
from aloex.baselines import CD, PCD
from aloex.energies import MLP
from aloex.kernels import Gibbs
from aloex.spaces import Bits, Categorical
from stats import assert_draws_match, compiled, flat_grads, randomised

TINY = Bits(3)
BUFFER = TINY.enumerate()[np.array([0, 6, 6, 3, 6])]
SGD = optax.sgd(1.0)  # the update is minus the gradient


class At(NamedTuple):
    x: Any


class Jump(eqx.Module):
    """A kernel in name only: it leads to one given state, or to the opposite of x."""

    to: Any = None

    def init(self, key, x, f, z=None):
        return At(x)

    def step(self, key, state, f):
        return At(1 - state.x if self.to is None else self.to), None

    def transition_matrix(self, space, f, z=None):
        raise NotImplementedError


def state_with_buffer(learner, f):
    if isinstance(learner, CD):
        return learner.init(f)
    return learner.init(jax.random.key(0), f)._replace(chains=BUFFER)


def start_law(learner, x):
    """Where the chain of a batch of one starts."""
    if isinstance(learner, CD):
        return np.eye(TINY.size)[int(TINY.index(x))]
    of_buffer = np.bincount(jax.vmap(TINY.index)(BUFFER), minlength=TINY.size) / len(BUFFER)
    return (1 - learner.restart) * of_buffer + learner.restart / TINY.size


def build(kind, kernel, **settings):
    if kind is PCD:
        settings = {"space": TINY, "num_chains": len(BUFFER), **settings}
    return kind(kernel, optimizer_f=SGD, **settings)


CASES = [(CD, {}, 0), (CD, {}, 2), (PCD, {"restart": 0.3}, 0), (PCD, {"restart": 1.0}, 0)]


@pytest.mark.parametrize(("kind", "settings", "cond_dim"), CASES)
def test_expected_update(kind, settings, cond_dim):
    """Over all x_neg, weighted by the law of the chain, the step's mean is the CD gradient.

    That is -grad f(x) + sum over x' of (start law K)[x'] grad f(x'), with K the kernel's matrix.
    """
    with exact.float64():
        f = randomised(MLP, TINY, hidden=(4,), cond_dim=cond_dim)
        states, x = TINY.enumerate(), TINY.enumerate()[2]
        z = jnp.array([0.3, -1.2]) if cond_dim else None
        law = start_law(build(kind, Gibbs(TINY), **settings), x)

        @compiled
        def both(f):
            law_neg = law @ Gibbs(TINY).transition_matrix(TINY, f, z)

            def update(to):
                learner = build(kind, Jump(to), **settings)
                state, _ = learner.step(
                    jax.random.key(0), state_with_buffer(learner, f), x[None],
                    None if z is None else z[None],
                )  # fmt: skip
                return flat_grads(state.f) - flat_grads(f)

            slopes = jax.vmap(lambda x: flat_grads(eqx.filter_grad(lambda f: f(x, z))(f)))(states)
            return law_neg @ jax.vmap(update)(states), slopes[2] - law_neg @ slopes

        found, expected = both(f)
        np.testing.assert_allclose(found, expected, rtol=1e-10, atol=1e-12)
        assert np.linalg.norm(expected) > 0.1


@pytest.mark.parametrize(
    ("kind", "settings", "cond_dim", "num_kernel_steps"),
    [(*case, num_steps) for case, num_steps in zip(CASES, (2, 1, 1, 2), strict=True)],
)
def test_negatives_follow_the_start_and_then_the_kernel(kind, settings, cond_dim, num_kernel_steps):
    """x_neg ~ start law K^steps; with restart = 1 the start is uniform, whatever the buffer."""
    f = randomised(MLP, TINY, hidden=(4,), cond_dim=cond_dim, scale=1.5)
    kernel, x = Gibbs(TINY, scan="random"), TINY.enumerate()[2]
    z = jnp.array([0.3, -1.2]) if cond_dim else None
    learner = build(kind, kernel, num_kernel_steps=num_kernel_steps, **settings)

    @compiled
    def draw_and_matrix(f):
        state, energies = state_with_buffer(learner, f), exact.energies(f, TINY, z)

        def draw(key):
            _, info = learner.step(key, state, x[None], None if z is None else z[None])
            return jnp.argmin(jnp.abs(energies - info.f_neg))  # f tells the states apart

        keys = jax.random.split(jax.random.key(num_kernel_steps), 20_000)
        return jax.vmap(draw)(keys), kernel.transition_matrix(TINY, f, z), energies

    drawn, matrix, energies = draw_and_matrix(f)
    assert np.diff(np.sort(energies)).min() > 1e-3
    law = start_law(learner, x) @ np.linalg.matrix_power(np.asarray(matrix), num_kernel_steps)
    assert_draws_match(np.bincount(drawn, minlength=TINY.size), law)


@pytest.mark.parametrize("kind", [CD, PCD])
def test_more_data_than_negatives(kind):
    """f rises on every example and falls where the chains of every third lead."""
    f, x = randomised(MLP, TINY, hidden=(4,)), TINY.enumerate()[jnp.array([3, 1, 6, 0, 2, 5])]
    learner = build(kind, Jump(TINY.enumerate()[7]), num_data=3)
    before = state_with_buffer(learner, f)
    after, _ = learner.step(jax.random.key(0), before, x)
    mean = lambda f: f(TINY.enumerate()[7]) - jax.vmap(f)(x).mean()
    expected = flat_grads(f) - flat_grads(eqx.filter_grad(mean)(f))
    np.testing.assert_allclose(flat_grads(after.f), expected, rtol=1e-5, atol=1e-6)
    if kind is PCD:
        assert int(np.sum(np.any(after.chains != before.chains, axis=1))) <= 2
    else:
        turned, _ = build(CD, Jump(), num_data=3).step(jax.random.key(0), before, x)
        falls = lambda f: jax.vmap(f)(1 - x[::3]).mean() - jax.vmap(f)(x).mean()
        expected = flat_grads(f) - flat_grads(eqx.filter_grad(falls)(f))
        np.testing.assert_allclose(flat_grads(turned.f), expected, rtol=1e-5, atol=1e-6)
    with pytest.raises(InputError, match="a multiple of 3 examples, got 5"):
        learner.step(jax.random.key(0), before, x[:5])


def test_more_data_than_negatives_with_conditions():
    """A negative has the condition of the first of its examples."""
    f = randomised(MLP, TINY, hidden=(4,), cond_dim=2)
    x = TINY.enumerate()[jnp.array([3, 1, 6, 0, 2, 5])]
    z = jax.random.normal(jax.random.key(1), (6, 2))
    learner = build(CD, Jump(), num_data=3)
    after, _ = compiled(learner.step)(jax.random.key(0), learner.init(f), x, z)
    falls = lambda f: jax.vmap(f)(1 - x[::3], z[::3]).mean() - jax.vmap(f)(x, z).mean()
    expected = flat_grads(f) - flat_grads(compiled(eqx.filter_grad(falls))(f))
    np.testing.assert_allclose(flat_grads(after.f), expected, rtol=1e-5, atol=1e-6)


def test_each_example_writes_back_one_chain_of_its_own_stretch():
    """7 chains and 3 examples: stretches 0-1, 2-3, 4-6; in each, one chain is moved per step."""
    pcd = PCD(Jump(), TINY, num_chains=7, restart=0.0)
    state = pcd.init(jax.random.key(0), randomised(MLP, TINY, hidden=(4,)))
    x = jnp.zeros((3, 3), jnp.int32)
    step = compiled(pcd.step)
    moved = np.zeros(7, int)
    for i in range(30):
        new, _ = step(jax.random.key(i), state, x)
        again, _ = step(jax.random.key(i), state, x)
        assert np.array_equal(new.chains, again.chains)
        changed = np.any(new.chains != state.chains, axis=1)
        assert [changed[a:b].sum() for a, b in ((0, 2), (2, 4), (4, 7))] == [1, 1, 1]
        assert np.array_equal(new.chains[changed], 1 - state.chains[changed])
        moved += changed
        state = new
    assert moved.min() > 0


def test_new_chains_are_uniform():
    space = Categorical(2, 3)
    pcd, f = PCD(Gibbs(space), space), lambda x, z=None: 0.0
    chains = compiled(pcd.init)(jax.random.key(0), f).chains
    assert chains.shape == (10_000, 2)
    counts = np.bincount(jax.vmap(space.index)(chains), minlength=space.size)
    assert_draws_match(counts, np.full(space.size, 1 / space.size))


def test_a_batch_needs_as_many_chains():
    pcd = PCD(Gibbs(TINY), TINY, num_chains=4)
    state = pcd.init(jax.random.key(0), randomised(MLP, TINY, hidden=(4,)))
    step = lambda batch: eqx.filter_eval_shape(
        pcd.step, jax.random.key(1), state, jnp.zeros((batch, 3), jnp.int32)
    )
    assert step(4)[0].chains.shape == (4, 3)
    with pytest.raises(InputError, match=r"a batch of 5 needs as many chains.*num_chains=4"):
        step(5)


def test_pcd_takes_no_condition():
    pcd = PCD(Gibbs(TINY), TINY, num_chains=4)
    state = pcd.init(jax.random.key(0), randomised(MLP, TINY, hidden=(4,), cond_dim=2))
    with pytest.raises(InputError, match=r"no condition, but got z of shape \(4, 2\); use CD"):
        pcd.step(jax.random.key(1), state, jnp.zeros((4, 3), jnp.int32), jnp.zeros((4, 2)))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"num_chains": 0}, "num_chains must be at least 1, got 0"),
        ({"num_kernel_steps": -1}, "num_kernel_steps must be at least 1, got -1"),
        ({"restart": -0.1}, r"restart is a probability in \[0, 1\], got -0.1"),
        ({"restart": 1.5}, r"restart is a probability in \[0, 1\], got 1.5"),
        ({"ema_decay": 1.0}, r"ema_decay must be in \[0, 1\), got 1.0"),
    ],
    ids=str,
)
def test_bad_arguments(arguments, message):
    with pytest.raises(InputError, match=message):
        PCD(Gibbs(TINY), TINY, **arguments)
    if arguments.keys() <= {"num_kernel_steps", "ema_decay"}:
        with pytest.raises(InputError, match=message):
            CD(Gibbs(TINY), **arguments)
