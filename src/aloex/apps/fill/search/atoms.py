"""Atoms: expressions that write a part of every example's output, with their texts for all rows.

Atoms that write the same texts for all rows looked at are one: the cheapest stands for them.
"""

import heapq
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from aloex.apps.fill.expressions.base import Expression, Row
from aloex.apps.fill.search.costs import Features, cost_of

PER_TEXT = 16  # atoms kept that agree on all examples
MAX_ALIKE = 40  # of those, how many are run on other rows


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
    """Atoms of those expressions that write a part of every output.

    Of many that write the same in the examples only the cheapest are run on the other rows.
    """
    alike: dict[tuple[str, ...], list[tuple[float, int, Expression]]] = {}
    for number, expression in enumerate(expressions):
        texts = _in_examples(expression, rows, outputs)
        if texts is not None:
            cost = cost_of(expression.features())
            alike.setdefault(texts, []).append((cost, number, expression))
    found = []
    for texts, group in alike.items():
        for _, number, expression in heapq.nsmallest(MAX_ALIKE, group, key=lambda each: each[:2]):
            idle = float(expression.is_idle(rows[: len(outputs)]))
            others = [expression.run(row) for row in rows[len(outputs) :]]
            found.append((number, atom(expression, (*texts, *others), {"idle": idle})))
    return [each for _, each in sorted(found, key=lambda pair: pair[0])]


def _in_examples(
    expression: Expression, rows: Sequence[Row], outputs: Sequence[str]
) -> tuple[str, ...] | None:
    """What an expression writes in the examples; None if some of it is no part of the output."""
    texts = []
    for row, output in zip(rows, outputs, strict=False):
        text = expression.run(row)
        if not text or text not in output:
            return None
        texts.append(text)
    return tuple(texts)


def by_example_texts(atoms: Iterable[Atom], num_examples: int) -> dict[tuple[str, ...], list[Atom]]:
    """Atoms by what they write in the examples, the cheapest first, each behaviour once."""
    groups: dict[tuple[str, ...], dict[tuple[str | None, ...], Atom]] = {}
    for atom in sorted(atoms, key=lambda atom: atom.cost):
        group = groups.setdefault(atom.texts[:num_examples], {})  # pyright: ignore
        if len(group) < PER_TEXT:
            group.setdefault(atom.texts, atom)
    return {texts: list(group.values()) for texts, group in groups.items()}
