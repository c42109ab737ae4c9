"""A sampler of bytes from a model: it knows the format, and never draws the byte that was there.

Each edit sees a part of its context, from nothing but the position of the byte (visible fraction 0)
to all that is around it (1), and has a temperature, up to inf, where all values are as likely. Each
pair of the visible fractions and temperatures given is as likely. The distribution of a byte,

    p(v) ~ p_model(v | context, position)^(1 / temperature),  v other than the byte that is there,

depends on the seed alone: edits of one mutant do not see each other. So it is computed when it is
first needed, and kept as a table. The mask of the context is drawn once for each position and pair.
With `stay` the byte that is there may be drawn, too, as in the paper: bytes that the model is sure
of mostly stay, and those that it would not have predicted change.
"""

from collections.abc import Sequence
from functools import partial
from itertools import product
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int, UInt8, UInt16

from aloex.apps.fuzz.model import VISIBLE_FRACTIONS, ByteModel, fill_in_batches, mask
from aloex.base.errors import require
from studies.fuzz.mutators.edits import Edits, RandomEdits

FULL = 2**16 - 1  # a table holds 256 cumulative probabilities, as integers up to FULL
MAX_TABLES = 1 << 20  # that are kept: 512 MiB
AT_ONCE = 1 << 18  # edits
POSITION_BITS, PAIR_BITS = 32, 8

Numbers = Int[np.ndarray, " edits"]


def learned(
    model: ByteModel,
    *,
    visible_fractions: Sequence[float] = VISIBLE_FRACTIONS,
    temperatures: Sequence[float] = (1.0,),
    **options: Any,
) -> RandomEdits:
    """`RandomEdits` with values drawn from a model; `options` are seed, edits, keep."""
    return RandomEdits(ModelSampler(model, visible_fractions, temperatures), **options)


