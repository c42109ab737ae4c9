"""Locks: one process in a folder, and none left behind by a killed one."""

import subprocess
import sys

import pytest

from aloex.base.errors import AloexError
from aloex.base.locks import LockedError, folder_lock

HOLD = """
import sys, time
from pathlib import Path
from aloex.base.locks import folder_lock
with folder_lock(Path(sys.argv[1])):
    print("held", flush=True)
    time.sleep(600)
"""


def test_a_second_process_is_told_and_a_killed_one_leaves_no_lock(tmp_path):
    folder = tmp_path / "run"
    with subprocess.Popen([sys.executable, "-c", HOLD, folder], stdout=-1, text=True) as child:
        assert child.stdout is not None and child.stdout.readline() == "held\n"
        try:
            told = r"another process is at work in .*run; wait"
            with pytest.raises(LockedError, match=told), folder_lock(folder):
                pass
        finally:
            child.kill()
    with folder_lock(folder):
        pass


def test_a_lock_that_cannot_be_made_is_one_line(tmp_path):
    (tmp_path / "file").write_text("")
    told = "cannot make the folder"
    with pytest.raises(AloexError, match=told), folder_lock(tmp_path / "file"):
        pass
