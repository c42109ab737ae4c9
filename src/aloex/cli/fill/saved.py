"""Programs in files: what `aloex fill --save-program` writes and `aloex fill apply` reads."""

import json
from pathlib import Path
from typing import Any

from aloex.apps.fill.fill import Program
from aloex.base.errors import InputError, require
from aloex.base.files import make_folder, naming, write_file

MAX_BYTES = 2**26


def columns_used(program: Program) -> list[int]:
    """Which cells of a row the program reads, from 0."""
    return sorted(_columns(program.expression.to_json()))


def _columns(value: Any) -> set[int]:
    """All that is called `column`, `other` or `columns` in an expression's JSON."""
    if isinstance(value, list):
        return {i for each in value for i in _columns(each)}
    if not isinstance(value, dict):
        return set()
    own = [*(value[name] for name in ("column", "other") if name in value)]
    own += value.get("columns", [])
    return {*own, *(i for each in value.values() for i in _columns(each))}


def save_program(path: Path, program: Program, target: str) -> None:
    """Write a program with the name of the column that it fills."""
    values = {"target": target, **program.to_json()}
    make_folder(path.parent)
    write_file(path, json.dumps(values, ensure_ascii=False, indent=1) + "\n")


def load_program(path: Path) -> tuple[Program, str | None]:
    """The program in a file, and the column that it filled."""
    require(path.exists(), f"there is no file {path}; check the path")
    try:
        with naming(path, "read"):
            require(path.stat().st_size <= MAX_BYTES, f"{path} is no program: it is too large")
            text = path.read_text("utf-8-sig")
        values = json.loads(text)
        program = Program.from_json(values)
    except (UnicodeDecodeError, json.JSONDecodeError, RecursionError):
        raise InputError(f"{path} is no program that --save-program has written") from None
    except InputError as error:
        raise InputError(f"{path}: {error}") from None
    target = values.get("target")
    return program, target if isinstance(target, str) else None
