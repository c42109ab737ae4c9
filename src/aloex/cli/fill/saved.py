"""Programs in files: what `aloex fill --save-program` writes and `aloex fill apply` reads."""

import json
from pathlib import Path

from aloex.apps.fill.export import identifier
from aloex.apps.fill.fill import Program
from aloex.base.errors import InputError, require
from aloex.base.files import make_folder, naming, write_file

MAX_BYTES = 2**26


def save_program(path: Path, program: Program, target: str) -> None:
    """Write a program with the name of the column that it fills: as Python code or as JSON."""
    if _is_python(path):
        text = program.to_python(identifier(target, "fill"))
    else:
        values = {"target": target, **program.to_json()}
        text = json.dumps(values, ensure_ascii=False, indent=1) + "\n"
    make_folder(path.parent)
    write_file(path, text)


def _is_python(path: Path) -> bool:
    return path.suffix.lower() == ".py"


def load_program(path: Path) -> tuple[Program, str | None]:
    """The program in a file, and the column that it filled."""
    require(path.exists(), f"there is no file {path}; check the path")
    require(
        not _is_python(path),
        f"{path} is Python code, to be used from Python; `aloex fill apply` needs the JSON: save "
        f"the program again with --save-program {path.stem}.json",
    )
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
    require(
        target is None or isinstance(target, str),
        f'{path}: this program is damaged: "target" must be the name of a column, got {target!r}',
    )
    return program, target
