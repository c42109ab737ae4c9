"""Tasks: rows of cells with the output that is wanted for each."""

import json
from pathlib import Path
from typing import Any, NamedTuple

from aloex.apps.fill.expressions.base import Row
from aloex.base.errors import InputError

FOLDER = Path(__file__).parent / "tasks"
SETS = {
    "dev": ("text_dev", "values_dev", "more_dev", "fresh_dev"),
    "heldout": ("text_heldout", "values_heldout"),
    "test": ("more_test", "fresh_test"),
    "later": ("later_test",),
}


class Task(NamedTuple):
    """A column to fill."""

    name: str
    kind: str
    columns: tuple[str, ...]
    rows: list[Row]
    outputs: list[str]


def load(name: str) -> list[Task]:
    """The tasks of a set, a key of `SETS`, or of a file of JSON lines."""
    paths = [FOLDER / f"{each}.jsonl" for each in SETS[name]] if name in SETS else [Path(name)]
    tasks: list[Task] = []
    for path in paths:
        try:
            lines = path.read_text(encoding="utf-8").splitlines()
            tasks += [_task(json.loads(line)) for line in lines if line.strip()]
        except FileNotFoundError:
            raise InputError(
                f"there is no set and no file {name}; sets: {', '.join(SETS)}"
            ) from None
        except (ValueError, KeyError, TypeError) as error:
            raise InputError(f"{path} holds no tasks: {error!r}") from None
    return tasks


def _task(values: dict[str, Any]) -> Task:
    pairs = values.get("rows") or values["examples"]
    rows = [tuple(pair["in"]) for pair in pairs]
    columns = values.get("columns") or [f"column {i + 1}" for i in range(len(rows[0]))]
    outputs = [pair["out"] for pair in pairs]
    return Task(values["name"], values.get("kind", ""), tuple(columns), rows, outputs)
