"""The graph over the outputs: every path from start to end is a program that fits the examples.

A node is a position in each output. An edge writes a piece of each: the texts of atoms, or a
constant. From the end backwards every node gets its best continuations; of those that write the
same for all rows looked at only the cheapest is kept.
"""

import heapq
from bisect import bisect
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from aloex.apps.fill.expressions.base import Constant
from aloex.apps.fill.expressions.patterns import compiled
from aloex.apps.fill.search.atoms import Atom, atom

MAX_NODES = 2000
BEST = 40  # behaviours kept at each node
LOOKED_AT = 400  # continuations looked at for them

Node = tuple[int, ...]


class Path(NamedTuple):
    """Parts that write the rest of the outputs."""

    cost: float
    parts: tuple[Atom, ...]
    texts: tuple[str | None, ...]


Continuation = tuple[float, int, int, Atom, Path]


def best_paths(
    outputs: Sequence[str],
    groups: Mapping[tuple[str, ...], list[Atom]],
    constants: "Constants",
) -> list[Path]:
    """The best programs, each with another behaviour; the cheapest first.

    Args:
        outputs: of the examples.
        groups: atoms by their texts in the examples.
        constants: what constants cost.
    """
    edges = _edges(outputs, list(groups))
    end = tuple(map(len, outputs))
    paths: dict[Node, list[Path]] = {end: [Path(0.0, (), ("",) * constants.num_rows)]}
    for node in sorted(edges, key=sum, reverse=True):
        streams = []
        for texts, is_constant in edges[node]:
            to = tuple(p + len(text) for p, text in zip(node, texts, strict=True))
            if to not in paths:
                continue
            for part in [constants[texts[0]]] if is_constant else groups[texts]:
                streams.append(_stream(len(streams), part, paths[to]))
        if streams:
            paths[node] = _merge(streams)
    return paths.get((0,) * len(outputs), [])


def _edges(
    outputs: Sequence[str], written: list[tuple[str, ...]]
) -> dict[Node, list[tuple[tuple[str, ...], bool]]]:
    """Node -> the texts that can be written next, and whether as a constant."""
    by_first: dict[str, list[tuple[str, ...]]] = {}  # by what they write in the first output
    for texts in written:
        by_first.setdefault(texts[0], []).append(texts)
    lengths = sorted({len(text) for text in by_first})
    edges: dict[Node, list[tuple[tuple[str, ...], bool]]] = {}
    waiting = [(0,) * len(outputs)]
    while waiting and len(edges) < MAX_NODES:
        node = waiting.pop()
        if node in edges:
            continue
        found = []
        rest = outputs[0][node[0] :]
        for length in lengths[: bisect(lengths, len(rest))]:
            for texts in by_first.get(rest[:length], []):
                if all(y.startswith(t, p) for y, t, p in zip(outputs, texts, node, strict=True)):
                    found.append((texts, False))
        common = _common([y[p:] for y, p in zip(outputs, node, strict=True)])
        found += [((common[:n],) * len(outputs), True) for n in range(1, len(common) + 1)]
        edges[node] = found
        waiting += [
            tuple(p + len(t) for p, t in zip(node, texts, strict=True)) for texts, _ in found
        ]
    return edges


def _common(texts: list[str]) -> str:
    first, last = min(texts), max(texts)
    number = next((i for i, (a, b) in enumerate(zip(first, last, strict=False)) if a != b), None)
    return first[: min(len(first), len(last)) if number is None else number]


class Constants(dict[str, Atom]):
    """The constants of a graph, made when they are asked for.

    Args:
        inputs: the cells of each example in one text.
        groups: atoms by their texts in the examples.
        num_rows: rows looked at.
    """

    def __init__(
        self, inputs: Sequence[str], groups: Mapping[tuple[str, ...], list[Atom]], num_rows: int
    ):
        super().__init__()
        self.inputs, self.groups, self.num_rows = inputs, groups, num_rows

    def __missing__(self, text: str) -> Atom:
        """A constant; letters and digits that could have been copied, or computed, cost more."""
        number = len(self.inputs)
        written = sum((run,) * number in self.groups for run in compiled("alnum").findall(text))
        letters = [char for char in text if char.isalnum()]
        copied = bool(letters) and all(char in x for char in letters for x in self.inputs)
        repeated = len(letters) * (1 - 1 / number)  # letters that more examples bear out
        more = {"constant_copied": float(copied), "constant_written": float(written)}
        self[text] = atom(
            Constant(text), (text,) * self.num_rows, {**more, "constant_repeated": repeated}
        )
        return self[text]


def _stream(number: int, part: Atom, paths: list[Path]) -> Iterator[Continuation]:
    """Continuations by their cost; ties go by the number of the stream."""
    is_constant = isinstance(part.expression, Constant)
    for i, path in enumerate(paths):
        if is_constant and path.parts and isinstance(path.parts[0].expression, Constant):
            continue  # two constants in a row are one
        yield part.cost + path.cost, number, i, part, path


def _merge(streams: list[Iterator[Continuation]]) -> list[Path]:
    """The cheapest continuations of a node, each behaviour once."""
    found: dict[tuple[str | None, ...], Path] = {}
    for number, (cost, _, _, part, path) in enumerate(heapq.merge(*streams)):
        if number >= LOOKED_AT or len(found) == BEST:
            break
        texts = tuple(
            None if a is None or b is None else a + b
            for a, b in zip(part.texts, path.texts, strict=True)
        )
        found.setdefault(texts, Path(cost, (part, *path.parts), texts))
    return list(found.values())
