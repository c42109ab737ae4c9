"""The record of a campaign: a line of JSON per batch, the settings first. Lines are only added.

A killed process, or a full disk, leaves at most half a line at the end. It is dropped when the
journal is opened again, and what it would have told happens once more.
"""

import fcntl
import json
import os
from pathlib import Path
from typing import Any

from aloex.base.errors import CheckpointError


class Journal:
    """Opened by one process at a time. `rows` are those that were there."""

    def __init__(self, path: Path, settings: dict[str, Any]):
        path.parent.mkdir(parents=True, exist_ok=True)
        self.path = path
        self._fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o644)
        try:
            self._lock()
            self.rows = self._read()
            if self.rows:
                self._check(self.rows.pop(0), json.loads(json.dumps(settings)))
            else:
                self.append({"settings": settings})
        except BaseException:
            self.close()
            raise

    def __enter__(self) -> "Journal":
        return self

    def __exit__(self, *_) -> None:
        self.close()

    def close(self) -> None:
        """Let others open it."""
        os.close(self._fd)

    def append(self, row: dict[str, Any]) -> None:
        """Add a row; when this returns, it is safe from whatever happens to this process."""
        line = json.dumps(row, separators=(",", ":")).encode() + b"\n"
        size = os.fstat(self._fd).st_size
        try:
            while line:
                line = line[os.write(self._fd, line) :]
        except OSError:
            os.truncate(self._fd, size)
            raise

    def _lock(self) -> None:
        try:
            fcntl.flock(self._fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise CheckpointError(
                f"another process is at work in {self.path.parent}; wait for it, or use "
                "another folder"
            ) from None

    def _read(self) -> list[dict[str, Any]]:
        content = self.path.read_bytes()
        whole = content.rfind(b"\n") + 1
        lines = content[:whole].splitlines()
        rows = []
        for number, line in enumerate(lines, start=1):
            try:
                rows.append(json.loads(line))
            except ValueError:
                raise CheckpointError(
                    f"{self.path} is damaged in line {number}; remove the line and all after it "
                    "to go on from there, or use another folder"
                ) from None
        os.truncate(self._fd, whole)
        return rows

    def _check(self, first: dict[str, Any], now: dict[str, Any]) -> None:
        if "settings" not in first:
            raise CheckpointError(f"{self.path} is no journal of a campaign; use another folder")
        before = first["settings"]
        for key in before.keys() | now.keys():
            if before.get(key) != now.get(key):
                raise CheckpointError(
                    f"the campaign in {self.path.parent} has {key}={before.get(key)!r}, now "
                    f"{key}={now.get(key)!r} is given; go on with the same settings, or use "
                    "another folder: --out"
                )
