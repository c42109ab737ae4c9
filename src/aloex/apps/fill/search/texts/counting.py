"""Atoms that count: matches, characters up to a width, groups of so many, so many of a mark."""

from collections.abc import Iterator, Sequence

from aloex.apps.fill.expressions.base import Expression
from aloex.apps.fill.expressions.counting import Chunks, Count, Repeat
from aloex.apps.fill.expressions.patterns import compiled
from aloex.apps.fill.expressions.rewrite import Pad, Truncate

COUNTED = ("word", "number", "alnum", "nonspace", "mark", "upper", "line", "digit", "letter")
MAX_LETTERS = 12  # of a cell that are counted one by one
MAX_GROUP = 6


def counts(column: int, texts: Sequence[str]) -> Iterator[Expression]:
    """How many of something cells have."""
    marks = sorted({char for text in texts for char in text if not char.isalnum()})[:10]
    letters = sorted({char for text in texts for char in text if char.isalpha()})[:MAX_LETTERS]
    for pattern in ["", *COUNTED, *("=" + mark for mark in marks)]:
        yield Count(column, pattern)
        yield Count(column, pattern, 1)
    yield from (Count(column, "=" + letter) for letter in letters)


def repeats(column: int, texts: Sequence[str], outputs: Sequence[str]) -> Iterator[Expression]:
    """A mark as often as the number in a cell says."""
    if not all(compiled("number").search(text) for text in texts):
        return
    yield from (Repeat(char, column) for char in sorted(set.intersection(*map(set, outputs)))[:8])


def fixed_lengths(base: Expression, pairs: Sequence[tuple[str, str]]) -> Iterator[Expression]:
    """Filled up to a width, or cut to one."""
    widths = {len(y) for _, y in pairs} | {
        len(run) for _, y in pairs[:1] for run in compiled("nonspace").findall(y)
    }
    for width in sorted(widths)[:4]:
        for char in " 0":
            if any(len(x) < width for x, _ in pairs):
                yield Pad(base, width, char)
                yield Pad(base, width, char, left=False)
    for ending in ("...", "…"):
        cut = {len(y) - len(ending) for x, y in pairs if y.endswith(ending) and len(x) > len(y) - 3}
        for width in cut:
            yield Truncate(base, width, ending)
    widths = {len(y) for x, y in pairs if len(y) < len(x)}
    for width in widths:
        if all(x[:width] == y for x, y in pairs):
            yield Truncate(base, width, "")


def chunks(
    base: Expression, pairs: Sequence[tuple[str, str]], seams: Sequence[str]
) -> Iterator[Expression]:
    """Letters and digits in groups."""
    for seam in seams:
        groups = pairs[0][1].split(seam)
        if len(groups) < 3:
            continue
        for size in {len(groups[0]), len(groups[-1])}:
            if 0 < size <= MAX_GROUP:
                yield Chunks(base, size, seam)
                yield Chunks(base, size, seam, from_right=True)
