"""The base install fuzzes: without a model nothing imports JAX, SciPy, Equinox or matplotlib."""

import json
import shutil
import sys

import pytest

from commands import python

MISSING = ("jax", "jaxlib", "equinox", "optax", "scipy", "matplotlib", "orbax")
PROGRAM = f"""
import sys
for name in {MISSING!r}:
    sys.modules[name] = None  # importing it fails
from aloex.cli.main import app
app(sys.argv[1:], standalone_mode=False)
"""
TARGET = """
static volatile int seen;
int LLVMFuzzerTestOneInput(const unsigned char *data, long size) {
  if (size > 0 && data[0] > 'q') __builtin_trap();
  if (size > 1 && data[1] > 'q') seen++;
  return 0;
}
"""


@pytest.mark.skipif(not (shutil.which("clang-19") or shutil.which("clang")), reason="needs clang")
def test_build_run_and_replay(tmp_path):
    (tmp_path / "mine.c").write_text(TARGET)
    (tmp_path / "seeds").mkdir()
    (tmp_path / "seeds/first").write_text("abc")

    def aloex(*words: str) -> str:
        done = python(PROGRAM, "fuzz", *words, cwd=tmp_path)
        assert done.returncode == 0, done.stderr
        return done.stdout

    aloex("build", "--harness", "mine.c", "--seeds", "seeds")
    assert "inputs: 600 mutants of 1 seed" in aloex("run", "mine", "--inputs", "600")
    out = tmp_path / "runs/mine"
    numbers = json.loads((out / "report.json").read_text())
    assert numbers["edges"] > numbers["edges_of_seeds"] and len(numbers["bugs"]) == 1
    assert "<svg" in (out / "report.html").read_text()
    assert "inputs: 1 (1 ok" in aloex("replay", "mine", "seeds")


def test_the_modules_are_really_missing():
    """Else the test above would pass in vain; and with a model they are asked for."""
    done = python(PROGRAM.replace("from aloex.cli.main", "import jax\nfrom aloex.cli.main"))
    assert "ModuleNotFoundError: import of jax halted" in done.stderr
    done = python(PROGRAM, "fuzz", "learn", sys.prefix, "--out", "m.safetensors")
    assert "jax is not installed; install it: pip install 'aloex[learn]'" in done.stderr
