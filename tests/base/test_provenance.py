"""Where a result comes from: the command as one would type it, versions, the machine."""

import platform
import sys

import pytest

from aloex.base.provenance import provenance


@pytest.mark.parametrize(
    "program, command",
    [
        ("/usr/bin/aloex", "aloex"),
        ("/lib/python/aloex/__main__.py", "aloex"),
        ("/home/me/studies/fuzz/__main__.py", "python -m studies.fuzz"),
        ("/home/me/studies/synthetic/floor.py", "python -m studies.synthetic.floor"),
        ("examples/own.py", "python examples/own.py"),
    ],
)
def test_the_command_can_be_typed_again(program, command, monkeypatch):
    monkeypatch.setattr(sys, "argv", [program, "--out", "a folder"])
    assert provenance()["command"] == f"{command} --out 'a folder'"


def test_versions_are_those_of_what_is_installed():
    found = provenance()
    assert found["versions"]["python"] == platform.python_version()
    assert "jax" in found["versions"] and None not in found["versions"].values()
    assert found["machine"].startswith(platform.machine())
