"""The context of a byte: the 32 bytes before it, the 32 after it, and its position in its file.

An example is a row of integers: the context [64], then the byte, its offset, and the number of
bytes after it. What is beyond the file, or not visible, is MASKED in the context. So every byte of
every file is an example, also the last one, and files may have any size.
"""

from collections.abc import Callable
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int, Key, UInt8

from aloex.apps.fuzz.inputs import Corpus

REACH = 32
WINDOW = 2 * REACH
MASKED = 256
NEAR = 128  # distances below it have a feature each
STEPS = 48  # beyond it one for each half power of two, up to 2^31
LOW_BITS = 4  # of the offset, for structure that repeats every 2, 4, 8, 16 bytes
POSITION_DIM = 2 * (NEAR + STEPS + 1) + LOW_BITS

VISIBLE_FRACTIONS = (0.0, 0.25, 0.5, 0.75, 1.0)  # of the context

BATCH = 1024  # bytes that a model predicts together
AROUND = tuple(i for i in range(-REACH, REACH + 1) if i)


def context(data: Any, begin: Any, length: Any, offset: Any) -> Any:
    """The 64 bytes around some bytes of files of `length` bytes at data[begin]; NumPy or JAX."""
    xp = data.__array_namespace__()
    begin, length, offset = (xp.asarray(a)[..., None] for a in (begin, length, offset))
    at = offset + xp.asarray(AROUND)
    inside = (at >= 0) & (at < length)
    return xp.where(inside, data[begin + xp.where(inside, at, 0)].astype(xp.int32), MASKED)


def fill_in_batches(
    out: np.ndarray,
    ask: Callable[..., Array],
    data: UInt8[np.ndarray, " bytes"],
    begin: Int[np.ndarray, " n"],
    length: Int[np.ndarray, " n"],
    offset: Int[np.ndarray, " n"],
    *more: np.ndarray,
) -> None:
    """Write ask(context, offset, after, *more) of some bytes into `out`; files as in `context`.

    All batches have one size, so one program is compiled, and a row never depends on the others.
    """
    columns = (offset, length - 1 - offset, *more)
    for i in range(0, len(out), BATCH):
        rows = np.minimum(np.arange(i, i + BATCH), len(out) - 1)
        x = context(data, begin[rows], length[rows], offset[rows])
        found = ask(x, *(column[rows].astype(np.int32) for column in columns))
        out[i : i + BATCH] = np.asarray(found)[: len(out) - i]


def mask(
    key: Key[Array, ""], x: Int[Array, " window"], visible_fraction: Float[Array, ""]
) -> Int[Array, " window"]:
    """Mask each byte of a context, but with probability `visible_fraction` leave it visible."""
    return jnp.where(jax.random.uniform(key, x.shape) < visible_fraction, x, MASKED)


def position_features(offset: Int[Array, ""], after: Int[Array, ""]) -> Float[Array, " position"]:
    """Features of the distances of a byte from the beginning and from the end of its file."""
    bits = (offset >> jnp.arange(LOW_BITS)) & 1
    return jnp.concatenate([_distance(offset), _distance(after), 2.0 * bits - 1])


def _distance(d: Int[Array, ""]) -> Float[Array, " n"]:
    """One-hot below NEAR; beyond it, weights of the two steps around the distance."""
    near = d == jnp.arange(NEAR)
    step = 2 * jnp.log2(jnp.maximum(d, NEAR) / NEAR)
    far = jnp.maximum(0, 1 - jnp.abs(step - jnp.arange(STEPS + 1)))
    return jnp.concatenate([near, jnp.where(d < NEAR, 0, far)]).astype(jnp.float32)


class Examples(eqx.Module):
    """Draws examples for `fit`: a file, each as likely, then a byte of it, as mutants do."""

    data: UInt8[Array, " bytes"]
    begin: Int[Array, " files"]
    length: Int[Array, " files"]

    def __init__(self, corpus: Corpus):
        self.data = jax.device_put(corpus.data, may_alias=True)  # on a CPU it is not copied
        self.begin = jnp.asarray(corpus.begin, jnp.int32)
        self.length = jnp.asarray(corpus.length, jnp.int32)

    def draw(self, key: Key[Array, ""]) -> Int[Array, " example"]:
        """One example."""
        key_file, key_offset = jax.random.split(key)
        i = jax.random.randint(key_file, (), 0, len(self.length))
        begin, length = self.begin[i], self.length[i]
        offset = jax.random.randint(key_offset, (), 0, length)
        rest = jnp.array([self.data[begin + offset].astype(jnp.int32), offset, length - 1 - offset])
        return jnp.concatenate([context(self.data, begin, length, offset), rest])

    def __call__(self, key: Key[Array, ""], n: int) -> Int[Array, "n example"]:
        return jax.vmap(self.draw)(jax.random.split(key, n))
