"""The commands that the documentation prints: every one is known, and run by a test."""

import ast
import re
import shlex
import sys
from collections.abc import Iterator
from functools import reduce
from itertools import product
from pathlib import Path

import jax
import numpy as np
import pytest

from aloex.apps.synthetic import evaluate, methods
from aloex.cli import main
from commands import parse
from fuzz_targets import ROOT, clang, libpng  # noqa: F401

PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("*.md"))]
BLOCK = re.compile(r"^```(\w*)\n(.*?)^```$", re.DOTALL | re.MULTILINE)
INLINE = re.compile(r"`((?:aloex|python -m studies\.\w+) [^`]+)`")
SECTION = re.compile(r"^## (.*?)\n(.*?)(?=^## |\Z)", re.DOTALL | re.MULTILINE)
SHELL, OTHER = {"", "console", "bash", "sh"}, {"python", "c", "text", "yaml"}

NOT_RUN = {  # by the first word, with the reason
    "pip": "test_wheel.py installs the wheel into an empty environment",
    "make": "make test runs this; make demo and make bench take minutes",
    "apt-get": "needs rights",
    "for": "of the shell",
    "done": "of the shell",
    "cat": "of the shell",
    "mkdir": "of the shell",
    "printf": "of the shell",
    "sed": "of the shell",
    "cp": "of the shell",
    "echo": "of the shell",
    "grep": "of the shell",
    "head": "of the shell",
    "python": "a line of Python: the test of the page runs it",
}
HERE, CLI = "tests/test_commands_of_the_docs.py", "tests/cli"
OWN_TARGET = "tests/apps/fuzz/test_fuzz_own_target_page.py::test_the_page_runs"
SECONDS = "tests/studies/test_fuzz_seconds.py"
PLANTED = "tests/studies/test_planted.py"
STUDIES, SYNTH = "tests/studies/test_commands.py", "tests/studies/test_synth_commands.py"
FILL = "tests/studies/test_study_fill.py"
ENERGY = "tests/studies/test_fill_energy.py"
EXFORM = "tests/studies/test_study_fill_exform.py"
RUN_BY = {  # the test that runs a command
    "aloex demo": "tests/apps/synthetic/test_demo.py::test_a_second_call_uses_the_run",
    "aloex learn": f"{HERE}::test_readme_learns_and_samples",
    "aloex sample": f"{HERE}::test_readme_learns_and_samples",
    "aloex score": f"{HERE}::test_readme_learns_and_samples",
    "aloex synthetic train": f"{HERE}::test_readme_learns_and_samples",
    "aloex synthetic eval": f"{HERE}::test_readme_learns_and_samples",
    "aloex synthetic log-z": f"{CLI}/test_synthetic_cli.py::test_log_z_is_told_for_each_model",
    "aloex fill": f"{HERE}::test_readme_fills_a_column",
    "aloex fuzz build": f"{HERE}::test_readme_fuzzes_a_library",
    "aloex fuzz run": f"{HERE}::test_readme_fuzzes_a_library",
    "aloex fuzz learn": "tests/apps/fuzz/model/test_learned.py::test_from_the_command_line",
    "aloex fuzz replay": OWN_TARGET,
    "aloex fuzz coverage": OWN_TARGET,
    "aloex programs train q0": f"{CLI}/test_programs_cli.py::test_networks_are_trained",
    "aloex programs train editor": f"{CLI}/test_programs_cli.py::test_networks_are_trained",
    "aloex programs train energy": (
        f"{CLI}/test_programs_cli.py::test_training_stops_in_time_and_says_how_to_go_on"
    ),
    "python -m studies.synthetic table": f"{STUDIES}::test_synthetic_table_figures_and_page",
    "python -m studies.synthetic figures": f"{STUDIES}::test_synthetic_table_figures_and_page",
    "python -m studies.synthetic page": f"{STUDIES}::test_synthetic_table_figures_and_page",
    "python -m studies.synthetic jobs": (
        "tests/studies/test_synthetic_jobs.py::test_the_commands_train_stop_and_go_on"
    ),
    "python -m studies.synthetic tune": f"{STUDIES}::test_synthetic_tune",
    "python -m studies.synthetic ablation": f"{STUDIES}::test_synthetic_ablation",
    "python -m studies.synthetic variance": f"{STUDIES}::test_synthetic_variance",
    "python -m studies.fuzz run": f"{STUDIES}::test_fuzz_run_and_page",
    "python -m studies.fuzz page": f"{STUDIES}::test_fuzz_run_and_page",
    "python -m studies.fuzz carry": f"{SECONDS}::test_what_is_carried_runs_elsewhere",
    "python -m studies.fuzz anatomy": "tests/studies/test_fuzz_anatomy.py::test_rows_add_up",
    "python -m studies.fuzz equal": f"{STUDIES}::test_fuzz_run_and_page",
    "python -m studies.fuzz seconds": f"{SECONDS}::test_what_is_carried_runs_elsewhere",
    "python -m studies.fuzz speed": "tests/studies/test_fuzz_speed.py::test_rows_of_a_target",
    "python -m studies.fuzz table": f"{SECONDS}::test_what_is_carried_runs_elsewhere",
    "python -m studies.fuzz seconds-page": (
        "tests/studies/test_fuzz_seconds_page.py"
        "::test_the_page_and_its_figure_are_written_from_the_committed_rows"
    ),
    "python -m studies.fuzz plant": (
        f"{PLANTED}::test_every_binary_with_sanitizers_ends_at_every_fault"
    ),
    "python -m studies.fuzz bugs": f"{PLANTED}::test_rows_on_bugs",
    "python -m studies.fuzz bugs-page": (
        "tests/studies/test_fuzz_bugs_page.py::test_the_command_writes_the_page_and_its_figure"
    ),
    "python -m studies.synth table": f"{SYNTH}::test_networks_are_rated",
    "python -m studies.synth eval": f"{SYNTH}::test_networks_are_rated",
    "python -m studies.synth page": (
        "tests/studies/test_synth_page.py::test_the_pages_show_the_committed_results"
    ),
    "python -m studies.fill table": f"{FILL}::test_the_commands_run",
    "python -m studies.fill reliability": f"{FILL}::test_the_commands_run",
    "python -m studies.fill exform": f"{EXFORM}::test_the_command_runs",
    "python -m studies.fill learn": f"{FILL}::test_the_commands_run",
    "python -m studies.fill speed": f"{FILL}::test_speed_is_measured_beside_a_script",
    "python -m studies.fill energy-train": f"{ENERGY}::test_the_commands_train_and_rate",
    "python -m studies.fill energy-eval": f"{ENERGY}::test_the_commands_train_and_rate",
    "python -m studies.fill page": f"{FILL}::test_the_page_is_written",
    "python -m studies.samplers couplings": (
        "tests/studies/test_couplings.py::test_rows_are_made_once"
    ),
    "python -m studies.samplers couplings-page": (
        "tests/studies/test_couplings_page.py::test_the_page_is_written_from_the_committed_rows"
    ),
    "python -m studies.speed compare": f"{STUDIES}::test_speed_compare",  # where PyTorch is
    "python -m studies.speed scaling": f"{STUDIES}::test_speed_scaling",
    "python -m studies.speed kernels": (
        "tests/studies/test_speed_kernels.py::test_the_command_goes_on_where_it_was_cut_short"
    ),
    "python -m studies.speed log-z": f"{STUDIES}::test_speed_log_z",
    "python -m studies.speed fuzz": f"{STUDIES}::test_speed_fuzz",
}
SMALLER = {  # what to add, so that a command ends within seconds
    "aloex learn": "--steps 4 --batch-size 8",
    "aloex synthetic train": "--steps 4",
}
PIPE = re.compile(r" (?:>|\|\|?) ")  # what follows is of the shell
FEWER_INPUTS = re.compile(r"--(inputs|seconds) \d+")


