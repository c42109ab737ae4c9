"""The graph over the outputs, against all ways to cut them in pieces."""

from itertools import pairwise, product

import pytest

from aloex.apps.fill.expressions.base import Constant, Expression
from aloex.apps.fill.expressions.text import Cell, Match
from aloex.apps.fill.search.atoms import Atom, atom, by_example_texts, evaluate
from aloex.apps.fill.search.graph import Constants, best_paths

ROWS = [("ab cd",), ("ef gh",), ("xy z",)]


def pool(outputs: list[str]) -> list[Atom]:
    parts: list[Expression] = [Match(0, "word", k, keep) for k in (1, 2) for keep in (0, 1)]
    return evaluate([*parts, Cell(0)], ROWS, outputs)


def cuts(text: str) -> list[list[str]]:
    """All ways to cut a text in pieces."""
    if not text:
        return [[]]
    return [[text[:n], *rest] for n in range(1, len(text) + 1) for rest in cuts(text[n:])]


def all_programs(outputs: list[str], atoms: list[Atom]) -> dict[tuple[str | None, ...], float]:
    """The cheapest cost of every behaviour, by trying atoms and constants for all cuts."""
    costs: dict[tuple[str | None, ...], float] = {}
    inputs = [row[0] for row in ROWS[: len(outputs)]]
    for pieces in product(*map(cuts, outputs)):
        if len({len(each) for each in pieces}) > 1:
            continue
        choices = []
        for texts in zip(*pieces, strict=True):
            own = [each for each in atoms if each.texts[: len(outputs)] == texts]
            if len(set(texts)) == 1:
                own.append(constant(texts[0], inputs, atoms))
            choices.append(own)
        for program in product(*choices):
            kinds = [isinstance(part.expression, Constant) for part in program]
            if any(a and b for a, b in pairwise(kinds)):
                continue
            columns = zip(*(part.texts for part in program), strict=True)
            texts = tuple(None if None in row else "".join(row) for row in columns)  # pyright: ignore
            cost = sum(part.cost for part in program)
            costs[texts] = min(cost, costs.get(texts, cost))
    return costs


def constant(text: str, inputs: list[str], atoms: list[Atom]) -> Atom:
    """What the graph thinks of a constant, from a graph that has nothing else."""
    groups = by_example_texts(atoms, len(inputs))
    paths = best_paths([text] * len(inputs), groups, Constants(inputs, groups, 3))
    only = [p for p in paths if all(isinstance(a.expression, Constant) for a in p.parts)]
    return only[0].parts[0] if only else atom(Constant(text), (text,) * 3)


@pytest.mark.parametrize("outputs", [["ab-c"], ["ab-c", "ef-g"], ["a.cd", "e.gh"], ["b"]])
def test_the_graph_finds_the_cheapest_program_of_every_behaviour(outputs: list[str]):
    atoms = pool(outputs)
    inputs = [row[0] for row in ROWS[: len(outputs)]]
    groups = by_example_texts(atoms, len(outputs))
    found = {
        p.texts: p.cost for p in best_paths(outputs, groups, Constants(inputs, groups, len(ROWS)))
    }
    assert found == pytest.approx(all_programs(outputs, atoms))


def test_paths_are_sorted_by_their_cost():
    outputs = ["ab-c"]
    groups = by_example_texts(pool(outputs), 1)
    costs = [p.cost for p in best_paths(outputs, groups, Constants(["ab cd"], groups, len(ROWS)))]
    assert costs == sorted(costs) and len(costs) > 1


def test_an_output_that_nothing_writes_has_no_path():
    assert best_paths(["q", "r"], {}, Constants(["ab cd", "ef gh"], {}, len(ROWS))) == []


def test_empty_outputs_are_written_by_nothing():
    (path,) = best_paths(["", ""], {}, Constants(["ab cd", "ef gh"], {}, len(ROWS)))
    assert path.parts == () and path.texts == ("", "", "")


def test_constants_that_could_be_copied_cost_more():
    def cost(text: str, inputs: list[str]) -> float:
        return best_paths([text] * 2, {}, Constants(inputs, {}, 2))[0].cost

    assert cost("Mr", ["Mr X", "Mr Y"]) > cost("Mr", ["a", "b"]) > cost("--", ["a", "b"])
