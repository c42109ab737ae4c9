"""Models evaluated once: the row of a model file lies beside it, and so does its exact log Z."""

import json
from pathlib import Path
from typing import Any

from aloex import exact
from aloex.apps.synthetic import evaluate, methods
from aloex.apps.synthetic.trained import load
from aloex.base.files import write_file
from aloex.base.provenance import provenance


def rated(path: Path, **how: Any) -> dict[str, Any]:
    """The row of a model file, from the JSON beside it if it has been evaluated before."""
    beside, known = path.with_suffix(".json"), path.with_suffix(".log_z.json")
    if not beside.exists():
        log_z = json.loads(known.read_text())["log_z"] if known.exists() else None
        row = evaluate.evaluate(load(path), exact_log_z=log_z, **how)
        write_file(beside, json.dumps(row | provenance(), indent=1) + "\n")
    return json.loads(beside.read_text())


def write_log_z(path: Path) -> float | None:
    """The exact log Z of a model file's f, kept beside it for `rated`, which may run elsewhere."""
    f = load(path).f
    if f is None:
        return None
    beside = path.with_suffix(".log_z.json")
    if not beside.exists():
        row = {"log_z": exact.streamed_log_z(f, methods.SPACE), **provenance()}
        write_file(beside, json.dumps(row, indent=1) + "\n")
    return json.loads(beside.read_text())["log_z"]
