"""The `best` q0: attention over characters, guided by what the program has written so far.

Each public pair is read as one text, input and output, by a transformer. The next token is then
predicted from the tokens of the unfinished expression and from two gaps in each pair: how far the
expressions before it have written the output, and the gap that p1 means, once it is known. Both
come from running the program, so no state is carried from token to token, and the log probability
of a program is the sum over its expressions:

    log q0(x | z) = sum_i log q(expression_i | z, what x_1..x_{i-1} write).

All pairs go through the same layers side by side and exchange means and maxima; they are joined
last. The programs that it learns are canonical. The code is for one task.
"""

from typing import NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Integer, Key

from aloex.apps.programs.language import VOCABULARY
from aloex.apps.programs.language.tokens import BAR, MAX_EXPR_TOKENS
from aloex.apps.programs.networks.nets.layers import Embed, max_of
from aloex.apps.programs.networks.programs.grammar import Partial, allowed_log_probs
from aloex.apps.programs.networks.programs.host import Part, Traced
from aloex.apps.programs.tasks import MAX_INPUT, MAX_OUTPUT
from aloex.nets import Attention, FeedForward, LayerNorm, Linear

NUM_TOKENS = len(VOCABULARY)
NUM_SLOTS = MAX_EXPR_TOKENS + 1
REACH = 2  # characters to either side that a character knows of from the start
CHAR_WIDTH = 32


class EncodedTask(NamedTuple):
    """The public pairs of a task as vectors, one for each gap between characters."""

    gap_vectors: Float[Array, "pairs gaps width"]  # of the input, then of the output
    keys_values: tuple[Float[Array, "pairs gaps two heads part"], ...]  # a layer each
    live: Bool[Array, "pairs gaps"]
    shown: Bool[Array, " pairs"]


class Guided(eqx.Module):
    """q0(x | z); `width` of all layers, numbers of layers that read and that write."""

    encoder: "PairEncoder"
    writer: "Writer"
    mode: str = eqx.field(static=True, default="clean")

    def __init__(
        self,
        *,
        width: int = 256,
        num_heads: int = 4,
        num_readers: int = 4,
        num_writers: int = 3,
        key: Key[Array, ""],
    ):
        key_encoder, key_writer = jax.random.split(key)
        self.encoder = PairEncoder(width, num_heads, num_readers, key=key_encoder)
        self.writer = Writer(width, num_heads, num_writers, key=key_writer)
        self.mode = "clean"

    def encode(
        self,
        inputs: Integer[Array, "n pairs chars"],
        outputs: Integer[Array, "n pairs more_chars"],
        shown: Bool[Array, "n pairs"],
    ) -> EncodedTask:
        """The public pairs of tasks as vectors."""
        return jax.vmap(self.read)(inputs, outputs, shown)

    def read(
        self,
        inputs: Integer[Array, "pairs chars"],
        outputs: Integer[Array, "pairs more_chars"],
        shown: Bool[Array, " pairs"],
    ) -> EncodedTask:
        """One task."""
        vectors, live = jax.vmap(self.encoder)(inputs, outputs)
        project = lambda layer: jax.vmap(layer.attend.keys_and_values)(vectors)
        return EncodedTask(vectors, tuple(map(project, self.writer.layers)), live, shown)

    def log_probs(self, part: Part) -> Float[Array, "n time tokens"]:
        """Of every next token, given the tokens of the program before it."""

        def one(
            inputs: Array, outputs: Array, shown: Array, programs: Traced
        ) -> Float[Array, "time tokens"]:
            prefixes, slots = self.writer.prefixes(programs.tokens)
            logits = self.writer(
                self.read(inputs, outputs, shown),
                prefixes,
                slots,
                programs.pointers,
                programs.anchors,
            )
            return allowed_log_probs(logits, programs.states, self.mode)

        return jax.vmap(one)(part.inputs, part.outputs, part.shown, part.programs)

    def start(self) -> tuple[()]:
        """What `step` begins with: nothing needs to be carried."""
        return ()

    def step(
        self, memory: EncodedTask, carried: tuple[()], partial: Partial
    ) -> tuple[tuple[()], Float[Array, " tokens"]]:
        """The log probabilities of the next token of one program."""
        prefix = self.writer.prefix(partial.prefix, partial.slot)
        logits = self.writer(
            memory, prefix[None], partial.slot[None], partial.before[None], partial.anchors[None]
        )[0]
        return carried, allowed_log_probs(logits, partial.state, self.mode)


