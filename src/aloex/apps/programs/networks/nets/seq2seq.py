"""The paper's q0 (`app:exp_robustfill`): from the public pairs to the program by LSTMs.

3-layer LSTMs of 256 read inputs and outputs. A pair is the two last states side by side, a task is
the maximum over its pairs. A third LSTM, given the task at each step, writes the program token by
token; tokens that the grammar does not allow have probability 0.
"""

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Integer, Key

from aloex.apps.programs.language import VOCABULARY
from aloex.apps.programs.networks.nets.layers import Embed, max_of
from aloex.apps.programs.networks.programs.grammar import Partial, allowed_log_probs
from aloex.apps.programs.networks.programs.host import Part
from aloex.nets import Linear, LSTMs, LSTMState

NUM_TOKENS = len(VOCABULARY)


class Seq2Seq(eqx.Module):
    """q0(x | z); `sizes`: `hidden` and `num_layers` of the LSTMs."""

    encoder: "Encoder"
    token: Embed
    task: Linear
    write: LSTMs
    head: Linear
    mode: str = eqx.field(static=True, default="paper")

    def __init__(self, *, hidden: int = 256, num_layers: int = 3, key: Key[Array, ""]):
        keys = jax.random.split(key, 5)
        self.encoder = Encoder(hidden, num_layers, key=keys[0])
        self.token = Embed(NUM_TOKENS, hidden, key=keys[1])
        self.task = Linear(2 * hidden, 4 * hidden, key=keys[2])
        self.write = LSTMs(hidden, hidden, num_layers, key=keys[3])
        self.head = Linear(hidden, NUM_TOKENS, key=keys[4])
        self.mode = "paper"

    def encode(
        self,
        inputs: Integer[Array, "n pairs chars"],
        outputs: Integer[Array, "n pairs more_chars"],
        shown: Bool[Array, "n pairs"],
    ) -> Float[Array, "n both"]:
        """The tasks as vectors."""
        return self.encoder(inputs, outputs, shown)

    def log_probs(self, part: Part) -> Float[Array, "n time tokens"]:
        """Of every next token, given the tokens of the program before it."""
        task = self.encode(part.inputs, part.outputs, part.shown)
        before = jnp.pad(part.programs.tokens[:, :-1], ((0, 0), (1, 0)))
        h = self.write(self.token(before.T), self.task(task))
        logits = self.head(h).swapaxes(0, 1)
        return allowed_log_probs(logits, part.programs.states, self.mode)

    def start(self) -> tuple[LSTMState, ...]:
        """What `step` begins with."""
        return self.write.start()

    def step(
        self, task: Float[Array, " both"], states: tuple[LSTMState, ...], partial: Partial
    ) -> tuple[tuple[LSTMState, ...], Float[Array, " tokens"]]:
        """The log probabilities of the next token of one program."""
        states = self.write.step(states, self.token(partial.last), self.task(task))
        logits = self.head(states[-1].h)
        return states, allowed_log_probs(logits, partial.state, self.mode)


class Encoder(eqx.Module):
    """From the public pairs to a vector for each task."""

    read_input: "TextEncoder"
    read_output: "TextEncoder"

    def __init__(self, hidden: int, num_layers: int, *, key: Key[Array, ""]):
        key_input, key_output = jax.random.split(key)
        self.read_input = TextEncoder(hidden, num_layers, key=key_input)
        self.read_output = TextEncoder(hidden, num_layers, key=key_output)

    def __call__(
        self,
        inputs: Integer[Array, "n pairs chars"],
        outputs: Integer[Array, "n pairs more_chars"],
        shown: Bool[Array, "n pairs"],
    ) -> Float[Array, "n both"]:
        flat = lambda texts: texts.reshape(-1, texts.shape[-1])
        pairs = jnp.concatenate(
            [self.read_input(flat(inputs)), self.read_output(flat(outputs))], axis=-1
        ).reshape(*shown.shape, -1)
        return jax.vmap(max_of)(pairs, shown)


class TextEncoder(eqx.Module):
    """The last state of LSTMs over a text."""

    char: Embed
    layers: LSTMs

    def __init__(self, hidden: int, num_layers: int, *, key: Key[Array, ""]):
        key_char, key_layers = jax.random.split(key)
        self.char = Embed(128, hidden, key=key_char)
        self.layers = LSTMs(hidden, hidden, num_layers, key=key_layers)

    def __call__(self, texts: Integer[Array, "n chars"]) -> Float[Array, "n hidden"]:
        lengths = jnp.sum(texts > 0, axis=1)
        hs = self.layers(self.char(texts.T))
        return jnp.take_along_axis(hs, jnp.maximum(lengths - 1, 0)[None, :, None], axis=0)[0]
