"""Layers for networks on texts and programs.

Weights are float32; `half` gives a copy of a network that computes in bfloat16 where that is fast.
LSTMs take whole batches, not one example: so the gradient of the recurrent weights is one product
over all rows and steps, instead of one for each step, which is most of their time on a GPU. And
they take time first, so that nothing need be transposed for their loops.
"""

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Integer, Key

from aloex.nets import Linear, on_cpu


def half(model):
    """The network with bfloat16 weights, on accelerators."""
    if on_cpu():
        return model
    cast = lambda a: a.astype(jnp.bfloat16) if eqx.is_inexact_array(a) else a
    return jax.tree.map(cast, model)


def max_of(x: Float[Array, " n *rest"], live: Bool[Array, " n"]) -> Float[Array, " *rest"]:
    """The maximum over the live ones of the first axis.

    The gradient goes to the first that attains it. That of `jnp.max` looks for entries equal to
    the maximum, and is 0 / 0 where a compiler computes them twice and rounds differently.
    """
    live = live.reshape(-1, *(1,) * (x.ndim - 1))
    best = jnp.argmax(jnp.where(live, jax.lax.stop_gradient(x), -jnp.inf), axis=0)
    winner = jnp.arange(len(x)).reshape(live.shape) == best
    return jnp.sum(jnp.where(winner, x, 0), axis=0)


class Embed(eqx.Module):
    """A vector for each symbol, by a product: its gradient needs no scattered sums."""

    weight: Float[Array, "symbols width"]

    def __init__(self, symbols: int, width: int, *, key: Key[Array, ""], scale: float = 1.0):
        self.weight = scale * jax.random.normal(key, (symbols, width))

    def __call__(self, x: Integer[Array, "*n"]) -> Float[Array, "*n width"]:
        return jax.nn.one_hot(x, self.weight.shape[0], dtype=self.weight.dtype) @ self.weight


class State(eqx.Module):
    """Of an LSTM, for one row."""

    h: Float[Array, " hidden"]
    c: Float[Array, " hidden"]


class LSTM(eqx.Module):
    """One layer. `extra` is added to the gates at each step: a condition."""

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

    def start(self) -> State:
        zero = jnp.zeros(self.w_rec.shape[0])
        return State(zero.astype(self.w_rec.dtype), zero)

    def step(
        self, state: State, x: Float[Array, " width"], extra: Float[Array, " gates"] | None = None
    ) -> State:
        """One step of one row."""
        gates = x @ self.w_in + self.bias + state.h @ self.w_rec
        return State(*_cell(gates if extra is None else gates + extra, state.c))


@jax.custom_vjp
def recur(gates: Float[Array, "time n gates"], w_rec: Float[Array, "hidden gates"]):
    """The hidden states of an LSTM whose inputs are in the gates already."""
    return _recur(gates, w_rec)[0]


def _recur(gates, w_rec):
    """They, and what each step began with: all of its gates, and c."""

    def step(state, g):
        whole = g + state[0] @ w_rec
        h, c = _cell(whole, state[1])
        return (h, c), (h, whole, state[1].astype(g.dtype))

    n, hidden = gates.shape[1], w_rec.shape[0]
    start = jnp.zeros((n, hidden), gates.dtype), jnp.zeros((n, hidden), jnp.float32)
    return jax.lax.scan(step, start, gates)[1]


def _cell(gates: Float[Array, "*n gates"], c: Float[Array, "*n hidden"]):
    """h and c after a step; c stays in float32."""
    i, f, g, o = jnp.split(gates.astype(jnp.float32), 4, axis=-1)
    c = jax.nn.sigmoid(f) * c + jax.nn.sigmoid(i) * jnp.tanh(g)
    return (jax.nn.sigmoid(o) * jnp.tanh(c)).astype(gates.dtype), c


def _recur_forward(gates, w_rec):
    saved = _recur(gates, w_rec)
    return saved[0], (*saved, w_rec)


