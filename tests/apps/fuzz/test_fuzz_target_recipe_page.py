"""The page on recipes: its example is built, and its tables are complete."""

import re
import subprocess
import sys
from dataclasses import fields
from pathlib import Path

from aloex.apps.fuzz.target import TargetRecipe
from aloex.apps.fuzz.target.target import FILES, MAX_LEN

PAGE = (Path(__file__).parents[3] / "docs" / "fuzz_target_recipe.md").read_text()
SHOWN = re.compile(r"`(pairs/[\w./]+)`[^`]*?:\n\n```\w+\n(.*?)^```$", re.MULTILINE | re.DOTALL)
CONSOLE = re.compile(r"^```console\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def first_column(heading: str) -> set[str]:
    """The quoted words in the first column of the table below a heading."""
    section = PAGE.split(f"\n## {heading}\n")[1].split("\n## ")[0]
    cells = re.findall(r"^\| (`[^|]+) \|", section, re.MULTILINE)
    return {word for cell in cells for word in re.findall(r"`([^`]+)`", cell)}


def test_the_example_is_built(clang, tmp_path):
    for name, text in SHOWN.findall(PAGE):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    assert len(list(tmp_path.glob("pairs/**/*.*"))) == 4
    for block in CONSOLE.findall(PAGE):
        commands = [line[2:] for line in block.splitlines() if line.startswith("$ ")]
        aloex = f"{sys.executable} -m aloex "
        script = "set -e\n" + "\n".join(commands).replace("aloex ", aloex)
        done = subprocess.run(
            ["bash", "-c", script], cwd=tmp_path, capture_output=True, text=True, timeout=120
        )
        assert done.returncode == 0, done.stderr
        shown = [line for line in block.splitlines() if not line.startswith("$ ")]
        if clang == "clang-19":  # another may count other edges
            assert done.stdout.splitlines() == shown


def test_the_table_of_keys_is_complete():
    internal = {"name", "folder", "toml", "out"}
    assert first_column("The keys") == {field.name for field in fields(TargetRecipe)} - internal
    assert f"`max_len` | bytes that an input may have; {MAX_LEN} unless" in PAGE


def test_the_table_of_files_is_complete():
    others = {"build/targets/NAME", "target.json", "recipe.json", "build.log"}
    found = first_column("What is built") | {"build/targets/NAME"}
    assert found == {*FILES.values(), *others, "source", "source-1"}
