"""Unfinished programs: the grammar's mask, and what the tokens so far have written."""

from typing import NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Integer

from aloex.apps.programs.language.alphabet import CHAR_CODES, NUM_CHARS
from aloex.apps.programs.language.mask import START, STATES
from aloex.apps.programs.language.syntax import MAX_K
from aloex.apps.programs.language.tokens import (
    BAR,
    EOS,
    MAX_EXPR_TOKENS,
    T_CONSTPOS,
    T_CONSTSTR,
    T_REGEXTOK,
    T_START,
    ZERO,
)
from aloex.apps.programs.networks.programs.codes import (
    AFTER,
    FIRST_SUBSTR,
    FOLLOWING,
    FULL,
    MASKS,
    NUM_KS,
    NUM_POS,
)

DONE, P2 = STATES.index("done"), STATES.index("p2")


def allowed_log_probs(
    logits: Float[Array, "*n tokens"], states: Integer[Array, "*n"], mode: str
) -> Float[Array, "*n tokens"]:
    """Log probabilities of the tokens that the grammar allows; -inf for the others."""
    # By a product: on a GPU it is cheaper than a gather for each token.
    rows = jax.nn.one_hot(states, len(FOLLOWING)) @ MASKS[mode]
    return jax.nn.log_softmax(jnp.where(rows > 0.5, logits.astype(jnp.float32), -jnp.inf), axis=-1)


class PublicPairs(NamedTuple):
    """The public pairs of a task, and the gap that each position means in each input."""

    inputs: Integer[Array, "pairs chars"]
    outputs: Integer[Array, "pairs more_chars"]
    shown: Bool[Array, " pairs"]
    gaps: Integer[Array, "pairs positions"]


class Partial(NamedTuple):
    """An unfinished program."""

    last: Integer[Array, ""]  # token; pad before the first
    state: Integer[Array, ""]  # of the grammar
    slot: Integer[Array, ""]  # number of tokens of the unfinished expression
    prefix: Integer[Array, " slots"]  # these tokens, then 0
    pointers: Integer[Array, " pairs"]  # characters written by whole expressions
    before: Integer[Array, " pairs"]  # the same, without the expression that has just become whole
    anchors: Integer[Array, " pairs"]  # gaps of p1 once it is known, else -1
    codes: Integer[Array, " expressions"]  # those that are whole
    fits: Bool[Array, ""]  # all that is written is a prefix of the outputs shown

    @property
    def done(self) -> Bool[Array, "*n"]:
        return self.state == DONE


def empty(num_pairs: int, max_expressions: int) -> Partial:
    """A program without tokens."""
    zero = jnp.zeros((), jnp.int32)
    zeros = lambda n: jnp.zeros(n, jnp.int32)
    return Partial(
        last=zero,
        state=zero + START,
        slot=zero,
        prefix=zeros(MAX_EXPR_TOKENS),
        pointers=zeros(num_pairs),
        before=zeros(num_pairs),
        anchors=zeros(num_pairs) - 1,
        codes=zeros(max_expressions),
        fits=jnp.ones((), bool),
    )


def advance(partial: Partial, token: Integer[Array, ""], public: PublicPairs) -> Partial:
    """The program with one more token, which the grammar allows there; pad changes nothing."""
    ends = (token == BAR) | (token == EOS)
    adds = ~ends & ~partial.done
    slots = jnp.arange(MAX_EXPR_TOKENS)
    prefix = jnp.where((slots == partial.slot) & adds, token, partial.prefix)
    state = jnp.asarray(FOLLOWING)[partial.state, token]
    anchors = jnp.where(state == P2, public.gaps[:, position(prefix[1:6])], partial.anchors)
    whole, at = adds & (state == AFTER), jnp.sum(partial.codes > 0)
    code = number(prefix)
    written, same = write(code, partial.pointers, public)
    pointers = jnp.where(whole, written, partial.pointers)
    index = jnp.arange(partial.codes.size)
    return Partial(
        last=jnp.where(partial.done, partial.last, token),
        state=jnp.where(whole & (at == index.size - 1), FULL, state),
        slot=jnp.where(ends, 0, partial.slot + adds),
        prefix=jnp.where(ends, 0, prefix),
        pointers=pointers,
        before=jnp.where(ends, pointers, partial.before),
        anchors=jnp.where(ends, -1, anchors),
        codes=jnp.where((index == at) & whole, code, partial.codes),
        fits=partial.fits
        & (jnp.all(same | ~public.shown) | ~whole)
        & (jnp.all(at_end(pointers, public) | ~public.shown) | (token != EOS)),
    )


