"""The paper's q_A and q_stop in one (`app:exp_robustfill`): where to edit, and what to write.

A bidirectional LSTM reads the current program, one expression a step; an expression is the sum of
vectors of its tokens, by their index in it. A pointer then chooses one of: replace or delete an
expression, insert one before it, stop. Another LSTM, conditioned on the chosen site, writes the new
expression under the grammar's mask. Both are conditioned on the task by an encoder like q0's.
Encoder and writer start from the weights of q0's, and are trained further.
The editor may write the expression that was there before; proposals never do that.
"""

from typing import Any, NamedTuple, TypeVar

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Integer, Key

from aloex.apps.programs.language import VOCABULARY
from aloex.apps.programs.language.mask import START
from aloex.apps.programs.language.syntax import MAX_EXPRESSIONS
from aloex.apps.programs.language.tokens import MAX_EXPR_TOKENS
from aloex.apps.programs.networks.nets.layers import Embed
from aloex.apps.programs.networks.nets.seq2seq import Encoder
from aloex.apps.programs.networks.programs import edits
from aloex.apps.programs.networks.programs.codes import EXPR_TOKENS, FOLLOWING
from aloex.apps.programs.networks.programs.grammar import (
    Partial,
    PublicPairs,
    allowed_log_probs,
    empty,
)
from aloex.nets import Linear, LSTMs, LSTMState

NUM_TOKENS = len(VOCABULARY)
NUM_SITES = MAX_EXPRESSIONS + 1


def _expr_states() -> np.ndarray:
    """The grammar's state before each token of each expression."""
    states = np.full(EXPR_TOKENS.shape, START, np.int8)
    for i in range(1, MAX_EXPR_TOKENS):
        states[:, i] = FOLLOWING[states[:, i - 1], EXPR_TOKENS[:, i - 1]]
    return states


EXPR_STATES = _expr_states()

Tree = TypeVar("Tree")  # of arrays
Carried = tuple[tuple[LSTMState, ...], Float[Array, " gates"]]  # by the writer; and its condition


def spread(tree: Tree, like: Array) -> Tree:
    """Arrays [tasks, ...] repeated for the rows of `like` [tasks, rows, ...]."""
    shape = like.shape[:2]
    return jax.tree.map(lambda a: jnp.broadcast_to(a[:, None], (*shape, *a.shape[1:])), tree)


def flat(tree: Tree) -> Tree:
    """[tasks, rows, ...] as one list of rows, as LSTMs want it."""
    return jax.tree.map(lambda a: a.reshape(-1, *a.shape[2:]), tree)


def unflat(tree: Tree, like: Array) -> Tree:
    """The inverse of `flat`."""
    return jax.tree.map(lambda a: a.reshape(*like.shape[:2], *a.shape[1:]), tree)


class Reading(NamedTuple):
    """Probabilities of what to do with some programs, and a vector for each site of them."""

    log_choice: Float[Array, "*n choices"]
    sites: Float[Array, "*n sites width"]
    pointers: Integer[Array, "*n sites pairs"] | None = None  # of an editor that runs programs