class PairEncoder(eqx.Module):
    """A transformer over input and output of one pair."""

    char: Embed
    window: Linear
    position: Float[Array, "gaps width"]
    from_end: Embed
    layers: tuple["EncoderLayer", ...]
    norm: LayerNorm

    def __init__(self, width: int, num_heads: int, num_layers: int, *, key: Key[Array, ""]):
        keys = jax.random.split(key, 5)
        self.char = Embed(128, CHAR_WIDTH, key=keys[0])
        self.window = Linear((2 * REACH + 1) * CHAR_WIDTH, width, key=keys[1])
        num_gaps = MAX_INPUT + MAX_OUTPUT + 2
        self.position = 0.3 * jax.random.normal(keys[2], (num_gaps, width))
        self.from_end = Embed(num_gaps, width, key=keys[3], scale=0.3)
        layer_keys = jax.random.split(keys[4], num_layers)
        self.layers = tuple(EncoderLayer(width, num_heads, key=k) for k in layer_keys)
        self.norm = LayerNorm(width)

    def __call__(
        self, given: Integer[Array, " chars"], wanted: Integer[Array, " more_chars"]
    ) -> tuple[Float[Array, "gaps width"], Bool[Array, " gaps"]]:
        """A vector for each gap: what follows it and, through attention, all else."""
        text = jnp.concatenate(
            [jnp.pad(part.astype(jnp.int32), (0, 1)) for part in (given, wanted)]
        )
        left, later = _left(given), _left(wanted)
        left = jnp.concatenate([left, jnp.where(later >= 0, later + MAX_INPUT + 1, -1)])
        chars = self.char(text)
        near = [jnp.roll(chars, shift, axis=0) for shift in range(-REACH, REACH + 1)]
        x = self.window(jnp.concatenate(near, axis=-1))
        x = x + self.position[: len(text)] + self.from_end(left)
        live = left >= 0
        for layer in self.layers:
            x = layer(x, live)
        return self.norm(x), live


def _left(text: Integer[Array, " chars"]) -> Integer[Array, " gaps"]:
    """Characters between a gap and the end of the text, -1 beyond it."""
    return jnp.maximum(jnp.sum(text > 0) - jnp.arange(text.size + 1), -1)


class EncoderLayer(eqx.Module):
    """Self-attention, then a feed-forward layer, both with residuals."""

    norms: tuple[LayerNorm, LayerNorm]
    attend: Attention
    mlp: FeedForward

    def __init__(self, width: int, num_heads: int, *, key: Key[Array, ""]):
        key_attend, key_mlp = jax.random.split(key)
        self.norms = LayerNorm(width), LayerNorm(width)
        self.attend = Attention(width, num_heads, key=key_attend)
        self.mlp = FeedForward(width, 2 * width, key=key_mlp)

    def __call__(self, x: Float[Array, "gaps width"], live: Bool[Array, " gaps"]):
        y = self.norms[0](x)
        x = x + self.attend(y, self.attend.keys_and_values(y), live)
        return x + self.mlp(self.norms[1](x))


