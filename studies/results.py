"""Result files: rows beside the command, versions and machine that made them; tables of them."""

import json
import shlex
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from aloex.base.errors import InputError
from aloex.base.files import write_file
from aloex.base.provenance import provenance

SOURCE = ("command", "versions", "machine")


def save(
    path: Path, rows: list[dict[str, Any]], keys: tuple[str, ...], *, quiet: bool = False
) -> None:
    """Write rows to `path`; rows of other runs stay unless one with the same `keys` is new.

    Of several rows with the same keys the last one is kept. A command that names a file of rows
    names this one: rows may have been made into another, on another machine.
    """
    same = lambda row: tuple(row.get(k) for k in keys)
    source = provenance()
    rows = [{**source, **row} for row in rows]  # a row that was made elsewhere says so itself
    rows = [{**row, "command": _into(path, row["command"])} for row in rows]
    new = {same(row): row for row in rows}
    old = read(path) if path.exists() else []
    kept = [row for row in old if same(row) not in new]
    path.parent.mkdir(parents=True, exist_ok=True)
    write_file(path, _dump([*kept, *new.values()]))
    if not quiet:
        print(f"wrote {path}")


def read(path: Path) -> list[dict[str, Any]]:
    """The rows, each with the command, versions and machine that made it."""
    try:
        saved = json.loads(path.read_text())
        return [{**saved["sources"][row.pop("source")], **row} for row in saved["rows"]]
    except FileNotFoundError:
        raise InputError(f"there are no results in {path}; check the path") from None
    except (OSError, ValueError, KeyError, TypeError, IndexError) as error:
        raise InputError(f"{path} holds no rows of results: {error!r}") from None


def join(paths: Iterable[Path], keys: tuple[str, ...]) -> list[dict[str, Any]]:
    """The rows of several files; of those with the same `keys` the last, as if they were saved."""
    rows = [row for path in paths for row in read(path)]
    return list({tuple(row.get(k) for k in keys): row for row in rows}.values())


def _into(path: Path, command: str) -> str:
    words = shlex.split(command)
    if "--out" in words[:-1]:
        words[words.index("--out") + 1] = str(path)
    return shlex.join(words)


def _dump(rows: list[dict[str, Any]]) -> str:
    """A line for each row, with the number of its source."""
    sources: list[dict[str, Any]] = []
    lines = []
    for row in rows:
        source = {key: row[key] for key in SOURCE if key in row}
        if source not in sources:
            sources.append(source)
        rest = {key: value for key, value in row.items() if key not in SOURCE}
        lines.append(json.dumps({**rest, "source": sources.index(source)}))
    listed = lambda texts: "[\n  " + ",\n  ".join(texts) + "\n ]" if texts else "[]"
    return f'{{"sources": {listed([json.dumps(s) for s in sources])},\n "rows": {listed(lines)}}}\n'


def markdown(head: Sequence[Any], rows: Iterable[Sequence[Any]]) -> str:
    """A table for a page."""
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join("| " + " | ".join(map(str, line)) + " |" for line in lines)
