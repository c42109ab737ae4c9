"""Programs vote on every row: how likely each of them is, given all rows of the table.

A program that fits the examples is the likelier, the less it costs, the more of the other rows it
applies to, and the more its outputs there look like those of the examples.
"""

import math
import re
from collections.abc import Sequence
from typing import NamedTuple

from aloex.apps.fill.expressions.base import Expression, Row
from aloex.apps.fill.search.costs import Features, cost_of
from aloex.apps.fill.search.solve import Found

MAX_LOOKED_AT = 60  # rows that the search looks at, examples and others
MISSING = {"", "-", "?", "n/a", "na", "nan", "none", "null", "tbd", "unknown"}


class Candidate(NamedTuple):
    """A program, its probability, and its texts for the rows looked at."""

    probability: float
    program: Expression
    texts: tuple[str | None, ...]


def shape(text: str) -> str:
    """Kinds of characters one after the other, runs as one: "A. Turing" -> "A. Aa"."""
    text = re.sub(r"\d+", "0", text)
    text = re.sub(r"[^\W\d_]+", lambda m: _letters(m.group()), text)
    return re.sub(r"\s+", " ", text)


def _letters(run: str) -> str:
    if run.islower():
        return "a"
    return "A" if run.isupper() else "Aa"


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
    return chosen[: max(MAX_LOOKED_AT, num_examples)]


def ranked(found: Sequence[Found], rows: Sequence[Row], num_examples: int) -> list[Candidate]:
    """The programs by their probability."""
    if not found:
        return []
    rows_say = features_on_rows(found, rows, num_examples)
    scores = [-f.cost - cost_of(more) for f, more in zip(found, rows_say, strict=True)]
    top = max(scores)
    weights = [math.exp(score - top) for score in scores]
    total = sum(weights)
    pairs = sorted(zip(weights, range(len(found)), strict=True), key=lambda p: (-p[0], p[1]))
    return [Candidate(w / total, found[i].program, found[i].texts) for w, i in pairs]


def features_on_rows(
    found: Sequence[Found], rows: Sequence[Row], num_examples: int
) -> list[Features]:
    """What rows without an example say of each program; empty rows say nothing."""
    others = [
        i
        for i, row in enumerate(rows)
        if i >= num_examples and not all(cell.strip().casefold() in MISSING for cell in row)
    ]
    shapes = {
        shape(text) for each in found[:1] for text in each.texts[:num_examples] if text is not None
    }
    return [on_other_rows([each.texts[i] for i in others], shapes) for each in found]


def on_other_rows(texts: Sequence[str | None], shapes: set[str]) -> Features:
    """What the outputs of rows without an example say of a program."""
    if not texts:
        return {}
    failed = sum(text is None or (not text and "" not in shapes) for text in texts)
    strange = sum(text is not None and shape(text) not in shapes for text in texts)
    return {
        "fails": failed / len(texts),
        "fails_somewhere": float(failed > 0),
        "new_shape": strange / len(texts),
    }
