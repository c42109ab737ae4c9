"""Planted faults: each can be hit and is told by its name; rows and tables on who hits them."""

import hashlib
import os
import shutil
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest
from planted_inputs import INPUTS

from aloex.apps.fuzz.execute import Executor
from aloex.apps.fuzz.target import Target, TargetRecipe, build_target
from aloex.apps.fuzz.tools import ToolError, run_tool
from aloex.base.errors import InputError
from studies import results
from studies.fuzz import bugs, old_library, planted
from studies.fuzz.__main__ import app
from studies.fuzz.judge import judge

CORE = min(os.sched_getaffinity(0))


def written(folder: Path, inputs: dict[str, bytes]) -> list[Path]:
    for name, data in inputs.items():
        (folder / name).write_bytes(data)
    return [folder / name for name in inputs]


def seeds_of(name: str, folder: Path) -> list[Path]:
    folder.mkdir()
    subprocess.run(["python3", planted.HOME / name / "seeds.py", folder], check=True)
    return sorted(folder.iterdir())


@pytest.mark.parametrize("name", planted.NAMES)
def test_each_planted_fault_is_hit_and_named(name, clang, tmp_path):
    """And no seed hits one."""
    harness = planted.HOME / name / "harness.c"
    assert set(planted.faults(harness)) == set(INPUTS[name])
    planted.build_judge([harness], ["-Wall", "-Werror"], [], tmp_path / "judge")
    paths = written(tmp_path, INPUTS[name]) + seeds_of(name, tmp_path / "seeds")
    assert judge(tmp_path / "judge", paths) == [
        *INPUTS[name],
        *[None] * (len(paths) - len(INPUTS[name])),
    ]


@pytest.mark.parametrize("name", ["tiles", "vault", "parcel"])
def test_overflows_do_not_crash_without_sanitizers(name, clang, tmp_path):
    """What only a sanitizer sees: the library runs all the inputs to their ends."""
    recipe = TargetRecipe.load(planted.HOME / name)
    target = build_target(recipe, tmp_path / "built", sanitizers=False)
    with Executor(target, workers=1) as executor:
        outcomes = executor.run(list(INPUTS[name].values()))
    assert outcomes.failures == []


def test_other_errors_are_named_by_kind_and_function(clang, tmp_path):
    source = tmp_path / "other.c"
    source.write_text("""
#include <stdint.h>
#include <stdlib.h>
__attribute__((noinline)) static void overflow(uint8_t *p, size_t n) { p[n] = 1; }
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  int big = 2147483600;
  uint8_t *p = malloc(size + 1);
  if (size == 1) overflow(p, size + data[0]);
  if (size == 2) big += data[0];
  if (size == 3) abort();
  free(p);
  return big == 0;
}
""")
    planted.build_judge([source], [], [], tmp_path / "judge")
    inputs = {"a": b"\1", "b": b"\xff.", "c": b"...", "d": b"", "e": b"\0\0\0\0"}
    assert judge(tmp_path / "judge", written(tmp_path, inputs)) == [
        "heap-buffer-overflow in overflow",
        "signed integer overflow in other.c",
        "a signal",
        None,
        None,
    ]


@pytest.fixture(scope="module")
def mesh(clang, tmp_path_factory):
    if shutil.which("afl-clang-fast") is None:
        pytest.skip("AFL++ is missing: apt-get install afl++")
    folder = tmp_path_factory.mktemp("plant")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        app(["plant", "mesh"], standalone_mode=False)
    return Target.load(folder / "build/targets/mesh")


def test_every_binary_with_sanitizers_ends_at_every_fault(mesh, tmp_path):
    """AFL++'s objects come from another clang than the runtime that they are linked with."""
    found = planted.binaries(mesh)
    for path in written(tmp_path, INPUTS["mesh"]):
        for program in (found.libfuzzer, found.afl):
            assert run_tool([program, path], check=False).status != 0
    for seed in mesh.seeds.iterdir():
        for program in (found.libfuzzer, found.afl, found.cmplog):
            run_tool([program, seed])


def test_rows_on_bugs(mesh, tmp_path, capsys):
    """Four faults, most of which libFuzzer and AFL++ hit at once."""
    out, told = tmp_path / "rows.json", []
    folder = str(mesh.library.parent)
    how = {"seconds": 4.0, "trials": range(1), "cores": [CORE], "tell": told.append}
    assert bugs.make([folder], ["aloex", "libfuzzer", "aflpp"], out, **how) == 0
    rows = {row["fuzzer"]: row for row in results.read(out)}
    assert set(rows) == {"aloex", "libfuzzer", "aflpp"} and len(told) == 3
    for row in rows.values():
        assert set(row["found"]) <= set(INPUTS["mesh"]) and row["executions"] > 0
        assert all(0 < at <= 4.0 for at in row["found"].values())
    for name in ("libfuzzer", "aflpp"):
        assert rows[name]["found"]
    assert "TARGET/rivals/afl" in rows["aflpp"]["started"]
    assert rows["libfuzzer"]["started"].startswith("libfuzzer -seed=1 ")
    assert {"reported", "split", "merged"} <= set(rows["aloex"])
    words = ["--targets", folder, "--seconds", "4", "--trials", "1", "--cores", str(CORE)]
    app(["bugs", *words, "--out", str(out)], standalone_mode=False)
    assert results.read(out) == [*rows.values()]  # all were there
    assert capsys.readouterr().out.endswith(f"rows: {out}\n")
    text = bugs.table(
        results.read(out), 4.0, {"mesh": planted.faults(planted.HOME / "mesh/harness.c")}
    )
    assert "| of 4 faults, in a trial |" in text


