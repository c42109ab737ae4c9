"""Files that are never half written."""

import os
import threading
from pathlib import Path

import pytest

from aloex.base.files import write_file


def test_an_interrupt_leaves_the_old_file(tmp_path, monkeypatch):
    path = tmp_path / "table.csv"
    write_file(path, "old")

    def interrupted(self, data):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(Path, "write_bytes", interrupted)
        with pytest.raises(KeyboardInterrupt):
            write_file(path, "new")
    assert path.read_text() == "old"
    write_file(path, b"new")
    assert path.read_bytes() == b"new" and list(tmp_path.iterdir()) == [path]


def test_a_pipe_is_written_to_and_stays(tmp_path):
    path, got = tmp_path / "pipe", []
    os.mkfifo(path)
    reader = threading.Thread(target=lambda: got.append(path.read_text()), daemon=True)
    reader.start()
    write_file(path, "filled")
    reader.join(10)
    assert got == ["filled"] and path.is_fifo()