def blocks_of(text: str) -> list[str]:
    """The blocks of a page that show commands."""
    return [block for kind, block in BLOCK.findall(text) if kind in SHELL]


def commands_in(block: str) -> list[str]:
    """The commands of a block, one a line, without comments and prompts."""
    lines = block.replace("\\\n", " ").splitlines()
    return [re.sub(r"\s+#.*", "", line).strip().removeprefix("$ ") for line in lines]


def only_commands(block: str) -> Iterator[str]:
    """Those of a block without what they print, and those of a loop once for each value."""
    typed = [line for line in block.splitlines() if line.startswith("$ ")]
    loops: dict[str, list[str]] = {}
    for command in filter(None, commands_in("\n".join(typed) if typed else block)):
        if loop := re.fullmatch(r"for (\w+) in (.*); do", command):
            loops[loop[1]] = loop[2].split()
        names = [name for name in loops if f"${name}" in command]
        for values in product(*(loops[name] for name in names)):
            told = zip(names, values, strict=True)
            yield reduce(lambda text, pair: text.replace(f"${pair[0]}", pair[1]), told, command)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_command_of_a_page_is_known_and_run(page):
    text = page.read_text()
    for kind, block in BLOCK.findall(text):
        assert kind in SHELL | OTHER, f"a block of {kind} in {page.name}: is it one of commands?"
        for command in only_commands(block) if kind in SHELL else ():
            first = command.split()[0]
            if first == "aloex" or command.startswith("python -m "):
                name, is_group = parse(shlex.split(PIPE.split(command)[0]))
                assert name in RUN_BY or is_group, f"{page.name} prints {command}: which test?"
            else:
                assert first in NOT_RUN, f"{page.name} prints {command}, which no test runs"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_command_within_the_text_is_known_and_run(page):
    """In the text, options and arguments may be left out."""
    for command in INLINE.findall(BLOCK.sub("", page.read_text())):
        words = shlex.split(command)
        names = [" ".join(words[:end]) for end in range(len(words), 0, -1)]
        if not any(name in RUN_BY for name in names):
            assert parse(words)[1], f"{page.name} prints {command}: which test runs it?"


@pytest.mark.parametrize("name", sorted(set(RUN_BY.values())))
def test_the_tests_that_run_commands_are_there(name):
    file, _, test = name.partition("::")
    tree = ast.parse((ROOT / file).read_text())
    assert test in {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}


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
    assert first == {"pip", "make"}


def test_readme_learns_and_samples(small, small_study, monkeypatch, capsys):
    assert run_section("Learn a model", monkeypatch, capsys) == 6
    assert np.load("x.npy").shape == (100, 6)
    assert np.load("energies.npy").shape == (50,)


def test_readme_fills_a_column(small, monkeypatch, capfd):
    assert run_section("Fill a column", monkeypatch, capfd) == 1
    assert "6/23/1912,A. Turing (1912)" in Path("filled.csv").read_text()


def test_readme_fuzzes_a_library(libpng, small, monkeypatch, capsys):  # noqa: F811
    (small / "build" / "targets").mkdir(parents=True)
    (small / "build" / "targets" / "libpng").symlink_to(ROOT / "build/targets/libpng")
    assert run_section("Fuzz a C library", monkeypatch, capsys) == 2
    assert Path("runs/libpng/report.html").exists()
