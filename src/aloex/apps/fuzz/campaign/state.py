"""What the engine of a campaign knows, in a file, so that the campaign can be resumed.

It is the state after a number of rows of the journal: those that follow are run again.
"""

import hashlib
import json
from pathlib import Path
from typing import NamedTuple

from aloex.base.errors import CheckpointError
from aloex.base.files import write_file

MAGIC = b"aloex fuzz state 1\n"


class State(NamedTuple):
    """The state of a campaign after `num_rows` rows of its journal."""

    num_rows: int
    engine: bytes  # by `Engine.pack`


def save_state(path: Path, state: State) -> None:
    """Write a state; the one before stays until this is whole."""
    head = {"rows": state.num_rows, "sha256": hashlib.sha256(state.engine).hexdigest()}
    write_file(path, MAGIC + json.dumps(head).encode() + b"\n" + state.engine)


def load_state(path: Path) -> State | None:
    """Read a state; None if there is none."""
    if not path.exists():
        return None
    try:
        magic, head, engine = path.read_bytes().split(b"\n", 2)
        about = json.loads(head)
        good = magic + b"\n" == MAGIC and hashlib.sha256(engine).hexdigest() == about["sha256"]
        state = State(int(about["rows"]), engine)
    except (OSError, ValueError, KeyError, TypeError):
        good, state = False, None
    if not good:
        raise CheckpointError(
            f"{path} is damaged; delete it to run the campaign again from its beginning, with the "
            "same results, or use another folder: --out"
        )
    return state
