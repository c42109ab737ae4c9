"""The generator and the memory of the mutator, by a small program with sanitizers (stress.c)."""

import subprocess
from pathlib import Path

import pytest

from aloex.apps.fuzz.native import sources
from aloex.apps.fuzz.native.compiled import HERE
from aloex.apps.fuzz.tools import run_tool

STRESS = Path(__file__).parent / "stress.c"
CHECKS = ["-fsanitize=address,undefined", "-fno-sanitize-recover=all"]
SPLITMIX_0 = ["e220a8397b1dcdaf", "6e789e6aa1b965f4", "06c45d188009454f"]  # as published, seed 0
STREAM = ["7cd299ee9e0b48a7", "f035e249ac1986e7", "b1181719353b38f9"]  # seed 7, number 11


@pytest.fixture(scope="module")
def stress(clang, tmp_path_factory) -> Path:
    program = tmp_path_factory.mktemp("stress") / "stress"
    flags = ["-std=gnu11", "-O1", "-g", *CHECKS, f"-I{HERE}"]
    run_tool([clang, *flags, STRESS, *sources("mutator"), "-o", program])
    return program


def test_numbers_of_the_generator(stress):
    said = run_tool([stress, "random"]).stdout.split()
    assert said[:6] == [*SPLITMIX_0, *STREAM]
    bits = [int(word, 16) for word in STREAM]
    assert [int(word) for word in said[6:9]] == [1000 * b >> 64 for b in bits]
    assert [float(word) for word in said[9:]] == [(b >> 11) / 2**53 for b in bits]


def test_odd_options_do_no_harm(stress):
    """No room, nothing to change, empty inputs, edits of other inputs: with address and undefined
    behaviour sanitizers, and with the block mapped read-only while mutants are made."""
    ended = subprocess.run([stress, "mutants"], capture_output=True, text=True, timeout=60)
    assert ended.returncode == 0, ended.stderr
    lines = ended.stdout.splitlines()
    assert len(lines) == 108
    made = [line for line in lines if not line.endswith(" 0000000000000000")]
    assert len(made) > 20  # where there is something to change, mutants were made
    assert any("inputs 7" in line for line in lines)  # and some pools were full
