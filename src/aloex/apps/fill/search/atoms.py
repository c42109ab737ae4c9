"""Atoms: expressions that write a part of every example's output, with their texts for all rows.

Atoms that write the same texts for all rows looked at are one: the cheapest stands for them.
"""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from aloex.apps.fill.expressions.base import Expression, Row
from aloex.apps.fill.search.costs import Features, cost_of

PER_TEXT = 16  # atoms kept that agree on all examples


class Atom(NamedTuple):
    """An expression, its texts (of the examples, then of other rows), and what it costs and why."""

    cost: float
    expression: Expression
    texts: tuple[str | None, ...]
    features: Features


def atom(
    expression: Expression, texts: tuple[str | None, ...], more: Features | None = None
) -> Atom:
    """An expression as a part of a program; `more` are features that the rows give it."""
    features = {"part": 1.0, **expression.features(), **(more or {})}
    return Atom(cost_of(features), expression, texts, features)


def evaluate(
    expressions: Iterable[Expression], rows: Sequence[Row], outputs: Sequence[str]
) -> list[Atom]:
    """Atoms of those expressions that write a part of every output."""
    found = []
    for expression in expressions:
        texts: list[str | None] = []
        for row, output in zip(rows, outputs, strict=False):
            text = expression.run(row)
            if not text or text not in output:
                break
            texts.append(text)
        else:
            idle = float(expression.is_idle(rows[: len(outputs)]))
            texts += [expression.run(row) for row in rows[len(outputs) :]]
            found.append(atom(expression, tuple(texts), {"idle": idle}))
    return found


def by_example_texts(atoms: Iterable[Atom], num_examples: int) -> dict[tuple[str, ...], list[Atom]]:
    """Atoms by what they write in the examples, the cheapest first, each behaviour once."""
    groups: dict[tuple[str, ...], dict[tuple[str | None, ...], Atom]] = {}
    for atom in sorted(atoms, key=lambda atom: atom.cost):
        group = groups.setdefault(atom.texts[:num_examples], {})  # pyright: ignore
        if len(group) < PER_TEXT:
            group.setdefault(atom.texts, atom)
    return {texts: list(group.values()) for texts, group in groups.items()}
