"""The journal of a campaign: its settings, then a line of JSON for each portion of seeds or epoch.

Lines are only added. A killed process or a full disk leaves at most half a line at the end. It is
dropped when the journal is opened again, and what it was to tell is run again.
"""

import json
import os
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from aloex.apps.fuzz.campaign.changed import what_has_changed
from aloex.base.errors import CheckpointError
from aloex.base.locks import folder_lock


class Journal:
    """A journal that one process at a time has open. `rows` has the lines that were there.

    Args:
        path: of the file.
        settings: of the campaign; it is an error if those in the file are others.
        command: that runs such campaigns, for that error.
    """

    def __init__(self, path: Path, settings: dict[str, Any], command: str = "aloex fuzz run"):
        self.path, self._command = path, command
        with ExitStack() as opening:
            opening.enter_context(folder_lock(path.parent, wait=False))
            flags = os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC
            self._fd = os.open(path, flags, 0o644)
            opening.callback(os.close, self._fd)
            self.rows, self._ends = self._read()
            if self.rows:
                self._check(self.rows.pop(0), json.loads(json.dumps(settings)))
            else:
                self._write({"settings": settings})
            self._resources = opening.pop_all()

    def __enter__(self) -> "Journal":
        return self

    def __exit__(self, *_) -> None:
        self.close()

    def close(self) -> None:
        """Let other processes open it."""
        self._resources.close()

    def append(self, row: dict[str, Any]) -> None:
        """Add a row. Once this returns, the row survives the death of this process."""
        self._write(row)
        self.rows.append(row)

    def _write(self, row: dict[str, Any]) -> None:
        line = json.dumps(row, separators=(",", ":")).encode() + b"\n"
        size = os.fstat(self._fd).st_size
        try:
            while line:
                line = line[os.write(self._fd, line) :]
        except OSError:
            os.truncate(self._fd, size)
            raise
        self._ends.append(os.fstat(self._fd).st_size)

    def keep(self, num_rows: int) -> None:
        """Drop all rows but the first ones."""
        self.rows = self.rows[:num_rows]
        self._ends = self._ends[: num_rows + 1]
        os.truncate(self._fd, self._ends[-1])

    def _read(self) -> tuple[list[dict[str, Any]], list[int]]:
        """The rows, that of the settings first, and where each ends."""
        content = self.path.read_bytes()
        whole = content.rfind(b"\n") + 1
        lines = content[:whole].splitlines(keepends=True)
        rows, ends = [], [0]
        for number, line in enumerate(lines, start=1):
            try:
                rows.append(json.loads(line))
                ends.append(ends[-1] + len(line))
            except ValueError:
                raise CheckpointError(
                    f"{self.path} is damaged in line {number}; remove the line and all after it "
                    "to go on from there, or use another folder"
                ) from None
        os.truncate(self._fd, whole)
        return rows, ends[1:]

    def _check(self, first: Any, now: dict[str, Any]) -> None:
        if not isinstance(first, dict) or not isinstance(first.get("settings"), dict):
            raise CheckpointError(
                f"{self.path} is not the journal of a campaign; use another folder"
            )
        before = first["settings"]
        for key in {**before, **now}:  # in order: a mutator's name comes before its settings
            if before.get(key) != now.get(key):
                out, values = self.path.parent, (before.get(key), now.get(key))
                raise CheckpointError(
                    what_has_changed(key, *values, out=out, command=self._command)
                )
