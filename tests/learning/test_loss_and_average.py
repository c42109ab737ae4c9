"""The formulas of a step, on numbers: the loss of f, a step of an optimizer, the moving average."""

import jax.numpy as jnp
import numpy as np
import optax
import pytest

from aloex.learning import updates


def test_the_loss_is_the_mean_over_negatives_less_that_over_data():
    f = lambda x, z=None: 2.0 * jnp.sum(x)
    x, x_neg = jnp.array([[1, 1], [1, 0]]), jnp.array([[0, 1], [0, 0]])
    loss, (f_data, f_neg) = updates.mle_loss(f, x, x_neg)
    assert (float(loss), float(f_data), float(f_neg)) == (-2.0, 3.0, 1.0)


def test_a_step_goes_against_the_gradient():
    optimizer, model = optax.sgd(0.5), jnp.array([1.0, 2.0])
    state = optimizer.init(model)
    model, _ = updates.apply_gradients(optimizer, jnp.array([2.0, -2.0]), state, model)
    np.testing.assert_array_equal(model, [0.0, 3.0])


@pytest.mark.parametrize(("step", "decay"), [(0, 0.1), (8, 0.5), (10**6, 0.75)])
def test_the_moving_average_forgets_faster_in_the_first_steps(step, decay):
    old, new = {"a": jnp.array(4.0), "n": 3}, {"a": jnp.array(8.0), "n": 5}
    average = updates.moving_average(old, new, 0.75, jnp.array(step))
    np.testing.assert_allclose(average["a"], decay * 4 + (1 - decay) * 8, rtol=1e-6)
    assert average["n"] == 3  # what is no parameter stays
