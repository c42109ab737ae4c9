"""Tracing: what a target compares becomes edits and tokens that lead through the branch."""

from dataclasses import replace

import numpy as np
import pytest

from aloex.apps.fuzz.execute import Executor, RunRecord, Trace

PLAIN = b"0123" + b"4567" + b"89" + b"abcdef" + b"ghijklmn" + b"12345 "
CONDITIONS = {  # what opens a branch of secrets.c, and where
    "little endian": (0, bytes.fromhex("9e8d7c6b")),
    "big endian": (4, bytes.fromhex("51627384")),
    "switch 1": (8, bytes.fromhex("2e1f")),
    "switch 2": (8, bytes.fromhex("4c3d")),
    "switch 3": (8, bytes.fromhex("6a5b")),
    "memcmp": (10, b"QUARTZ"),
    "strcmp": (16, b"feldspat"),
    "decimal": (24, b"271828"),
}


@pytest.fixture(scope="module")
def record(secrets) -> RunRecord:
    with Executor(secrets, workers=1) as executor:
        return executor.trace([PLAIN])[0]


@pytest.fixture(scope="module")
def trace(record) -> Trace:
    return record.trace


def edited(trace: Trace, data: bytes = PLAIN) -> list[bytes]:
    """The input after each edit."""
    found = []
    for edit in trace.edits:
        at, old = int(edit["position"]), int(edit["old_size"])
        found.append(data[:at] + edit["bytes"][: edit["size"]].tobytes() + data[at + old :])
    return found


@pytest.mark.parametrize("name", CONDITIONS)
def test_an_edit_opens_the_branch(trace, name):
    at, wanted = CONDITIONS[name]
    assert any(x[at:].startswith(wanted) for x in edited(trace)), trace.edits


def test_the_branches_are_those_of_the_target(secrets, trace):
    opened = [PLAIN[:at] + x + PLAIN[at + len(x) :] for at, x in CONDITIONS.values()]
    with Executor(secrets, workers=1) as executor:
        executor.run([PLAIN])
        outcomes = executor.run(opened)
        assert (outcomes.new_edges > 0).all()
        edges = executor.edges
        executor.run(edited(trace))
        assert executor.edges == edges


def test_constants_and_words_become_tokens_where_nothing_can_be_replaced(secrets):
    """Of an input without what is compared: all its bytes are alike."""
    with Executor(secrets, workers=1) as executor:
        tokens = executor.trace([bytes(40)])[0].trace.tokens
    assert {b"QUARTZ", b"feldspat"} <= set(tokens)
    assert {bytes.fromhex("9e8d7c6b"), bytes.fromhex("6b7c8d9e")} & set(tokens)
    assert all(2 <= len(token) <= 25 for token in tokens)


def test_a_value_that_stands_in_many_places_is_replaced_in_some(secrets):
    with Executor(secrets, workers=1) as executor:
        edits = executor.trace([9 * b"0123"])[0].trace.edits
    new = [edit["bytes"][: edit["size"]].tobytes() for edit in edits]
    assert new.count(CONDITIONS["little endian"][1]) == 4


def test_edits_are_of_bytes_that_are_there(trace):
    assert len(trace.edits) > 6
    for edit in trace.edits:
        assert edit["position"] + edit["old_size"] <= len(PLAIN)
        assert edit["size"] <= 25
        assert bytes([edit["order"]]) in (b"\0", b"l", b"b")


def test_a_trace_is_the_same_every_time_and_in_any_company(secrets, record):
    others = [bytes([i]) * 40 for i in range(30)]
    with Executor(secrets, workers=2) as executor:
        again = executor.trace([PLAIN, *others, PLAIN])
    fields = lambda r: (np.sort(r.trace.edits).tobytes(), sorted(r.trace.tokens), r.cost)
    assert fields(again[0]) == fields(record)
    assert len(again) == 32


def test_without_a_tracer_nothing_is_known(secrets):
    with Executor(replace(secrets, tracer=None), workers=1) as executor:
        found = executor.trace([PLAIN, b"x"])
    assert [len(r.trace.edits) for r in found] == [0, 0]
    assert [r.trace.tokens for r in found] == [[], []]
