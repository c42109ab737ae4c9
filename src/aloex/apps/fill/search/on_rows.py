"""What rows without an example say of a program: features of its texts there.

A program that fits the examples and is the wrong one often shows it elsewhere: it fails, or its
texts look unlike those of the examples, lose words that the examples keep, or end in a space.
"""

import re
from collections.abc import Sequence
from typing import NamedTuple

from aloex.apps.fill.expressions.base import Row
from aloex.apps.fill.expressions.patterns import compiled
from aloex.apps.fill.search.costs import Features
from aloex.apps.fill.search.shapes import case_of, loose_shape, shape

MISSING = {"", "-", "?", "n/a", "na", "nan", "none", "null", "tbd", "unknown"}
MANY = 6  # rows, of which one may be odd
FEW = 4  # rows that say as much as so many are: fewer say less
BRACKETS = ("()", "[]", "<>", "{}")


def is_missing(row: Row) -> bool:
    """Whether a row has no content: empty cells, "n/a" and the like."""
    return all(cell.strip().casefold() in MISSING for cell in row)


class Examples(NamedTuple):
    """What the outputs of the examples have in common."""

    shapes: set[str]
    loose_shapes: set[str]
    lengths: set[str]  # shapes with the number of digits; empty unless all are the same
    keep_all: bool  # every word and number of the cells is in the output
    differ: bool
    copy_a_cell: bool
    outputs: set[str]
    copied: float  # share of the outputs that stand in a cell as they are
    least_used: float  # of the length of the cells, by the output

    @classmethod
    def of(cls, rows: Sequence[Row], outputs: Sequence[str]) -> "Examples":
        """The examples of a column."""
        lengths = {_with_digits(text) for text in outputs}
        return cls(
            shapes=set(map(shape, outputs)),
            loose_shapes=set(map(loose_shape, outputs)),
            lengths=lengths if len(lengths) == 1 and len(outputs) > 1 else set(),
            keep_all=all(_keeps_all(row, text) for row, text in zip(rows, outputs, strict=True)),
            differ=len(set(outputs)) == len(outputs) > 1,
            copy_a_cell=any(text in row for row, text in zip(rows, outputs, strict=True)),
            outputs=set(outputs),
            copied=_share_copied(list(zip(rows, outputs, strict=True))),
            least_used=min(map(_used, rows, outputs)),
        )


def features_on_rows(
    rows: Sequence[Row], texts: Sequence[str | None], examples: Examples
) -> Features:
    """Features of a program from what it writes in rows without an example."""
    if not rows:
        return {}
    written = [(row, text) for row, text in zip(rows, texts, strict=True) if text is not None]
    share = lambda number: number / max(len(rows), FEW)
    failed = sum(text is None or (not text and "" not in examples.shapes) for text in texts)
    strange = sum(shape(text) not in examples.shapes for _, text in written)
    distinct = len(set(texts)) / len(set(rows))
    return {
        "fails": share(failed),
        "fails_somewhere": float(failed > (len(rows) >= MANY)),
        "new_shape": share(strange),
        "new_shape_somewhere": float(strange > 0),
        "new_loose_shape": share(
            sum(loose_shape(text) not in examples.loose_shapes for _, text in written)
        ),
        "new_length": share(
            sum(_with_digits(text) not in examples.lengths for _, text in written)
            if examples.lengths
            else 0
        ),
        "loses_words": share(
            sum(not _keeps_all(row, text) for row, text in written) if examples.keep_all else 0
        ),
        "repeats": max(0.0, 1.0 - distinct) if examples.differ else 0.0,
        "copies_a_cell": share(
            0 if examples.copy_a_cell else sum(text in row and text != "" for row, text in written)
        ),
        "as_before": share(sum(text in examples.outputs for _, text in written)),
        "copied_more": max(0.0, _share_copied(written) - examples.copied),
        "used_less": share(sum(max(0.0, examples.least_used - _used(*each)) for each in written)),
        "untidy": share(sum(_is_untidy(text) for _, text in written)),
    }


def _with_digits(text: str) -> str:
    """The shape of a text in which every digit counts: "AB-1204" -> "A-0000"."""
    text = re.sub(r"[^\W\d_]+", lambda m: case_of(m.group()), text)
    return re.sub(r"\d", "0", text)


def _keeps_all(row: Row, text: str) -> bool:
    """Whether all words and numbers of the cells are in a text."""
    folded = text.casefold()
    return all(run.casefold() in folded for cell in row for run in compiled("alnum").findall(cell))


def _share_copied(written: Sequence[tuple[Row, str]]) -> float:
    """The share of texts that stand in a cell as they are."""
    copied = sum(any(text in cell for cell in row) for row, text in written)
    return copied / max(len(written), 1)


def _used(row: Row, text: str) -> float:
    """The length of a text, as a share of that of the cells; 1 at most."""
    return min(1.0, len(text) / max(sum(map(len, row)), 1))


def _is_untidy(text: str) -> bool:
    """Whether a text begins or ends with a space, has two in a row, or an open bracket."""
    return (
        text != text.strip()
        or "  " in text
        or any(text.count(pair[0]) != text.count(pair[1]) for pair in BRACKETS)
    )
