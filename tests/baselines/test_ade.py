"""ADE: its policy gradient against the exact one, and its learned baseline."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import optax
import pytest

from aloex import exact
from aloex.base.errors import InputError
from aloex.baselines import ADE, reinforce_gradient
from aloex.baselines.ade import Value, surrogate
from aloex.energies import MLP
from aloex.samplers import AutoregressiveMLP, AutoregressiveRNN, Factorized
from aloex.spaces import Bits, Categorical
from stats import (
    assert_mean_matches,
    compiled,
    flat_grads,
    randomised,
    relative_error,
    tiny_q0,
)


def exact_gradient(q, f, space, z, entropy_weight):
    """grad of -E_q[f] - entropy_weight H(q), by enumeration."""

    def loss(q):
        log_q = jax.vmap(lambda x: q.log_prob(x, z))(space.enumerate())
        return jnp.exp(log_q) @ (entropy_weight * log_q - exact.energies(f, space, z))

    return flat_grads(eqx.filter_grad(loss)(q))


@pytest.mark.parametrize(
    ("kind", "cond_dim", "entropy_weight"),
    [
        (Factorized, 0, 1.0),
        (AutoregressiveMLP, 0, 1.0),
        (AutoregressiveMLP, 2, 0.4),
        (AutoregressiveRNN, 2, 1.0),
    ],
)
def test_gradient_by_enumeration(kind, cond_dim, entropy_weight):
    """sum_x q(x) grad surrogate(x) is the exact gradient, with no baseline, a number, a network.

    With -log q - 1, as the paper prints it, it is not.
    """
    space = Categorical(2, 3) if cond_dim else Bits(3)
    with exact.float64():
        q = exact.to_float64(tiny_q0(kind, space, cond_dim=cond_dim))
        f = exact.to_float64(randomised(MLP, space, hidden=(4,), cond_dim=cond_dim, seed=1))
        value = exact.to_float64(randomised(Value, cond_dim=cond_dim, hidden=4, seed=2))
        z = jnp.array([0.3, -1.2]) if cond_dim else None
        states = space.enumerate()

        @compiled
        def gradients(q):
            probs = jnp.exp(jax.vmap(lambda x: q.log_prob(x, z))(states))
            z_one = None if z is None else z[None]

            def by_draws(baseline, weight):
                grad = lambda x: flat_grads(
                    eqx.filter_grad(surrogate, has_aux=True)(
                        q, x[None], f, baseline, z_one, entropy_weight=weight
                    )[0]
                )
                return probs @ jax.vmap(grad)(states)

            baselines = (lambda z: 0.0), (lambda z: 3.7), value
            found = [by_draws(b, entropy_weight) for b in baselines]
            printed = by_draws(baselines[0], -entropy_weight)
            return found, printed, exact_gradient(q, f, space, z, entropy_weight)

        found, printed, expected = gradients(q)
        for gradient in found:
            np.testing.assert_allclose(gradient, expected, rtol=1e-9, atol=1e-12)
        assert relative_error(printed, expected) > 0.1


def test_gradient_from_draws():
    """Each example draws from its own condition; one draw's gradient has the exact mean."""
    space = Bits(3)
    q = tiny_q0(Factorized, space, cond_dim=2)
    f = randomised(MLP, space, hidden=(4,), cond_dim=2, seed=1)
    value = randomised(Value, cond_dim=2, hidden=4, seed=2)
    z = jnp.array([[1.0, -0.5], [-0.3, 1.2]])

    @compiled
    def draw_and_exact(q):
        gradient = lambda keys: flat_grads(reinforce_gradient(q, keys, f, value, z)[0])
        keys = jax.random.split(jax.random.key(0), (5000, 2))
        per_condition = [exact_gradient(q, f, space, z[i], 1.0) for i in range(2)]
        return jax.vmap(gradient)(keys), sum(per_condition) / 2

    drawn, expected = draw_and_exact(q)
    assert_mean_matches(drawn, expected)


def test_a_step_does_what_it_says():
    """f's rate is `rate_ratio` times that of q, and the baseline's mean moves to the cost."""
    space = Bits(3)
    f, q = randomised(MLP, space, hidden=(4,)), tiny_q0(Factorized, space)
    moved, ends = {}, {}
    for ratio in (1.0, 0.2):
        ade = ADE(rate_ratio=ratio, optimizer=optax.sgd(0.1))
        begin = ade.init(jax.random.key(0), f, q)
        ends[ratio] = compiled(ade.step)(jax.random.key(1), begin, space.enumerate()[:6])
        moved[ratio] = flat_grads(ends[ratio][0].f) - flat_grads(f)
    np.testing.assert_allclose(moved[0.2], 0.2 * moved[1.0], rtol=1e-4, atol=1e-6)
    assert np.linalg.norm(moved[1.0]) > 0.01
    state, info = ends[1.0]
    assert np.array_equal(flat_grads(ends[0.2][0].q), flat_grads(state.q))
    np.testing.assert_allclose(state.value.mean, 0.9 * (info.q_loss + 1), rtol=1e-5)
    np.testing.assert_allclose(info.f_loss, info.f_neg - info.f_data, rtol=1e-5)


def test_the_baseline_learns_the_condition():
    """f depends on z alone and q is uniform, as it should be: all the cost is the baseline's.

    Seen with keys 0, 1, 2: from 27 to less than 1e-9.
    """
    space, f = Bits(3), lambda x, z=None: 10.0 * z[0]
    ade = ADE(num_q_steps=2, optimizer=optax.adam(1e-2), baseline_decay=0.99)
    begin = ade.init(jax.random.key(0), f, Factorized(space, cond_dim=2), cond_dim=2)
    arrays, rest = eqx.partition(begin, eqx.is_array)
    x, z = jnp.zeros((8, 3), jnp.int32), jnp.tile(jnp.eye(2), (4, 1))

    @compiled
    def loop(arrays, key):
        def body(arrays, key):
            state, info = ade.step(key, eqx.combine(arrays, rest), x, z)
            return eqx.filter(state, eqx.is_array), info

        return jax.lax.scan(body, arrays, jax.random.split(key, 500))

    end, info = loop(arrays, jax.random.key(0))
    assert info.advantage[0] > 5
    assert info.advantage[-1] < 1e-3
    steps = [int(optax.tree_utils.tree_get(s, "count")) for s in (end.opt_f, end.opt_q)]
    assert steps == [500, 1000]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"num_q_steps": 0}, "num_q_steps must be at least 1, got 0"),
        ({"rate_ratio": 0.0}, "rate_ratio must be positive, got 0.0"),
        ({"entropy_weight": -1.0}, "entropy_weight must not be negative, got -1.0"),
        ({"baseline_decay": 1.0}, r"baseline_decay must be in \[0, 1\), got 1.0"),
        ({"ema_decay": -0.1}, r"ema_decay must be in \[0, 1\), got -0.1"),
    ],
    ids=str,
)
def test_bad_arguments(arguments, message):
    with pytest.raises(InputError, match=message):
        ADE(**arguments)


def test_the_baseline_wants_the_condition_it_was_built_for():
    ade, space = ADE(), Bits(3)
    q = tiny_q0(Factorized, space, cond_dim=2)
    state = ade.init(jax.random.key(0), randomised(MLP, space, hidden=(4,), cond_dim=2), q)
    with pytest.raises(InputError, match=r"cond_dim=0, but got a condition z of shape \(2,\)"):
        x, z = jnp.zeros((4, 3), jnp.int32), jnp.zeros((4, 2))
        eqx.filter_eval_shape(ade.step, jax.random.key(1), state, x, z)