class Editor(eqx.Module):
    """q_A(x' | x, z) and the probability to stop."""

    encoder: Encoder
    chooser: "Chooser"
    token: Embed
    task: Linear
    site: Linear
    write: LSTMs
    head: Linear
    mode: str = eqx.field(static=True)

    def __init__(
        self,
        *,
        hidden: int = 256,
        num_layers: int = 3,
        mode: str = "paper",
        key: Key[Array, ""],
    ):
        keys = jax.random.split(key, 7)
        self.chooser = Chooser(hidden, num_layers, 2 * hidden, key=keys[0])
        self.encoder = Encoder(hidden, num_layers, key=keys[6])
        self.token = Embed(NUM_TOKENS, hidden, key=keys[1])
        self.task = Linear(2 * hidden, 4 * hidden, key=keys[2])
        self.site = Linear(hidden + 2, 4 * hidden, key=keys[3])
        self.write = LSTMs(hidden, hidden, num_layers, key=keys[4])
        self.head = Linear(hidden, NUM_TOKENS, key=keys[5])
        self.mode = mode

    def begin_like(self, q0: Any) -> "Editor":
        """The same, reading tasks and writing expressions as a q0 of its size does."""
        own = lambda model: (model.encoder, model.token, model.task, model.write, model.head)
        shapes = lambda tree: [a.shape for a in jax.tree.leaves(tree)]
        if shapes(own(self)) != shapes(own(q0)):
            return self
        return eqx.tree_at(own, self, jax.tree.map(jnp.copy, own(q0)))

    def prepare(self, public: PublicPairs) -> Float[Array, "tasks both"]:
        """The tasks as vectors, by the editor's own encoder."""
        return self.encoder(public.inputs, public.outputs, public.shown)

    def read(
        self,
        task: Float[Array, "tasks both"],
        public: PublicPairs,
        programs: Integer[Array, "tasks rows expressions"],
    ) -> Reading:
        """Look at some programs of each task."""
        return unflat(self.chooser(flat(programs), flat(spread(task, programs))), programs)

    def log_exprs(
        self,
        task: Float[Array, "tasks both"],
        public: PublicPairs,
        reading: Reading,
        choices: Integer[Array, "tasks rows"],
        exprs: Integer[Array, "tasks rows"],
    ) -> Float[Array, "tasks rows time tokens"]:
        """Log probabilities of all tokens while expressions are written."""
        tokens = flat(jnp.asarray(EXPR_TOKENS)[exprs])
        before = jnp.pad(tokens[:, :-1], ((0, 0), (1, 0)))
        condition = jax.vmap(self.editor_input)(
            *map(flat, (spread(task, choices), reading.sites, choices))
        )
        logits = self.head(self.write(self.token(before.T), condition)).swapaxes(0, 1)
        logits = unflat(logits, choices)
        return allowed_log_probs(logits, jnp.asarray(EXPR_STATES)[exprs], self.mode)

    def editor_input(
        self,
        task: Float[Array, " both"],
        sites: Float[Array, "sites width"],
        choice: Integer[Array, ""],
    ) -> Float[Array, " gates"]:
        """What the writer is conditioned on: the task, the site and the kind of edit."""
        kind = jax.nn.one_hot(edits.kind_of(choice) // 2, 2, dtype=sites.dtype)
        at = jnp.concatenate([sites[edits.expression_index(choice)], kind])
        return self.task(task) + self.site(at)

    def start(
        self,
        task: Float[Array, " both"],
        public: PublicPairs,
        reading: Reading,
        choice: Integer[Array, ""],
    ) -> tuple[Carried, Partial]:
        """What `step` begins with, for one choice."""
        condition = self.editor_input(task, reading.sites, choice)
        return (self.write.start(), condition), empty(len(public.shown), 1)

    def step(
        self, task: Float[Array, " both"], carried: Carried, partial: Partial
    ) -> tuple[Carried, Float[Array, " tokens"]]:
        """The log probabilities of the next token of one unfinished expression."""
        states, condition = carried
        states = self.write.step(states, self.token(partial.last), condition)
        log_probs = allowed_log_probs(self.head(states[-1].h), partial.state, self.mode)
        return (states, condition), log_probs


class Chooser(eqx.Module):
    """Reads programs and points at what to do; `clues` may add to each site."""

    word: Float[Array, "slots tokens width"]
    mark: Embed  # an expression, the end, beyond
    task: Linear
    layers: tuple[tuple[LSTMs, LSTMs], ...]  # there and back
    kinds: Linear
    stop: Linear

    def __init__(self, hidden: int, num_layers: int, cond_dim: int, *, key: Key[Array, ""]):
        keys = jax.random.split(key, 6)
        self.word = 0.5 * jax.random.normal(keys[0], (MAX_EXPR_TOKENS, NUM_TOKENS, hidden))
        self.mark = Embed(3, hidden, key=keys[1], scale=0.5)
        self.task = Linear(cond_dim, 4 * hidden, key=keys[2])
        one = lambda key: LSTMs(hidden, hidden // 2, 1, key=key)
        both = jax.random.split(keys[3], (num_layers, 2))
        self.layers = tuple((one(there), one(back)) for there, back in both)
        self.kinds, self.stop = Linear(hidden, 3, key=keys[4]), Linear(hidden, 1, key=keys[5])

    def __call__(
        self,
        programs: Integer[Array, "n expressions"],
        task: Float[Array, "n cond"],
        clues: Float[Array, "n sites width"] | None = None,
    ) -> Reading:
        x = self._embed(programs)
        x = (x if clues is None else x + clues).swapaxes(0, 1)
        extra = jnp.split(self.task(task), 2, axis=-1)
        for there, back in self.layers:
            ahead, behind = there(x, extra[0]), back(x[::-1], extra[1])[::-1]
            x, extra = jnp.concatenate([ahead, behind], axis=-1), (None, None)
        x = x.swapaxes(0, 1)
        replace, delete, insert = jnp.moveaxis(self.kinds(x).astype(jnp.float32), -1, 0)
        stop = self.stop(x.mean(axis=1)).astype(jnp.float32)
        logits = jnp.concatenate([replace[:, :-1], delete[:, :-1], insert, stop], axis=-1)
        logits = jnp.where(edits.allowed(programs), logits, -jnp.inf)
        return Reading(jax.nn.log_softmax(logits, axis=-1), x)

    def _embed(self, programs: Integer[Array, "n expressions"]) -> Float[Array, "n sites width"]:
        tokens = jnp.asarray(EXPR_TOKENS)[programs].astype(jnp.int32)
        numbers = tokens + NUM_TOKENS * jnp.arange(MAX_EXPR_TOKENS)
        words = jax.nn.one_hot(numbers, MAX_EXPR_TOKENS * NUM_TOKENS, dtype=self.word.dtype)
        words = jnp.where((tokens > 0)[..., None], words, 0).sum(axis=2)  # summed over the tokens
        exprs = words @ self.word.reshape(-1, self.word.shape[-1])
        exprs = jnp.pad(exprs, ((0, 0), (0, 1), (0, 0)))
        size = jnp.sum(programs != edits.PAD, axis=1)[:, None]
        here = jnp.arange(NUM_SITES)
        return exprs + self.mark(jnp.where(here < size, 0, jnp.where(here == size, 1, 2)))
