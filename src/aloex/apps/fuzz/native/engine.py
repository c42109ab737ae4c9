"""The mutation engine of mutator/mutator.h, with its block in memory that workers can map."""

import ctypes
import mmap
import os
from collections.abc import Sequence
from ctypes import c_char_p, c_double, c_int64, c_size_t, c_uint16, c_uint32, c_uint64, c_void_p
from enum import IntEnum, IntFlag
from functools import cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from aloex.apps.fuzz.native.compiled import compiled
from aloex.base.errors import require

MAX_OPERATORS, MAX_STACKS, NUM_LIKELY = 64, 8, 7
MAX_INPUTS, MAX_BYTES = 1 << 15, 1 << 29  # of a pool; what is not used takes no memory
ORIGINS = ("new edges", "new hit counts")  # of inputs that mutants start from
REPAIRS = {"none": 0, "png": 1}

EDIT = np.dtype(  # struct aloex_edit
    [
        ("position", "u4"),
        ("old_size", "u1"),
        ("size", "u1"),
        ("order", "u1"),
        ("bytes", "u1", 25),
    ]
)
LIKELY = np.dtype([("bytes", "u1", NUM_LIKELY), ("upto", "u1", NUM_LIKELY)])


class Guide(IntFlag):
    """What the engine goes by. Each can be left out, to see what it is worth."""

    FEATURES = 1
    COMPARES = 2
    TOKENS = 4
    FORGET = 8
    STACK = 16


ALL_GUIDES = Guide(31)


class TokenKind(IntEnum):
    """Where a token comes from."""

    DICTIONARY = 0
    STRINGS = 1
    COMPARED = 2


class Recipe(ctypes.Structure):
    """How a mutant was made (struct aloex_recipe)."""

    _fields_ = (
        ("operators", c_uint64),
        ("costly", c_uint64),
        ("max_cost", c_uint64),
        ("parent", c_uint32),
        ("stack", c_uint16),
        ("origin", c_uint16),
    )


class Counts(ctypes.Structure):
    """What was tried and won in a number of mutants (struct aloex_counts)."""

    _fields_ = (
        ("num_mutants", c_uint64),
        ("tried", c_uint64 * MAX_OPERATORS),
        ("won", c_uint64 * MAX_OPERATORS),
        ("stack_tried", c_uint64 * MAX_STACKS),
        ("stack_won", c_uint64 * MAX_STACKS),
        ("origin_tried", c_uint64 * len(ORIGINS)),
        ("origin_won", c_uint64 * len(ORIGINS)),
        ("num_unlimited", c_uint64),
        ("cost", c_uint64),
        ("costly", c_uint64),
    )


class Arm(NamedTuple):
    """An operator, or a number of operators: what was tried and won, and how often it is chosen."""

    name: str
    tried: float
    won: float
    share: float


class _Options(ctypes.Structure):
    _fields_ = (
        ("seed", c_uint64),
        ("num_edges", c_uint32),
        ("max_len", c_uint32),
        ("keep", c_uint32),
        ("guides", c_uint32),
        ("repair", c_uint32),
        ("max_inputs", c_uint32),
        ("max_bytes", c_uint64),
    )


class _News(ctypes.Structure):
    _fields_ = (("edges", c_uint32), ("features", c_uint32))


class _Input(ctypes.Structure):
    _fields_ = (
        ("data", c_void_p),
        ("size", c_size_t),
        ("chosen", c_uint64),
        ("share", c_double),
        ("cost", c_uint64),
    )


class _Arm(ctypes.Structure):
    _fields_ = (("tried", c_double), ("won", c_double), ("share", c_double))


