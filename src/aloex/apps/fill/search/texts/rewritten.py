"""Atoms that rewrite a whole cell, or its first or last part."""

from collections.abc import Iterator, Sequence
from itertools import combinations, permutations

from aloex.apps.fill.expressions.base import Expression, Row
from aloex.apps.fill.expressions.cases import CASES, Case
from aloex.apps.fill.expressions.counting import Chunks
from aloex.apps.fill.expressions.patterns import compiled
from aloex.apps.fill.expressions.rewrite import (
    CamelCase,
    Collapse,
    EveryMatch,
    EverySplit,
    Pad,
    ReplaceAll,
    Strip,
)
from aloex.apps.fill.expressions.several_cells import (
    TWO_CELLS,
    JoinColumns,
    ReplaceByColumn,
    TwoCells,
    common_prefix,
)
from aloex.apps.fill.expressions.slices import Position, Slice
from aloex.apps.fill.expressions.text import Cell, Match, Split
from aloex.apps.fill.search.atoms import Atom, evaluate
from aloex.apps.fill.search.texts.affixes import affixes
from aloex.apps.fill.search.texts.counting import chunks, counts, fixed_lengths, repeats

REPLACED = ("space", "number", "word", "nonalnum", "mark", "alnum", "upper", "lower", "camel")
MASKED = ("alnum", "number", "word")
REMOVED = ("bracketed", "html", "nondigit")
REPEATED = (
    "word",
    "name",
    "number",
    "decimal",
    "alnum",
    "capitalized",
    "upper",
    "nonspace",
    "run",
    "tag",
    "email",
)
MAX_COLUMNS = 6
MAX_END = 4  # characters that are kept where the rest is rewritten
MAX_REPLACED = 30  # characters of a text that is replaced


def rewrite_atoms(rows: Sequence[Row], outputs: Sequence[str]) -> list[Atom]:
    """Atoms of all columns and of pairs of columns."""
    found: list[Expression] = []
    seams = sorted({run for y in outputs for run in compiled("nonalnum").findall(y)}, key=len)[:8]
    for column in range(len(rows[0])):
        cells = [row[column] for row in rows]
        texts = cells[: len(outputs)]
        if not any(texts):
            continue
        found += counts(column, texts)
        found += repeats(column, texts, outputs)
        for base in _all_but_ends(column, texts, outputs):
            for pattern in MASKED:
                found += _masked(base, pattern, outputs[0])
        for base in _bases(column, texts):
            given = [base.run(row) for row in rows[: len(outputs)]]
            if any(text is None for text in given):
                continue
            pairs = list(zip(map(str, given), outputs, strict=True))
            found += _with_cases(_rewritten(base, pairs, seams, cells))
    if len(rows[0]) > 1:
        found += _several(rows[: len(outputs)], outputs, seams)
    return evaluate(dict.fromkeys(found), rows, outputs)


def _bases(column: int, texts: Sequence[str]) -> Iterator[Expression]:
    """The cell, and its first and last part if there are some."""
    yield Cell(column)
    separators = {char for char in texts[0] if not char.isalnum() and not char.isspace()}
    for separator in sorted(separators)[:4]:
        if all(separator in text for text in texts):
            yield Split(column, separator, 1)
            yield Split(column, separator, -1)
    if all(" " in text.strip() for text in texts):
        yield Slice(column, Position("", 0), Position("space", -1))
        yield Slice(column, Position("space", 1, at_end=True), Position("", -1))
    if any(char.isdigit() for char in texts[0]):
        yield Match(column, "number", 1)
        yield Match(column, "number", -1)
        yield Match(column, "decimal", 1)


def _all_but_ends(
    column: int, texts: Sequence[str], outputs: Sequence[str]
) -> Iterator[Expression]:
    """The cell without a few characters at an end that the outputs have as they are."""
    pairs = list(zip(texts, outputs, strict=True))
    start = min(len(common_prefix(x, y)) for x, y in pairs)
    end = min(len(common_prefix(x[::-1], y[::-1])) for x, y in pairs)
    if min(map(len, texts)) > MAX_END:
        yield from (Slice(column, Position("", 0), Position("", -k - 1)) for k in _few(end))
        yield from (Slice(column, Position("", k), Position("", -1)) for k in _few(start))


def _few(number: int) -> list[int]:
    return [k for k in (1, 2, 3, 4) if k <= number][-2:]


def _with_cases(expressions: Iterator[Expression]) -> Iterator[Expression]:
    for expression in expressions:
        yield expression
        if not isinstance(expression, CamelCase | Chunks | EveryMatch | EverySplit | Pad):
            yield from (Case(form, expression) for form in CASES)


