"""A beam over q0 and edits together: x_0 by q0, then up to 10 edits, the best of all kept.

After q0's own beam each round of edits takes the best choices of all beams of a task, then writes
the new expressions token by token. A beam that chose to stop stays and competes with its log
probability. Programs that were reached in several ways count once, with the sum of them. With
`prune`, programs that fail give their places to those of q0's beam that do not.

The editor decides when to stop. With `until_fit` running the programs does: one that writes the
public outputs is left alone, any other is edited again, and none is visited twice.
"""

from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Integer

from aloex.apps.programs.language.tokens import MAX_EXPR_TOKENS
from aloex.apps.programs.networks.editor_file import editor_memory
from aloex.apps.programs.networks.nets.editor import Reading
from aloex.apps.programs.networks.programs import edits
from aloex.apps.programs.networks.programs.grammar import DONE, Partial, PublicPairs, execute
from aloex.apps.programs.networks.search.beam import Beams, Found, beam_search, widen
from aloex.nets import to_bfloat16


class Edited(NamedTuple):
    """The best programs of each task, the best first, and how they came about."""

    codes: Integer[Array, "*tasks width expressions"]
    log_prob: Float[Array, "*tasks width"]  # -inf where there is none
    num_edits: Integer[Array, "*tasks width"]
    path: Integer[Array, "*tasks width steps expressions"]  # x_0 by q0, x_1, ..., padded with x_t
    stopped: Bool[Array, "*tasks width"]

    @property
    def start(self) -> Integer[Array, "*tasks width expressions"]:
        """q0's programs."""
        return self.path[..., 0, :]


IS_STOP = np.arange(edits.NUM_CHOICES) == edits.STOP


@eqx.filter_jit
def joint_search(
    q0: Any,
    editor: Any,
    public: PublicPairs,
    *,
    width: int,
    prune: bool = False,
    until_fit: bool = False,
    max_edits: int = edits.MAX_EDITS,
) -> Edited:
    """The most probable programs after edits."""
    found = starts(q0, public, width=width, prune=prune)
    q0, editor = to_bfloat16(q0), to_bfloat16(editor)
    memory = q0.encode(public.inputs, public.outputs, public.shown)
    memory = editor_memory(editor, memory, public)
    none = jnp.isneginf(found.log_prob)
    path = jnp.repeat(found.codes[..., None, :], max_edits + 1, axis=-2)
    stopped = none | jax.vmap(_fits)(found.codes, public) if until_fit else none
    begin = Edited(found.codes, found.log_prob, jnp.zeros(none.shape, jnp.int32), path, stopped)
    # With `until_fit`: the programs of each round so far, so that none is visited twice.
    tried = jnp.tile(found.codes, (1, max_edits + 1, 1)) if until_fit else None

    def body(carry: tuple[Any, Edited, Array | None]) -> tuple[Any, Edited, Array | None]:
        i, beams, tried = carry
        reading = editor.read(memory, public, beams.codes)
        if tried is None:
            edit = lambda *task: _edit(editor, width, *task)
            return i + 1, jax.vmap(edit)(memory, public, beams, reading), None
        edit = lambda *task: _edit_unless_fit(editor, *task)
        beams = jax.vmap(edit)(memory, public, beams, reading, tried)
        return i + 1, beams, jax.lax.dynamic_update_slice(tried, beams.codes, (0, i * width, 0))

    goes_on = lambda carry: (carry[0] <= max_edits) & ~jnp.all(carry[1].stopped)
    _, beams, _ = jax.lax.while_loop(goes_on, body, (1, begin, tried))
    merged = jax.vmap(_merge)(beams)
    return jax.vmap(_prune)(merged, begin, public) if prune else merged


def starts(q0: Any, public: PublicPairs, *, width: int, prune: bool) -> Found:
    """q0's programs; where pruning leaves none, those that fail, for the editor to repair."""
    found = beam_search(q0, public, width=width, prune=prune)
    if not prune:
        return found
    none = jnp.all(jnp.isneginf(found.log_prob), axis=-1)
    choose = jax.vmap(lambda none, a, b: jax.tree.map(lambda *ab: jnp.where(none, *ab), a, b))
    return choose(none, beam_search(q0, public, width=width), found)


