"""`aloex` run inside the process of the tests."""

import sys

import pytest

from aloex.cli import main


@pytest.fixture
def run(tmp_path, monkeypatch, capfd):
    """Run `aloex` in this process and in a folder of its own: exit status, what it printed."""
    monkeypatch.chdir(tmp_path)

    def run(*words):
        monkeypatch.setattr(sys, "argv", ["aloex", *map(str, words)])
        try:
            main()
            status = 0
        except SystemExit as stop:
            status = stop.code or 0
        return status, *capfd.readouterr()

    return run
