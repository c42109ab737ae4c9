"""What is not installed is told together with the command that brings it."""

import pytest

from aloex.base import extras
from aloex.base.errors import AloexError
from aloex.base.extras import explain_missing, require_extra
from commands import python


def test_what_is_installed_is_no_error():
    require_extra("learn")


def test_what_is_missing_is_told_with_its_command(monkeypatch):
    monkeypatch.setattr(extras, "find_spec", lambda name: None if name == "equinox" else object())
    with pytest.raises(AloexError, match=r"equinox is not installed; .*'aloex\[learn\]'"):
        require_extra("learn")


@pytest.mark.parametrize(
    "name, label, module",
    [
        ("learn", "JAX and its companions", "jax"),
        ("networks", "numba", "numba"),
        ("arviz", "ArviZ", "arviz"),
    ],
)
def test_each_extra_has_a_message(name, label, module, monkeypatch):
    said = f"this needs {label}, but {module} is not installed; "
    said += f"install it: pip install 'aloex[{name}]'"
    assert str(explain_missing(ModuleNotFoundError("no", name=module))) == said
    monkeypatch.setattr(extras, "find_spec", lambda _: None)
    with pytest.raises(AloexError) as missing:
        require_extra(name)
    assert str(missing.value) == said


def test_a_failed_import_is_explained():
    error = explain_missing(ModuleNotFoundError("no", name="matplotlib.figure"))
    assert "pip install 'aloex[learn]'" in str(error)
    assert explain_missing(ModuleNotFoundError("no", name="nonsense")) is None


# Packages that a light installation does not have cannot be imported in this process.
LIGHT = """
import sys
class Absent:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in {"jax", "jaxlib", "equinox", "optax", "matplotlib"}:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)
sys.meta_path.insert(0, Absent())
from aloex.cli import main
main()
"""


def test_the_command_line_starts_without_jax_and_matplotlib():
    done = python(LIGHT, "--help")
    assert done.returncode == 0 and "learn" in done.stdout, done.stderr


def test_a_command_that_needs_jax_says_what_to_install(tmp_path):
    (tmp_path / "x.csv").write_text("0,1\n")
    done = python(LIGHT, "learn", str(tmp_path / "x.csv"), "--out", str(tmp_path / "run"))
    assert done.returncode == 2 and "Traceback" not in done.stderr
    assert done.stderr.startswith("error: ") and "pip install 'aloex[learn]'" in done.stderr