def _edit_unless_fit(
    editor: Any,
    memory: Any,
    public: PublicPairs,
    beams: Edited,
    reading: Reading,
    tried: Integer[Array, "tried expressions"],
) -> Edited:
    """A round that edits each program that does not fit; programs in `tried` are left out."""
    log_choice = jax.nn.log_softmax(jnp.where(IS_STOP, -jnp.inf, reading.log_choice), axis=-1)
    reading, width = reading._replace(log_choice=log_choice), beams.log_prob.size
    made = _edit(editor, edits.EDITS_TO_KEEP * width, memory, public, beams, reading)
    known = jnp.any(jnp.all(made.codes[:, None] == tried, axis=-1), axis=1)
    log_prob = jnp.where(known & ~made.stopped, -jnp.inf, made.log_prob)
    stopped = made.stopped | jnp.isneginf(log_prob) | _fits(made.codes, public)
    merged = _merge(made._replace(log_prob=log_prob, stopped=stopped))
    return jax.tree.map(lambda a: a[:width], merged)


def _edit(
    editor: Any,
    number: int,
    memory: Any,
    public: PublicPairs,
    beams: Edited,
    reading: Reading,
) -> Edited:
    """A round of edits of one task: the most probable beams after one edit or stop of each."""
    stays = jnp.where(IS_STOP, 0.0, -jnp.inf)
    log_choice = jnp.where(beams.stopped[:, None], stays, reading.log_choice)
    log_prob, best = jax.lax.top_k((beams.log_prob[:, None] + log_choice).reshape(-1), number)
    parent, choice = jnp.divmod(best, edits.NUM_CHOICES)
    of_parents = jax.tree.map(lambda a: a[parent], reading)
    begin = jax.vmap(editor.start, in_axes=(None, None, 0, 0))
    carried, partial = begin(memory, public, of_parents, choice)
    partial = partial._replace(state=jnp.where(edits.writes(choice), partial.state, DONE))
    writing = Beams(partial, (carried, parent, choice), log_prob)
    body = lambda _, writing: widen(_Writing(editor), memory, writing, public, False)
    writing = jax.lax.fori_loop(0, MAX_EXPR_TOKENS + 1, body, writing)
    _, parent, choice = writing.carried
    before = jax.tree.map(lambda a: a[parent], beams)
    stopped = before.stopped | (choice == edits.STOP) | jnp.isneginf(writing.log_prob)
    codes = jax.vmap(edits.apply)(before.codes, choice, writing.partial.codes[:, 0])
    num_edits = before.num_edits + ~stopped
    later = jnp.arange(before.path.shape[1]) >= num_edits[:, None]
    path = jnp.where(later[..., None], codes[:, None], before.path)
    return Edited(codes, writing.log_prob, num_edits, path, stopped)


class _Writing(NamedTuple):
    """The editor as a writer of one expression, with where it is to go."""

    editor: Any

    def step(
        self, memory: Any, carried: tuple[Any, ...], partial: Partial
    ) -> tuple[tuple[Any, ...], Float[Array, " tokens"]]:
        own, *rest = carried
        own, log_probs = self.editor.step(memory, own, partial)
        return (own, *rest), log_probs


def _equal(codes: Integer[Array, "n expressions"]) -> Bool[Array, "n n"]:
    """Which programs are the same."""
    return jnp.all(codes[:, None] == codes[None], axis=-1)


def _fits(codes: Integer[Array, "n expressions"], public: PublicPairs) -> Bool[Array, " n"]:
    """Which programs write the public outputs of a task."""
    right = jax.vmap(execute, in_axes=(0, None))(codes, public).right
    return jnp.all(right | ~public.shown, axis=1)


def _merge(beams: Edited) -> Edited:
    """Equal programs joined in the first of them, and all in order."""
    same = _equal(beams.codes)
    there = ~jnp.isneginf(beams.log_prob)
    same = same & there[:, None] & there[None]
    first = jnp.argmax(same, axis=1) == jnp.arange(there.size)
    total = jax.nn.logsumexp(jnp.where(same, beams.log_prob[None], -jnp.inf), axis=1)
    log_prob = jnp.where(first & there, total, -jnp.inf)
    order = jnp.argsort(-log_prob)
    merged = beams._replace(log_prob=log_prob)
    return jax.tree.map(lambda a: a[order], merged)


def _prune(beams: Edited, unedited: Edited, public: PublicPairs) -> Edited:
    """Those that write the outputs, filled up with what q0 found."""
    width = beams.log_prob.size
    both = jax.tree.map(lambda *ab: jnp.concatenate(ab), beams, unedited)
    fits = _fits(both.codes, public) & ~jnp.isneginf(both.log_prob)
    same = _equal(both.codes)
    kept = fits & ~jnp.any(jnp.tril(same, -1) & fits, axis=1)
    both = both._replace(log_prob=jnp.where(kept, both.log_prob, -jnp.inf))
    order = jnp.argsort(~kept)[:width]  # stable
    return jax.tree.map(lambda a: a[order], both)