def position(words: Integer[Array, " five"]) -> Integer[Array, ""]:
    """The number of the position that starts with these tokens."""
    gap = words[1] - ZERO + MAX_K
    pattern = words[2] - ZERO - 1 + jnp.where(words[1] == T_REGEXTOK, NUM_CHARS, 0)
    count = NUM_KS * pattern + words[3] - ZERO + MAX_K
    found = jnp.where(words[0] == T_CONSTPOS, gap, NUM_KS + 2 * count + words[4] - T_START)
    return jnp.clip(found, 0, NUM_POS - 1)  # of unfinished ones, never looked at


def number(prefix: Integer[Array, " slots"]) -> Integer[Array, ""]:
    """The number of a whole expression, from its tokens."""
    first = jnp.where(prefix[1] == T_CONSTPOS, 3, 6)
    p1 = position(prefix[1:6])
    p2 = position(jax.lax.dynamic_slice(prefix, (first,), (5,)))
    substr = FIRST_SUBSTR + NUM_POS * p1 + p2
    return jnp.where(prefix[0] == T_CONSTSTR, prefix[1] - ZERO, substr)


def write(
    code: Integer[Array, ""], pointers: Integer[Array, " pairs"], public: PublicPairs
) -> tuple[Integer[Array, " pairs"], Bool[Array, " pairs"]]:
    """The pointers after an expression, and whether it wrote what the outputs have there."""
    is_const = code < FIRST_SUBSTR
    p1, p2 = jnp.divmod(jnp.maximum(code - FIRST_SUBSTR, 0), NUM_POS)
    char = jnp.asarray(CHAR_CODES)[jnp.clip(code - 1, 0, NUM_CHARS - 1)]
    one, other = public.gaps[:, p1], public.gaps[:, p2]
    there = (one >= 0) & (other >= 0) & ~is_const
    low = jnp.where(there, jnp.minimum(one, other), 0)
    size = jnp.where(is_const, 1, jnp.where(there, jnp.maximum(one, other) - low, 0))

    def same(
        text: Array, wanted: Array, low: Array, pointer: Array, size: Array
    ) -> Bool[Array, ""]:
        i = jnp.arange(text.size)
        copied = jnp.where(is_const, char, text[jnp.minimum(low + i, text.size - 1)])
        at = pointer + i
        expected = jnp.where(at < wanted.size, wanted[jnp.minimum(at, wanted.size - 1)], 0)
        return jnp.all((copied == expected) | (i >= size))

    fits = jax.vmap(same)(public.inputs, public.outputs, low, pointers, size)
    return jnp.minimum(pointers + size, public.outputs.shape[1]), fits


def at_end(pointers: Integer[Array, " pairs"], public: PublicPairs) -> Bool[Array, " pairs"]:
    """Whether the outputs are written to their ends."""
    return pointers == jnp.sum(public.outputs > 0, axis=1)


class Execution(NamedTuple):
    """What a program has written, before each of its expressions and after the last."""

    pointers: Integer[Array, "sites pairs"]
    fits: Bool[Array, "sites pairs"]  # so far
    right: Bool[Array, " pairs"]  # the whole output


Carry = tuple[Integer[Array, " pairs"], Bool[Array, " pairs"]]  # pointers, and what fits


def execute(codes: Integer[Array, " expressions"], public: PublicPairs) -> Execution:
    """Run a program on all pairs."""

    def step(carry: Carry, code: Integer[Array, ""]) -> tuple[Carry, Carry]:
        pointers, fits = carry
        after, same = write(code, pointers, public)
        there = code > 0
        return (jnp.where(there, after, pointers), fits & (same | ~there)), carry

    num_pairs = len(public.outputs)
    begin = jnp.zeros(num_pairs, jnp.int32), jnp.ones(num_pairs, bool)
    end, before = jax.lax.scan(step, begin, codes)
    pointers, fits = (jnp.concatenate([a, b[None]]) for a, b in zip(before, end, strict=True))
    return Execution(pointers, fits, fits[-1] & at_end(pointers[-1], public) & (codes[0] > 0))