@cache
def _library() -> Any:
    library, block = ctypes.CDLL(compiled("mutator.so")), c_void_p
    declare = {
        "size": (c_size_t, c_void_p),
        "init": (None, block, c_void_p),
        "operator_name": (c_char_p, ctypes.c_uint),
        "stack_size": (ctypes.c_uint, ctypes.c_uint),
        "add": (c_int64, block, c_char_p, c_size_t, c_void_p, c_size_t, c_uint64),
        "set_trace": (None, block, c_uint64, c_void_p, c_size_t, c_uint64),
        "news": (_News, block, c_void_p, c_size_t),
        "add_token": (None, block, ctypes.c_int, c_char_p, c_size_t),
        "set_likely": (None, block, c_uint64, c_void_p),
        "learn": (None, block, c_void_p, c_void_p, c_void_p),
        "plan": (None, block),
        "mutate": (c_size_t, block, c_uint64, c_void_p, c_void_p),
        "num_inputs": (c_uint64, block),
        "num_predicted": (c_uint64, block),
        "usual_cost": (c_uint64, block),
        "input": (_Input, block, c_uint64),
        "seen": (c_void_p, block),
        "operator": (_Arm, block, ctypes.c_uint),
        "stack": (_Arm, block, ctypes.c_uint),
        "origin": (_Arm, block, ctypes.c_uint),
        "packed_size": (c_size_t, block),
        "pack": (None, block, c_void_p),
        "unpack": (ctypes.c_int, block, c_char_p, c_size_t),
    }
    for name, (result, *arguments) in declare.items():
        function = getattr(library, f"aloex_{name}")
        function.restype, function.argtypes = result, arguments
    return library