def _recur_backward(saved, d_hs):
    hs, gates, cs, w_rec = saved

    def step(later, now):
        gates, c, d_h = now
        _, pull_back = jax.vjp(_cell, gates, c.astype(jnp.float32))
        d_gates, d_c = pull_back((d_h + later[0], later[1]))
        return (d_gates @ w_rec.T, d_c), d_gates

    end = jnp.zeros_like(hs[0]), jnp.zeros(cs.shape[1:], jnp.float32)
    d_gates = jax.lax.scan(step, end, (gates, cs, d_hs), reverse=True)[1]
    return d_gates, jnp.einsum("tnh,tng->hg", hs[:-1], d_gates[1:])


recur.defvjp(_recur_forward, _recur_backward)


class LSTMs(eqx.Module):
    """Layers on each other; the condition goes to the first."""

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

    def start(self) -> tuple[State, ...]:
        return tuple(layer.start() for layer in self.layers)

    def step(
        self, states: tuple[State, ...], x: Float[Array, " width"], extra=None
    ) -> tuple[State, ...]:
        after = []
        for layer, state in zip(self.layers, states, strict=True):
            after.append(layer.step(state, x, extra))
            x, extra = after[-1].h, None
        return tuple(after)


class Norm(eqx.Module):
    """Layer normalisation, in float32."""

    scale: Float[Array, " width"]
    shift: Float[Array, " width"]

    def __init__(self, width: int):
        self.scale, self.shift = jnp.ones(width), jnp.zeros(width)

    def __call__(self, x: Float[Array, "*n width"]) -> Float[Array, "*n width"]:
        y = x.astype(jnp.float32)
        y = y - y.mean(axis=-1, keepdims=True)
        y = y * jax.lax.rsqrt(jnp.mean(y**2, axis=-1, keepdims=True) + 1e-5)
        return (y * self.scale + self.shift).astype(x.dtype)


class Attention(eqx.Module):
    """Multi-head attention from `x` to `memory`."""

    query: Linear
    key_value: Linear
    out: Linear
    num_heads: int = eqx.field(static=True)

    def __init__(self, width: int, num_heads: int, *, key: Key[Array, ""]):
        keys = jax.random.split(key, 3)
        self.query, self.out = Linear(width, width, key=keys[0]), Linear(width, width, key=keys[1])
        self.key_value = Linear(width, 2 * width, key=keys[2])
        self.num_heads = num_heads

    def remember(self, memory: Float[Array, "m width"]) -> Float[Array, "m two heads part"]:
        """Keys and values, which do not depend on who asks."""
        return self.key_value(memory).reshape(len(memory), 2, self.num_heads, -1)

    def __call__(
        self,
        x: Float[Array, "n width"],
        remembered: Float[Array, "m two heads part"],
        live: Bool[Array, " m"],
    ) -> Float[Array, "n width"]:
        query = self.query(x).reshape(len(x), self.num_heads, -1)
        scores = jnp.einsum("nhp,mhp->hnm", query, remembered[:, 0]) * query.shape[-1] ** -0.5
        scores = jnp.where(live, scores.astype(jnp.float32), -1e30)
        weights = jax.nn.softmax(scores, axis=-1).astype(x.dtype)
        mixed = jnp.einsum("hnm,mhp->nhp", weights, remembered[:, 1])
        return self.out(mixed.reshape(x.shape))


class FeedForward(eqx.Module):
    """Two layers with GELU between them."""

    first: Linear
    second: Linear

    def __init__(self, width: int, hidden: int, *, key: Key[Array, ""]):
        key_first, key_second = jax.random.split(key)
        self.first = Linear(width, hidden, key=key_first)
        self.second = Linear(hidden, width, key=key_second)

    def __call__(self, x: Float[Array, "*n width"]) -> Float[Array, "*n width"]:
        return self.second(jax.nn.gelu(self.first(x)))
