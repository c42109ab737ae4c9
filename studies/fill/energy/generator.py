"""Tasks that imitate real ones: a table, and a program that somebody might want to run on it.

The order of rows and the place of odd ones are random, as they are for people: the first rows help
or mislead by chance. Everything follows from a seed.
"""

import random
from collections.abc import Iterator
from typing import NamedTuple

from aloex.apps.fill.expressions.base import Expression
from studies.fill.energy.columns import table
from studies.fill.energy.programs import program
from studies.fill.energy.records import record
from studies.fill.tasks import Task

VALUES = 0.4  # share of tasks on numbers and dates
MAX_LENGTH = 80  # of an output
MAX_FAILING = 2  # rows to which the program does not apply: their output is empty


class Made(NamedTuple):
    """A task and the program that wrote its outputs."""

    task: Task
    program: Expression


def generate(seed: int, number: int) -> Iterator[Made]:
    """So many tasks; each depends on the seed and its own number only."""
    for i in range(number):
        rng = random.Random(f"{seed}/{i}")
        values, made = rng.random() < VALUES, None
        while made is None or (made.task.kind in ("number", "date")) != values:
            made = _made(rng, f"generated_{seed}_{i}")
        yield made


def _made(rng: random.Random, name: str) -> Made | None:
    """One task, or None where the outputs are not worth the while."""
    drawn = table(rng, [record(rng) for _ in range(rng.randint(8, 12))])
    found = program(rng, drawn)
    if found is None:
        return None
    kind, expression = found
    texts = [expression.run(row) for row in drawn.rows]
    if sum(text is None for text in texts) > MAX_FAILING:
        return None
    outputs = [text or "" for text in texts]
    if not _is_sane(outputs, drawn.rows):
        return None
    return Made(Task(name, kind, drawn.columns, drawn.rows, outputs), expression)


def _is_sane(outputs: list[str], rows: list[tuple[str, ...]]) -> bool:
    """Whether outputs vary, are texts that a person might want, and are no mere copies."""
    filled = [text for text in outputs if text]
    copies = sum(text in row for text, row in zip(outputs, rows, strict=True))
    return (
        len(filled) >= len(outputs) - MAX_FAILING
        and len(set(filled)) > 1
        and copies < len(outputs) - 2
        and max(map(len, filled)) <= MAX_LENGTH
        and sum(text != text.strip() for text in filled) <= 1
    )
