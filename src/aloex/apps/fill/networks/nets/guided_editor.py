"""The editor beside the `best` q0: it sees what the program writes, and where that goes wrong.

As in `editor`, a bidirectional LSTM reads the program and a pointer chooses; but each place brings
what q0's transformer knows of the outputs there, and whether all was right up to it. The new
expression is written by layers like q0's, begun with q0's weights.
"""

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, Integer, Key, PyTree

from aloex.apps.fill.networks.nets.editor import EXPR_STATES, Chooser, Reading, flat, spread, unflat
from aloex.apps.fill.networks.nets.guided import MAX_INPUT, Memory, Writer, pool
from aloex.apps.fill.networks.programs import edits
from aloex.apps.fill.networks.programs.codes import EXPR_TOKENS, FIRST_SUBSTR, NUM_KS, NUM_POS
from aloex.apps.fill.networks.programs.grammar import Partial, Seen, allowed_log_probs, empty, run
from aloex.nets import Linear


class GuidedEditor(eqx.Module):
    """q_A(x' | x, z) and the probability to stop."""

    chooser: Chooser
    clue: Linear
    place: Linear
    writer: Writer
    mode: str = eqx.field(static=True)

    def __init__(
        self,
        *,
        width: int = 256,
        num_heads: int = 4,
        num_layers: int = 3,
        num_writers: int = 3,
        key: Key[Array, ""],
    ):
        keys = jax.random.split(key, 4)
        self.chooser = Chooser(width, num_layers, 2 * width, key=keys[0])
        self.clue = Linear(2 * width + 2, width, key=keys[1])
        self.place = Linear(width + 2, width, key=keys[2])
        self.writer = Writer(width, num_heads, num_writers, key=keys[3])
        self.mode = "clean"

    def begin_like(self, q0: PyTree) -> "GuidedEditor":
        """The same, writing expressions as q0 does."""
        copied = jax.tree.map(lambda a: a.copy() if eqx.is_array(a) else a, q0.writer)
        return eqx.tree_at(lambda editor: editor.writer, self, copied)

    def prepare(self, memory: Memory, seen: Seen) -> Memory:
        """What q0 made of the tasks, remembered by the own layers."""
        remember = lambda layer: jax.vmap(jax.vmap(layer.attend.remember))(memory.places)
        return memory._replace(remembered=tuple(map(remember, self.writer.layers)))

    def read(
        self, memory: Memory, seen: Seen, programs: Integer[Array, "tasks rows expressions"]
    ) -> Reading:
        """Look at some programs of each task."""
        task, clues, pointers = jax.vmap(self._clues)(memory, seen, programs)
        reading = self.chooser(flat(programs), flat(spread(task, programs)), flat(clues))
        return unflat(reading, programs)._replace(pointers=pointers)

    def _clues(self, memory: Memory, seen: Seen, programs):
        """Of one task: its vector; what is at each place of its programs; the pointers there."""
        written = jax.vmap(run, in_axes=(0, None))(programs, seen)
        rows, places, pairs = written.pointers.shape
        at = written.pointers.reshape(-1, pairs).T + MAX_INPUT + 1
        there = jax.nn.one_hot(at, memory.live.shape[1], dtype=memory.places.dtype) @ memory.places
        pooled = pool(there, memory.shown).reshape(rows, places, -1)
        some = lambda ok: jnp.sum(ok & memory.shown, axis=-1) / jnp.sum(memory.shown)
        flags = jnp.stack([some(written.fits), jnp.repeat(some(written.right)[:, None], places, 1)])
        clues = jnp.concatenate([pooled, jnp.moveaxis(flags, 0, -1).astype(pooled.dtype)], axis=-1)
        live = memory.live[..., None]
        mean = jnp.sum(jnp.where(live, memory.places, 0), axis=1) / jnp.sum(live, axis=1)
        task = pool(mean[:, None].astype(memory.places.dtype), memory.shown)[0]
        return task, self.clue(clues), written.pointers

    def log_exprs(
        self,
        memory: Memory,
        seen: Seen,
        reading: Reading,
        choices: Integer[Array, "tasks rows"],
        exprs: Integer[Array, "tasks rows"],
    ) -> Float[Array, "tasks rows time tokens"]:
        """Log probabilities of all tokens while expressions are written."""

        def one(memory, gaps, places, pointers, choices, exprs):
            told, at = jax.vmap(self.told)(places, pointers, choices)
            tokens = jnp.asarray(EXPR_TOKENS)[exprs]
            time = jnp.arange(tokens.shape[1])
            prefixes = jax.vmap(lambda row: jax.vmap(self.writer.prefix, (None, 0))(row, time))(
                tokens
            )
            anchors = jax.vmap(lambda expr: _anchors(expr, gaps, time))(exprs)
            repeat = lambda a: jnp.repeat(a, time.size, axis=0)
            slots = jnp.tile(time, len(exprs))
            queries = (flat(prefixes) + repeat(told), slots, repeat(at), flat(anchors))
            return self.writer(memory, *queries).reshape(*tokens.shape, -1)

        columns = (memory, seen.gaps, reading.places, reading.pointers, choices, exprs)
        logits = jax.vmap(one)(*columns)
        return allowed_log_probs(logits, jnp.asarray(EXPR_STATES)[exprs], self.mode)

    def told(self, places, pointers, choice) -> tuple[Float[Array, " width"], Array]:
        """What the writer is told of the place, and the pointers there."""
        kind = jax.nn.one_hot(edits.kind_of(choice) // 2, 2, dtype=places.dtype)
        place = edits.place_of(choice)
        return self.place(jnp.concatenate([places[place], kind])), pointers[place]

    def start(self, memory, seen: Seen, reading: Reading, choice) -> tuple[PyTree, Partial]:
        """What `step` begins with, for one choice."""
        told, at = self.told(reading.places, reading.pointers, choice)
        return told, empty(len(seen.shown), 1)._replace(pointers=at, before=at)

    def step(self, memory: Memory, told, partial: Partial):
        """The log probabilities of the next token of one expression in the making."""
        prefix = self.writer.prefix(partial.prefix, partial.slot) + told
        at = (partial.slot[None], partial.before[None], partial.anchors[None])
        logits = self.writer(memory, prefix[None], *at)[0]
        return told, allowed_log_probs(logits, partial.state, self.mode)


def _anchors(expr: Integer[Array, ""], gaps, time) -> Integer[Array, "time pairs"]:
    """The gaps of p1 for the tokens after it, else -1."""
    p1 = jnp.maximum(expr - FIRST_SUBSTR, 0) // NUM_POS
    known = (time >= jnp.where(p1 < NUM_KS, 3, 6)) & (expr >= FIRST_SUBSTR)
    return jnp.where(known[:, None], gaps[:, p1], -1)
