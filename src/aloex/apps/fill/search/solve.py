"""Programs that fit the examples: joined parts, cases by a condition, or memorised tables."""

from bisect import bisect
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import NamedTuple

from aloex.apps.fill.expressions.base import Expression, Row, added
from aloex.apps.fill.expressions.programs import Join, Lookup, Switch
from aloex.apps.fill.search.atoms import by_example_texts, evaluate
from aloex.apps.fill.search.condition_atoms import Test, tests
from aloex.apps.fill.search.costs import Features, cost_of
from aloex.apps.fill.search.dates.atoms import date_expressions
from aloex.apps.fill.search.dates.in_step import dates_in_step
from aloex.apps.fill.search.graph import Constants, best_paths
from aloex.apps.fill.search.labels import features_of_name, label_features
from aloex.apps.fill.search.numbers.atoms import number_expressions
from aloex.apps.fill.search.texts.atoms import text_atoms
from aloex.apps.fill.search.texts.rewritten import rewrite_atoms
from aloex.apps.fill.search.whole_program import whole_features

DEAR = 16.0  # a joined program of this cost is compared with cases by a condition
MAX_SPLITS = 6  # of the examples in two groups that are tried
PER_BRANCH = 6  # programs of each branch that are combined
PER_SPLIT = 12  # conditions of each split
MAX_DEPTH = 2  # conditions in a program
MAX_BRANCHES = 16  # groups of examples that are searched for conditions of one depth
MAX_WORK = 10_000  # characters of rows and outputs that these searches read
MAX_READ = 1_000  # characters of rows without an output that each of them reads
LEAST_ROWS = 4  # without an output that they read at least


class Found(NamedTuple):
    """A program, its texts for all rows, and what it costs and why."""

    cost: float
    program: Expression
    texts: tuple[str | None, ...]
    features: Features


def search(rows: Sequence[Row], outputs: Sequence[str]) -> list[Found]:
    """Programs for the examples, which are the first rows, the cheapest first."""
    found = joined(rows, outputs)
    if not found or found[0].cost > DEAR:
        found = sorted([*found, *with_cases(rows, outputs)], key=lambda each: each.cost)
    return found or memorised(rows, outputs)


def joined(rows: Sequence[Row], outputs: Sequence[str]) -> list[Found]:
    """Programs of joined parts."""
    dates = evaluate(date_expressions(rows, outputs), rows, outputs)
    atoms = [*text_atoms(rows, outputs), *rewrite_atoms(rows, outputs), *dates]
    atoms += evaluate(number_expressions(rows, outputs), rows, outputs)
    inputs = ["\0".join(row) for row in rows[: len(outputs)]]
    found: dict[tuple[str | None, ...], Found] = {}
    constants = Constants(inputs, by_example_texts(atoms, len(outputs)), len(rows))
    for pool in (atoms, *dates_in_step(dates)):
        groups = constants.groups if pool is atoms else by_example_texts(pool, len(outputs))
        for path in best_paths(outputs, groups, constants):
            program = Join(tuple(part.expression for part in path.parts))
            features = added([*(part.features for part in path.parts), whole_features(program)])
            each = Found(cost_of(features), program, path.texts, features)
            if each.texts not in found or each.cost < found[each.texts].cost:
                found[each.texts] = each
    return sorted(found.values(), key=lambda each: each.cost)


