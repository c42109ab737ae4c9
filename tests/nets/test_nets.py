"""The shared layers against plain formulas and other implementations."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from aloex.nets import LSTM, Attention, LayerNorm, LSTMs, lstm_cell, recurrent, to_bfloat16


def test_an_lstm_is_that_of_equinox():
    ours = LSTM(3, 4, key=jax.random.key(0))
    other = eqx.nn.LSTMCell(3, 4, key=jax.random.key(1))
    weights = lambda cell: (cell.weight_ih, cell.weight_hh, cell.bias)
    other = eqx.tree_at(weights, other, (ours.w_in.T, ours.w_rec.T, ours.bias))
    x = jax.random.normal(jax.random.key(2), (5, 3))
    state, theirs = ours.start(), (jnp.zeros(4), jnp.zeros(4))
    for row in x:
        state, theirs = ours.step(state, row), other(row, theirs)
    np.testing.assert_allclose(state.h, theirs[0], rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(state.c, theirs[1], rtol=1e-5, atol=1e-6)


def test_whole_sequences_give_what_steps_give():
    layers = LSTMs(3, 4, 2, key=jax.random.key(0))
    x, extra = (jax.random.normal(jax.random.key(i), s) for i, s in ((1, (5, 2, 3)), (2, (2, 16))))
    at_once = layers(x, extra)
    for row in range(2):
        states = layers.start()
        for time in range(5):
            states = layers.step(states, x[time, row], extra[row])
            np.testing.assert_allclose(states[-1].h, at_once[time, row], rtol=1e-5, atol=1e-6)


def test_the_gradient_of_an_lstm_is_that_of_its_loop():
    rng = np.random.default_rng(0)
    with jax.enable_x64(True):
        gates, w_rec = (jnp.asarray(rng.normal(size=s)) for s in ((3, 5, 16), (4, 16)))
        value = lambda recur: lambda gates, w: jnp.sum(jnp.sin(recur(gates, w)))
        loop = lambda gates, w: recurrent._recur(gates, w)[0]
        grads = [jax.grad(value(f), argnums=(0, 1))(gates, w_rec) for f in (recurrent.recur, loop)]
    for ours, plain in zip(*grads, strict=True):
        np.testing.assert_allclose(ours, plain, rtol=1e-10)


def test_the_cell_state_is_never_less_precise_than_float32():
    for dtype, wanted in ((jnp.bfloat16, jnp.float32), (jnp.float32, jnp.float32)):
        h, c = lstm_cell(jnp.ones(8, dtype), jnp.zeros(2))
        assert (h.dtype, c.dtype) == (dtype, wanted)
    biased, _ = lstm_cell(jnp.zeros(8), jnp.ones(2), forget_bias=1.0)
    plain, _ = lstm_cell(jnp.zeros(8).at[2:4].set(1.0), jnp.ones(2))
    np.testing.assert_array_equal(biased, plain)


def test_attention_is_a_mean_of_live_values_by_their_weights():
    layer = Attention(6, 2, key=jax.random.key(0))
    x, memory = (jax.random.normal(jax.random.key(i), (n, 6)) for i, n in ((1, 3), (2, 4)))
    live = np.array([True, False, True, True])
    query = np.asarray(layer.query(x)).reshape(3, 2, 3)
    keys, values = np.asarray(layer.key_value(memory)).reshape(4, 2, 2, 3).swapaxes(0, 1)
    mixed = np.zeros((3, 2, 3))
    for row, head in np.ndindex(3, 2):
        weights = np.exp(keys[live, head] @ query[row, head] / 3**0.5)
        mixed[row, head] = weights @ values[live, head] / weights.sum()
    found = layer(x, layer.keys_and_values(memory), jnp.asarray(live))
    np.testing.assert_allclose(found, layer.out(jnp.asarray(mixed.reshape(3, 6))), rtol=1e-4)


def test_a_layer_norm_has_mean_0_and_variance_1():
    y = LayerNorm(64)(3 + 5 * jax.random.normal(jax.random.key(0), (2, 64)))
    np.testing.assert_allclose(y.mean(axis=-1), 0, atol=1e-5)
    np.testing.assert_allclose(y.var(axis=-1), 1, rtol=1e-4)


def test_weights_are_rounded_on_accelerators_only(monkeypatch):
    model = LayerNorm(2)
    assert to_bfloat16(model).scale.dtype == jnp.float32
    monkeypatch.setattr("aloex.nets.precision.on_cpu", lambda: False)
    assert to_bfloat16(model).scale.dtype == jnp.bfloat16
