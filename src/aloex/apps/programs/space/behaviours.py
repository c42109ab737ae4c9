"""What the programs of a version space write for further inputs, and how probable that is.

Programs that write the same for all of these inputs behave alike, and their weights exp(score) add
up: the most probable behaviour is often not that of the best program. From the beginnings of the
outputs forwards, each node keeps the most probable of what can be written on the way there, with
the best program that does. Sums are exact, but for what is so improbable that it is dropped.

Texts are compared by fingerprints of 64 bits, h(ab) = h(a) B^len(b) + h(b): a false match is
improbable, not impossible.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from aloex.apps.programs.language.run import clean_pos
from aloex.apps.programs.language.syntax import ConstPos, ConstStr, Expr, Pos, Program
from aloex.apps.programs.space.k_best import substring
from aloex.apps.programs.space.score import Score
from aloex.apps.programs.space.version_space import Node, VersionSpace

MAX_KEPT = 100  # behaviours at a node
MAX_OPTIONS = 60  # things that a piece can write
NEGLIGIBLE = 1e-6  # share of all programs

_rng = np.random.default_rng(0)
BASE = np.uint64(0x9E3779B97F4A7C15)
_random = lambda n: _rng.integers(1, 1 << 63, n, dtype=np.uint64) * np.uint64(2) + np.uint64(1)
CODE, MIX = _random(1 << 12), _random(256)


class Behaviour(NamedTuple):
    """Some programs that write the same: their weight, and the best of them that was met."""

    weight: float
    program: Program


class Texts(NamedTuple):
    """Fingerprints [texts, inputs] of what is written, with BASE to the power of its length."""

    mark: np.ndarray
    power: np.ndarray

    def then(self, other: "Texts") -> "Texts":
        return Texts(self.mark * other.power + other.mark, self.power * other.power)

    def at(self, rows: np.ndarray) -> "Texts":
        return Texts(self.mark[rows], self.power[rows])

    def keys(self) -> np.ndarray:
        """One number for what is written for all inputs."""
        return (self.mark * np.resize(MIX, self.mark.shape[1])).sum(axis=1, dtype=np.uint64)


def behaviours(
    space: VersionSpace, score: Score, inputs: Sequence[str], max_kept: int = MAX_KEPT
) -> list[Behaviour]:
    """The most probable first. Programs that do not apply to all of the inputs are left out."""
    if not space:
        return []
    with np.errstate(over="ignore"):  # fingerprints are meant to
        options = _options(space, score, inputs)
        rest = options.rest(space)
        if rest[space.start] == 0:
            return []
        kept = _forwards(space, options, rest, len(inputs), max_kept)
    if space.end not in kept:
        return []
    weights = kept[space.end].weight.tolist()
    return [Behaviour(weight, _read(space, options, kept, i)) for i, weight in enumerate(weights)]


class _Options(NamedTuple):
    """What each piece can write, by weight: rows `bounds[piece]` to `bounds[piece + 1]`."""

    weight: np.ndarray
    texts: Texts
    first: np.ndarray  # positions, or -1 for a constant
    second: np.ndarray
    piece: np.ndarray
    bounds: np.ndarray
    positions: list[Pos]
    chars: list[str | None]  # of the pieces

    def expr(self, row: int) -> Expr:
        """The best expression that writes it."""
        char = self.chars[self.piece[row]]
        if self.first[row] < 0 and char is not None:
            return ConstStr(char)
        return substring(self.positions[self.first[row]], self.positions[self.second[row]])

    def totals(self) -> np.ndarray:
        """The weight of each piece."""
        return np.bincount(self.piece, self.weight, len(self.chars))

    def rest(self, space: VersionSpace) -> dict[Node, float]:
        """The weight of all that can follow a node."""
        totals, rest = self.totals().tolist(), {space.end: 1.0}
        for node in space.backwards():
            rest[node] = sum(totals[piece] * rest[then] for piece, then in space.graph[node])
        return rest


def _options(space: VersionSpace, score: Score, inputs: Sequence[str]) -> _Options:
    positions = [pos for each in space.classes for pos in each]
    gaps = np.array([[_gap(pos, text) for text in inputs] for pos in positions])
    pair, first, second = _substrings(space)
    good = np.all(gaps >= 0, axis=1)
    keep = good[first] & good[second] & np.all(gaps[first] != gaps[second], axis=1)
    pair, first, second = pair[keep], first[keep], second[keep]
    own = np.array([score.position(pos) for pos in positions])
    log_weight = own[first] + own[second] + score.pairs(space.pairs)[pair]
    log_weight += score.whole * _whole(positions)[first, second] if score.whole else 0
    piece = np.searchsorted(space.bounds, pair, side="right") - 1
    texts = _copied(gaps[first], gaps[second], inputs)

    chars = [(i, each.char) for i, each in enumerate(space.pieces) if each.char is not None]
    none = np.full(len(chars), -1)
    constants = _constants([char for _, char in chars], len(inputs))
    piece = np.append(piece, [i for i, _ in chars]).astype(int)
    weight = np.exp(np.append(log_weight, [score.constant(char) for _, char in chars]))
    texts = Texts(*(np.concatenate(both) for both in zip(texts, constants, strict=True)))

    rows, weight = _merged(weight, piece, texts.keys())
    order = np.lexsort((-weight, piece[rows]))
    rows, weight = rows[order], weight[order]
    piece, texts = piece[rows], texts.at(rows)
    bounds = np.searchsorted(piece, np.arange(len(space.pieces) + 1))
    first, second = np.append(first, none)[rows], np.append(second, none)[rows]
    chars = [each.char for each in space.pieces]
    return _Options(weight, texts, first, second, piece, bounds, positions, chars)


def _gap(pos: Pos, text: str) -> int:
    gap = clean_pos(pos, text)
    return -1 if gap is None else gap


def _substrings(space: VersionSpace) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """All SubStr: the number of its pair of classes, and of its positions."""
    sizes = np.array([len(each) for each in space.classes])
    begin = np.cumsum(sizes) - sizes
    one, other = space.pairs.first, space.pairs.second
    number = sizes[one] * sizes[other]
    pair = np.repeat(np.arange(len(one)), number)
    inner = np.arange(len(pair)) - np.repeat(np.cumsum(number) - number, number)
    columns = sizes[other][pair]
    return pair, begin[one][pair] + inner // columns, begin[other][pair] + inner % columns


def _whole(positions: list[Pos]) -> np.ndarray:
    """[i, j]: whether these are the two ends of one match."""
    number = {pos: i for i, pos in enumerate(positions)}
    whole = np.zeros((len(positions), len(positions)), bool)
    for pos, i in number.items():
        if not isinstance(pos, ConstPos) and pos.direct == "Start":
            j = number[replace(pos, direct="End")]
            whole[i, j] = whole[j, i] = True
    return whole


def _copied(one: np.ndarray, other: np.ndarray, inputs: Sequence[str]) -> Texts:
    """What lies between gaps [texts, inputs]."""
    longest = max(map(len, inputs))
    codes = np.zeros((len(inputs), longest), np.uint64)
    for row, text in zip(codes, inputs, strict=True):
        row[: len(text)] = _codes(text)
    before = np.zeros((len(inputs), longest + 1), np.uint64)
    for i in range(longest):
        before[:, i + 1] = before[:, i] * BASE + codes[:, i]
    powers = np.cumprod(np.append(np.uint64(1), np.full(longest, BASE)))
    low, high, column = np.minimum(one, other), np.maximum(one, other), np.arange(len(inputs))
    power = powers[high - low]
    return Texts(before[column, high] - before[column, low] * power, power)


def _constants(chars: Sequence[str], num_inputs: int) -> Texts:
    """The same character for all inputs, for each of some."""
    mark = np.repeat(_codes("".join(chars))[:, None], num_inputs, axis=1)
    return Texts(mark, np.full(mark.shape, BASE))


def _codes(text: str) -> np.ndarray:
    points = np.array([ord(char) for char in text], np.uint64)
    return CODE[points % np.uint64(len(CODE))] + points


def _merged(weight: np.ndarray, *keys: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Rows with the same keys as one: the heaviest, and the sum of their weights."""
    order = np.lexsort((-weight, *keys))
    new = np.zeros(max(len(order) - 1, 0), bool)
    for key in keys:
        new |= np.diff(key[order]) != 0
    first = np.flatnonzero(np.append(True, new)[: len(order)])
    sums = np.add.reduceat(weight[order], first) if len(first) else weight[:0]
    return order[first], sums


