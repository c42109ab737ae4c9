"""The section of the page: linear costs and energies side by side, and what that shows."""

from collections.abc import Sequence
from typing import Any

from studies.fill.energy.evaluate import ENERGIES, LINEAR
from studies.results import markdown
from studies.statistics import holm

Row = dict[str, Any]
LEVEL = 0.05


def tables(rows: Sequence[Row], names: dict[str, str]) -> tuple[str, str]:
    """First programs that are right; and log-likelihoods of the right ones, as given and scaled."""
    by = {(names[row["set"]], row["examples"], row["ranker"]): row for row in rows}
    rankers = [LINEAR, *ENERGIES.values()]
    counts, likely = [], []
    for name, number in sorted({key[:2] for key in by}):
        own = [by[name, number, ranker] for ranker in rankers]
        some = f"{own[0]['some_right']} of {own[0]['tasks']}"
        counts.append([name, number, *(row["first_right"] for row in own), some])
        texts = [f"{row['log_likelihood']:.2f}, {row['scaled']:.2f}" for row in own]
        likely.append([name, number, *texts])
    head = ["tasks", "examples", *rankers]
    return markdown([*head, "some program is right"], counts), markdown(head, likely)


def comparisons(rows: Sequence[Row], of: str) -> list[Row]:
    """Each energy against the linear costs on one set: gains, losses, and p adjusted by Holm."""
    found = [row for row in rows if row["set"] == of and row["ranker"] != LINEAR]
    adjusted = holm([row["p"] for row in found])
    return [{**row, "adjusted": p} for row, p in zip(found, adjusted, strict=True)]


def verdict(rows: Sequence[Row], ranker: str) -> str:
    """What these comparisons say of one energy."""
    clear = [row for row in rows if row["ranker"] == ranker and row["adjusted"] < LEVEL]
    gains = {row["only_energy"] > row["only_linear"] for row in clear}
    says = {(): "not clearly better or worse", (True,): "better", (False,): "worse"}
    return says.get(tuple(gains), "better with some numbers of examples and worse with others")


def differences(rows: Sequence[Row], ranker: str) -> str:
    """The comparisons of one energy in words."""
    return ", ".join(
        f"{row['only_energy']} tasks gained and {row['only_linear']} lost with {row['examples']} "
        f"(p = {row['p']:.2g})"
        for row in rows
        if row["ranker"] == ranker
    )


def scaled_gains(rows: Sequence[Row], of: str, ranker: str) -> str:
    """How much likelier the right programs are than under the linear costs, both scaled."""
    own = {(row["examples"], row["ranker"]): row["scaled"] for row in rows if row["set"] == of}
    numbers = sorted({number for number, _ in own})
    return ", ".join(f"{own[n, ranker] - own[n, LINEAR]:+.2f}" for n in numbers)


def values(rows: Sequence[Row], names: dict[str, str], of: str = "heldout") -> dict[str, Any]:
    """All that the template says."""
    pairs = comparisons(rows, of)
    counts, likely = tables(rows, names)
    return {
        "counts": counts,
        "likely": likely,
        "verdicts": {key: verdict(pairs, ranker) for key, ranker in ENERGIES.items()},
        "differences": differences(pairs, ENERGIES["on_costs"]),
        "wins": "better" in {verdict(pairs, ranker) for ranker in ENERGIES.values()},
        "gains": scaled_gains(rows, of, ENERGIES["on_costs"]),
    }