def test_what_is_missing_is_named(mesh, tmp_path):
    (mesh.library.parent / "rivals/judge").rename(tmp_path / "judge")
    with pytest.raises(InputError, match="judge is missing; build it: python"):
        planted.binaries(mesh)
    (tmp_path / "judge").rename(mesh.library.parent / "rivals/judge")


def test_an_old_library_is_fetched_once_and_checked(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    asked: list[str] = []

    def pip(words, *, timeout):
        """Stands for pip: it writes the package, or fails the second time."""
        if asked:
            raise ToolError("pip found no network")
        wanted, folder = Path(words[-3]), Path(words[-1])
        asked.append(wanted.read_text())
        (folder / "package-1.0.tar.gz").write_bytes(b"content")

    monkeypatch.setattr(old_library, "run_tool", pip)
    digest = hashlib.sha256(b"content").hexdigest()
    source = old_library.Source("a package", "package", "1.0", digest, {})
    path = old_library.fetch(source)
    assert path.read_bytes() == b"content"
    assert asked == [f"package==1.0 --hash=sha256:{digest}\n"]
    assert old_library.fetch(source) == path  # from the cache
    with pytest.raises(InputError, match=f"has the hash {digest}, not 00; remove it"):
        old_library.fetch(source._replace(sha256="00"))
    path.unlink()
    with pytest.raises(InputError, match=r"package-1.0.tar.gz: pip found no network; put it at"):
        old_library.fetch(source)


@pytest.mark.parametrize("name", old_library.NAMES)
def test_the_recipe_of_an_old_library(name, tmp_path):
    """Its faults are public, its seeds can be made, and no part of the library is kept."""
    source = old_library.Source.of(name)
    assert source.about.startswith(f"{source.package} {source.version}")
    assert len(source.sha256) == 64
    assert source.known and all(public.startswith("CVE-") for public in source.known.values())
    folder = old_library.HOME / name
    assert TargetRecipe.load(folder).harness == ["harness.c"]
    assert {path.name for path in folder.iterdir()} - {"__pycache__"} == {
        *("source.json", "target.toml", "harness.c", "seeds.py"),
    }
    seeds = tmp_path / "seeds"
    seeds.mkdir()
    subprocess.run(["python3", folder / "seeds.py", seeds], check=True)
    assert len(list(seeds.iterdir())) >= 5


def test_public_names_stand_for_places(tmp_path, monkeypatch):
    places = ["heap-buffer-overflow in ares_create_query", None, "SEGV in other"]
    monkeypatch.setattr(bugs, "judge", lambda program, inputs: places)
    target = Target("cares", tmp_path / "library.so")
    assert bugs.named_bugs(target, []) == ["CVE-2016-5180", None, "SEGV in other"]
    assert bugs.named_bugs(replace(target, name="mesh"), []) == places


def test_the_first_of_each_and_splits_and_merges():
    names, seconds = ["b", None, "a", "b", "a"], [2.0, 0.1, 1.0, 0.5, 3.0]
    assert bugs.first_of_each(names, seconds) == {"b": 0.5, "a": 1.0}
    pairs = [("1", "a"), ("2", "a"), ("2", "b"), ("3", "c"), ("3", "c"), ("4", None)]
    assert bugs.splits_and_merges(pairs) == {"split": 1, "merged": 1}


def test_a_table_by_hand():
    """Medians count a fault that was not hit as later than all; p of 2 against 2 is 1/3."""
    row = lambda fuzzer, trial, target="t", **found: {
        **{"target": target, "fuzzer": fuzzer, "trial": trial, "seconds": 9.0, "found": found}
    }
    rows = [row("aloex", 0, a=1.0, b=2.0), row("aloex", 1, a=3.0, b=8.0, other=1.0)]
    rows += [row("aflpp", 0, a=4.0), row("aflpp", 1), row("aflpp", 2, "u", c=1.0)]
    assert bugs.table(rows, 9.0, {"t": ["a", "b"]}).splitlines()[2:] == [
        "| t | a | 2 of 2, 2 s | 1 of 2 |",
        "| t | b | 2 of 2, 5 s | 0 of 2 |",
        "| of 2 faults, in a trial |  | 2.0 | 0.5 |",
        "| p, by Holm |  |  | 0.22 |",
    ]
