"""`aloex fuzz` as a stranger meets it."""

import shutil
import sys

import pytest

from commands import aloex, assert_mistakes_are_one_line


@pytest.mark.skipif(not (shutil.which("clang-19") or shutil.which("clang")), reason="needs clang")
def test_from_a_file_to_coverage(tmp_path):
    (tmp_path / "target.c").write_text(
        "int LLVMFuzzerTestOneInput(const unsigned char *data, long size) {\n"
        "  if (size > 0 && data[0] == 'x') __builtin_trap();\n"
        "  return 0;\n}\n"
    )
    (tmp_path / "inputs").mkdir()
    for name in ("fine", "xbad"):
        (tmp_path / "inputs" / name).write_text(name)
    built = aloex("fuzz", "build", "--harness", "target.c", "--seeds", "inputs", cwd=tmp_path)
    assert built.returncode == 0, built.stderr
    assert "seeds: 2" in built.stdout
    assert built.stdout.splitlines()[-1] == "next: aloex fuzz run target"
    fine = aloex("fuzz", "replay", "target", "inputs/fine", cwd=tmp_path)
    assert fine.returncode == 0, fine.stderr
    done = aloex("fuzz", "replay", "target", "inputs", cwd=tmp_path)
    assert done.returncode == 1, done.stderr  # one of them fails
    endings = [line.split()[0] for line in done.stdout.splitlines()[1:3]]
    assert endings == ["ok", "crash"]
    assert "inputs: 2 (1 ok, 1 crash, 0 hang, 0 oom)" in done.stdout
    (tmp_path / "build/targets/target/tracer.so").unlink()
    incomplete = aloex("fuzz", "replay", "target", "inputs", cwd=tmp_path)
    assert incomplete.stderr.endswith("is missing; build it again: aloex fuzz build target\n")


def test_mistakes_are_one_line(tmp_path):
    (tmp_path / "text").write_text("x")
    cases = {
        ("build",): "name a target, or give --harness FILE",
        ("build", "nothing"): "there is no target nothing; known: libpng, mpeg2dec, openjpeg",
        ("build", "libpng", "--harness", "x.c"): "not both",
        ("build", "--harness", "none.c"): "there is no none.c",
        ("build", str(tmp_path)): "there is no target.toml in",
        ("build", "libpngg"): "there is no target libpngg; did you mean libpng? known: libpng,",
        ("build", "targets"): "to build your own: aloex fuzz build --harness FILE, or FOLDER",
        ("replay", "nothing", "text"): "there is no target nothing; known: libpng, mpeg2dec, openj",
        ("replay", "libpng", "text"): "libpng is not built yet; build it: aloex fuzz build libpng",
        ("replay", "a/libpng", "text"): "there is no target a/libpng; did you mean libpng?",
        ("replay", "text", "text"): "no 64-bit program or shared library",
        ("replay", "text", "none"): "there is no file none",
        ("replay", sys.executable, "text"): "has no function LLVMFuzzerTestOneInput",
        ("replay", sys.executable, "text", "--workers", "0"): "--workers must be at least 1, got 0",
        ("replay", sys.executable, "text", "--timeout", "0"): "--timeout must be more than 0 sec",
        ("replay", sys.executable, "text", "--memory", "0"): "--memory must be at least 1 MiB, got",
    }
    assert_mistakes_are_one_line(("fuzz",), cases, tmp_path)
