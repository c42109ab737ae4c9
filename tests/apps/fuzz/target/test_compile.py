"""The binaries of a target: the same edges in each, compares told, errors of memory found."""

import re
import shutil
import subprocess

import pytest

from aloex.apps.fuzz.execute import Executor
from aloex.apps.fuzz.target import TargetRecipe, build_target, read_elf, strings_of
from aloex.apps.fuzz.target import compile as compiling
from fuzz_targets import HERE

FAULTS = r"""
#include <limits.h>
#include <stdlib.h>
#include <string.h>

volatile int result;

int die(int n) { return n + 1; }  // names of functions that the worker has, too
int load(int n) { return n + 2; }
void count(char *p) { result = p[4]; }

int LLVMFuzzerTestOneInput(const unsigned char *data, long size) {
  char *p = malloc(4);
  if (size == 3 && !memcmp(data, "MAG", 3)) result++;
  if (size == 1) switch (data[0]) {
    case 'o': count(p); break;
    case 'i': result = INT_MAX - 1; result = load(result); break;
    case 's': result = 1 << (size + 40); break;
    case 'd': result = die(0) / (int)(size - 1); break;
    case 'n': result = -1; result <<= 2; break;  // common, and left out
    case 'u': free(p); result = p[0]; return 0;
  }
  free(p);
  return 0;
}
"""


@pytest.fixture(scope="module")
def faults(clang, tmp_path_factory):
    """A target with faults that do not crash by themselves."""
    folder = tmp_path_factory.mktemp("faults")
    (folder / "faults.c").write_text(FAULTS)
    recipe = TargetRecipe(name="faults", folder=folder, harness=["faults.c"])
    return build_target(recipe, folder / "out")


@pytest.mark.parametrize("name", ["tiny", "stairs"])
def test_edges_are_those_of_libfuzzer(clang, tmp_path, name):
    recipe = TargetRecipe(name=name, folder=HERE, harness=[f"{name}.c"])
    built = build_target(recipe, tmp_path / "out", sanitizers=False)
    assert_same_edges(built, [b"n", b"nA", b"nALOEX", b"lll", b"f1", bytes(8), b"\x05" * 8, b"-"])


def test_edges_of_libpng_are_those_of_libfuzzer(libpng):
    assert_same_edges(libpng, libpng.read_seeds())


def assert_same_edges(built, inputs):
    """The library and the libFuzzer binary have as many counters, and an input changes as many."""
    size = {path: read_elf(path).sections["__sancov_cntrs"][1] for path in binaries(built)}
    assert len(set(size.values())) == 1, size
    counts = []
    for path in (built.library, built.fuzzer):
        with Executor(type(built)(name=built.name, library=path), workers=1) as executor:
            counts.append(executor.run(inputs).num_edges.tolist())
    assert counts[0] == counts[1]
    assert max(counts[0]) > 3


def binaries(built):
    return (built.library, built.tracer, built.fuzzer)


def undefined(path):
    """The symbols that a library takes from elsewhere."""
    done = subprocess.run(["nm", "-D", "--undefined-only", path], capture_output=True, text=True)
    return {line.split()[-1].split("@")[0] for line in done.stdout.splitlines()}


def test_only_the_tracer_tells_what_it_compares(faults):
    compares = {"__wrap_memcmp", "__sanitizer_cov_trace_switch"}
    assert compares <= undefined(faults.tracer)
    assert not any("trace" in name or "wrap" in name for name in undefined(faults.library))


def test_the_worker_has_a_wrapper_for_each_function_that_is_wrapped():
    source = (compiling.NATIVE / "worker/compares.c").read_text()
    wrappers = re.findall(r"^WRAP\([^,]+, (\w+),", source, re.MULTILINE)
    assert sorted(wrappers) == sorted(compiling.WRAPPED)


@pytest.mark.parametrize(
    ("data", "error"),
    [
        (b"o", "heap-buffer-overflow"),
        (b"u", "heap-use-after-free"),
        (b"i", "signed integer overflow"),
        (b"s", "shift exponent 41 is too large"),
        (b"d", "division by zero"),
    ],
)
def test_sanitizers_end_an_input_with_an_error(faults, tmp_path, data, error):
    (tmp_path / "input").write_bytes(data)
    done = subprocess.run(faults.command(tmp_path / "input"), capture_output=True, text=True)
    assert done.returncode != 0
    assert error in done.stderr
    assert "faults.c:" in done.stderr


def test_what_is_common_and_harmless_is_no_error(faults, tmp_path):
    (tmp_path / "input").write_bytes(b"n")
    subprocess.run(faults.command(tmp_path / "input"), capture_output=True, check=True)


def test_the_worker_with_sanitizers_starts(faults):
    done = subprocess.run([faults.sanitized], capture_output=True, text=True)
    assert done.returncode == 1
    assert done.stderr.startswith("usage: worker")


def test_a_recipe_chooses_its_sanitizers(clang, tmp_path):
    (tmp_path / "faults.c").write_text(FAULTS)
    (tmp_path / "input").write_bytes(b"n")
    common = {"name": "faults", "folder": tmp_path, "harness": ["faults.c"]}
    strict = build_target(TargetRecipe(**common, sanitizers=["shift-base"]), tmp_path / "strict")
    done = subprocess.run(strict.command(tmp_path / "input"), capture_output=True, text=True)
    assert "left shift of negative value" in done.stderr
    none = build_target(TargetRecipe(**common, sanitizers=[]), tmp_path / "none")
    assert none.asan is None and none.sanitized is None


@pytest.mark.skipif(shutil.which(compiling.AFL) is None, reason="needs afl++")
def test_two_binaries_for_afl_one_of_which_logs_compares(clang, tmp_path):
    recipe = TargetRecipe(name="stairs", folder=HERE, harness=["stairs.c"])
    built = build_target(recipe, tmp_path / "out", sanitizers=False, afl=True)
    assert built.afl_cmplog == tmp_path / "out/afl-cmplog"
    calls = [
        subprocess.run(["objdump", "-d", path], capture_output=True, text=True).stdout.count(
            "<__cmplog_ins_hook"
        )
        for path in (built.afl, built.afl_cmplog)
    ]
    assert calls[0] < calls[1]


def test_strings_of_a_binary_are_tokens(clang, tmp_path):
    words = ["KEY", "a longer message with words", "format %d", "magic:", "no", "x" * 32, "KEY"]
    calls = "".join(f'puts("{word}");' for word in words)
    entry = "int LLVMFuzzerTestOneInput(const char *data, long size)"
    (tmp_path / "s.c").write_text(f"#include <stdio.h>\n{entry} {{ {calls} return 0; }}\n")
    recipe = TargetRecipe(name="s", folder=tmp_path, harness=["s.c"])
    built = build_target(recipe, tmp_path / "out", sanitizers=False)
    assert strings_of(built.library) == [
        b"KEY",
        b"magic:",
        b"format %d",
        b"a longer message with words",
    ]
    assert len(strings_of(built.fuzzer)) <= 400