def _rewritten(
    base: Expression, pairs: Sequence[tuple[str, str]], seams: Sequence[str], cells: Sequence[str]
) -> Iterator[Expression]:
    yield Strip(base, "")
    yield Collapse(base)
    yield CamelCase(base)
    x, y = pairs[0]
    marks = sorted({char for char in x if not char.isalnum()})[:10]
    for pattern in [*REPLACED, *("=" + mark for mark in marks)]:
        if not compiled(pattern).search(x) and all(
            not compiled(pattern).search(a) for a, _ in pairs
        ):
            continue
        for text in dict.fromkeys(["", *seams, *_replacements(pattern, pairs)]):
            yield ReplaceAll(base, pattern, text)
        yield from _masked(base, pattern, y)
    for pattern in REMOVED:
        if any(compiled(pattern).search(a) for a, _ in pairs):
            yield ReplaceAll(base, pattern, "")
    for old, new in dict.fromkeys(found for a, b in pairs for found in _differences(a, b)):
        # What is a whole cell, or stands in one row only, is an example by heart.
        if old.strip() not in cells and sum(old in cell for cell in cells) > 1:
            yield ReplaceAll(base, "=" + old, new)
    for char in dict.fromkeys(x[:1] + x[-1:] + "0"):
        for side in ("left", "right", "both"):
            yield Strip(base, char, side)
    yield from fixed_lengths(base, pairs)
    yield from affixes(base, pairs)
    if isinstance(base, Cell):
        yield from chunks(base, pairs, seams)
    yield from _repeated(base, pairs, seams, marks)


def _replacements(pattern: str, pairs: Sequence[tuple[str, str]]) -> Iterator[str]:
    """Texts that turn an input into its whole output when they replace every match."""
    for x, y in pairs:
        pieces = compiled(pattern).split(x)
        number, length = len(pieces) - 1, len(y) - sum(map(len, pieces))
        if number == 0 or length < 0 or length % number or not any(pieces):
            continue
        text = y[len(pieces[0]) : len(pieces[0]) + length // number]
        if text.join(pieces) == y:
            yield text


def _differences(x: str, y: str) -> Iterator[tuple[str, str]]:
    """What is replaced by what where a text and its output differ: as it is, and as whole words."""
    if x == y or not x or not y:
        return
    start = len(common_prefix(x, y))
    stop = len(common_prefix(x[start:][::-1], y[start:][::-1]))
    old, new = x[start : len(x) - stop], y[start : len(y) - stop]
    if 0 < len(old) <= MAX_REPLACED:
        yield old, new
    while start > 0 and x[start - 1].isalnum():
        start -= 1
    while stop > 0 and x[len(x) - stop].isalnum():
        stop -= 1
    old, new = x[start : len(x) - stop], y[start : len(y) - stop]
    if 0 < len(old) <= MAX_REPLACED:
        yield old, new


def _masked(base: Expression, pattern: str, output: str) -> Iterator[Expression]:
    """Every character of the matches replaced by one that the output repeats."""
    for char in "*Xx#•0":
        if char in output:
            yield ReplaceAll(base, pattern, char, by_the_character=True)


def _repeated(
    base: Expression, pairs: Sequence[tuple[str, str]], seams: Sequence[str], marks: Sequence[str]
) -> Iterator[Expression]:
    """Something for every match, or for every part between separators."""
    for pattern in REPEATED:
        if any(not compiled(pattern).search(x) for x, _ in pairs):
            continue
        for separator in ["", *seams]:
            for form in ("", "upper", "lower", "title"):
                for keep in ("all", "first") if pattern != "number" else ("all",):
                    yield EveryMatch(base, pattern, keep, form, separator)
            for order in ("reversed", "sorted", "unique"):
                yield EveryMatch(base, pattern, separator=separator, order=order)
        for after in seams:
            yield EveryMatch(base, pattern, "first", "upper", "", after=after)
            if after.strip() and after != after.strip():
                yield EveryMatch(base, pattern, "first", "upper", " ", after=after.strip())
        for after, separator in ((".", " "), (".", "")):
            yield EveryMatch(base, pattern, "first", "upper", separator, after=after)
    for cut in marks:
        for separator in seams:
            for order in ("", "reversed", "sorted", "unique"):
                yield EverySplit(base, cut, separator, order)
            for form in ("upper", "lower", "title", "sentence"):
                yield EverySplit(base, cut, separator, "", form)


def _several(
    rows: Sequence[Row], outputs: Sequence[str], seams: Sequence[str]
) -> Iterator[Expression]:
    """What several columns make together."""
    columns = range(min(len(rows[0]), MAX_COLUMNS))
    for number in range(2, len(columns) + 1):
        for chosen in combinations(columns, number):
            for separator in ["", *seams]:
                yield JoinColumns(chosen, separator)
                yield JoinColumns(chosen, separator, "sorted")
            yield JoinColumns(chosen, "", "first")
    for one, other in permutations(columns, 2):
        for how in TWO_CELLS:
            yield TwoCells(one, other, how)
        for text in _placeholders(rows[0][one], rows[0][other], outputs[0]):
            yield ReplaceByColumn(one, text, other)


def _placeholders(cell: str, other: str, output: str) -> Iterator[str]:
    """Texts of a cell in whose stead the output has another cell."""
    if not other or other not in output:
        return
    start = 0
    while start < min(len(cell), len(output)) and cell[start] == output[start]:
        start += 1
    for match in compiled("nonspace").finditer(cell):
        if match.start() <= start < match.end():
            yield match.group()
            yield match.group().rstrip(".,;:!?'s")
    yield from compiled("word").findall(cell)[:12]
    for left, right in ("<>", "{}", "[]", "()", "%%", "$$"):
        i, j = cell.find(left), cell.find(right, cell.find(left) + 1)
        if 0 <= i < j:
            yield cell[i : j + 1]
