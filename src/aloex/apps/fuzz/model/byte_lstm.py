"""An LSTM that reads the bytes before a byte, as in Learn&Fuzz (Godefroid et al. 2017).

It is learned by maximum likelihood, each visible byte of a window given those before it. There are
two ways to use it. `learn-and-fuzz` draws a byte from what comes before it alone. `rnn-ebm` takes
log p of the window as an energy, so that what comes after counts too:

    f(v) = log p(v | before) + sum_j log p(x_j | before, v, x_{i+1}, ..., x_{j-1}),

over the next visible bytes, SEEN of them at most: each costs 256 steps of the LSTM.
"""

from collections.abc import Callable

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, Int, Key

from aloex.apps.fuzz.model.byte_model import ByteModel, ModelSettings
from aloex.apps.fuzz.model.contexts import (
    MASKED,
    POSITION_DIM,
    REACH,
    WINDOW,
    mask,
    position_features,
)
from aloex.nets import Linear, lstm_cell

SEEN = 8

State = tuple[Float[Array, " hidden"], Float[Array, " hidden"]]  # h and c
Carry = tuple[State, Float[Array, ""]]  # and the sum of log p


class ByteLSTM(ByteModel):
    """log p(byte | the bytes before it, position), or also of the bytes after it."""

    symbols: Float[Array, "symbols gates"]
    where: Linear
    recurrent: Linear
    last: Linear
    settings: ModelSettings = eqx.field(static=True)

    def __init__(self, settings: ModelSettings, *, key: Key[Array, ""]):
        keys, size = jax.random.split(key, 4), settings.hidden
        self.settings, bound = settings, size**-0.5
        shape = (MASKED + 1, 4 * size)  # a look-up, which costs less than a product with a one-hot
        self.symbols = jax.random.uniform(keys[0], shape, minval=-bound, maxval=bound)
        self.where = Linear(POSITION_DIM, 4 * size, key=keys[1])
        self.recurrent = Linear(size, 4 * size, key=keys[2])
        self.last = Linear(size, 256, key=keys[3])

    def __call__(
        self, x: Int[Array, " window"], offset: Int[Array, ""], after: Int[Array, ""]
    ) -> Float[Array, " values"]:
        where = self.where(position_features(offset, after))
        (state, _), _ = jax.lax.scan(self.reads(where), self.start(), x[:REACH])
        log_p = self._log_probs(state)
        if self.settings.method == "rnn-ebm":
            log_p = log_p + self._log_prob_after(state, where, x[REACH : REACH + SEEN])
        return jax.nn.log_softmax(log_p)

    def start(self) -> Carry:
        """Before the first symbol."""
        zeros = jnp.zeros(self.settings.hidden)
        return (zeros, zeros), jnp.zeros(())

    def reads(
        self, where: Float[Array, " gates"]
    ) -> Callable[[Carry, Int[Array, ""]], tuple[Carry, None]]:
        """A step for `scan`: log p of the next symbol is added up, unless it is masked."""

        def step(carry: Carry, symbol: Int[Array, ""]) -> tuple[Carry, None]:
            (h, c), total = carry
            found = self._log_probs((h, c))[jnp.minimum(symbol, MASKED - 1)]
            gates = where + self.symbols[symbol] + self.recurrent(h)
            h, c = lstm_cell(gates, c, forget_bias=1.0)
            return ((h, c), total + jnp.where(symbol == MASKED, 0, found)), None

        return step

    def _log_probs(self, state: State) -> Float[Array, " values"]:
        return jax.nn.log_softmax(self.last(state[0]))

    def _log_prob_after(
        self, state: State, where: Float[Array, " gates"], x: Int[Array, " seen"]
    ) -> Float[Array, " values"]:
        """log p of what comes after, for each value of the byte."""
        step = self.reads(where)

        def one(value: Int[Array, ""]) -> Float[Array, ""]:
            here, _ = step((state, jnp.zeros(())), value)
            (_, total), _ = jax.lax.scan(step, (here[0], jnp.zeros(())), x)
            return total

        return jax.vmap(one)(jnp.arange(256))


def log_prob_of_window(
    model: ByteLSTM, key: Key[Array, ""], example: Int[Array, " example"], z: Array | None = None
) -> Float[Array, ""]:
    """The objective: mean log p of the visible bytes of a window, at a random visible fraction."""
    key_fraction, key_mask = jax.random.split(key)
    context, (byte, offset, after) = example[:WINDOW], example[WINDOW:]
    context = mask(key_mask, context, jax.random.uniform(key_fraction))
    x = jnp.concatenate([context[:REACH], byte[None], context[REACH:]])
    step = model.reads(model.where(position_features(offset, after)))
    (_, total), _ = jax.lax.scan(step, model.start(), x)
    return total / jnp.sum(x != MASKED)
