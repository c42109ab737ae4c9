"""Beam search and sampling: programs from a q0, for many tasks at once.

A beam is an unfinished program with its log probability. Each step takes the best continuations
by one token of all beams of a task. With `prune`, those that have written something else than the
public outputs are dropped: four times as many are run as are kept, so that others take their place.
"""

from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Integer, Key

from aloex.apps.programs.language import VOCABULARY
from aloex.apps.programs.language.syntax import MAX_EXPRESSIONS
from aloex.apps.programs.networks.programs.grammar import Partial, PublicPairs, advance, empty
from aloex.nets import to_bfloat16

MAX_TOKENS = 88
NUM_TOKENS = len(VOCABULARY)
RUN_TO_KEEP = 4  # with `prune`


class Found(NamedTuple):
    """The best programs of each task, the best first."""

    codes: Integer[Array, "*tasks width expressions"]
    log_prob: Float[Array, "*tasks width"]  # -inf where there is none


class Beams(NamedTuple):
    """Of one task."""

    partial: Partial
    carried: Any
    log_prob: Float[Array, " width"]


@eqx.filter_jit
def beam_search(model: Any, public: PublicPairs, *, width: int, prune: bool = False) -> Found:
    """The most probable programs that a beam of some width finds; `public` has a leading axis."""
    model = to_bfloat16(model)
    memory = model.encode(public.inputs, public.outputs, public.shown)
    begin = jax.vmap(lambda _: begin_with(model, public.shown.shape[1], width))(public.shown)
    step = jax.vmap(lambda memory, beams, public: widen(model, memory, beams, public, prune))
    goes_on = lambda carry: (carry[0] < MAX_TOKENS) & jnp.any(unfinished(carry[1]))
    body = lambda carry: (carry[0] + 1, step(memory, carry[1], public))
    _, beams = jax.lax.while_loop(goes_on, body, (0, begin))
    return jax.vmap(finish)(beams)


def begin_with(model: Any, num_pairs: int, width: int) -> Beams:
    """One beam with nothing in it; the others do not count yet."""
    repeat = lambda tree: jax.tree.map(lambda a: jnp.broadcast_to(a, (width, *a.shape)), tree)
    log_prob = jnp.where(jnp.arange(width) == 0, 0.0, -jnp.inf)
    return Beams(repeat(empty(num_pairs, MAX_EXPRESSIONS)), repeat(model.start()), log_prob)


def widen(model: Any, memory: Any, beams: Beams, public: PublicPairs, prune: bool) -> Beams:
    """The best beams with one token more."""
    width = beams.log_prob.size
    step = jax.vmap(model.step, in_axes=(None, 0, 0))
    carried, log_probs = step(memory, beams.carried, beams.partial)
    total = (beams.log_prob[:, None] + log_probs).reshape(-1)
    log_prob, best = jax.lax.top_k(total, min(RUN_TO_KEEP * width if prune else width, total.size))
    parent, token = jnp.divmod(best, NUM_TOKENS)
    partial = jax.tree.map(lambda a: a[parent], beams.partial)
    partial = jax.vmap(advance, in_axes=(0, 0, None))(partial, token, public)
    if prune:
        log_prob, kept = jax.lax.top_k(jnp.where(partial.fits, log_prob, -jnp.inf), width)
        parent, partial = parent[kept], jax.tree.map(lambda a: a[kept], partial)
    return Beams(partial, jax.tree.map(lambda a: a[parent], carried), log_prob)


def unfinished(beams: Beams) -> Bool[Array, "*tasks width"]:
    return (beams.log_prob > -jnp.inf) & ~beams.partial.done


def finish(beams: Beams) -> Found:
    """What is whole, the best first."""
    log_prob = jnp.where(beams.partial.done, beams.log_prob, -jnp.inf)
    order = jnp.argsort(-log_prob)
    return Found(beams.partial.codes[order], log_prob[order])


def sample(
    model: Any, memory: Any, public: PublicPairs, keys: Key[Array, " tasks"]
) -> Integer[Array, "tasks expressions"]:
    """A draw of q0 for each task; those that do not end in time are cut."""
    num_tasks, num_pairs = public.shown.shape

    def draw(
        memory: Any, carried: Any, partial: Partial, public: PublicPairs, key: Key[Array, ""]
    ) -> tuple[Any, Partial]:
        carried, log_probs = model.step(memory, carried, partial)
        token = jax.random.categorical(key, log_probs)
        return carried, advance(partial, token, public)

    def body(carry: tuple[Any, Any, Partial]) -> tuple[Any, Any, Partial]:
        i, carried, partial = carry
        keys_now = jax.vmap(lambda key: jax.random.fold_in(key, i))(keys)
        return i + 1, *jax.vmap(draw)(memory, carried, partial, public, keys_now)

    begin = lambda _: (model.start(), empty(num_pairs, MAX_EXPRESSIONS))
    carried, partial = jax.vmap(begin)(jnp.arange(num_tasks))
    goes_on = lambda carry: (carry[0] < MAX_TOKENS) & ~jnp.all(carry[2].done)
    return jax.lax.while_loop(goes_on, body, (0, carried, partial))[2].codes
