"""Slices: pairs of positions, in each case that the outputs show.

Positions with the same gaps in all rows are one; of the pairs only those are looked at whose text
is part of the outputs, all at once by NumPy.
"""

from collections.abc import Callable, Iterator, Sequence

import numpy as np

from aloex.apps.fill.expressions.cases import CASES, Case
from aloex.apps.fill.expressions.patterns import spans
from aloex.apps.fill.expressions.rewrite import Strip
from aloex.apps.fill.expressions.slices import Position, Slice
from aloex.apps.fill.search.atoms import Atom, atom
from aloex.apps.fill.search.costs import COSTS, cost_of
from aloex.apps.fill.search.texts.contexts import Contexts

FORMS = ("", "lower", "upper", "title", "sentence", "first")
TRIMMED = "trimmed"  # without spaces at both ends
BOUNDARIES = ("word", "number", "alnum", "capitalized", "upper", "lower", "space", "nonspace")
WITH_OFFSETS = ("word", "number", "alnum", "nonspace")
MAX_K = 8  # matches counted from the left; half as many from the right
MAX_OFFSET = 4  # characters inside a match
MAX_LENGTH = 12  # characters of a slice of fixed length
MAX_COUNTED = 12  # characters counted from the start and the end of a cell
MAX_CELL = 400  # characters of a cell that is sliced; longer ones have only matches and parts
MAX_POSITIONS = 400
PER_SPAN = 8  # slices kept with the same spans in all examples
WHOLE = Position("", 0), Position("", -1)


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
