"""Programs vote on every row: how likely each of them is, given all rows of the table.

A program that fits the examples is the likelier, the less it costs, the more of the other rows it
applies to, and the more its outputs there look like those of the examples.
"""

import math
from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

from aloex.apps.fill.expressions.base import Expression, Row
from aloex.apps.fill.search.costs import Features, cost_of
from aloex.apps.fill.search.on_rows import Examples, features_on_rows, is_missing
from aloex.apps.fill.search.shapes import shape
from aloex.apps.fill.search.solve import Found

MAX_LOOKED_AT = 60  # rows that the search looks at, examples and others
MAX_LOOKED_AT_CHARS = 8_000  # of these rows, beside the examples: wide ones take long
SHARPNESS = 1.2  # costs are a little timid; found by cross-validation on the dev set


class Candidate(NamedTuple):
    """A program, its probability, and its texts for the rows looked at."""

    probability: float
    program: Expression
    texts: tuple[str | None, ...]


def rows_to_look_at(rows: Sequence[Row], num_examples: int) -> list[int]:
    """The examples, then other rows of as many different shapes as possible."""
    by_shape: dict[tuple[str, ...], list[int]] = {}
    for i, row in enumerate(rows[num_examples : num_examples + 5000], num_examples):
        by_shape.setdefault(tuple(map(shape, row)), []).append(i)
    chosen = list(range(num_examples))
    depth = 0
    while len(chosen) < MAX_LOOKED_AT and any(len(each) > depth for each in by_shape.values()):
        chosen += [each[depth] for each in by_shape.values() if len(each) > depth]
        depth += 1
    chosen = chosen[: max(MAX_LOOKED_AT, num_examples)]
    return [*chosen[:num_examples], *_not_too_long(chosen[num_examples:], rows)]


def _not_too_long(chosen: Sequence[int], rows: Sequence[Row]) -> list[int]:
    """Rows without those that hold whole books: the search would read them a thousand times."""
    found, left = [], MAX_LOOKED_AT_CHARS
    for i in chosen:
        length = sum(map(len, rows[i]))
        if length <= left:
            found.append(i)
            left -= length
    return found


def ranked(found: Sequence[Found], rows: Sequence[Row], num_examples: int) -> list[Candidate]:
    """The programs by their probability."""
    if not found:
        return []
    rows_say = row_features(found, rows, num_examples)
    scores = [-f.cost - cost_of(more) for f, more in zip(found, rows_say, strict=True)]
    top = max(scores)
    weights = [math.exp(SHARPNESS * (score - top)) for score in scores]
    total = sum(weights)
    pairs = sorted(zip(weights, range(len(found)), strict=True), key=lambda p: (-p[0], p[1]))
    return [Candidate(w / total, found[i].program, found[i].texts) for w, i in pairs]


def row_features(found: Sequence[Found], rows: Sequence[Row], num_examples: int) -> list[Features]:
    """What rows without an example say of each program; empty rows say nothing."""
    if not found:
        return []
    others = [i for i, row in enumerate(rows) if i >= num_examples and not is_missing(row)]
    outputs = [text or "" for text in found[0].texts[:num_examples]]
    examples = Examples.of(rows[:num_examples], outputs)
    read = [rows[i] for i in others]
    texts = [[each.texts[i] for i in others] for each in found]
    agreement = shares_of_agreement(texts)
    return [
        {**features_on_rows(read, own, examples), "agrees": share}
        for own, share in zip(texts, agreement, strict=True)
    ]


def shares_of_agreement(texts: Sequence[Sequence[str | None]]) -> list[float]:
    """For each program the share of programs that write the same, in the mean over rows."""
    if not texts[0]:
        return [0.0] * len(texts)
    counts = [Counter(answers) for answers in zip(*texts, strict=True)]
    return [
        sum(count[text] for count, text in zip(counts, own, strict=True)) / len(texts) / len(own)
        for own in texts
    ]
