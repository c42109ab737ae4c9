"""Programs as people might want them, drawn for a table from a simple prior.

Pieces are drawn at random from the table language; one that copies a field of the records in all
rows (the last name, the area code) is kept, another one seldom: people rarely want half a word.
"""

import random
import re
from collections.abc import Callable

from aloex.apps.fill.expressions.base import Constant, Expression
from aloex.apps.fill.expressions.cases import Case
from aloex.apps.fill.expressions.conditions import (
    AtLeast,
    Condition,
    Contains,
    Equals,
    Has,
    IsEmpty,
)
from aloex.apps.fill.expressions.programs import Join, Switch
from aloex.apps.fill.expressions.rewrite import (
    Collapse,
    EveryMatch,
    EverySplit,
    Pad,
    ReplaceAll,
    Truncate,
)
from aloex.apps.fill.expressions.slices import Position, Slice
from aloex.apps.fill.expressions.text import Cell, Match, Split
from studies.fill.energy.columns import Table
from studies.fill.energy.values import date_text, number_text

TRIES = 40  # random pieces among which one is looked for that copies a field
ANY = 0.12  # share of pieces that need not copy a field
SEPARATORS = (" ", ", ", "-", "_", "/", ": ", ".", " - ", "; ", "", " ", "@", "|")
PATTERNS = ("word", "name", "number", "alnum", "capitalized", "upper", "lower", "nonspace")
WORDS = ("ID ", "no. ", "Mr. ", "Dear ", "#", "by ", "REF-", "v", "x", "https://", "ok", "$")
TAILS = ("", "", "", "!", ".", " km", " EUR", ".txt", ",", "@mail.example")


def program(rng: random.Random, table: Table) -> tuple[str, Expression] | None:
    """A kind and a program, or None where nothing came of it."""
    kinds: dict[str, tuple[float, Callable[[random.Random, Table], Expression | None]]] = {
        "substring": (3.0, part),
        "concat": (3.5, joined),
        "replace": (1.5, rewritten),
        "case": (1.0, cased),
        "conditional": (1.0, switched),
    }
    has = set(table.kinds)
    if "amount" in has:
        kinds["number"] = (5.0, number_text)
    if has & {"date", "time"}:
        kinds["date"] = (7.0, date_text)
    name = rng.choices(list(kinds), [weight for weight, _ in kinds.values()])[0]
    made = kinds[name][1](rng, table)
    return None if made is None else (name, made)


def part(rng: random.Random, table: Table) -> Expression | None:
    """A piece of a cell that is a field of the records, if one is found."""
    anything = rng.random() < ANY
    for _ in range(TRIES):
        made = _piece(rng, table)
        if made is not None and (anything or is_field(made, table)):
            return made
    return None


def is_field(expression: Expression, table: Table) -> bool:
    """Whether it writes the same field of the records (or its start) in nearly all rows."""
    texts = [expression.run(row) for row in table.rows]
    least = len(texts) - max(len(table.odd), 1)
    for name in table.records[0]:
        for cut in (None, 1):
            pairs = zip(texts, table.records, strict=True)
            if sum(text == each[name][:cut] for text, each in pairs) >= least:
                return True
    return False


def _piece(rng: random.Random, table: Table) -> Expression | None:
    column = rng.randrange(len(table.columns))
    cell = rng.choice(table.rows)[column]
    k = rng.choice([1, 1, 1, 2, 2, 3, -1, -1, -2])
    kind = rng.random()
    if kind < 0.45:
        keep = rng.choice([0] * 8 + [1, 1, 2, 3, -2, -4])
        return Match(column, rng.choice(PATTERNS), k, keep)
    marks = re.findall(r"[^\w\s]\s?|\s", cell)
    if kind < 0.75:
        return Split(column, rng.choice(marks), k) if marks else None
    if kind < 0.95:
        start = rng.choice([Position("", 0), _position(rng, marks, at_end=True)])
        end = rng.choice([Position("", -1), _position(rng, marks, at_end=False)])
        return Slice(column, start, end)
    return Cell(column)


def _position(rng: random.Random, marks: list[str], *, at_end: bool) -> Position:
    if not marks or rng.random() < 0.3:
        return Position("", rng.choice([1, 2, 3, 4, -2, -3, -4, -5]))
    return Position(f"={rng.choice(marks)}", rng.choice([1, 1, 1, 2, -1, -1]), at_end)


