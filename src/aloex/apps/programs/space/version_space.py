"""All clean programs that fit some examples, as a graph.

A node is a tuple of offsets, one in each output: how much of it has been written. An edge is a
`Piece`: the text that some expressions write in each example. A path from the beginnings of the
outputs to their ends is a choice of pieces, and each choice of an expression for each piece is a
program (Gulwani, POPL 2011, for this grammar).

Positions that mean the same gaps in all examples are one class, and expressions are pairs of
classes; so billions of programs take a few hundred pairs.
"""

from collections.abc import Sequence
from dataclasses import replace
from operator import add
from typing import Any, NamedTuple

import numpy as np

from aloex.apps.programs.language.alphabet import CONSTANTS, REGEXES
from aloex.apps.programs.language.canonical import ANCHORS
from aloex.apps.programs.language.run import clean_pos, matches, occurrences, spans
from aloex.apps.programs.language.syntax import MAX_K, ConstPos, ConstTok, Pos, RegexTok, SubStr
from aloex.base.errors import InputError, require

Node = tuple[int, ...]
PLAIN_REGEXES = tuple(name for name in REGEXES if name not in ANCHORS)
MAX_NODES = 100_000  # of one graph; texts such as "aaaa...", cut in all ways, have more


class Piece(NamedTuple):
    """Expressions that write the same texts: a constant, pairs of classes, or both."""

    texts: tuple[str, ...]
    char: str | None
    pairs: slice  # of `VersionSpace.pairs`


class Pairs(NamedTuple):
    """Pairs of classes: each is a SubStr for any two positions from them."""

    first: np.ndarray
    second: np.ndarray
    crossed: np.ndarray  # whether their order differs between the examples
    shortest: np.ndarray  # the fewest characters between them in an example

    # An index chooses rows; that of a tuple would choose a column.
    def __getitem__(self, index: Any) -> "Pairs":  # pyright: ignore[reportIncompatibleMethodOverride]
        return Pairs(*(column[index] for column in (*self,)))