def with_cases(rows: Sequence[Row], outputs: Sequence[str]) -> list[Found]:
    """Programs with one condition; if there are none, with more.

    They are looked for with fewer of the other rows, and then run on all of them.
    """
    read = list(accumulate(sum(map(len, row)) for row in rows))
    few = max(bisect(read, read[len(outputs) - 1] + MAX_READ), len(outputs) + LEAST_ROWS)
    some, size = rows[:few], read[:few][-1] + sum(map(len, outputs))
    branches = Branches(max(2, min(MAX_BRANCHES, MAX_WORK // max(size, 1))))
    for depth in range(1, MAX_DEPTH + 1):
        if found := switched(some, outputs, depth, branches):
            return [_on_all_rows(each, rows) for each in found]
        branches.left = max(branches.left, 2)
    return []


def _on_all_rows(found: Found, rows: Sequence[Row]) -> Found:
    others = (found.program.run(row) for row in rows[len(found.texts) :])
    return found._replace(texts=(*found.texts, *others))


@dataclass
class Branches:
    """How many more groups of examples may be searched: work is bounded, not time."""

    left: int


def switched(
    rows: Sequence[Row], outputs: Sequence[str], depth: int, branches: Branches
) -> list[Found]:
    """Programs that ask a condition first."""
    splits: dict[tuple[bool, ...], list[Test]] = {}
    for test in tests(rows, outputs):
        splits.setdefault(test.holds[: len(outputs)], []).append(test)
    found: list[Found] = []
    known: dict[tuple[int, ...], list[Found]] = {}

    def branch(split: tuple[bool, ...], side: bool) -> list[Found]:
        chosen = tuple(i for i, holds in enumerate(split) if holds == side)
        if chosen not in known and branches.left > 0:
            branches.left -= 1
            known[chosen] = _branch(rows, outputs, chosen, depth, branches)
        return known.get(chosen, [])

    # A condition that tells the outputs apart is the likeliest; the others go by their cost.
    for split in sorted(splits, key=lambda each: not _tells_apart(each, outputs))[:MAX_SPLITS]:
        yes, no = branch(split, True), branch(split, False)
        for test in splits[split][:PER_SPLIT]:
            found += _combined(test, yes, no)
    return sorted(found, key=lambda each: each.cost)[: 4 * PER_BRANCH]


def _tells_apart(split: Sequence[bool], outputs: Sequence[str]) -> bool:
    """Whether some output comes again, and no output is on both sides."""
    sides = [{y for y, holds in zip(outputs, split, strict=True) if holds == s} for s in (0, 1)]
    return len(set(outputs)) < len(outputs) and not sides[0] & sides[1]


def _branch(
    rows: Sequence[Row],
    outputs: Sequence[str],
    chosen: tuple[int, ...],
    depth: int,
    branches: Branches,
) -> list[Found]:
    """Programs for some of the examples, with their texts in the order of all rows."""
    order = [*chosen, *(i for i in range(len(rows)) if i not in chosen)]
    own_rows, own = [rows[i] for i in order], [outputs[i] for i in chosen]
    found = joined(own_rows, own)
    if not found and depth > 1:
        found = switched(own_rows, own, depth - 1, branches)
    found = [as_label(each, own_rows[: len(own)]) for each in found]
    found = sorted(found, key=lambda each: each.cost)[:PER_BRANCH]
    back = sorted(range(len(rows)), key=order.__getitem__)
    return [f._replace(texts=tuple(f.texts[i] for i in back)) for f in found]


def as_label(found: Found, rows: Sequence[Row]) -> Found:
    """A program for one case; a text that is all of it is a label, and costs as such."""
    features = label_features(found.program, rows)
    return found if features is None else found._replace(cost=cost_of(features), features=features)


def _combined(test: Test, yes: list[Found], no: list[Found]) -> list[Found]:
    found = []
    for a in yes:
        for b in no:
            texts = tuple(
                s if holds else t for holds, s, t in zip(test.holds, a.texts, b.texts, strict=True)
            )
            if isinstance(b.program, Switch):
                conditions = (test.condition, *b.program.conditions)
                program = Switch(conditions, (a.program, *b.program.programs))
            else:
                program = Switch((test.condition,), (a.program, b.program))
            named = features_of_name(test.condition, a.program)
            features = added([test.features, named, a.features, b.features])
            found.append(Found(cost_of(features), program, texts, features))
    return found


def memorised(rows: Sequence[Row], outputs: Sequence[str]) -> list[Found]:
    """Tables of the examples by one column."""
    found = []
    for column in range(len(rows[0])):
        table: dict[str, str] = {}
        for row, output in zip(rows, outputs, strict=False):
            if table.setdefault(row[column], output) != output:
                break
        else:
            program = Lookup(column, tuple(table.items()))
            texts = tuple(program.run(row) for row in rows)
            features = program.features()
            found.append(Found(cost_of(features), program, texts, features))
    return found