def cased(rng: random.Random, table: Table) -> Expression | None:
    """A cell or a piece of one in another case."""
    form = rng.choice(["lower", "upper", "upper", "title", "sentence"])
    inner = Cell(rng.randrange(len(table.columns))) if rng.random() < 0.6 else part(rng, table)
    return None if inner is None else Case(form, inner)


def joined(rng: random.Random, table: Table) -> Expression | None:
    """Two or three pieces with constants between, before or behind them."""
    parts: list[Expression] = []
    drawn: set[Expression] = set()
    if rng.random() < 0.3:
        parts.append(Constant(rng.choice(WORDS)))
    number = rng.choice([1, 2, 2, 2, 3]) if parts else rng.choice([2, 2, 3])
    for i in range(number):
        inner = _value(rng, table)
        if inner is None or inner in drawn:
            return None
        drawn.add(inner)
        separator = rng.choice(SEPARATORS)
        if i and separator:
            parts.append(Constant(separator))
        parts.append(Case(rng.choice(["upper", "lower"]), inner) if rng.random() < 0.12 else inner)
    tail = rng.choice(TAILS)
    return Join((*parts, Constant(tail)) if tail else tuple(parts))


def _value(rng: random.Random, table: Table) -> Expression | None:
    kind = rng.random()
    if kind < 0.12 and "amount" in table.kinds:
        return number_text(rng, table)
    return Cell(rng.randrange(len(table.columns))) if kind > 0.85 else part(rng, table)


def rewritten(rng: random.Random, table: Table) -> Expression | None:
    """A cell with something replaced, removed, padded, cut, or every word of it changed."""
    column = rng.randrange(len(table.columns))
    whole, cell = Cell(column), rng.choice(table.rows)[column]
    marks = re.findall(r"[^\w\s]|\s", cell)
    old = rng.choice([f"={rng.choice(marks)}"] * 3 + ["space", "mark", "number"]) if marks else ""
    new = rng.choice(["", "", "-", "_", " ", "/", ", ", ""])
    words = rng.choice(["word", "name", "alnum", "nonspace", "number"])
    options: list[Expression] = [
        Collapse(whole),
        Pad(whole, rng.choice([4, 5, 6, 8]), "0") if cell.isdigit() else Collapse(whole),
        Truncate(whole, rng.choice([5, 8, 10]), rng.choice(["...", ".", ""])),
        EveryMatch(whole, words, "first", rng.choice(["", "upper"]), rng.choice(["", "", "."])),
        EveryMatch(whole, words, "all", rng.choice(["", "lower"]), new),
    ]
    if old:
        options += 4 * [ReplaceAll(whole, old, new)]
        options.append(Case("lower", ReplaceAll(whole, old, new)))
    if old.startswith("="):
        options.append(EverySplit(whole, old[1:], new))
    return rng.choice(options)


def switched(rng: random.Random, table: Table) -> Expression | None:
    """One condition; a word or a piece in each case."""
    condition = _condition(rng, table)
    if condition is None:
        return None
    if rng.random() < 0.5:
        pair = rng.choice([("yes", "no"), ("high", "low"), ("Y", "N"), ("1", "0"), ("ok", "check")])
        return Switch((condition,), tuple(Join((Constant(text),)) for text in pair))
    one, other = part(rng, table), part(rng, table)
    if rng.random() < 0.3:
        other = Constant(rng.choice(["none", "n/a", "other", "-"]))
    if one is None or other is None:
        return None
    if rng.random() < 0.3:
        one = Join((Constant(rng.choice(WORDS)), one))
    return Switch((condition,), (one, other))


def _condition(rng: random.Random, table: Table) -> Condition | None:
    column = rng.randrange(len(table.columns))
    cells = [row[column] for row in table.rows]
    cell = rng.choice(cells)
    if table.kinds[column] == "amount":
        number = re.search(r"\d+", cell)
        return AtLeast(column, float(number[0])) if number else None
    words = re.findall(r"\w+|[^\w\s]", cell)
    if not words:
        return IsEmpty(column)
    options: list[Condition] = [
        Contains(column, rng.choice(words), rng.choice(["anywhere", "start", "end"])),
        Contains(column, rng.choice(words)),
        Has(column, rng.choice(["number", "space", "mark"])),
    ]
    if len(set(cells)) < len(cells) - 1:
        options += 3 * [Equals(column, cell)]
    return rng.choice(options)
