"""What an input costs, and mutants that are cut short because they cost too much."""

import numpy as np
import pytest

from aloex.apps.fuzz.execute import Executor, RunRecord, run_together
from aloex.apps.fuzz.inputs import ExitStatus
from aloex.apps.fuzz.native import EDIT, Counts, Engine, TokenKind

OF_A_CALL, BYTES, LONGER = 25, 16, 8  # of native/worker: memory.c and child.c
COST_OF_HANG = 1 << 28  # of native/worker/worker.c
BLOCK = OF_A_CALL + (1 << 16) // BYTES  # what heavy.c allocates as often as its first byte says
SEEDS = [b"", b"\0xyz", b"\1xyz"]
NUM_MUTANTS, NO_LIMIT = 3000, 2**64 - 1


def cost_of(data: bytes) -> int:
    return BLOCK * data[0] if len(data) > 1 else 0


def records_of(executor: Executor, inputs: list[bytes]) -> list[RunRecord]:
    (records,) = run_together([executor.given(inputs)], 1)
    return records


def test_an_input_costs_what_it_allocates(heavy):
    inputs = [b"", *(bytes([i, 0]) for i in range(40))]
    with Executor(heavy, workers=1) as executor:
        found = [record.cost for record in records_of(executor, inputs)]
        traced = [record.cost for record in executor.trace(inputs)]
    assert found == [cost_of(data) for data in inputs]
    assert all(more > cost for cost, more in zip(found, traced, strict=True))  # compares


def an_engine(executor: Executor) -> Engine:
    """An engine that cuts costly mutants short: all that allocate more than usual."""
    engine = Engine(executor.num_edges, max_len=8, seed=1)
    outcomes = executor.run(SEEDS, full=True)
    for i, seed in enumerate(SEEDS):
        engine.add(seed, outcomes.features_of(i))
        engine.set_trace(i, np.empty(0, EDIT), BLOCK // 8)  # usually half of that: times 32
    engine.add_tokens(TokenKind.DICTIONARY, [b"L", b"N"])
    engine.learn(Counts(num_mutants=10, num_unlimited=10, cost=10, costly=10), None, None)
    engine.plan()
    executor.use(engine)
    return engine


@pytest.fixture(scope="module")
def made(heavy):
    with Executor(heavy, workers=1, timeout=0.1) as executor:
        engine = an_engine(executor)
        mutants = [engine.mutate(number) for number in range(NUM_MUTANTS)]
        return engine, mutants, executor.run_lanes([(0, NUM_MUTANTS)])[0]


def is_cut(data: bytes, max_cost: int, has_news: bool) -> bool:
    return cost_of(data) > (LONGER if has_news else 1) * max_cost


def test_costly_mutants_are_cut_short_unless_they_come_to_new_edges(made):
    _, mutants, lane = made
    num_cut, num_longer, is_new = 0, 0, True  # the branch of N
    for data, recipe in mutants:
        has_news = is_new and data[1:2] == b"N"
        if recipe.max_cost == NO_LIMIT or not is_cut(data, recipe.max_cost, has_news):
            num_longer += has_news and cost_of(data) > recipe.max_cost
            is_new = is_new and not has_news
        elif data[1:2] != b"L" or cost_of(data):
            num_cut += 1
    assert lane.num_cut == num_cut > 100
    assert lane.counts.num_mutants == NUM_MUTANTS
    assert not is_new


def test_those_without_a_limit_tell_what_mutants_cost(made):
    _, mutants, lane = made
    whole = [(data, recipe) for data, recipe in mutants if recipe.max_cost == NO_LIMIT]
    hangs = [r.number for r in lane.records if r.status == ExitStatus.HANG]
    assert hangs
    costs = [COST_OF_HANG if data[1:2] == b"L" else cost_of(data) for data, _ in whole]
    costly = [cost for cost, (_, how) in zip(costs, whole, strict=True) if cost > how.costly]
    assert lane.counts.num_unlimited == len(whole)
    assert (lane.counts.cost, lane.counts.costly) == (sum(costs), sum(costly))
    assert 0 < sum(costly) < sum(costs)


def test_with_sanitizers_what_hangs_is_passed_over(heavy):
    """Whether an input hangs is for the build without them to tell."""
    inputs = [b"\1a", b"\1L", b"\2a"]
    with Executor(heavy, workers=1, sanitized=True, timeout=0.5) as executor:
        records = records_of(executor, inputs)
    assert [r.status for r in records] == 3 * [ExitStatus.OK]
    assert [r.num_edges > 0 for r in records] == [True, False, True]
    with Executor(heavy, workers=1, timeout=0.5) as executor:
        statuses = [r.status for r in records_of(executor, inputs)]
    assert statuses == [ExitStatus.OK, ExitStatus.HANG, ExitStatus.OK]
