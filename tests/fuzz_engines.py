"""What the tests of the engine share: small engines, and a look into them."""

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np

from aloex.apps.fuzz.execute import RunRecord, Trace
from aloex.apps.fuzz.inputs import ExitStatus
from aloex.apps.fuzz.native import EDIT, MAX_OPERATORS, MAX_STACKS, ORIGINS, Counts, Engine

NUM_EDGES = 20
POOL = (
    (b"seed 1234 and 99, \x00\x00\x01\x00\x00\x00\x01\x00", (0, 9, 17)),
    (b"another one, longer than that: 0000 and 31337", (0, 25)),
    (b"short", (8 * 19 + 7,)),
)


class Mutant(NamedTuple):
    """A mutant, and how it was made."""

    data: bytes
    operators: int
    parent: int
    stack: int


def an_engine(pool: Iterable[tuple[bytes, Sequence[int]]] = POOL, **options: Any) -> Engine:
    """An engine with some inputs, planned."""
    engine = Engine(NUM_EDGES, **{"max_len": 200, **options})
    for data, features in pool:
        engine.add(data, np.array(features, np.uint32))
    engine.plan()
    return engine


def mutants(engine: Engine, count: int, first: int = 0) -> list[Mutant]:
    """Some of its mutants."""
    found = []
    for number in range(first, first + count):
        data, recipe = engine.mutate(number)
        found.append(Mutant(data, recipe.operators, recipe.parent, recipe.stack))
    return found


def traced(cost: int) -> RunRecord:
    """What a trace says of an input that is compared with nothing."""
    no_features, trace = np.zeros(0, np.uint32), Trace(np.zeros(0, EDIT), [b"token"])
    return RunRecord(0, ExitStatus.OK, 0, 0, no_features, 0, 0, 0, 0, (), cost, trace, "")


def shares_of_inputs(engine: Engine) -> np.ndarray:
    """How often each input of the pool is started from."""
    look = lambda i: engine._c.aloex_input(engine._block, i)
    return np.array([look(i).share for i in range(engine.num_inputs)])


def some_counts(rng: np.random.Generator, num_mutants: int) -> Counts:
    """Counts as of a number of mutants."""
    counts = Counts(num_mutants=num_mutants)
    sizes = {"": MAX_OPERATORS, "stack_": MAX_STACKS, "origin_": len(ORIGINS)}
    for name, size in sizes.items():
        tried = rng.integers(num_mutants, size=size)
        getattr(counts, f"{name}tried")[:] = tried.tolist()
        getattr(counts, f"{name}won")[:] = rng.integers(0, tried // 50 + 1).tolist()
    return counts