class _Kept(NamedTuple):
    """What can be written on the way to a node: weights, and where each came from."""

    weight: np.ndarray
    texts: Texts
    source: np.ndarray  # number of the edge that led here
    before: np.ndarray  # row at that edge's node
    option: np.ndarray
    nodes: list[Node]  # that the edges come from


# Along an edge: weights, texts, rows at its node, options, the node.
_Step = tuple[np.ndarray, Texts, np.ndarray, np.ndarray, Node]


def _forwards(
    space: VersionSpace, options: _Options, rest: dict[Node, float], num_inputs: int, max_kept: int
) -> dict[Node, _Kept]:
    """What is kept at each node, from the start on."""
    one, nothing = np.ones((1, num_inputs), np.uint64), np.zeros(1, int)
    start = (np.ones(1), Texts(np.zeros_like(one), one), nothing, nothing, space.start)
    arriving: dict[Node, list[_Step]] = {space.start: [start]}
    kept: dict[Node, _Kept] = {}
    totals, least = options.totals(), NEGLIGIBLE * rest[space.start]
    for node in (*reversed(space.backwards()), space.end):
        if node not in arriving:
            continue
        here = kept[node] = _gathered(arriving.pop(node), max_kept)
        for piece, then in space.graph.get(node, ()):
            if here.weight.sum() * totals[piece] * rest[then] < least:
                continue
            begin = options.bounds[piece]
            end = min(options.bounds[piece + 1], begin + MAX_OPTIONS)
            weight = np.outer(here.weight, options.weight[begin:end])
            row, option = np.nonzero(weight * rest[then] > 0.01 * least)
            if len(row):
                texts = here.texts.at(row).then(options.texts.at(begin + option))
                step = (weight[row, option], texts, row, begin + option, node)
                arriving.setdefault(then, []).append(step)
    return kept


def _gathered(steps: list[_Step], max_kept: int) -> _Kept:
    """What arrives at a node, the same texts as one, the most probable ones only."""
    weights, texts, before, option, nodes = zip(*steps, strict=True)
    source = np.repeat(np.arange(len(steps)), [len(each) for each in weights])
    joined = Texts(*(np.concatenate(each) for each in zip(*texts, strict=True)))
    rows, weight = _merged(np.concatenate(weights), joined.keys())
    top = np.argsort(-weight, kind="stable")[:max_kept]
    rows = rows[top]
    source, before, option = (
        source[rows],
        np.concatenate(before)[rows],
        np.concatenate(option)[rows],
    )
    return _Kept(weight[top], joined.at(rows), source, before, option, list(nodes))


def _read(space: VersionSpace, options: _Options, kept: dict[Node, _Kept], row: int) -> Program:
    """The program that leads to a row at the end."""
    node, program = space.end, []
    while node != space.start:
        here = kept[node]
        program.append(options.expr(int(here.option[row])))
        node, row = here.nodes[here.source[row]], int(here.before[row])
    return tuple(program[::-1])
