"""Mutants of a small pool are the same for ever, on every machine.

If the engine was changed on purpose, renew the table:

    PYTHONPATH=src:tests python tests/apps/fuzz/native/test_golden_mutants.py
"""

from pathlib import Path

import numpy as np

from aloex.apps.fuzz.native import EDIT, LIKELY, Engine, TokenKind
from fuzz_engines import an_engine, some_counts

TABLE = Path(__file__).parent / "golden_mutants.txt"
NUMBERS = [*range(12), 10**6, 2**40]


def trained(seed: int) -> Engine:
    """An engine that knows something of everything."""
    engine = an_engine(seed=seed, keep=2)
    engine.set_trace(0, np.array([(5, 4, 2, ord("b"), list(b"AB") + 23 * [0])], EDIT), 30)
    engine.add_tokens(TokenKind.DICTIONARY, [b"IHDR", b"PLTE"])
    engine.add_tokens(TokenKind.STRINGS, [b"png"])
    engine.add_tokens(TokenKind.COMPARED, [b"\x01\x02\x03\x04"])
    table = np.zeros(len(engine.input(1)), LIKELY)
    table["bytes"], table["upto"] = list(b"abcdefg"), [50, 100, 150, 200, 210, 220, 230]
    engine.set_likely(1, table)
    rng = np.random.default_rng(seed)
    engine.add(b"new by its hit counts", np.array([1], np.uint32))
    engine.learn(some_counts(rng, 50_000), rng.integers(9, size=160, dtype=np.uint32), None)
    engine.plan()
    return engine


def lines() -> list[str]:
    """seed, number, parent, stack, operators, bytes"""
    found = []
    for seed in (0, 1):
        engine = trained(seed)
        for number in NUMBERS:
            data, recipe = engine.mutate(number)
            how = f"{recipe.parent} {recipe.stack} {recipe.operators:x}"
            found.append(f"{seed} {number} {how} {data.hex()}")
    return found


def test_mutants_are_those_of_the_table():
    assert lines() == TABLE.read_text().splitlines()


if __name__ == "__main__":
    TABLE.write_text("\n".join(lines()) + "\n")
