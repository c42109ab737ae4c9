"""A target may write anywhere: what its worker shares with us is checked, and mended."""

import ctypes
import subprocess

import numpy as np
import pytest

from aloex.apps.fuzz.execute import Executor, records
from aloex.apps.fuzz.execute.records import Head, checksum, read_records
from aloex.apps.fuzz.execute.worker import Arena
from aloex.apps.fuzz.inputs import ExitStatus
from aloex.apps.fuzz.native import EDIT, LIKELY, Counts, Recipe
from aloex.apps.fuzz.native.compiled import HERE
from aloex.apps.fuzz.target import Target
from aloex.apps.fuzz.tools import run_tool
from aloex.base.errors import AloexError


def test_a_target_that_crashes_after_wild_writes_is_judged_and_its_neighbours_are_well(wild):
    inputs = [x for letter in b"czrdx" for x in (b"n", bytes([letter]), b"ny", b"?y")]
    with Executor(wild, workers=1) as executor:
        alone = executor.run([b"n", b"ny", b"?y"], full=True)
        outcomes = executor.run(inputs, full=True)
    failed = {bytes(inputs[f.index]): f.status for f in outcomes.failures}
    wanted = ExitStatus.CRASH, ExitStatus.OOM  # the header also says why a child ended
    assert failed.keys() == {b"c", b"z", b"r", b"d", b"x"}
    assert all(status in wanted for status in failed.values())
    assert failed[b"d"] == failed[b"x"] == failed[b"r"] == ExitStatus.CRASH
    for i, x in enumerate(inputs):
        if x not in failed:
            j = [b"n", b"ny", b"?y"].index(x)
            assert np.array_equal(outcomes.features_of(i), alone.features_of(j))


@pytest.mark.parametrize("letter", [b"c", b"z"])
def test_what_is_new_stays_new_when_it_is_run_again_after_a_wild_write(wild, letter):
    with Executor(wild, workers=1) as executor:
        alone = executor.run([b"n", b"ny", b"?y"])
    with Executor(wild, workers=1) as executor:
        outcomes = executor.run([b"n", b"ny", letter, b"?y"])
    assert alone.new_features.tolist()[:2] == outcomes.new_features.tolist()[:2]
    assert outcomes.new_features[0] > 0 and outcomes.new_features[1] > 0


def test_records_that_were_damaged_are_not_taken_for_those_of_others(wild):
    """Those before the input are lost, time and again: that is told."""
    inputs = [*(b"n%d" % i for i in range(58)), b"l", b"n"]
    with Executor(wild, workers=1) as executor:
        with pytest.raises(AloexError, match="does the target write into memory of others"):
            executor.run(inputs, full=True)
        assert not executor.run([b"n", b"ny"]).status.any()  # and it can go on


def test_a_first_call_that_fails_is_a_verdict_not_an_error(wild):
    with Executor(wild, workers=1) as executor:
        outcomes = executor.run([b"", b"n", b""])
    assert outcomes.status.tolist() == [ExitStatus.CRASH, ExitStatus.OK, ExitStatus.CRASH]


@pytest.mark.parametrize(
    "body, status",
    [
        ("if (!size) for (;;);", ExitStatus.HANG),
        ("if (!size) for (;;) memset(p = malloc(1 << 24), 1, 1 << 24);", ExitStatus.OOM),
    ],
)
def test_a_first_call_that_never_ends(clang, tmp_path, body, status):
    source, library = tmp_path / "first.c", tmp_path / "first.so"
    test = "int LLVMFuzzerTestOneInput(const char *data, long size) "
    include = "#include <stdlib.h>\n#include <string.h>\n"
    source.write_text(
        f"{include}volatile int n;\nchar *volatile p;\n{test}{{ {body} n++; return 0; }}\n"
    )
    flags = ["-shared", "-fPIC", "-O1", "-fsanitize=fuzzer-no-link"]
    run_tool([clang, *flags, source, "-o", library])
    # With more time than it has to load: the first call may not use all of it up.
    with Executor(Target.load(library), workers=1, timeout=11.0, memory_mb=200) as executor:
        assert executor.run([b"x"]).status.tolist() == [ExitStatus.OK]
    with Executor(Target.load(library), workers=1, timeout=0.3, memory_mb=200) as executor:
        assert executor.run([b""]).status.tolist() == [status]


def a_log(rng: np.random.Generator) -> np.ndarray:
    """Records as a worker writes them."""
    parts = []
    for number in range(4):
        features = np.sort(rng.choice(80, size=number + 2, replace=False)).astype("<u4")
        head = Head(number=number, status=0, num_edges=len(features), num_features=len(features))
        size = -(-(ctypes.sizeof(Head) + features.nbytes) // 8) * 8
        head.size = size
        body = np.zeros(size, np.uint8)
        body[: ctypes.sizeof(Head)] = np.frombuffer(bytes(head), np.uint8)
        body[ctypes.sizeof(Head) :][: features.nbytes] = features.view(np.uint8)
        body[:8] = np.frombuffer(checksum(body[8:]).to_bytes(8, "little"), np.uint8)
        parts.append(body)
    return np.concatenate(parts)


def test_any_flipped_bit_is_noticed():
    rng = np.random.default_rng(0)
    log = a_log(rng)
    whole = list(read_records(log.copy(), 10))
    assert [record.number for record in whole] == [0, 1, 2, 3]
    starts = np.cumsum([0, *(-(-(ctypes.sizeof(Head) + 4 * (i + 2)) // 8) * 8 for i in range(4))])
    for at in range(0, len(log), 7):
        damaged = log.copy()
        damaged[at] ^= 1 << rng.integers(8)
        left = list(read_records(damaged, 10))
        assert len(left) == np.searchsorted(starts, at, side="right") - 1
        for a, b in zip(left, whole, strict=False):
            assert a.number == b.number and np.array_equal(a.features, b.features)


def test_features_that_the_target_does_not_have_are_refused():
    log = a_log(np.random.default_rng(0))
    assert list(read_records(log, 1)) == []


def test_python_and_c_lay_out_memory_alike(clang, tmp_path):
    layouts = {
        "struct arena": Arena,
        "struct record": Head,
        "struct aloex_counts": Counts,
        "struct aloex_recipe": Recipe,
    }
    sizes = {
        "struct aloex_edit": EDIT.itemsize,
        "struct aloex_likely": LIKELY.itemsize,
        "struct token_bytes": records.TOKEN.itemsize,
    }
    expected, lines = [], []
    for name, kind in layouts.items():
        for field, *_ in kind._fields_:
            expected.append(getattr(kind, field).offset)
            lines.append(f"offsetof({name}, {field})")
        sizes[name] = ctypes.sizeof(kind)
    for name, size in sizes.items():
        expected.append(size)
        lines.append(f"sizeof({name})")
    source, program = tmp_path / "layout.c", tmp_path / "layout"
    says = "".join(f'  printf("%zu\\n", (size_t){line});\n' for line in lines)
    head = '#include <stdio.h>\n#include "worker/worker.h"\n'
    source.write_text(f"{head}int main(void) {{\n{says}}}\n")
    run_tool([clang, f"-I{HERE}", source, "-o", program])
    said = subprocess.run([program], capture_output=True, text=True, check=True).stdout
    assert [int(line) for line in said.split()] == expected
