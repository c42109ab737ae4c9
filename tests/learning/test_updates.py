"""What all learners share; `mle_loss` and `moving_average` are tested with ALOE."""

import jax.numpy as jnp
import numpy as np
import pytest

from aloex.base.errors import InputError
from aloex.learning.updates import clipped_adam, clipped_muon


def rates(optimizer, num_steps):
    """Adam's step under a constant gradient is the learning rate of that step."""
    state, seen = optimizer.init(jnp.zeros(())), []
    for _ in range(num_steps):
        update, state = optimizer.update(jnp.ones(()), state)
        seen.append(-float(update))
    return np.array(seen)


def test_the_rate_stays_and_then_falls_to_0():
    seen = rates(clipped_adam(0.1, num_steps=10, flat=0.4), 12)
    falling = 0.05 * (1 + np.cos(np.pi * np.arange(7) / 6))
    np.testing.assert_allclose(seen, [0.1] * 4 + [*falling, 0.0], atol=1e-6)
    np.testing.assert_allclose(rates(clipped_adam(0.1), 12), 0.1, atol=1e-6)


def test_large_gradients_are_clipped():
    """Under Adam only changes of length show: 100, then 1, as if it had been 5, then 1."""
    updates = []
    for first in (100.0, 5.0):
        optimizer = clipped_adam(0.1)
        _, state = optimizer.update(jnp.array(first), optimizer.init(jnp.zeros(())))
        updates.append(float(optimizer.update(jnp.ones(()), state)[0]))
    assert updates[0] == pytest.approx(updates[1], rel=1e-6)
    assert abs(updates[0]) < 0.09  # the large one is remembered


def test_muon_moves_matrices_along_all_directions_alike():
    """The singular values of its step are near 1, whatever those of the gradient; Adam's are not.

    A single row and a vector get Adam's step: the sign of the gradient at first.
    """
    rng = np.random.default_rng(0)
    basis = [np.linalg.qr(rng.normal(size=(8, 8)))[0] for _ in range(2)]
    gradient = basis[0] @ np.diag(2.0 ** -np.arange(8)) @ basis[1] / 10
    grads = {"matrix": gradient, "row": rng.normal(size=(1, 8)), "vector": rng.normal(size=8)}
    grads = {name: jnp.asarray(a, jnp.float32) for name, a in grads.items()}
    optimizer = clipped_muon(0.1, clip=100.0)
    step, _ = optimizer.update(grads, optimizer.init(grads), grads)
    sizes = np.linalg.svd(np.asarray(step["matrix"]), compute_uv=False)
    assert sizes.max() / sizes.min() < 2.5
    np.testing.assert_array_less(np.abs(sizes / 0.1 - 1), 0.5)
    for name in ("row", "vector"):
        size = -step[name] * jnp.sign(grads[name])
        np.testing.assert_allclose(size, jnp.full_like(size, size.max()), rtol=1e-3)
        assert 0.05 < size.max() < 0.2


def test_bad_rates():
    with pytest.raises(InputError, match="learning_rate must be positive, got 0"):
        clipped_adam(0.0)