class VersionSpace:
    """The programs that write the outputs for the inputs.

    `graph[node]` lists (number of a piece, next node); it is empty where there is no program.

    Args:
        examples: pairs of input and output; no output may be empty.
        constants: the characters that ConstStr may write.
        tokens: the characters that ConstTok may look for.
    """

    def __init__(
        self,
        examples: Sequence[tuple[str, str]],
        *,
        constants: Sequence[str] = CONSTANTS,
        tokens: Sequence[str] = CONSTANTS,
    ):
        require(len(examples) > 0, "there are no examples; give at least one pair")
        require(all(y for _, y in examples), "an output is empty; programs write something")
        self.examples = tuple(dict.fromkeys(examples))
        inputs, outputs = zip(*self.examples, strict=True)
        classes = _classes(inputs, tokens)
        self.classes: list[list[Pos]] = list(classes.values())
        self.gaps = np.array(list(classes), np.int64).reshape(len(classes), len(inputs))
        found = _pairs(self.gaps, inputs, outputs)
        chars = {(c,) * len(outputs): c for c in constants if all(c in y for y in outputs)}
        known = set(found.texts)
        texts = [*found.texts, *(text for text in chars if text not in known)]
        self.start: Node = (0,) * len(outputs)
        self.end: Node = tuple(map(len, outputs))
        graph = _graph(texts, outputs, self.start, self.end)
        used = sorted({piece for edges in graph.values() for piece, _ in edges})
        sizes = np.append(found.sizes, np.zeros(len(texts) - len(found.sizes), np.int64))
        self.pairs = found.pairs[np.repeat(np.isin(np.arange(len(texts)), used), sizes)]
        self.bounds = np.append(0, np.cumsum(sizes[used]))
        ranges = map(slice, self.bounds.tolist(), self.bounds[1:].tolist())
        self.pieces = [
            Piece(texts[number], chars.get(texts[number]), own)
            for number, own in zip(used, ranges, strict=True)
        ]
        new = {number: i for i, number in enumerate(used)}
        self.graph = {
            node: [(new[piece], then) for piece, then in edges] for node, edges in graph.items()
        }

    def __bool__(self) -> bool:
        """Whether there is a program."""
        return bool(self.graph)

    def sizes(self) -> list[int]:
        """How many expressions each piece has."""
        sizes = np.array([len(positions) for positions in self.classes])
        products = sizes[self.pairs.first] * sizes[self.pairs.second]
        found = self.per_piece(np.add, products, 0).tolist()
        return [n + (piece.char is not None) for n, piece in zip(found, self.pieces, strict=True)]

    def per_piece(self, ufunc: np.ufunc, values: np.ndarray, empty: int | float) -> np.ndarray:
        """Sums or maxima of one value for each pair, by piece; `empty` is that of no pairs."""
        if not self.pieces:
            return np.zeros(0)
        found = ufunc.reduceat(np.append(values, empty), self.bounds[:-1])
        return np.where(np.diff(self.bounds) == 0, empty, found)

    def count(self) -> int:
        """The number of programs."""
        sizes, total = self.sizes(), {self.end: 1}
        for node in self.backwards():
            total[node] = sum(sizes[piece] * total[then] for piece, then in self.graph[node])
        return total[self.start] if self.graph else 0

    def counts(self, max_expressions: int) -> list[int]:
        """The number of programs with 1, 2, ... expressions."""
        sizes = self.sizes()
        zeros = [0] * (max_expressions + 1)
        total = {self.end: [1, *zeros[1:]]}
        for node in self.backwards():
            row = list(zeros)
            for piece, then in self.graph[node]:
                for length, ways in enumerate(total[then][:-1]):
                    row[length + 1] += sizes[piece] * ways
            total[node] = row
        return total[self.start][1:] if self.graph else zeros[1:]

    def wholes(self) -> dict[int, list[SubStr]]:
        """For each piece the expressions that are one match, from its start to its end."""
        numbers = {piece.texts: number for number, piece in enumerate(self.pieces)}
        inputs = [x for x, _ in self.examples]
        found: dict[int, list[SubStr]] = {}
        for start in (pos for positions in self.classes for pos in positions):
            if isinstance(start, ConstPos) or start.direct == "End":
                continue
            k = start.k - 1 if start.k > 0 else start.k
            texts = tuple(text[slice(*spans(start, text)[k])] for text in inputs)
            if texts in numbers:
                whole = SubStr(start, replace(start, direct="End"))
                found.setdefault(numbers[texts], []).append(whole)
        return found

    def backwards(self) -> list[Node]:
        """The nodes with pieces, each after those that it leads to."""
        return sorted(self.graph, reverse=True)


def table_space(examples: Sequence[tuple[str, str]]) -> VersionSpace:
    """The space for a table: characters that all outputs, or inputs, share are constants, too."""
    inputs, outputs = zip(*examples, strict=True)
    shared = sorted(set.intersection(*map(set, outputs)))
    marks = sorted(set.intersection(*map(set, inputs)))
    marks = [char for char in marks if not char.isalnum() and not char.isspace()]
    merged = lambda more: tuple(dict.fromkeys((*CONSTANTS, *more)))
    return VersionSpace(examples, constants=merged(shared), tokens=merged(marks))


def _classes(inputs: Sequence[str], tokens: Sequence[str]) -> dict[Node, list[Pos]]:
    """The positions that all inputs have, by the gaps that they mean."""
    classes: dict[Node, list[Pos]] = {}

    def put(pos: Pos, gaps: Sequence[int]) -> None:
        classes.setdefault(tuple(gaps), []).append(pos)

    for k in range(-MAX_K, MAX_K + 1):
        put(ConstPos(k), [clean_pos(ConstPos(k), text) or 0 for text in inputs])
    found: list[tuple[type[RegexTok] | type[ConstTok], str, list[tuple[tuple[int, int], ...]]]] = [
        (RegexTok, name, [matches(name, text) for text in inputs]) for name in PLAIN_REGEXES
    ]
    for char in tokens:
        if all(char in text for text in inputs):
            found.append((ConstTok, char, [occurrences(char, text) for text in inputs]))
    for kind, what, each in found:
        for k in range(1, min(MAX_K, *map(len, each)) + 1):
            for end, direct in enumerate(("Start", "End")):
                put(kind(what, k, direct), [own[k - 1][end] for own in each])
                put(kind(what, -k, direct), [own[-k][end] for own in each])
    return classes