class Writer(eqx.Module):
    """Scores of the next token, for several points in programs at once."""

    word: Float[Array, "slots tokens width"]  # of the tokens of the prefix, by their index in it
    slot: Embed
    pointer: Linear
    anchor: Linear
    layers: tuple["WriterLayer", ...]
    join: Linear
    norm: LayerNorm
    head: Linear

    def __init__(self, width: int, num_heads: int, num_layers: int, *, key: Key[Array, ""]):
        keys = jax.random.split(key, 7)
        self.word = 0.5 * jax.random.normal(keys[0], (NUM_SLOTS, NUM_TOKENS, width))
        self.slot = Embed(NUM_SLOTS, width, key=keys[1], scale=0.5)
        self.pointer, self.anchor = (Linear(width, width, key=k) for k in keys[2:4])
        layer_keys = jax.random.split(keys[4], num_layers)
        self.layers = tuple(WriterLayer(width, num_heads, key=k) for k in layer_keys)
        self.join, self.norm = Linear(2 * width, width, key=keys[5]), LayerNorm(width)
        self.head = Linear(width, NUM_TOKENS, key=keys[6])

    def prefixes(
        self, tokens: Integer[Array, " time"]
    ) -> tuple[Float[Array, "time width"], Integer[Array, " time"]]:
        """For each token of a program the sum over those before it in its expression, and slots."""
        time = jnp.arange(tokens.size)
        begins = jnp.append(True, tokens[:-1] == BAR)
        start = jax.lax.cummax(jnp.where(begins, time, 0))
        slots = jnp.minimum(time - start, NUM_SLOTS - 1)  # larger ones are in the padding
        before = (time[None] < time[:, None]) & (time[None] >= start[:, None])
        return before.astype(self.word.dtype) @ self._words(slots, tokens), slots

    def prefix(
        self, tokens: Integer[Array, " slots"], slot: Integer[Array, ""]
    ) -> Float[Array, " width"]:
        """The same for one unfinished expression."""
        slots = jnp.arange(tokens.size)
        return (slots < slot).astype(self.word.dtype) @ self._words(slots, tokens)

    def _words(
        self, slots: Integer[Array, " time"], tokens: Integer[Array, " time"]
    ) -> Float[Array, "time width"]:
        both = jax.nn.one_hot(slots * NUM_TOKENS + tokens, NUM_SLOTS * NUM_TOKENS)
        return both.astype(self.word.dtype) @ self.word.reshape(NUM_SLOTS * NUM_TOKENS, -1)

    def __call__(
        self,
        memory: EncodedTask,
        prefixes: Float[Array, "n width"],
        slots: Integer[Array, " n"],
        pointers: Integer[Array, "n pairs"],
        anchors: Integer[Array, "n pairs"],
    ) -> Float[Array, "n tokens"]:
        """Scores of the tokens."""
        at = lambda gaps: jax.nn.one_hot(gaps.T, memory.live.shape[1], dtype=prefixes.dtype)
        written = at(pointers.astype(jnp.int32) + MAX_INPUT + 1) @ memory.gap_vectors
        anchored = at(anchors) @ memory.gap_vectors  # 0 where there is none
        x = prefixes + self.slot(slots) + self.pointer(written) + self.anchor(anchored)
        for layer, keys_values in zip(self.layers, memory.keys_values, strict=True):
            x = layer(x, keys_values, memory.live, memory.shown)
        return self.head(self.norm(self.join(pool(x, memory.shown))))


class WriterLayer(eqx.Module):
    """Attention to the own pair, exchange between the pairs, then a feed-forward layer."""

    norms: tuple[LayerNorm, LayerNorm, LayerNorm]
    attend: Attention
    exchange: Linear
    mlp: FeedForward

    def __init__(self, width: int, num_heads: int, *, key: Key[Array, ""]):
        keys = jax.random.split(key, 3)
        self.norms = LayerNorm(width), LayerNorm(width), LayerNorm(width)
        self.attend = Attention(width, num_heads, key=keys[0])
        self.exchange = Linear(2 * width, width, key=keys[1])
        self.mlp = FeedForward(width, 2 * width, key=keys[2])

    def __call__(
        self,
        x: Float[Array, "pairs n width"],
        keys_values: Float[Array, "pairs gaps two heads part"],
        live: Bool[Array, "pairs gaps"],
        shown: Bool[Array, " pairs"],
    ) -> Float[Array, "pairs n width"]:
        x = x + jax.vmap(self.attend)(self.norms[0](x), keys_values, live)
        x = x + self.exchange(pool(self.norms[1](x), shown))
        return x + self.mlp(self.norms[2](x))


def pool(x: Float[Array, "pairs n width"], shown: Bool[Array, " pairs"]):
    """Mean and maximum over the pairs shown, side by side."""
    here = shown[:, None, None]
    mean = jnp.sum(jnp.where(here, x, 0), axis=0) / jnp.sum(shown).astype(x.dtype)
    return jnp.concatenate([mean, max_of(x, shown)], axis=-1)
