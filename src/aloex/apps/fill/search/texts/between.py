"""Texts between two marks or words, of which the second is the next one after the first."""

from collections.abc import Iterator, Sequence

from aloex.apps.fill.expressions.between import Between
from aloex.apps.fill.expressions.patterns import compiled

MAX_LEFT = 16
MAX_RIGHT = 16


def between(column: int, texts: Sequence[str], literals: Sequence[str]) -> Iterator[Between]:
    """Expressions that apply to the cells of all examples.

    Args:
        column: of the cells.
        texts: the cells of the examples.
        literals: texts that all of them have.
    """
    rights = _rights(texts, literals)
    for left in literals[:MAX_LEFT]:
        for last in (False, True):
            if last and all(text.count(left) == 1 for text in texts):
                continue
            rests = [_after(text, left, last) for text in texts]
            for right in rights:
                number = sum(right in rest for rest in rests)
                if number == len(rests):
                    yield Between(column, left, right, last)
                if number > 0:
                    yield Between(column, left, right, last, to_end=True)


def _rights(texts: Sequence[str], literals: Sequence[str]) -> list[str]:
    """Texts at which a part may end: marks and gaps of any example, and what all have."""
    found = [run for text in texts for run in compiled("nonalnum").findall(text)]
    found += [char for text in texts for char in text if compiled("mark").match(char)]
    return list(dict.fromkeys([*literals, " ", *found]))[: MAX_LEFT + MAX_RIGHT]


def _after(text: str, left: str, last: bool) -> str:
    return text.rpartition(left)[2] if last else text.partition(left)[2]
