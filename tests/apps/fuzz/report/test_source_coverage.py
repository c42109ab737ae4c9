"""Coverage by source file, from the library's own debug information."""

import subprocess
from pathlib import Path

import numpy as np
import pytest

from aloex.apps.fuzz.execute import Executor
from aloex.apps.fuzz.report import sources
from aloex.apps.fuzz.report.sources import Source, coverage_by_source, shortened
from aloex.apps.fuzz.target import Target, edge_addresses

COUNTERS = ["-shared", "-fPIC", "-O1", "-fsanitize=fuzzer-no-link"]
HARNESS = """\
#include <stddef.h>
int check(const unsigned char *data, size_t size);
int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size) {
  return size > 3 ? check(data, size) : 0;
}
"""
CHECK = """\
#include <stddef.h>
#include "twice.h"
static volatile int sink;
int check(const unsigned char *data, size_t size) {
  for (size_t i = 0; i < size; i++) sink += twice(data[i]);
  switch (data[0]) { case 'a': sink += 1; break; case 'b': sink -= 3; break; }
  return 0;
}
"""
TWICE = """\
static inline int twice(int x) { if (x > 77) return 3 * x; return 2 * x; }
"""


@pytest.fixture(scope="module")
def folder(clang, tmp_path_factory) -> Path:
    """A library of two files and a header, with debug information and without."""
    folder = tmp_path_factory.mktemp("two files")
    (folder / "src").mkdir()
    for name, text in (("harness.c", HARNESS), ("src/check.c", CHECK), ("src/twice.h", TWICE)):
        (folder / name).write_text(text)
    files = [str(folder / "harness.c"), str(folder / "src/check.c")]
    for name, flags in (("with.so", ["-g"]), ("without.so", [])):
        subprocess.run([clang, *COUNTERS, *flags, *files, "-o", folder / name], check=True)
    return folder


@pytest.fixture(autouse=True)
def nothing_is_known():
    sources.files_of_edges.cache_clear()


def covered(library: Path, *inputs: bytes) -> np.ndarray:
    with Executor(Target.load(library)) as executor:
        executor.run(inputs)
        return executor.seen


def test_every_edge_has_a_file(folder):
    library = folder / "with.so"
    short, long = covered(library, b"x"), covered(library, b"x", b"aaaa", b"\0\0\0\0")
    by_file = {x.file: x for x in coverage_by_source(library, short).files}
    assert by_file.keys() == {"harness.c", "src/check.c", "src/twice.h"}
    assert by_file["harness.c"].covered > 0
    assert by_file["src/check.c"].covered == by_file["src/twice.h"].covered == 0
    found = coverage_by_source(library, long)
    assert found.note == "" and sum(x.edges for x in found.files) == len(long)
    assert sum(x.covered for x in found.files) == np.count_nonzero(long)
    assert all(x.covered > 0 for x in found.files)
    edges = [x.edges for x in found.files]
    assert edges == sorted(edges, reverse=True)
    assert any(x.covered < x.edges for x in found.files)  # nothing has found the b


def test_addresses_are_those_of_the_counters(folder, stairs):
    for library in (folder / "with.so", folder / "without.so", stairs.library):
        addresses = edge_addresses(library)
        assert len(addresses) == len(covered(library, b""))
        assert len(set(addresses)) == len(addresses) and 0 not in addresses
    assert edge_addresses(stairs.fuzzer) != []  # a program: some are of libFuzzer's own start
    (folder / "plain.c").write_text("int f(void) { return 1; }\n")
    subprocess.run(["cc", "-shared", folder / "plain.c", "-o", folder / "plain.so"], check=True)
    assert edge_addresses(folder / "plain.so") == []


def test_the_symbolizer_is_asked_once_and_for_some_at_a_time(folder, monkeypatch):
    asked, ask = [], sources.ask
    note_and_ask = lambda *given: asked.append(len(given[-1])) or ask(*given)
    monkeypatch.setattr(sources, "ask", note_and_ask)
    monkeypatch.setattr(sources, "AT_ONCE", 5)
    library, seen = folder / "with.so", covered(folder / "with.so", b"aaaa")
    first = coverage_by_source(library, seen)
    assert sum(asked) == len(seen) and max(asked) == 5
    count = len(asked)
    assert coverage_by_source(library, seen) == first and len(asked) == count
    monkeypatch.undo()
    sources.files_of_edges.cache_clear()
    assert coverage_by_source(library, seen) == first  # all at once


def test_what_is_missing_is_told_in_a_line(folder, monkeypatch):
    library, seen = folder / "with.so", covered(folder / "with.so", b"aaaa")
    found = coverage_by_source(folder / "without.so", seen)
    assert found.files == () and found.note.endswith("without.so was compiled without -g")
    found = coverage_by_source(library, seen[1:])
    assert found.files == () and "with.so does not say where its edges are" in found.note
    sources.files_of_edges.cache_clear()
    monkeypatch.setenv("PATH", str(folder))
    found = coverage_by_source(library, seen)
    assert found.files == ()
    assert found.note == (
        "coverage by source file is left out: llvm-symbolizer-19 is missing; install it: "
        "apt-get install llvm-19"
    )


def test_paths_are_short():
    own = ["/home/x/lib/src/a.c"] * 9 + ["/home/x/lib/inc/b.h"] * 9
    others = ["/usr/lib/gcc/../include/c.h"] * 5 + ["", "relative/d.c", "/opt/e.c"]
    assert shortened([*own, *others]) == (
        ["src/a.c"] * 9
        + ["inc/b.h"] * 9
        + ["/usr/lib/include/c.h"] * 5
        + ["(not known)", "relative/d.c", "/opt/e.c"]
    )
    assert shortened(["/usr/include/a.h", ""]) == ["/usr/include/a.h", "(not known)"]
    assert Source("a", 1, 2)._fields == ("file", "covered", "edges")  # keys of report.json
