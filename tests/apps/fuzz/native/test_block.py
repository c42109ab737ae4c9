"""The pool: what is new, what there is room for, tokens, and the block on a disk."""

import numpy as np
import pytest

from aloex.apps.fuzz.native import ALL_GUIDES, EDIT, Engine, Guide, TokenKind
from aloex.apps.fuzz.native import engine as engines
from aloex.base.errors import InputError
from fuzz_engines import NUM_EDGES, POOL, an_engine, mutants, shares_of_inputs, some_counts

MAX_TOKENS, TOKEN_SIZE = 4096, 31  # of mutator.h
U4 = np.uint32


def some_features(rng: np.random.Generator, num_edges: int) -> np.ndarray:
    edges = np.sort(rng.choice(NUM_EDGES, size=num_edges, replace=False))
    return (8 * edges + rng.integers(8, size=num_edges)).astype(U4)


def test_what_is_new():
    rng = np.random.default_rng(0)
    engine, seen = an_engine(()), set()
    for i in range(40):
        features = some_features(rng, 3)
        edges = {f // 8 for f in seen}
        new = set(features.tolist()) - seen
        assert engine.news(features) == (len({f // 8 for f in new} - edges), len(new))
        assert engine.add(b"%d" % i, features) == i
        seen |= new
        assert engine.input(i) == b"%d" % i
    bits = np.unpackbits(engine.seen[:, None], axis=1, bitorder="little")
    assert set(np.flatnonzero(bits.reshape(-1)).tolist()) == seen
    assert engine.news(np.array(sorted(seen), U4)) == (0, 0)


@pytest.mark.parametrize("bound, value, room", [("MAX_INPUTS", 2, 2), ("MAX_BYTES", 60, 1)])
def test_a_full_pool_still_knows_what_is_covered(monkeypatch, bound, value, room):
    monkeypatch.setattr(engines, bound, value)
    engine = an_engine(())
    added = [engine.add(data + bytes(20), np.array(f, U4)) for data, f in POOL]
    assert [i for i in added if i >= 0] == list(range(room))
    assert added[-1] == -1 and engine.num_inputs == room
    assert all(engine.news(np.array(features, U4)) == (0, 0) for _, features in POOL)
    engine.plan()
    assert {mutant.parent for mutant in mutants(engine, 200)} == set(range(room))


def test_the_oldest_tokens_make_room():
    engine = an_engine()
    tokens = [b"token %04d." % i for i in range(MAX_TOKENS + 5)]
    engine.add_tokens(TokenKind.STRINGS, tokens)
    packed = engine.pack()
    assert [token in packed for token in tokens[:8]] == 5 * [False] + 3 * [True]
    assert all(token in packed for token in tokens[5:])


def test_tokens_that_are_known_empty_or_too_long_are_passed_over():
    engine, reference = an_engine(), an_engine()
    engine.add_tokens(TokenKind.DICTIONARY, [b"a", b"", b"x" * (TOKEN_SIZE + 1), b"b", b"a"])
    reference.add_tokens(TokenKind.DICTIONARY, [b"a", b"b"])
    assert engine.pack() == reference.pack()
    reference.add_tokens(TokenKind.DICTIONARY, [b"x" * TOKEN_SIZE])
    assert engine.pack() != reference.pack()


def learned(**options) -> Engine:
    engine = an_engine(**options)
    rng = np.random.default_rng(0)
    engine.set_trace(1, np.array([(0, 2, 2, ord("l"), 25 * [3])], EDIT), 9)
    engine.add_tokens(TokenKind.COMPARED, [b"what"])
    hits = rng.integers(50, size=8 * NUM_EDGES, dtype=U4)
    engine.learn(some_counts(rng, 4000), hits, np.array([5, 6, 7], U4))
    engine.plan()
    return engine


def test_what_was_packed_comes_back():
    one, other = learned(), an_engine(())
    packed = one.pack()
    assert len(packed) < 1 << 20  # not the room for more
    assert other.unpack(packed)
    assert other.pack() == packed
    assert mutants(other, 300) == mutants(one, 300)
    assert np.array_equal(shares_of_inputs(other), shares_of_inputs(one))
    for engine in (one, other):  # and goes on alike
        assert engine.add(b"more", np.array([50], U4)) == 3
        engine.learn(some_counts(np.random.default_rng(1), 77), None, None)
        engine.plan()
    assert other.pack() == one.pack()


def test_blocks_of_others_are_refused(monkeypatch):
    packed = learned().pack()
    other = {"max_len": 201}, {"seed": 1}, {"keep": 1}, {"repair": "png"}
    for options in (*other, {"guides": ALL_GUIDES & ~Guide.FORGET}):
        engine = an_engine(**options)
        before = engine.pack()
        assert not engine.unpack(packed)
        assert engine.pack() == before
    engine = an_engine()
    for damaged in (b"", packed[:100], packed[:-1], packed + b"\0"):
        assert not engine.unpack(damaged)
    moved = bytearray(packed)  # where the arrays are, as another version may have it
    moved[48] ^= 64
    assert not engine.unpack(bytes(moved))
    monkeypatch.setattr(engines, "MAX_INPUTS", 100)
    assert not an_engine().unpack(packed)


def test_an_unknown_repair_is_refused():
    with pytest.raises(InputError, match="repair must be one of none, png, got 'zip'"):
        Engine(3, max_len=9, repair="zip")