class ModelSampler:
    """Draws values from the distributions above.

    Args:
        model: the model of bytes.
        visible_fractions: of the context, numbers from 0 to 1.
        temperatures: positive numbers.
        stay: whether a byte may stay as it is.
    """

    def __init__(
        self,
        model: ByteModel,
        visible_fractions: Sequence[float] = VISIBLE_FRACTIONS,
        temperatures: Sequence[float] = (1.0,),
        *,
        stay: bool = False,
    ):
        given = tuple(visible_fractions)
        good = len(given) > 0 and min(given) >= 0 and max(given) <= 1
        require(good, f"visible fractions must be numbers from 0 to 1, got {given}")
        good = len(temperatures) > 0 and all(t > 0 for t in temperatures)
        require(good, f"temperatures must be positive, got {tuple(temperatures)}")
        self.model, self.pairs = model, list(product(given, temperatures))
        require(
            len(self.pairs) <= 2**PAIR_BITS,
            f"there may be {2**PAIR_BITS} pairs of visible fractions and temperatures, "
            f"got {len(self.pairs)}",
        )
        self.stay = stay
        self._forget()

    def _forget(self) -> None:
        self._number: dict[bytes, int] = {}  # of a seed
        self._keys = np.zeros(0, np.int64)  # of the tables that are kept, in ascending order
        self._rows = np.zeros(0, np.int64)  # their rows
        self._tables = np.empty((MAX_TABLES, 256), np.uint16)  # takes memory as it is filled

    def __call__(self, edits: Edits) -> UInt8[np.ndarray, " edits"]:
        pair, chance = np.divmod(len(self.pairs) * edits.chance, 1)
        return self.draw(edits._replace(chance=chance), pair.astype(np.int64))

    def draw(self, edits: Edits, pair: Int[np.ndarray, " edits"]) -> UInt8[np.ndarray, " edits"]:
        """Draw a value for each edit, with the visible fraction and temperature of its pair."""
        values = np.empty(len(pair), np.uint8)
        for i in range(0, len(pair), AT_ONCE):
            part = slice(i, i + AT_ONCE)
            asked = edits.seeds, edits.origin[part], edits.position[part], pair[part]
            rows = self._find_tables(*asked)
            threshold = (FULL * edits.chance[part]).astype(np.uint16)
            values[part] = _invert(self._tables, rows, threshold)
        return values

    def _find_tables(
        self, seeds: Sequence[bytes], origin: Numbers, position: Numbers, pair: Numbers
    ) -> Numbers:
        """The rows of the tables of these edits; those that are missing are computed."""
        for i in np.unique(origin):
            self._number.setdefault(seeds[i], len(self._number))
        number = np.array([self._number.get(x, 0) for x in seeds])[origin]
        keys = ((number << POSITION_BITS | position) << PAIR_BITS) | pair
        asked, first, back = np.unique(keys, return_index=True, return_inverse=True)
        missing = ~np.isin(asked, self._keys, assume_unique=True)
        if len(self._keys) + np.sum(missing) > MAX_TABLES:
            self._forget()
            return self._find_tables(seeds, origin, position, pair)
        new = first[missing]
        begin, end = len(self._keys), len(self._keys) + len(new)
        self._compute(self._tables[begin:end], seeds, origin[new], position[new], pair[new])
        keys = np.concatenate([self._keys, asked[missing]])
        order = np.argsort(keys, kind="stable")
        self._rows = np.concatenate([self._rows, np.arange(begin, end)])[order]
        self._keys = keys[order]
        return self._rows[np.searchsorted(self._keys, asked)][back]

    def _compute(
        self,
        out: UInt16[np.ndarray, "edits 256"],
        seeds: Sequence[bytes],
        origin: Numbers,
        position: Numbers,
        pair: Numbers,
    ) -> None:
        """Fill in tables."""
        chosen, of = np.unique(origin, return_inverse=True)
        data = np.frombuffer(b"".join([seeds[i] for i in chosen]), np.uint8)
        length = np.array([len(seeds[i]) for i in chosen], np.int64)  # there may be none
        begin, length = (np.cumsum(length) - length)[of], length[of]
        ask = partial(_table, self.model, self.stay, jnp.array(self.pairs, jnp.float32))
        fill_in_batches(out, ask, data, begin, length, position, data[begin + position], pair)


@eqx.filter_jit
def _table(
    model: ByteModel,
    stay: bool,
    pairs: Float[Array, "pairs 2"],
    x: Int[Array, "n window"],
    offset: Int[Array, " n"],
    after: Int[Array, " n"],
    current: Int[Array, " n"],
    pair: Int[Array, " n"],
) -> UInt16[Array, "n 256"]:
    """For each row the cumulative probabilities of the values 0, 1, ..., 255."""

    def one(
        x: Array, offset: Array, after: Array, current: Array, pair: Array
    ) -> Float[Array, " 256"]:
        key = jax.random.fold_in(jax.random.fold_in(jax.random.key(0), offset), pair)
        visible_fraction, temperature = pairs[pair]
        logits = model(mask(key, x, visible_fraction), offset, after) / temperature
        excluded = (jnp.arange(256) == current) & (not stay)
        return jax.nn.softmax(jnp.where(excluded, -jnp.inf, logits))

    sums = jnp.cumsum(jax.vmap(one)(x, offset, after, current, pair), axis=1)
    return jnp.round(sums / sums[:, -1:] * FULL).astype(jnp.uint16)


def _invert(
    tables: UInt16[np.ndarray, "n 256"],
    rows: Int[np.ndarray, " edits"],
    threshold: UInt16[np.ndarray, " edits"],
) -> UInt8[np.ndarray, " edits"]:
    """The first value whose cumulative probability is above the threshold, by bisection."""
    flat, base = tables.reshape(-1), 256 * rows
    value = np.zeros(len(rows), np.int64)
    for half in (128, 64, 32, 16, 8, 4, 2, 1):
        value += half * (flat[base + value + (half - 1)] <= threshold)
    return value.astype(np.uint8)