class Engine:
    """Makes mutants and learns what pays; see mutator.h.

    Args:
        num_edges: of the target.
        max_len: bytes that a mutant may have.
        seed: of all randomness.
        keep: bytes at the beginning that stay as they are.
        guides: what it goes by.
        repair: one of `REPAIRS`, applied to each mutant.

    `fd` is a file with the block, for workers to map.
    """

    def __init__(
        self,
        num_edges: int,
        *,
        max_len: int,
        seed: int = 0,
        keep: int = 0,
        guides: Guide = ALL_GUIDES,
        repair: str = "none",
    ):
        require(repair in REPAIRS, f"repair must be one of {', '.join(REPAIRS)}, got {repair!r}")
        self.num_edges, self.max_len, self.keep = num_edges, max_len, keep
        options = _Options(
            *(seed, num_edges, max_len, keep, guides, REPAIRS[repair], MAX_INPUTS, MAX_BYTES)
        )
        self._c = _library()
        self.fd = os.memfd_create("aloex-pool")
        os.truncate(self.fd, self._c.aloex_size(ctypes.byref(options)))
        self._memory = mmap.mmap(self.fd, 0)
        self._block = ctypes.addressof(ctypes.c_char.from_buffer(self._memory))
        self._c.aloex_init(self._block, ctypes.byref(options))
        self._mutant = np.empty(max(max_len, 1), np.uint8)

    def close(self) -> None:
        """Free the block."""
        if self.fd >= 0:
            os.close(self.fd)
            self.fd = -1

    @property
    def num_inputs(self) -> int:
        """Number of inputs in the pool."""
        return self._c.aloex_num_inputs(self._block)

    @property
    def num_predicted(self) -> int:
        """Number of inputs in the pool that a model has seen."""
        return self._c.aloex_num_predicted(self._block)

    @property
    def seen(self) -> NDArray[np.uint8]:
        """What the inputs cover: a byte for each edge, with a bit for each bucket of hit counts."""
        at = self._c.aloex_seen(self._block)
        return np.frombuffer(ctypes.string_at(at, self.num_edges), np.uint8)

    def add(self, data: bytes, features: NDArray[np.uint32], cost: int = 0) -> int:
        """Add an input to the pool, and its features to the coverage.

        `cost` is what running it costs; 0: that is not known. Returns its index, or -1 if the pool
        is full.
        """
        features = np.ascontiguousarray(features, np.uint32)
        at = features.ctypes.data
        return self._c.aloex_add(self._block, data, len(data), at, len(features), cost)

    def set_trace(self, i: int, edits: NDArray[Any], cost: int) -> None:
        """Say what input i was compared with: an array of `EDIT`; and what it costs to run."""
        edits = np.ascontiguousarray(edits, EDIT)
        self._c.aloex_set_trace(self._block, i, edits.ctypes.data, len(edits), cost)

    def news(self, features: NDArray[np.uint32]) -> tuple[int, int]:
        """How many edges and features of an input are new."""
        features = np.ascontiguousarray(features, np.uint32)
        news = self._c.aloex_news(self._block, features.ctypes.data, len(features))
        return news.edges, news.features

    def add_tokens(self, kind: TokenKind, tokens: Sequence[bytes]) -> None:
        """Add tokens; those that are known, empty or too long are passed over."""
        for token in tokens:
            self._c.aloex_add_token(self._block, kind, token, len(token))

    def set_likely(self, i: int, table: NDArray[Any]) -> None:
        """Say which bytes a model expects at each position of input i: an array of `LIKELY`."""
        self._c.aloex_set_likely(self._block, i, np.ascontiguousarray(table).ctypes.data)

    def learn(
        self, counts: Counts, hits: NDArray[np.uint32] | None, chosen: NDArray[np.uint32] | None
    ) -> None:
        """Learn from mutants: what was tried, their number with each feature, from each input."""
        at = lambda array: None if array is None else array.ctypes.data
        self._c.aloex_learn(self._block, ctypes.byref(counts), at(hits), at(chosen))

    def plan(self) -> None:
        """Choose from now on with what is known now."""
        self._c.aloex_plan(self._block)

    def mutate(self, number: int) -> tuple[bytes, Recipe]:
        """Mutant `number`, and how it was made."""
        recipe = Recipe()
        out = self._mutant.ctypes.data
        size = self._c.aloex_mutate(self._block, number, out, ctypes.byref(recipe))
        return self._mutant[:size].tobytes(), recipe

    @property
    def usual_cost(self) -> int:
        """What an input of the pool usually costs; 1: that is not known."""
        return self._c.aloex_usual_cost(self._block)

    def cost(self, i: int) -> int:
        """What input i of the pool costs; 0: that is not known."""
        return self._c.aloex_input(self._block, i).cost

    def input(self, i: int) -> bytes:
        """Input i of the pool."""
        found = self._c.aloex_input(self._block, i)
        return ctypes.string_at(found.data, found.size)

    def operators(self) -> list[Arm]:
        """The operators."""
        found: list[Arm] = []
        while name := self._c.aloex_operator_name(len(found)):
            arm = self._c.aloex_operator(self._block, len(found))
            found.append(Arm(name.decode(), arm.tried, arm.won, arm.share))
        return found

    def stacks(self) -> list[Arm]:
        """The numbers of operators on one mutant."""
        found: list[Arm] = []
        while size := self._c.aloex_stack_size(len(found)):
            arm = self._c.aloex_stack(self._block, len(found))
            found.append(Arm(str(size), arm.tried, arm.won, arm.share))
        return found

    def origins(self) -> list[Arm]:
        """The kinds of inputs that mutants start from."""
        arms = [self._c.aloex_origin(self._block, i) for i in range(len(ORIGINS))]
        pairs = zip(ORIGINS, arms, strict=True)
        return [Arm(name, arm.tried, arm.won, arm.share) for name, arm in pairs]

    def pack(self) -> bytes:
        """The block without the room for more."""
        packed = np.empty(self._c.aloex_packed_size(self._block), np.uint8)
        self._c.aloex_pack(self._block, packed.ctypes.data)
        return packed.tobytes()

    def unpack(self, packed: bytes) -> bool:
        """Return to what was packed; False if it is not of an engine with the same options."""
        return bool(self._c.aloex_unpack(self._block, packed, len(packed)))
