"""Atoms that copy a part of a cell: whole cells, matches, parts between separators, slices.

Slices are pairs of positions. Positions with the same gaps in all rows are one; of the pairs only
those are looked at whose text is part of the outputs, all at once by NumPy.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence

import numpy as np

from aloex.apps.fill.expressions.base import Expression, Row
from aloex.apps.fill.expressions.between import Between
from aloex.apps.fill.expressions.cases import CASES, Case
from aloex.apps.fill.expressions.patterns import compiled, spans
from aloex.apps.fill.expressions.rewrite import Strip
from aloex.apps.fill.expressions.slices import Position, Slice
from aloex.apps.fill.expressions.text import Cell, Digits, Match, MatchNear, Split, digits_of
from aloex.apps.fill.search.atoms import Atom, atom, evaluate
from aloex.apps.fill.search.between_atoms import between
from aloex.apps.fill.search.costs import COSTS, Features, cost_of
from aloex.apps.fill.search.names import with_names
from aloex.apps.fill.search.shapes import kind_of

MATCHED = (
    "word",
    "name",
    "number",
    "decimal",
    "alnum",
    "capitalized",
    "upper",
    "lower",
    "nonspace",
    "code",
    "signed",
    "email",
    "url",
    "tag",
)
NEAR = ("word", "number", "decimal", "alnum", "nonspace", "code", "capitalized")
BOUNDARIES = ("word", "number", "alnum", "capitalized", "upper", "lower", "space", "nonspace")
WITH_OFFSETS = ("word", "number", "alnum", "nonspace")
WITH_PIECES = ("word", "number", "nonspace")
KEPT = (1, 2, 3, 4, -1, -2, -3, -4)
FORMS = ("", "lower", "upper", "title", "sentence", "first")
TRIMMED = "trimmed"  # without spaces at both ends
MAX_K = 8  # matches counted from the left; half as many from the right
MAX_OFFSET = 4  # characters inside a match
MAX_LENGTH = 12  # characters of a slice of fixed length
MAX_COUNTED = 12  # characters counted from the start and the end of a cell
MAX_CELL = (
    400  # characters of a cell that is sliced; of longer ones only matches and parts are used
)
MAX_POSITIONS = 400
PER_SPAN = 8  # slices kept with the same spans in all examples
COMMON_WORDS = 6
WHOLE = Position("", 0), Position("", -1)
MAX_DIGITS = 24  # of a cell whose digits are cut


class Contexts:
    """What stands before and after each gap of the cells of a column: a code for two characters.

    A part that was cut off at ", " in the examples and between two letters elsewhere is likely the
    wrong one: that costs.
    """

    def __init__(self, texts: Sequence[str], num_examples: int):
        self.num_examples, codes = num_examples, {"": 0}
        code = lambda near: codes.setdefault("".join(map(kind_of, near)), len(codes))
        self.before = [[code(t[max(g - 2, 0) : g]) for g in range(len(t) + 1)] for t in texts]
        self.after = [[code(t[g : g + 2]) for g in range(len(t) + 1)] for t in texts]
        self.inside = [_gaps_inside(text) for text in texts]

    def new(self, gaps: Sequence[int], start: bool) -> float:
        """The share of other rows where the start (or end) of a part has new surroundings."""
        near = self.before if start else self.after
        found = [near[i][gap] for i, gap in enumerate(gaps) if gap >= 0]
        known, others = set(found[: self.num_examples]), found[self.num_examples :]
        if not others:
            return 0.0
        return sum(code not in known for code in others) / len(others)

    def cuts(self, gaps: Sequence[int]) -> float:
        """The share of other rows where a gap is inside a word or number; 0 if examples have it."""
        found = [gap in self.inside[i] for i, gap in enumerate(gaps)]
        others = found[self.num_examples :]
        if not others or any(found[: self.num_examples]):
            return 0.0
        return sum(others) / len(others)


_INSIDE = re.compile(r"(?<=[^\W_])(?=[^\W_])|(?<=\d)(?=[.,]\d)|(?<=\d[.,])(?=\d)")


def _gaps_inside(text: str) -> set[int]:
    """Gaps between two letters or digits, and those beside the mark of a decimal number."""
    return {match.start() for match in _INSIDE.finditer(text)}


def text_atoms(rows: Sequence[Row], outputs: Sequence[str]) -> list[Atom]:
    """Atoms of all columns."""
    found: list[Atom] = []
    for column in range(len(rows[0])):
        texts = [row[column] for row in rows]
        if not any(texts[: len(outputs)]):
            continue
        literals = literals_of(texts, len(outputs))
        contexts = Contexts(texts, len(outputs))
        copies = list(copied(column, texts, len(outputs), literals))
        copies += near(column, literals)
        copies += between(column, texts[: len(outputs)], literals)
        copies += digits(column, texts, outputs)
        written = [part for part in copies if _may_be_written(part.run(rows[0]), outputs[0])]
        cased = [Case(form, part) for part in written for form in FORMS[1:]]
        cased += [Case("swap", Cell(column)), Case("headline", Cell(column))]
        of_column: list[Atom] = []
        for each in evaluate([*copies, *cased], rows, outputs):
            more = {**_context(each, texts, contexts), "idle": each.features["idle"]}
            of_column.append(atom(each.expression, each.texts, more))
        of_column += slices(column, texts, outputs, literals, contexts)
        found += with_names(of_column, texts)
    return found


def _may_be_written(text: str | None, output: str) -> bool:
    """Whether a text is part of an output in some case."""
    return bool(text) and str(text).casefold() in output.casefold()


def _context(found: Atom, texts: Sequence[str], contexts: Contexts) -> Features:
    part = found.expression.part if isinstance(found.expression, Case) else found.expression
    if not isinstance(part, Between | Match | MatchNear | Split):
        return {}
    where = [part.span(text) or (-1, -1) for text in texts]
    starts, ends = [start for start, _ in where], [end for _, end in where]
    return {
        "new_context": contexts.new(starts, True) + contexts.new(ends, False),
        "cuts": contexts.cuts(starts) + contexts.cuts(ends),
    }


def literals_of(texts: Sequence[str], num_examples: int) -> list[str]:
    """Marks, runs of marks, and words with or without marks that all examples have in common."""
    examples, others = texts[:num_examples], texts[num_examples:]
    runs = [set(compiled("nonalnum").findall(text)) for text in examples]
    chars = [{char for char in text if not char.isalnum()} for text in examples]
    found = sorted(set.intersection(*runs) | set.intersection(*chars) - {" "})
    words = set.intersection(*map(_words, examples))
    counts = Counter(word for text in others for word in _words(text) & words)
    common = [word for word in sorted(words) if 2 * counts[word] >= len(others)]
    if num_examples == 1 and not others:
        common = []
    return [*found[:24], *sorted(common, key=len, reverse=True)[:COMMON_WORDS]]


_MARKED = re.compile(r"(?=(?<![^\W_])([^\W_]+[^\w\s]{1,3} ?))")


def _words(text: str) -> set[str]:
    """The words of a text, alone and with the marks behind them: id, id=."""
    return {*compiled("alnum").findall(text), *_MARKED.findall(text)}


def copied(
    column: int, texts: Sequence[str], num_examples: int, literals: Sequence[str]
) -> Iterator[Expression]:
    """The cell, its matches, and its parts between separators."""
    yield Cell(column)
    for pattern in MATCHED:
        most = min(len(spans(pattern, text)) for text in texts[:num_examples])
        for k in ks(most):
            yield Match(column, pattern, k)
            if pattern in WITH_PIECES:
                yield from (Match(column, pattern, k, keep) for keep in KEPT)
    for literal in dict.fromkeys([*literals, " ", *_marks(texts[:num_examples])]):
        if any(char.isalnum() for char in literal):
            continue
        most = min(text.count(literal) for text in texts[:num_examples]) + 1
        for k in ks(most):
            yield Split(column, literal, k)


def _marks(texts: Sequence[str]) -> list[str]:
    """Marks of some examples: a cell without them is its own first part."""
    return sorted({char for text in texts for char in text if compiled("mark").match(char)})[:12]


def near(column: int, literals: Sequence[str]) -> Iterator[Expression]:
    """Matches after and before the texts that all examples have."""
    for literal in literals:
        if literal.isspace():
            continue
        for pattern in NEAR:
            for after in (True, False):
                yield MatchNear(column, pattern, literal, after)
                yield MatchNear(column, pattern, literal, after, last=True)


def digits(column: int, texts: Sequence[str], outputs: Sequence[str]) -> Iterator[Expression]:
    """Digits of cells that have more than one number, cut by counting from either end."""
    if all(len(spans("number", text)) < 2 for text in texts):
        return
    found = [digits_of(text) for text in texts[: len(outputs)]]
    shortest, longest = min(map(len, found)), max(map(len, found))
    if not 0 < longest <= MAX_DIGITS:
        return
    for start in range(-shortest, shortest):
        stops = range(start + 1, shortest + 1) if start >= 0 else range(start + 1, 1)
        for stop in (*stops, *((-1, -2, -3, -4) if start >= 0 else ())):
            end = None if stop == 0 else stop
            if all(d[start:end] and d[start:end] in y for d, y in zip(found, outputs, strict=True)):
                yield Digits(column, start, end)
    yield Digits(column, 0, None)


def ks(most: int) -> list[int]:
    """Numbers of matches when there are at least so many, from both ends."""
    return [*range(1, min(most, MAX_K) + 1), *range(-1, -min(most, MAX_K // 2) - 1, -1)]


def slices(
    column: int,
    texts: Sequence[str],
    outputs: Sequence[str],
    literals: Sequence[str],
    contexts: Contexts,
) -> list[Atom]:
    """Slices between two positions, or of a fixed length, in each case that the outputs show."""
    num_examples = len(outputs)
    if max(len(text) for text in texts[:num_examples]) > MAX_CELL:
        return []
    positions, gaps = _positions(texts, num_examples, literals)
    if not positions:
        return []
    own = np.array([cost_of(position.features()) for position in positions])
    new = np.array([[contexts.new(gap, side) for gap in gaps.tolist()] for side in (True, False)])
    cut_at = [contexts.cuts(gap) for gap in gaps.tolist()]
    costs = own + COSTS["new_context"] * new + COSTS["cuts"] * np.array(cut_at)
    found = []
    for form in (*FORMS, TRIMMED):
        change = _change(form)
        if form and form != TRIMMED and all(change(text) == text for text in texts):
            continue
        written = [_written(x, y, change) for x, y in zip(texts, outputs, strict=False)]
        for i, j, length in _pairs(positions, gaps[:, :num_examples], costs, written):
            ends = gaps[i] + length if length else gaps[j]
            last = _moved(positions[i], length) if length else positions[j]
            if (positions[i], last) == WHOLE:
                continue  # that is the cell itself
            cut = tuple(
                change(text[s:e]) if 0 <= s <= e <= len(text) else None
                for text, s, e in zip(texts, gaps[i].tolist(), ends.tolist(), strict=True)
            )
            part = Slice(column, positions[i], last)
            more = {
                "new_context": new[0, i] + (0 if length else new[1, j]),
                "cuts": cut_at[i] + (0 if length else cut_at[j]),
            }
            if not form:
                found.append(atom(part, cut, more))
                continue
            plain = (t[s:e] for t, s, e in zip(texts, gaps[i], ends, strict=True))
            same = all(a == b for a, b in zip(plain, cut[:num_examples], strict=False))
            if form != TRIMMED:
                found.append(atom(Case(form, part), cut, {**more, "idle": float(same)}))
            elif not same:
                found.append(atom(Strip(part, ""), cut, more))
    return found


def _change(form: str) -> Callable[[str], str]:
    """What becomes of a slice."""
    return str.strip if form == TRIMMED else CASES[form][0] if form else str


def _positions(
    texts: Sequence[str], num_examples: int, literals: Sequence[str]
) -> tuple[list[Position], np.ndarray]:
    """Positions that all examples have, the cheapest for each vector of gaps; -1 is nowhere."""
    found: dict[tuple[int, ...], tuple[float, Position]] = {}
    lengths = [len(text) for text in texts]

    def add(position: Position, gaps: list[int]) -> None:
        clean = tuple(g if 0 <= g <= n else -1 for g, n in zip(gaps, lengths, strict=True))
        if min(clean[:num_examples]) < 0:
            return
        cost = cost_of(position.features())
        if clean not in found or cost < found[clean][0]:
            found[clean] = cost, position

    for k in range(min(MAX_COUNTED, min(lengths[:num_examples])) + 1):
        add(Position("", k), [k] * len(texts))
        add(Position("", -k - 1), [n - k for n in lengths])
    for pattern in [*BOUNDARIES, *("=" + literal for literal in literals)]:
        where = [spans(pattern, text) for text in texts]
        inner = MAX_OFFSET if pattern in WITH_OFFSETS else 0
        for k in ks(min(len(each) for each in where[:num_examples])):
            i = k - 1 if k > 0 else k
            matched = [each[i] if abs(k) <= len(each) else (-9, -9) for each in where]
            shortest = min(end - start for start, end in matched[:num_examples])
            for offset in range(min(inner, shortest - 1) + 1):
                add(Position(pattern, k, False, offset), [s + offset for s, _ in matched])
                add(Position(pattern, k, True, -offset), [e - offset for _, e in matched])
    cheapest = sorted(found.items(), key=lambda item: item[1][0])[:MAX_POSITIONS]
    gaps = np.array([gap for gap, _ in cheapest], np.int64).reshape(len(cheapest), len(texts))
    return [position for _, (_, position) in cheapest], gaps


def _written(text: str, output: str, change: Callable[[str], str]) -> np.ndarray:
    """[start, end] -> whether that slice, changed, is part of the output."""
    found = np.zeros((len(text) + 1, len(text) + 1), bool)
    for start in range(len(text)):
        for end in range(start + 1, len(text) + 1):
            changed = change(text[start:end])
            if changed not in output:
                break
            found[start, end] = changed != ""
    return found


def _pairs(
    positions: Sequence[Position], gaps: np.ndarray, costs: np.ndarray, written: list[np.ndarray]
) -> Iterator[tuple[int, int, int]]:
    """Pairs of positions whose slice is written in all examples, the cheapest of each span.

    The third number is 0, or else the length of a slice that has no second position.
    """
    begins = np.all([w[g].any(axis=1) for w, g in zip(written, gaps.T, strict=True)], axis=0)
    finishes = np.all([w[:, g].any(axis=0) for w, g in zip(written, gaps.T, strict=True)], axis=0)
    starts, ends = np.flatnonzero(begins), np.flatnonzero(finishes)
    fits = np.ones((len(starts), len(ends)), bool)
    for w, g in zip(written, gaps.T, strict=True):
        fits &= w[np.ix_(g[starts], g[ends])]
    rows, columns = np.nonzero(fits)
    i, j = starts[rows], ends[columns]
    number = dict.fromkeys(zip(map(bytes, gaps[i]), map(bytes, gaps[j]), strict=True), 0)
    for a, b in sorted(
        zip(i.tolist(), j.tolist(), strict=True), key=lambda p: costs[0, p[0]] + costs[1, p[1]]
    ):
        span = bytes(gaps[a]), bytes(gaps[b])
        number[span] += 1
        if number[span] <= PER_SPAN:
            yield a, b, 0
    for a in starts.tolist():
        if not positions[a].pattern:
            continue  # counted positions have such ends among themselves
        for length in range(1, MAX_LENGTH + 1):
            stops = gaps[a] + length
            if any(
                e >= len(w) or not w[s, e] for w, s, e in zip(written, gaps[a], stops, strict=True)
            ):
                break
            yield a, a, length


def _moved(position: Position, number: int) -> Position:
    return Position(position.pattern, position.k, position.at_end, position.offset + number)
