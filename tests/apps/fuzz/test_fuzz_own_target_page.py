"""The page on targets of one's own: its commands say what it shows, its Python runs."""

import re
import subprocess
import sys
from pathlib import Path

PAGE = Path(__file__).parents[3] / "docs" / "fuzz_own_target.md"


def blocks(kind: str) -> list[str]:
    return re.findall(rf"^```{kind}\n(.*?)^```$", PAGE.read_text(), re.MULTILINE | re.DOTALL)


def masked(line: str) -> str:
    """A line without numbers and hashes: what a search finds may change with the search."""
    return re.sub(r"\d+", "N", re.sub(r"[0-9a-f]{16}", "HASH", line))


def test_the_page_runs(clang, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (source,) = blocks("c")
    (tmp_path / "scale.c").write_text(source)
    aloex = f"{sys.executable} -m aloex"
    for block in blocks("console"):
        commands = [line[2:] for line in block.splitlines() if line.startswith("$ ")]
        script = "set -e\n" + "\n".join(commands).replace("aloex ", f"{aloex} ")
        done = subprocess.run(["bash", "-c", script], capture_output=True, text=True, timeout=120)
        has_failed = "\ncrash" in block  # of `replay`, which is the last command of its block
        assert done.returncode == has_failed, done.stderr
        shown = [line for line in block.splitlines() if not line.startswith("$ ")]
        if clang == "clang-19":  # another may count other edges
            seen = done.stdout.splitlines()
            if "aloex fuzz run" in block:
                seen, shown = list(map(masked, seen)), list(map(masked, shown))
            assert seen == shown
    program = "\n".join(blocks("python"))
    exec(compile(program, str(PAGE), "exec"), {})  # noqa: S102
