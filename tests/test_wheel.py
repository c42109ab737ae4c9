"""The wheel, installed into an empty environment away from the checkout: small, and it works."""

import os
import subprocess
import sys
import venv
import zipfile
from pathlib import Path

import pytest

from fuzz_targets import clang  # noqa: F401

ROOT = Path(__file__).parent.parent
TINY = ROOT / "tests" / "targets" / "tiny.c"
TABLE = "name,short\nAda Lovelace,A. Lovelace\nAlan Turing,A. Turing\nGrace Hopper,\n"
NEEDS_JAX = "pip install 'aloex[learn]'"

MAX_WHEEL = 1_000_000  # bytes; 0.4 MB today
MAX_INSTALLED = 150_000_000  # bytes; 132 MB today, of which NumPy has 73 and pip itself 27


@pytest.fixture(scope="module")
def wheel(tmp_path_factory) -> Path:
    """The wheel of this checkout."""
    out = tmp_path_factory.mktemp("wheel")
    done(sys.executable, "-m", "hatchling", "build", "--target", "wheel", "-d", out, cwd=ROOT)
    [path] = out.glob("*.whl")
    return path


@pytest.fixture(scope="module")
def installed(wheel, tmp_path_factory) -> Path:
    """An environment with the wheel and what it needs, and nothing else."""
    folder = tmp_path_factory.mktemp("empty") / "venv"
    venv.create(folder, with_pip=True)
    quiet = ("--quiet", "--disable-pip-version-check")
    done(folder / "bin" / "python", "-m", "pip", "install", *quiet, wheel, cwd=folder)
    return folder


def done(*command, cwd: Path, status: int = 0) -> str:
    """What a command printed; it must end with `status`."""
    result = subprocess.run(
        list(map(str, command)),
        cwd=cwd,
        env={name: value for name, value in os.environ.items() if not name.startswith("PYTHON")},
        capture_output=True,
        text=True,
        timeout=600,
    )
    assert result.returncode == status, result.stdout + result.stderr
    assert "Traceback" not in result.stderr
    return result.stdout + result.stderr


def test_the_wheel_has_what_users_run_and_nothing_of_the_studies(wheel):
    names = zipfile.ZipFile(wheel).namelist()
    assert wheel.stat().st_size < MAX_WHEEL
    assert all(name.startswith(("aloex/", "aloex-")) for name in names)
    package = ROOT / "src" / "aloex"
    sources = {
        f"aloex/{path.relative_to(package)}"
        for path in package.rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }
    assert sources <= set(names)
    for needed in ("py.typed", "worker/worker.c", "libpng/target.toml", "energy.safetensors"):
        assert any(name.endswith(needed) for name in names), needed
    assert not [name for name in names if name.endswith((".xz", ".npy", ".json", ".png"))]


def test_a_plain_install_is_small_and_has_no_jax(installed):
    files = [path for path in installed.rglob("*") if path.is_file() and not path.is_symlink()]
    assert sum(path.stat().st_size for path in files) < MAX_INSTALLED
    program = "import aloex, sys; from importlib.util import find_spec; sys.exit(find_spec('jax'))"
    done(installed / "bin" / "python", "-c", program, cwd=installed)


def test_sizes_in_the_documentation_are_those_tested_here():
    text = lambda name: " ".join((ROOT / name).read_text().split())
    for name in ("README.md", "CHANGELOG.md", "docs/architecture.md"):
        assert f"under {MAX_INSTALLED // 10**6} MB" in text(name)
    assert f"below {MAX_WHEEL // 10**6} MB" in text("CHANGELOG.md")


def test_it_fills_a_table(installed, tmp_path):
    (tmp_path / "names.csv").write_text(TABLE)
    done(installed / "bin" / "aloex", "fill", "names.csv", "--out", "filled.csv", cwd=tmp_path)
    assert "Grace Hopper,G. Hopper" in (tmp_path / "filled.csv").read_text()


def test_it_builds_and_fuzzes_a_target_without_a_model(installed, clang, tmp_path):  # noqa: F811
    aloex = installed / "bin" / "aloex"
    (tmp_path / "seed").mkdir()
    (tmp_path / "seed" / "one").write_bytes(b"nA")
    done(aloex, "fuzz", "build", "--harness", TINY, "--out", "tiny", cwd=tmp_path)
    run = ("fuzz", "run", "tiny", "--seeds", "seed", "--inputs", 200, "--out", "campaign")
    done(aloex, *run, cwd=tmp_path)
    assert "<svg" in (tmp_path / "campaign" / "report.html").read_text()


def test_the_built_in_targets_come_with_it(installed):
    program = "from aloex.apps.fuzz.target import TargetRecipe as T; print(T.load('libpng').name)"
    assert done(installed / "bin" / "python", "-c", program, cwd=installed) == "libpng\n"


@pytest.mark.parametrize(
    ("command", "extra"),
    [
        ("learn x.csv --out run", "learn"),
        ("sample run --out x.csv", "learn"),
        ("score run x.csv --out y.csv", "learn"),
        ("demo", "learn"),
        ("synthetic train", "learn"),
        ("synthetic eval run", "learn"),
        ("fuzz learn . --out m.safetensors", "learn"),
        ("programs tasks --out x.tsv.xz", "networks"),
        ("programs train q0 --out run", "networks"),
        ("programs train editor --out run --q0 q0", "networks"),
        ("programs train energy --out run", "networks"),
    ],
)
def test_commands_say_which_extra_they_lack(command, extra, installed, tmp_path):
    (tmp_path / "x.csv").write_text("0,1\n1,0\n")
    program = installed / "bin" / "aloex"
    [line] = done(program, *command.split(), cwd=tmp_path, status=2).splitlines()
    assert line.startswith("error: ") and f"pip install 'aloex[{extra}]'" in line


@pytest.mark.parametrize("name", ["learn", "samplers"])
def test_parts_that_need_jax_say_how_to_get_it(name, installed):
    program = f"import aloex\ntry: aloex.{name}\nexcept aloex.errors.AloexError as e: print(e)"
    assert NEEDS_JAX in done(installed / "bin" / "python", "-c", program, cwd=installed)
