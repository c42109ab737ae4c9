"""The commands that the documentation prints: README's run, and those of all pages are known."""

import importlib
import re
import shlex
import sys
from pathlib import Path

import jax
import numpy as np
import pytest
import typer

from aloex.apps.synthetic import evaluate, methods
from aloex.cli import main
from aloex.cli.main import app
from fuzz_targets import ROOT, clang, libpng  # noqa: F401

PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("*.md"))]
BLOCK = re.compile(r"^```(\w*)\n(.*?)^```$", re.DOTALL | re.MULTILINE)
SECTION = re.compile(r"^## (.*?)\n(.*?)(?=^## |\Z)", re.DOTALL | re.MULTILINE)

NOT_RUN = {  # by the first word, with the reason
    "pip": "test_wheel.py installs the wheel into an empty environment",
    "make": "make test runs this; make demo and make bench take minutes",
}
SMALLER = {  # what to add, so that a command ends within seconds
    "aloex learn": "--steps 4 --batch-size 8",
    "aloex synthetic train": "--steps 4",
    "aloex fuzz learn": "--steps 2",
}
FEWER_INPUTS = re.compile(r"--inputs \d+")


def blocks_of(text: str) -> list[str]:
    """The blocks of a page that show commands."""
    return [block for kind, block in BLOCK.findall(text) if kind in ("", "console", "bash")]


def commands_in(block: str) -> list[str]:
    """The commands of a block, one a line, without comments and prompts."""
    lines = block.replace("\\\n", " ").splitlines()
    return [re.sub(r"\s+#.*", "", line).strip().removeprefix("$ ") for line in lines]


def parse(words: list[str]) -> None:
    """Parse a command of `aloex` or of a study as far as its function; a mistake raises."""
    if words[0] == "aloex":
        command, rest = typer.main.get_command(app), words[1:]
    else:  # python -m studies.NAME
        module = words[2] if words[2].count(".") > 1 else f"{words[2]}.__main__"
        study = importlib.import_module(module)
        if not hasattr(study, "app"):
            return
        command, rest = typer.main.get_command(study.app), words[3:]
    while hasattr(command, "commands") and rest and not rest[0].startswith("-"):
        command, rest = command.commands[rest[0]], rest[1:]
    if "--help" not in rest and not hasattr(command, "commands"):
        command.make_context(words[0], rest)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_the_commands_of_a_page_are_known(page):
    for block in blocks_of(page.read_text()):
        for command in commands_in(block):
            if re.match(r"aloex |python -m studies\.(?!speed)", command):  # speed needs PyTorch
                parse(shlex.split(command))


@pytest.mark.parametrize(
    "command", ["aloex lern x", "aloex learn x --out y --stepz 3", "python -m studies.fuzz runn"]
)
def test_a_wrong_command_is_not_known(command):
    with pytest.raises(Exception, match=re.compile("lern|stepz|runn")):
        parse(shlex.split(command))


SECTIONS = {title: blocks_of(text) for title, text in SECTION.findall(PAGES[0].read_text())}


@pytest.fixture
def small(tmp_path, monkeypatch):
    """A folder with the data that README takes for granted; programs are compiled in haste."""
    monkeypatch.chdir(tmp_path)
    np.save("data.npy", np.random.default_rng(0).integers(2, size=(50, 6)))
    jax.config.update("jax_disable_most_optimizations", True)
    yield tmp_path
    jax.config.update("jax_disable_most_optimizations", False)


@pytest.fixture
def small_study(monkeypatch):
    """Networks and samples of small sizes for `aloex synthetic`."""
    sizes = {"f_hidden": (8,), "q_hidden": (8,), "q0_hidden": (8,), "q0_head": 8}
    sizes |= {"batch_size": 8, "max_edits": 2}
    for name, size in sizes.items():
        monkeypatch.setitem(methods.QUICK, name, size)
    whole, few = evaluate.evaluate, {"num_repeats": 2, "n": 20, "estimate": True}
    monkeypatch.setattr(evaluate, "evaluate", lambda trained, **how: whole(trained, **how | few))
    for name in ("proposals", "fresh_data"):
        some = getattr(evaluate, name)("pinwheel", 2**10)
        monkeypatch.setattr(evaluate, name, lambda _, some=some: some)
    monkeypatch.setattr(evaluate, "_sweep", lambda key, f, x: x)


def run(command: str, monkeypatch, capsys) -> str:
    """Run a command of `aloex` in this process, made smaller; what it printed."""
    more = next((more for start, more in SMALLER.items() if command.startswith(start)), "")
    words = shlex.split(f"{FEWER_INPUTS.sub('--inputs 200', command)} {more}")
    monkeypatch.setattr(sys, "argv", words)
    capsys.readouterr()
    try:
        main()
    except SystemExit as stop:
        printed = capsys.readouterr()
        assert stop.code in (0, None), f"{command}\n{printed.out}{printed.err}"
        return printed.out
    return capsys.readouterr().out


def run_section(title: str, monkeypatch, capsys) -> int:
    """Run the blocks of a section of README in order; how many commands there were."""
    count = 0
    for block in SECTIONS[title]:
        shown: list[str] = []
        for line in filter(None, commands_in(block)):
            if line.startswith("cat "):  # a file that the block shows
                shown, path = [], Path(line.split()[1])
                text = re.search(rf"\$ {re.escape(line)}\n(.*?)(?=^\$ |\Z)", block, re.S | re.M)
                path.write_text(text[1])
            elif line.startswith("aloex "):
                shown = run(line, monkeypatch, capsys).splitlines()
                count += 1
            elif shown:
                assert line in [printed.strip() for printed in shown]
            elif not Path("names.csv").exists():
                assert line.split()[0] in NOT_RUN, f"README prints {line!r}, which no test runs"
    return count


def test_readme_is_short_and_its_other_blocks_are_known():
    assert len(PAGES[0].read_text().splitlines()) <= 120
    assert set(SECTIONS) == {
        "Install",
        "Learn a model",
        "Fill a column",
        "Fuzz a C library",
        "More",
    }
    first = {line.split()[0] for block in SECTIONS["Install"] for line in commands_in(block)}
    assert first == set(NOT_RUN)


def test_readme_learns_and_samples(small, small_study, monkeypatch, capsys):
    assert run_section("Learn a model", monkeypatch, capsys) == 6
    assert np.load("x.npy").shape == (100, 6)
    assert np.load("energies.npy").shape == (50,)


def test_readme_fills_a_column(small, monkeypatch, capsys):
    assert run_section("Fill a column", monkeypatch, capsys) == 1
    assert "Grace Hopper,G. Hopper" in Path("filled.csv").read_text()


def test_readme_fuzzes_a_library(libpng, small, monkeypatch, capsys):  # noqa: F811
    (small / "build" / "targets").mkdir(parents=True)
    (small / "build" / "targets" / "libpng").symlink_to(ROOT / "build/targets/libpng")
    assert run_section("Fuzz a C library", monkeypatch, capsys) == 4
    assert Path("with_model/report.html").exists()
