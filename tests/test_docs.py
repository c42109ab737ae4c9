"""The documentation runs, its links lead somewhere, and what it names is there."""

import ast
import importlib
import re
import runpy
import tomllib
from pathlib import Path

import jax
import pytest

from aloex.apps.fuzz.campaign import campaign, epochs
from aloex.apps.programs.networks.programs import codes
from aloex.base.extras import EXTRAS
from aloex.runs import checkpoints

ROOT = Path(__file__).parent.parent
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("*.md"))]
RUN_HERE = ["library", "mcmc", "log_z", "learned_sampler", "add_a_part"]
PAPER_TO_CODE = ROOT / "docs" / "paper_to_code.md"

LINK = re.compile(r"\]\(([^)\s]+)\)")
CODE = re.compile(r"^```.*?^```$", re.DOTALL | re.MULTILINE)
QUOTED = re.compile(r"`([^`\n]+)`")
NAME = re.compile(r"(?:aloex|studies)(\.\w+)+")
FILE = re.compile(r"(?:src|tests|studies)/[\w/]+\.py(?:::(\w+))?")


def python_blocks(page: Path) -> list[list[tuple[int, str]]]:
    """The python blocks of a page, each a list of (line number, line)."""
    blocks, block = [], None
    for number, line in enumerate(page.read_text().splitlines()):
        if block is None:
            if line == "```python":
                block = []
        elif line == "```":
            blocks.append(block)
            block = None
        else:
            block.append((number, line))
    assert block is None, f"a block of {page.name} has no end"
    return blocks


def run_blocks(page: Path, blocks: list[list[tuple[int, str]]], folder: Path) -> None:
    """Run blocks in order in one namespace, as a script with the line numbers of the page."""
    assert blocks, f"{page.name} has no python block"
    lines = [""] * len(page.read_text().splitlines())
    for number, line in (pair for block in blocks for pair in block):
        lines[number] = line
    script = folder / f"{page.stem}_md.py"
    script.write_text("\n".join(lines) + "\n")
    runpy.run_path(str(script))


@pytest.fixture
def quick(tmp_path, monkeypatch):
    """A working folder for examples, which are compiled in haste: they run only once."""
    monkeypatch.chdir(tmp_path)
    jax.config.update("jax_disable_most_optimizations", True)
    yield tmp_path
    jax.config.update("jax_disable_most_optimizations", False)


def test_readme_example_runs_and_is_short(quick):
    page = ROOT / "README.md"
    first = python_blocks(page)[0]
    code = [line for _, line in first if line.strip() and not line.strip().startswith("#")]
    assert len(code) <= 15
    assert max(len(line) for line in code) <= 100
    run_blocks(page, [first], quick)


@pytest.mark.parametrize("name", RUN_HERE)
def test_examples_of_a_page_run(name, quick):
    page = ROOT / "docs" / f"{name}.md"
    run_blocks(page, python_blocks(page), quick)


def test_no_page_has_an_example_that_no_test_runs():
    """Those of some pages need a compiler, networks or pandas: they run beside tests of these."""
    here = {"README", *RUN_HERE}
    elsewhere = {"fill", "fill_confidence", "fuzz_own_target", "synth_models"}
    assert {page.stem for page in PAGES if python_blocks(page)} == here | elsewhere


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_relative_links_lead_somewhere(page):
    for target in LINK.findall(CODE.sub("", page.read_text())):
        if "://" not in target and not target.startswith(("#", "mailto:")):
            path = (page.parent / target.split("#")[0]).resolve()
            assert path.is_relative_to(ROOT) and path.exists(), f"{page.name} links to {target}"


def quoted(pattern: re.Pattern) -> list[str]:
    """The quoted words of docs/paper_to_code.md that match a pattern, each once."""
    words = dict.fromkeys(QUOTED.findall(PAPER_TO_CODE.read_text()))
    return [word for word in words if pattern.fullmatch(word)]


def resolve(name: str) -> object:
    """The module, or what is in it, that a dotted name stands for."""
    parts = name.split(".")
    for cut in range(len(parts), 0, -1):
        module = ".".join(parts[:cut])
        try:
            found = importlib.import_module(module)
        except ModuleNotFoundError as error:
            if not f"{module}.".startswith(f"{error.name}."):  # it is there, but not what it needs
                raise
            continue
        for part in parts[cut:]:
            found = getattr(found, part)
        return found
    raise AssertionError(f"there is no module in {name}")


def test_names_of_the_paper_to_code_page_resolve():
    names = quoted(NAME)
    assert len(names) > 20
    for name in names:
        resolve(name)


def test_files_and_tests_of_the_paper_to_code_page_are_there():
    words = quoted(FILE)
    assert sum("::" in word for word in words) > 10
    for word in words:
        file, _, test = word.partition("::")
        tree = ast.parse((ROOT / file).read_text())
        functions = {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}
        assert not test or test in functions, f"there is no {word}"


def test_the_picture_of_the_house_shows_every_room():
    house = runpy.run_path(str(ROOT / "docs" / "images" / "house.py"))
    assert (ROOT / "docs" / "images" / "house.svg").read_text() == house["draw"]()
    source = ROOT / "src" / "aloex"
    rooms = {p.stem for p in source.iterdir() if p.suffix in ("", ".py") and p.stem[0] != "_"}
    drawn = {name for storey in [*house["CORE"], house["BASE"]] for name, _ in storey}
    assert rooms == drawn | {"cli", "apps"}
    apps = {p.name for p in (source / "apps").iterdir() if p.is_dir() and p.name[0] != "_"}
    assert apps == set(house["APPS"])
    for app, storeys in house["APPS"].items():
        inside = {p.parent.name for p in (source / "apps" / app).glob("*/__init__.py")}
        assert inside <= {room for storey in storeys for room in storey}, app


def test_numbers_of_the_architecture_page_are_those_of_the_code():
    text = " ".join((ROOT / "docs" / "architecture.md").read_text().split())
    assert f"each of {codes.NUM_EXPRS - 1:,} expressions" in text
    assert f"the {codes.NUM_POS} positions" in text
    assert f"files of weights of {checkpoints.MAX_BYTES // 10**6} MB at most" in text
    assert epochs.SHARE == 16 and "a sixteenth of all before it" in text
    assert campaign.SECONDS_BETWEEN_STATES == 10 and "saved every ten seconds" in text
    assert campaign.SANITIZED_SHARE == 0.02 and "one in fifty of the mutants" in text
    assert f"up to {epochs.MAX_LANES} lanes" in text


def test_every_extra_that_is_named_can_be_installed():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    extras = set(project["optional-dependencies"])
    assert set(EXTRAS) <= extras
    files = [*PAGES, ROOT / "pyproject.toml", *(ROOT / "src").rglob("*.py")]
    named = re.findall(r"(?:aloex|'\.)\[([a-z,]+)\]", "".join(f.read_text() for f in files))
    assert {"learn", "cuda", "all", "networks"} <= {x for names in named for x in names.split(",")}
    assert {x for names in named for x in names.split(",")} <= extras


def test_a_wrong_name_does_not_resolve():
    with pytest.raises(AttributeError):
        resolve("aloex.samplers.Nothing")
