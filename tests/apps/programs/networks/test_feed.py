"""Numbers of expressions, programs run by tables, batches."""

import numpy as np
import pytest
from hypothesis import given

from aloex.apps.programs.language import canonical, detokenize, run, tokenize
from aloex.apps.programs.networks.programs import codes, host
from aloex.apps.programs.networks.train.feed import BUCKETS, Batcher
from aloex.apps.programs.tasks.tasks import generate
from aloex.base.errors import InputError
from aloex.learning import HostBatches
from programs import programs, state_after

TEXTS = ("a,B-c 12", "Ab,,3--aB(", "xyz", "A1 b2-c3.d4 e5")


def numbered(program):
    """The program's row of numbers."""
    tokens = np.zeros((1, 120), np.int8)
    words = tokenize(program)
    tokens[0, : len(words)] = words
    row = np.zeros((1, 10), np.int32)
    host.number_programs(tokens, row)
    return row


def as_arrays(texts, width):
    rows = [list(text.encode().ljust(width, b"\0")) for text in texts]
    return np.array([rows], np.uint8)


def found_gaps(inputs):
    gaps = np.zeros((*inputs.shape[:2], codes.NUM_POS), np.int8)
    host.find_gaps(inputs, gaps)
    return gaps


def traced(row, gaps):
    made = host.Traced.empty(len(row), 120, gaps.shape[1])
    host.trace(row, gaps, made)
    return made


@given(programs())
def test_numbers_stand_for_expressions(program):
    row = numbered(program)
    made = traced(row, found_gaps(as_arrays(TEXTS, 20)))
    assert detokenize(made.tokens[0].tolist()) == program
    host.canonicalise(row)
    assert (row == numbered(canonical(program))).all()
    for i in range(len(tokenize(program))):  # of 4 expressions at most, so never FULL
        assert made.states[0, i] == state_after(made.tokens[0, :i].tolist())


@given(programs())
def test_tables_run_programs_as_the_interpreter_does(program):
    row, inputs = numbered(program), as_arrays(TEXTS, 20)
    gaps = found_gaps(inputs)
    written = [run(program, text, "paper") or "" for text in TEXTS]
    wrong = [text[:-1] + ("?" if text.endswith("!") else "!") for text in written]
    for outputs, right in ((written, True), (wrong, False), ([t + "!" for t in written], False)):
        passed = np.zeros((1, 1, len(TEXTS)), bool)
        width = max(map(len, outputs)) + 1
        host.check_programs(row[:, None], inputs, as_arrays(outputs, width), gaps, passed)
        assert passed.all() == right == passed.any()
    made = traced(row, gaps)
    for i in range(1, len(tokenize(program))):
        if made.tokens[0, i - 1] == 2:  # a bar: the program up to there can be run
            before = detokenize([*made.tokens[0, : i - 1].tolist(), 1])
            sizes = [len(run(before, text, "paper") or "") for text in TEXTS]
            assert made.pointers[0, i].tolist() == sizes


def test_anchors_are_the_gaps_of_p1():
    made = generate(50, seed=5)
    row = np.zeros((50, 10), np.int32)
    host.number_programs(made.tokens, row)
    gaps = found_gaps(made.inputs)
    out = traced(row, gaps)
    first = row[:, 0] >= codes.FIRST_SUBSTR
    p1 = (row[first, 0] - codes.FIRST_SUBSTR) // codes.NUM_POS
    size = np.where(p1 < codes.NUM_KS, 3, 6)
    for task, pos, at in zip(np.flatnonzero(first), p1, size, strict=True):
        assert (out.anchors[task, :at] == -1).all()
        assert (out.anchors[task, at] == gaps[task, :, pos]).all()


def test_batches_are_functions_of_seed_and_number():
    batcher = Batcher(64, seed=9, canonical=True, fewer=0.5).check()
    with HostBatches(batcher).start(3) as feed:
        taken = [feed.take(step)[0] for step in (3, 4)]
    for number, batch in zip((3, 4), taken, strict=True):
        for one, other in zip(batch, batcher(number), strict=True):
            assert all((a == b).all() for a, b in zip(one[:3], other[:3], strict=True))
            pairs = zip(one.programs, other.programs, strict=True)
            assert all((a == b).all() for a, b in pairs)
    assert not (taken[0][1].inputs == taken[1][1].inputs).all()


def test_batches_hold_whole_programs_of_their_class():
    batch = Batcher(64, seed=9, canonical=True).check()(0)
    assert sum(len(part.shown) for part in batch) == 64
    for part, kind in zip(batch, BUCKETS, strict=True):
        assert part.programs.tokens.shape[1] == kind.max_tokens
        for row, inputs, outputs in zip(
            part.programs.tokens, part.inputs, part.outputs, strict=True
        ):
            program = detokenize(row.tolist())
            assert program == canonical(program)
            for text, wanted in zip(inputs, outputs, strict=True):
                plain = lambda codes: bytes(codes).rstrip(b"\0").decode()
                assert run(program, plain(text)) == plain(wanted)


def test_bad_settings_are_refused():
    with pytest.raises(InputError, match="frozen"):
        Batcher(64, seed=1, canonical=True).check()
    with pytest.raises(InputError, match="32"):
        Batcher(1, seed=9, canonical=True).check()
