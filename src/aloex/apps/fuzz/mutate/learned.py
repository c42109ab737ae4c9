"""A mutator that knows the format: bytes drawn from a learned model, never the one that was there.

Each edit believes its context at one of some levels, from the place of the byte alone (0) to all
that is around it (1), and has one of some temperatures, up to inf, where all values are as likely;
each of the pairs is as likely. The law of a byte,

    p(v) ~ p_model(v | context, place)^(1 / temperature),  v other than the byte that is there,

is that of the seed: edits of one mutant do not see each other. So it is computed when it is first
asked for and kept. What of the context is hidden is drawn once for each position and pair. With
`stay` the byte that is there is like any other, as in the paper: bytes that the model is sure of
mostly stay, and those that it would not have foreseen change.
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

from aloex.apps.fuzz.model.byte_law import ByteLaw
from aloex.apps.fuzz.model.contexts import LEVELS, fill, hide
from aloex.apps.fuzz.mutate import adaptive
from aloex.apps.fuzz.mutate.certainty import Sure
from aloex.apps.fuzz.mutate.mutators import Edits, RandomEdits
from aloex.base.errors import require

FULL = 2**16 - 1  # a law is kept as 256 sums of probabilities, in parts of FULL
MAX_LAWS = 1 << 20  # kept: 512 MiB
AT_ONCE = 1 << 18  # edits
POSITION_BITS, PAIR_BITS = 32, 8


def learned(
    model: ByteLaw,
    *,
    levels: Sequence[float] = LEVELS,
    temperatures: Sequence[float] = (1.0,),
    **how,
) -> RandomEdits:
    """Edits by a model; `how` as of `RandomEdits`: seed, edits, keep, repair."""
    return RandomEdits(LearnedByte(model, levels, temperatures), **how)


def guides(model: ByteLaw) -> dict[str, Any]:
    """What `Adaptive` takes of a model: its laws, and the places where numbers may be."""
    laws = LearnedByte(model, adaptive.LEVELS, adaptive.TEMPERATURES, keep=False)
    return {"model": laws, "places": Sure(model, adaptive.MAX_PLACES)}


class LearnedByte:
    """Chooses values by the laws above.

    Args:
        keep: whether to keep them; else they are computed each time they are asked for.
        stay: whether a byte may stay as it is.
    """

    def __init__(
        self,
        model: ByteLaw,
        levels: Sequence[float] = LEVELS,
        temperatures: Sequence[float] = (1.0,),
        *,
        keep: bool = True,
        stay: bool = False,
    ):
        good = len(levels) > 0 and min(levels) >= 0 and max(levels) <= 1
        require(good, f"levels must be numbers from 0 to 1, got {tuple(levels)}")
        good = len(temperatures) > 0 and all(t > 0 for t in temperatures)
        require(good, f"temperatures must be positive, got {tuple(temperatures)}")
        self.model, self.pairs = model, list(product(levels, temperatures))
        few = len(self.pairs) <= 2**PAIR_BITS
        require(few, f"there may be {2**PAIR_BITS} levels and temperatures, not {len(self.pairs)}")
        self.keep, self.stay = keep, stay
        self._forget()

    def _forget(self) -> None:
        self._number: dict[bytes, int] = {}  # of a seed
        self._keys = np.zeros(0, np.int64)  # of the laws that are kept, in order
        self._where = np.zeros(0, np.int64)  # their rows
        self._laws = np.empty((MAX_LAWS, 256), np.uint16)  # takes memory as it is filled

    def __call__(self, edits: Edits) -> UInt8[np.ndarray, " edits"]:
        pair, chance = np.divmod(len(self.pairs) * edits.chance, 1)
        return self.draw(edits._replace(chance=chance), pair.astype(np.int64))

    def draw(self, edits: Edits, pair: Int[np.ndarray, " edits"]) -> UInt8[np.ndarray, " edits"]:
        """Values by the laws of the pairs given."""
        values = np.empty(len(pair), np.uint8)
        for i in range(0, len(pair), AT_ONCE):
            part = slice(i, i + AT_ONCE)
            asked = edits.seeds, edits.origin[part], edits.position[part], pair[part]
            if self.keep:
                where, laws = self._rows(*asked), self._laws
            else:
                where = np.arange(len(pair[part]))
                laws = np.empty((len(where), 256), np.uint16)
                self._compute(laws, *asked)
            threshold = (FULL * edits.chance[part]).astype(np.uint16)
            values[part] = _invert(laws, where, threshold)
        return values

    def _rows(self, seeds, origin, position, pair) -> Int[np.ndarray, " edits"]:
        """Where the laws of these edits are; those that are missing are computed."""
        for i in np.unique(origin):
            self._number.setdefault(seeds[i], len(self._number))
        number = np.array([self._number.get(x, 0) for x in seeds])[origin]
        keys = ((number << POSITION_BITS | position) << PAIR_BITS) | pair
        asked, first, back = np.unique(keys, return_index=True, return_inverse=True)
        missing = ~np.isin(asked, self._keys, assume_unique=True)
        if len(self._keys) + np.sum(missing) > MAX_LAWS:
            self._forget()
            return self._rows(seeds, origin, position, pair)
        rows = first[missing]
        begin, end = len(self._keys), len(self._keys) + len(rows)
        self._compute(self._laws[begin:end], seeds, origin[rows], position[rows], pair[rows])
        keys = np.concatenate([self._keys, asked[missing]])
        order = np.argsort(keys, kind="stable")
        self._where = np.concatenate([self._where, np.arange(begin, end)])[order]
        self._keys = keys[order]
        return self._where[np.searchsorted(self._keys, asked)][back]

    def _compute(self, out: UInt16[np.ndarray, "n 256"], seeds, origin, position, pair) -> None:
        """Fill in laws."""
        chosen, of = np.unique(origin, return_inverse=True)
        data = np.frombuffer(b"".join([seeds[i] for i in chosen]), np.uint8)
        length = np.array([len(seeds[i]) for i in chosen], np.int64)  # there may be none
        begin, length = (np.cumsum(length) - length)[of], length[of]
        ask = partial(_law, self.model, self.stay, np.array(self.pairs, np.float32))
        fill(out, ask, data, begin, length, position, data[begin + position], pair)


@eqx.filter_jit
def _law(
    model: ByteLaw, stay: bool, pairs, x, offset, after, current, pair
) -> UInt16[Array, "n 256"]:
    """For each row: sums of the probabilities of the values up to 0, 1, ..., 255."""

    def one(x, offset, after, current, pair) -> Float[Array, " 256"]:
        key = jax.random.fold_in(jax.random.fold_in(jax.random.key(0), offset), pair)
        level, temperature = pairs[pair]
        logits = model(hide(key, x, level), offset, after) / temperature
        excluded = (jnp.arange(256) == current) & (not stay)
        return jax.nn.softmax(jnp.where(excluded, -jnp.inf, logits))

    sums = jnp.cumsum(jax.vmap(one)(x, offset, after, current, pair), axis=1)
    return jnp.round(sums / sums[:, -1:] * FULL).astype(jnp.uint16)


def _invert(
    laws: UInt16[np.ndarray, "n 256"],
    where: Int[np.ndarray, " edits"],
    threshold: UInt16[np.ndarray, " edits"],
) -> UInt8[np.ndarray, " edits"]:
    """The first value whose sum is above the threshold, by halving."""
    flat, base = laws.reshape(-1), 256 * where
    value = np.zeros(len(where), np.int64)
    for half in (128, 64, 32, 16, 8, 4, 2, 1):
        value += half * (flat[base + value + (half - 1)] <= threshold)
    return value.astype(np.uint8)
