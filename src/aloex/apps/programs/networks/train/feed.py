"""Batches of tasks for training.

A batch has three parts of fixed sizes, so that short programs are not padded to the longest ones: a
fixed share of the tasks has few tokens and short outputs, and so on. Some more tasks than needed
are drawn to fill them. Batch i is a function of the seed and of i alone.
"""

from typing import NamedTuple

import numpy as np

from aloex.apps.programs.language.syntax import MAX_EXPRESSIONS
from aloex.apps.programs.networks.programs import host
from aloex.apps.programs.networks.programs.codes import NUM_POS
from aloex.apps.programs.networks.programs.host import Part
from aloex.apps.programs.tasks.tasks import NUM_PUBLIC, generate, require_free
from aloex.base.errors import require

SPARE = 1.08  # tasks drawn for one that is needed


class LengthBucket(NamedTuple):
    """Tasks of similar length, which are padded to the same sizes."""

    share: float  # of a batch
    max_tokens: int
    max_output: int


# Of all tasks 46% fit the first, 92% the second; one in 100,000 does not fit the third.
BUCKETS = (LengthBucket(0.45, 24, 26), LengthBucket(0.47, 48, 50), LengthBucket(0.08, 88, 50))


class Batcher(NamedTuple):
    """Makes batch i."""

    batch_size: int
    seed: int
    canonical: bool  # targets in canonical form
    fewer: float = 0.0  # share of the tasks that are shown with 1 to 3 public pairs

    def check(self) -> "Batcher":
        require(self.batch_size >= 32, f"a batch has 32 tasks or more, got {self.batch_size}")
        require_free(self.seed)
        require(0 <= self.fewer <= 1, f"fewer is a share, from 0 to 1, got {self.fewer}")
        return self

    def sizes(self) -> list[int]:
        """Tasks of each bucket."""
        short = [round(self.batch_size * bucket.share) for bucket in BUCKETS[:-1]]
        return [*short, self.batch_size - sum(short)]

    def __call__(self, i: int) -> tuple[Part, ...]:
        number = int(self.batch_size * SPARE) + 8
        made = generate(number, seed=self.seed, first=i * number)
        codes = codes_of(made.tokens, self.canonical)
        inputs = np.ascontiguousarray(made.inputs[:, :NUM_PUBLIC])
        gaps = gaps_of(inputs)
        traced = host.Traced.empty(number, made.tokens.shape[1], NUM_PUBLIC)
        host.trace(codes, gaps, traced)
        shown = self._shown(np.random.default_rng((self.seed, i)), number)
        whole = Part(inputs, made.outputs[:, :NUM_PUBLIC], shown, traced)
        rows = _divide(whole, self.sizes())
        return tuple(_cut(whole, *pair) for pair in zip(rows, BUCKETS, strict=True))

    def _shown(self, rng: np.random.Generator, number: int) -> np.ndarray:
        count = np.where(rng.random(number) < self.fewer, rng.integers(1, 4, number), NUM_PUBLIC)
        return np.arange(NUM_PUBLIC) < count[:, None]


def codes_of(tokens: np.ndarray, canonical: bool) -> np.ndarray:
    """Programs as numbers, from tokens [tasks, tokens]."""
    codes = np.zeros((len(tokens), MAX_EXPRESSIONS), np.int32)
    host.number_programs(tokens, codes)
    if canonical:
        host.canonicalise(codes)
    return codes


def gaps_of(inputs: np.ndarray) -> np.ndarray:
    """Where all positions are in inputs [tasks, examples, characters]."""
    gaps = np.zeros((*inputs.shape[:2], NUM_POS), np.int8)
    host.find_gaps(inputs, gaps)
    return gaps


def _divide(part: Part, sizes: list[int]) -> list[np.ndarray]:
    """The tasks for each bucket; where its own are too few, smaller ones fill it."""
    tokens = (part.programs.tokens > 0).sum(axis=1)
    output = (part.outputs > 0).sum(axis=2).max(axis=1)
    fits = lambda bucket: (tokens <= bucket.max_tokens) & (output <= bucket.max_output)
    smallest = len(BUCKETS) - np.sum([fits(bucket) for bucket in BUCKETS], axis=0)
    free = np.ones(len(tokens), bool)
    rows = []
    for bucket in reversed(range(len(BUCKETS))):  # the largest first: others can wait
        order = np.flatnonzero(free & (smallest <= bucket))
        order = order[np.argsort(-smallest[order], kind="stable")][: sizes[bucket]]
        free[order] = False
        rows.append(order)
    return rows[::-1]


def _cut(part: Part, rows: np.ndarray, bucket: LengthBucket) -> Part:
    programs = [a[rows, : bucket.max_tokens] for a in part.programs]
    outputs = part.outputs[rows, :, : bucket.max_output]
    return Part(part.inputs[rows], outputs, part.shown[rows], host.Traced(*programs))
