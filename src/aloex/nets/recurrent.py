"""The LSTM of Aloex: its cell, a layer, and layers on top of each other.

    i, f, g, o = W_in x + W_rec h + b
    c' = sigmoid(f) c + sigmoid(i) tanh(g),   h' = sigmoid(o) tanh(c')

`LSTM.__call__` takes whole batches with time first: so the gradient of the recurrent weights is one
product over all rows and steps, instead of one for each step, which is most of their time on a GPU,
and nothing is transposed for the loop. `LSTM.step` takes one example, for drawing.
"""

from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Key

Gates = Float[Array, "time n gates"]
Hidden = Float[Array, "time n hidden"]
Pair = tuple[Array, Array]


def lstm_cell(
    gates: Float[Array, "*n gates"], c: Float[Array, "*n hidden"], *, forget_bias: float = 0.0
) -> tuple[Float[Array, "*n hidden"], Float[Array, "*n hidden"]]:
    """h and c after a step; c is kept in float32 at least. `forget_bias` is added to f."""
    i, f, g, o = jnp.split(gates.astype(cell_dtype(gates)), 4, axis=-1)
    c = jax.nn.sigmoid(f + forget_bias) * c + jax.nn.sigmoid(i) * jnp.tanh(g)
    return (jax.nn.sigmoid(o) * jnp.tanh(c)).astype(gates.dtype), c


def cell_dtype(gates: Array) -> np.dtype[Any]:
    """The type of c: sums over many steps need more than bfloat16."""
    return jnp.promote_types(gates.dtype, jnp.float32)


class LSTMState(eqx.Module):
    """What an LSTM layer carries from step to step, for one example."""

    h: Float[Array, " hidden"]
    c: Float[Array, " hidden"]


class LSTM(eqx.Module):
    """One layer. `extra` is added to the gates at each step: a condition z, for example."""

    w_in: Float[Array, "width gates"]
    w_rec: Float[Array, "hidden gates"]
    bias: Float[Array, " gates"]

    def __init__(self, width: int, hidden: int, *, key: Key[Array, ""]):
        key_in, key_rec = jax.random.split(key)
        draw = lambda key, n: jax.random.uniform(key, (n, 4 * hidden), minval=-1) * n**-0.5
        self.w_in, self.w_rec = draw(key_in, width), draw(key_rec, hidden)
        self.bias = jnp.zeros(4 * hidden).at[hidden : 2 * hidden].set(1.0)  # remember, at first

    def __call__(
        self, x: Float[Array, "time n width"], extra: Float[Array, "n gates"] | None = None
    ) -> Float[Array, "time n hidden"]:
        gates = x @ self.w_in + self.bias
        return recur(gates if extra is None else gates + extra, self.w_rec)

    def start(self) -> LSTMState:
        """The state before the first step."""
        zero = jnp.zeros(self.w_rec.shape[0], self.w_rec.dtype)
        return LSTMState(zero, zero.astype(cell_dtype(zero)))

    def step(
        self,
        state: LSTMState,
        x: Float[Array, " width"],
        extra: Float[Array, " gates"] | None = None,
    ) -> LSTMState:
        """One step of one example."""
        gates = x @ self.w_in + self.bias + state.h @ self.w_rec
        return LSTMState(*lstm_cell(gates if extra is None else gates + extra, state.c))


@jax.custom_vjp
def recur(gates: Gates, w_rec: Float[Array, "hidden gates"]) -> Hidden:
    """The hidden states of an LSTM layer, from what the inputs add to the gates."""
    return _recur(gates, w_rec)[0]


def _recur(gates: Gates, w_rec: Float[Array, "hidden gates"]) -> tuple[Hidden, Gates, Hidden]:
    """The hidden states, and for the gradient the gates and c before each step."""

    def step(state: Pair, g: Array) -> tuple[Pair, tuple[Array, Array, Array]]:
        whole = g + state[0] @ w_rec
        h, c = lstm_cell(whole, state[1])
        return (h, c), (h, whole, state[1].astype(g.dtype))

    n, hidden = gates.shape[1], w_rec.shape[0]
    start = jnp.zeros((n, hidden), gates.dtype), jnp.zeros((n, hidden), cell_dtype(gates))
    return jax.lax.scan(step, start, gates)[1]


def _recur_forward(
    gates: Gates, w_rec: Float[Array, "hidden gates"]
) -> tuple[Hidden, tuple[Array, ...]]:
    saved = _recur(gates, w_rec)
    return saved[0], (*saved, w_rec)


def _recur_backward(
    saved: tuple[Array, ...], d_hs: Hidden
) -> tuple[Gates, Float[Array, "hidden gates"]]:
    hs, gates, cs, w_rec = saved

    def step(later: Pair, now: tuple[Array, Array, Array]) -> tuple[Pair, Array]:
        gates, c, d_h = now
        _, pull_back = jax.vjp(lstm_cell, gates, c.astype(cell_dtype(gates)))
        d_gates, d_c = pull_back((d_h + later[0], later[1]))
        return (d_gates @ w_rec.T, d_c), d_gates

    end = jnp.zeros_like(hs[0]), jnp.zeros(cs.shape[1:], cell_dtype(gates))
    d_gates = jax.lax.scan(step, end, (gates, cs, d_hs), reverse=True)[1]
    return d_gates, jnp.einsum("tnh,tng->hg", hs[:-1], d_gates[1:])


recur.defvjp(_recur_forward, _recur_backward)


class LSTMs(eqx.Module):
    """LSTM layers one on top of the other; the condition goes to the first."""

    layers: tuple[LSTM, ...]

    def __init__(self, width: int, hidden: int, num_layers: int, *, key: Key[Array, ""]):
        keys = jax.random.split(key, num_layers)
        widths = [width] + [hidden] * (num_layers - 1)
        self.layers = tuple(LSTM(w, hidden, key=k) for w, k in zip(widths, keys, strict=True))

    def __call__(
        self, x: Float[Array, "time n width"], extra: Float[Array, "n gates"] | None = None
    ) -> Float[Array, "time n hidden"]:
        for layer in self.layers:
            x, extra = layer(x, extra), None
        return x

    def start(self) -> tuple[LSTMState, ...]:
        """The states before the first step."""
        return tuple(layer.start() for layer in self.layers)

    def step(
        self,
        states: tuple[LSTMState, ...],
        x: Float[Array, " width"],
        extra: Float[Array, " gates"] | None = None,
    ) -> tuple[LSTMState, ...]:
        """One step of all layers, of one example."""
        after: list[LSTMState] = []
        for layer, state in zip(self.layers, states, strict=True):
            after.append(layer.step(state, x, extra))
            x, extra = after[-1].h, None
        return tuple(after)
