"""The editor beside the `best` q0: it sees what the program writes, and where that goes wrong.

As in `editor`, a bidirectional LSTM reads the program and a pointer chooses. But each site also has
the vectors of q0's transformer for the outputs there, and the share of the pairs that are right up
to it. The new expression is written by layers like q0's, which start from q0's weights.
"""

from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, Integer, Key

from aloex.apps.programs.networks.nets.editor import (
    EXPR_STATES,
    Chooser,
    Reading,
    flat,
    spread,
    unflat,
)
from aloex.apps.programs.networks.nets.guided import MAX_INPUT, EncodedTask, Writer, pool
from aloex.apps.programs.networks.programs import edits
from aloex.apps.programs.networks.programs.codes import EXPR_TOKENS, FIRST_SUBSTR, NUM_KS, NUM_POS
from aloex.apps.programs.networks.programs.grammar import (
    Partial,
    PublicPairs,
    allowed_log_probs,
    empty,
    execute,
)
from aloex.nets import Linear


class GuidedEditor(eqx.Module):
    """q_A(x' | x, z) and the probability to stop."""

    chooser: Chooser
    clue: Linear
    site: Linear
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
        self.site = Linear(width + 2, width, key=keys[2])
        self.writer = Writer(width, num_heads, num_writers, key=keys[3])
        self.mode = "clean"

    def begin_like(self, q0: Any) -> "GuidedEditor":
        """The same, writing expressions as q0 does."""
        copied = jax.tree.map(lambda a: a.copy() if eqx.is_array(a) else a, q0.writer)
        return eqx.tree_at(lambda editor: editor.writer, self, copied)

    def prepare(self, memory: EncodedTask) -> EncodedTask:
        """The tasks as q0 encoded them, with keys and values of the editor's own layers."""
        project = lambda layer: jax.vmap(jax.vmap(layer.attend.keys_and_values))(memory.gap_vectors)
        return memory._replace(keys_values=tuple(map(project, self.writer.layers)))

    def read(
        self,
        memory: EncodedTask,
        public: PublicPairs,
        programs: Integer[Array, "tasks rows expressions"],
    ) -> Reading:
        """Look at some programs of each task."""
        task, clues, pointers = jax.vmap(self._clues)(memory, public, programs)
        reading = self.chooser(flat(programs), flat(spread(task, programs)), flat(clues))
        return unflat(reading, programs)._replace(pointers=pointers)

    def _clues(
        self,
        memory: EncodedTask,
        public: PublicPairs,
        programs: Integer[Array, "rows expressions"],
    ) -> tuple[
        Float[Array, " task"], Float[Array, "rows sites width"], Integer[Array, "rows sites pairs"]
    ]:
        """Of one task: its vector, the clues at each site of its programs, the pointers there."""
        execution = jax.vmap(execute, in_axes=(0, None))(programs, public)
        rows, sites, pairs = execution.pointers.shape
        at = execution.pointers.reshape(-1, pairs).T + MAX_INPUT + 1
        there = (
            jax.nn.one_hot(at, memory.live.shape[1], dtype=memory.gap_vectors.dtype)
            @ memory.gap_vectors
        )
        pooled = pool(there, memory.shown).reshape(rows, sites, -1)
        some = lambda ok: jnp.sum(ok & memory.shown, axis=-1) / jnp.sum(memory.shown)
        flags = jnp.stack(
            [some(execution.fits), jnp.repeat(some(execution.right)[:, None], sites, 1)]
        )
        clues = jnp.concatenate([pooled, jnp.moveaxis(flags, 0, -1).astype(pooled.dtype)], axis=-1)
        live = memory.live[..., None]
        mean = jnp.sum(jnp.where(live, memory.gap_vectors, 0), axis=1) / jnp.sum(live, axis=1)
        task = pool(mean[:, None].astype(memory.gap_vectors.dtype), memory.shown)[0]
        return task, self.clue(clues), execution.pointers

    def log_exprs(
        self,
        memory: EncodedTask,
        public: PublicPairs,
        reading: Reading,
        choices: Integer[Array, "tasks rows"],
        exprs: Integer[Array, "tasks rows"],
    ) -> Float[Array, "tasks rows time tokens"]:
        """Log probabilities of all tokens while expressions are written."""

        def one(
            memory: EncodedTask,
            gaps: Array,
            sites: Array,
            pointers: Array,
            choices: Array,
            exprs: Array,
        ) -> Float[Array, "rows time tokens"]:
            condition, at = jax.vmap(self.editor_input)(sites, pointers, choices)
            tokens = jnp.asarray(EXPR_TOKENS)[exprs]
            time = jnp.arange(tokens.shape[1])
            prefixes = jax.vmap(lambda row: jax.vmap(self.writer.prefix, (None, 0))(row, time))(
                tokens
            )
            anchors = jax.vmap(lambda expr: _anchors(expr, gaps, time))(exprs)
            repeat = lambda a: jnp.repeat(a, time.size, axis=0)
            slots = jnp.tile(time, len(exprs))
            queries = (flat(prefixes) + repeat(condition), slots, repeat(at), flat(anchors))
            return self.writer(memory, *queries).reshape(*tokens.shape, -1)

        assert reading.pointers is not None, "`read` gives them"
        columns = (memory, public.gaps, reading.sites, reading.pointers, choices, exprs)
        logits = jax.vmap(one)(*columns)
        return allowed_log_probs(logits, jnp.asarray(EXPR_STATES)[exprs], self.mode)

    def editor_input(
        self,
        sites: Float[Array, "sites width"],
        pointers: Integer[Array, "sites pairs"],
        choice: Integer[Array, ""],
    ) -> tuple[Float[Array, " width"], Integer[Array, " pairs"]]:
        """What the writer is conditioned on, site and kind of edit; and the pointers there."""
        kind = jax.nn.one_hot(edits.kind_of(choice) // 2, 2, dtype=sites.dtype)
        index = edits.expression_index(choice)
        return self.site(jnp.concatenate([sites[index], kind])), pointers[index]

    def start(
        self,
        memory: EncodedTask,
        public: PublicPairs,
        reading: Reading,
        choice: Integer[Array, ""],
    ) -> tuple[Float[Array, " width"], Partial]:
        """What `step` begins with, for one choice."""
        assert reading.pointers is not None, "`read` gives them"
        condition, at = self.editor_input(reading.sites, reading.pointers, choice)
        return condition, empty(len(public.shown), 1)._replace(pointers=at, before=at)

    def step(
        self, memory: EncodedTask, condition: Float[Array, " width"], partial: Partial
    ) -> tuple[Float[Array, " width"], Float[Array, " tokens"]]:
        """The log probabilities of the next token of one unfinished expression."""
        prefix = self.writer.prefix(partial.prefix, partial.slot) + condition
        at = (partial.slot[None], partial.before[None], partial.anchors[None])
        logits = self.writer(memory, prefix[None], *at)[0]
        return condition, allowed_log_probs(logits, partial.state, self.mode)


def _anchors(
    expr: Integer[Array, ""],
    gaps: Integer[Array, "pairs positions"],
    time: Integer[Array, " time"],
) -> Integer[Array, "time pairs"]:
    """The gaps of p1 for the tokens after it, else -1."""
    p1 = jnp.maximum(expr - FIRST_SUBSTR, 0) // NUM_POS
    known = (time >= jnp.where(p1 < NUM_KS, 3, 6)) & (expr >= FIRST_SUBSTR)
    return jnp.where(known[:, None], gaps[:, p1], -1)