class _Found(NamedTuple):
    """Pairs of classes with a text between them that the outputs contain, sorted by that text."""

    texts: list[tuple[str, ...]]
    sizes: np.ndarray  # how many pairs have texts[i]
    pairs: Pairs


def _pairs(gaps: np.ndarray, inputs: Sequence[str], outputs: Sequence[str]) -> _Found:
    first, second = np.triu_indices(len(gaps), 1)
    key = np.zeros(len(first), np.int64)
    for column, text, output in zip(gaps.T, inputs, outputs, strict=True):
        ends, index = np.unique(column, return_inverse=True)
        one, other = index[first], index[second]
        table = _substring_ids(ends.tolist(), text, output)
        ids = table[np.minimum(one, other), np.maximum(one, other)]
        keep = ids > 0
        first, second = first[keep], second[keep]
        _, key = np.unique(key[keep] * table.size + ids[keep], return_inverse=True)
    order = np.argsort(key, kind="stable")
    first, second, key = first[order], second[order], key[order]
    bounds = np.flatnonzero(np.diff(key, prepend=-1, append=len(key)))
    one, other = gaps[first], gaps[second]
    low, high = np.minimum(one, other)[bounds[:-1]], np.maximum(one, other)[bounds[:-1]]
    texts = [
        tuple([text[a:b] for text, a, b in zip(inputs, lows, highs, strict=True)])
        for lows, highs in zip(low.tolist(), high.tolist(), strict=True)
    ]
    before = (one < other).sum(axis=1)
    crossed = np.greater(before, 0) & np.less(before, len(inputs))
    shortest = abs(one - other).min(axis=1)
    return _Found(texts, np.diff(bounds), Pairs(first, second, np.asarray(crossed), shortest))


def _substring_ids(ends: Sequence[int], text: str, output: str) -> np.ndarray:
    """[i, j]: a number for each text between gaps i < j that the output contains, else 0."""
    ids = np.zeros((len(ends), len(ends)), np.int64)
    known: dict[str, int] = {}
    for i, low in enumerate(ends):
        for j in range(i + 1, len(ends)):
            part = text[low : ends[j]]
            if part not in known and part not in output:
                break  # nor is anything longer
            ids[i, j] = known.setdefault(part, len(known) + 1)
    return ids


def _graph(
    texts: Sequence[tuple[str, ...]], outputs: Sequence[str], start: Node, end: Node
) -> dict[Node, list[tuple[int, Node]]]:
    """The nodes on paths from start to end, each with its pieces and where they lead."""
    usable = [_usable([text[e] for text in texts], output) for e, output in enumerate(outputs)]
    graph: dict[Node, list[tuple[int, Node]]] = {}
    stack = [start]
    while stack:
        node = stack.pop()
        if node in graph or node == end:
            continue
        here = -1
        for offset, fitting in zip(node, usable, strict=True):
            here &= fitting[offset]
        edges = []
        while here:
            lowest = here & -here
            here ^= lowest
            piece = lowest.bit_length() - 1
            edges.append((piece, tuple(map(add, node, map(len, texts[piece])))))
        graph[node] = edges
        stack += [then for _, then in edges]
        if len(graph) > MAX_NODES:
            raise InputError("the examples can be cut in too many ways; give shorter ones")
    good = {end}
    for node in sorted(graph, reverse=True):
        edges = [edge for edge in graph[node] if edge[1] in good]
        if edges:
            good.add(node)
            graph[node] = edges
        else:
            del graph[node]
    return graph if start in graph else {}


def _usable(texts: Sequence[str], output: str) -> list[int]:
    """For each offset of an output the pieces that fit there and lead to its end, as bits."""
    bits: dict[str, int] = {}
    for number, text in enumerate(texts):
        bits[text] = bits.get(text, 0) | 1 << number
    fitting: list[list[tuple[int, int]]] = [[] for _ in output]
    for text, pieces in bits.items():
        offset = output.find(text)
        while offset >= 0:
            fitting[offset].append((offset + len(text), pieces))
            offset = output.find(text, offset + 1)
    usable = [0] * len(output) + [-1]
    for offset in range(len(output) - 1, -1, -1):
        for then, pieces in fitting[offset]:
            if usable[then]:
                usable[offset] |= pieces
    usable[-1] = 0  # nothing more can be written there
    return usable
