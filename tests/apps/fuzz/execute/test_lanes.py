"""Lanes: mutants that a worker makes itself are counted, and covered, as if they were given."""

import threading

import numpy as np
import pytest

from aloex.apps.fuzz.execute import Executor, Lane, run_together
from aloex.apps.fuzz.inputs import ExitStatus
from aloex.apps.fuzz.native import Engine, Recipe

HITS_SAMPLE = 8  # of native/worker/child.c: of so many mutants the features of one are counted
SEEDS = [b"abcdefgh", b"01234567890", b"zzzzzzz\x00"]
LANES = [(0, 300), (300, 301), (301, 900)]


def engine_of(executor: Executor, seeds=SEEDS, **options) -> Engine:
    engine = Engine(executor.num_edges, **{"max_len": 32, "seed": 3, **options})
    outcomes = executor.run(seeds, full=True)
    for i, seed in enumerate(seeds):
        engine.add(seed, outcomes.features_of(i))
    engine.plan()
    executor.use(engine)
    return engine


@pytest.fixture(scope="module")
def ran(stairs) -> tuple[Engine, list[Lane]]:
    with Executor(stairs, workers=1) as executor:
        engine = engine_of(executor)
        return engine, executor.run_lanes(LANES)


def test_records_are_of_mutants_with_news_in_their_lane(ran, stairs):
    engine, lanes = ran
    for (first, stop), lane in zip(LANES, lanes, strict=True):
        numbers = range(first, stop)
        mutants = [engine.mutate(number)[0] for number in numbers]
        with Executor(stairs) as executor:
            alone = executor.run(mutants, full=True)
        seen = {8 * e + b for e, bits in enumerate(engine.seen) for b in range(8) if bits >> b & 1}
        expected = []
        for i, number in enumerate(numbers):
            features = set(alone.features_of(i).tolist())
            if alone.status[i] != ExitStatus.OK:
                expected.append((number, alone.status[i], features))
            elif features - seen:
                expected.append((number, ExitStatus.OK, features))
                seen |= features
        records = [(r.number, r.status, set(r.features.tolist())) for r in lane.records]
        assert records == expected
        for record in lane.records:
            assert record.num_edges == len(record.features)
            _, recipe = engine.mutate(record.number)
            how = record.operators, record.stack, record.parent
            assert how == (recipe.operators, recipe.stack, recipe.parent)
    assert len(lanes[0].records) > 5
    assert {record.status for lane in lanes for record in lane.records} == {
        ExitStatus.OK,
        ExitStatus.CRASH,
    }


def test_all_mutants_of_a_lane_are_counted(ran, stairs):
    engine, lanes = ran
    for (first, stop), lane in zip(LANES, lanes, strict=True):
        made = [engine.mutate(number) for number in range(first, stop)]
        recipes: list[Recipe] = [recipe for _, recipe in made]
        assert lane.counts.num_mutants == stop - first
        tried = [sum(recipe.operators >> bit & 1 for recipe in recipes) for bit in range(64)]
        assert list(lane.counts.tried) == tried
        stacks = np.bincount([recipe.stack for recipe in recipes], minlength=8)
        assert list(lane.counts.stack_tried) == stacks.tolist()
        parents = np.bincount([recipe.parent for recipe in recipes], minlength=len(lane.chosen))
        assert np.array_equal(lane.chosen, parents)
        with Executor(stairs) as executor:
            alone = executor.run([data for data, _ in made], full=True)
        hits = np.zeros(8 * engine.num_edges, np.uint32)
        for i, number in enumerate(range(first, stop)):
            if number % HITS_SAMPLE == 0 and alone.status[i] == ExitStatus.OK:
                hits[alone.features_of(i)] += HITS_SAMPLE
        assert np.array_equal(lane.hits, hits)
    assert lanes[0].seconds > 0


def assert_same_lanes(a: list[Lane], b: list[Lane]) -> None:
    for x, y in zip(a, b, strict=True):
        assert np.array_equal(x.hits, y.hits) and np.array_equal(x.chosen, y.chosen)
        assert bytes(x.counts) == bytes(y.counts)
        for r, s in zip(x.records, y.records, strict=True):
            assert (r.number, r.status, r.signal) == (s.number, s.status, s.signal)
            assert np.array_equal(r.features, s.features)


def test_number_of_workers_does_not_matter(ran, stairs):
    with Executor(stairs, workers=3) as executor:
        engine_of(executor)
        assert_same_lanes(executor.run_lanes(LANES), ran[1])


def test_a_full_log_ends_a_request_early_and_it_goes_on(ran, stairs):
    with Executor(stairs, workers=1) as executor:
        engine_of(executor)
        executor.run([b"abcdefgh"])  # starts a worker
        arena = executor.workers.all[0].arena
        room = 400  # bytes: for one record or two
        arena.log_size = (1 << 17) + 4 * executor.num_edges + room
        num_requests, send = 0, executor.workers.all[0]._send

        def counting() -> None:
            nonlocal num_requests
            num_requests += 1
            send()

        executor.workers.all[0]._send = counting
        assert_same_lanes(executor.run_lanes(LANES), ran[1])
        assert num_requests > len(LANES) + 5


@pytest.mark.parametrize("when", [0.0, 0.05, 0.2])
def test_a_lane_whose_worker_is_killed_is_run_again(tiny, when):
    lanes = [(0, 150), (150, 400)]
    outcomes = []
    for kills in (False, True):
        with Executor(tiny, workers=2) as executor:
            engine_of(executor, [b"w" + bytes(9)], keep=1)  # a millisecond each
            executor.run([b"n", b"n"])
            if kills:
                for worker in list(executor.workers.all):
                    threading.Timer(when, worker.process.kill).start()
            outcomes.append(executor.run_lanes(lanes))
    assert_same_lanes(*outcomes)


def test_mutants_of_another_engine(stairs):
    """Workers are started anew: they run the mutants of the engine that is used now."""
    with Executor(stairs, workers=1) as executor:
        one = engine_of(executor, seed=1)
        first = executor.run_lanes([(0, 500)])[0]
        other = engine_of(executor, seed=2)
        second = executor.run_lanes([(0, 500)])[0]
    parents = lambda engine: np.bincount(
        [engine.mutate(i)[1].parent for i in range(500)], minlength=len(first.chosen)
    )
    assert np.array_equal(first.chosen, parents(one))
    assert np.array_equal(second.chosen, parents(other))
    assert not np.array_equal(first.chosen, second.chosen)


@pytest.mark.parametrize("skips", [False, True])
def test_what_seems_to_hang_is_run_again_or_passed_over(tiny, skips):
    """All mutants of the second seed hang."""
    with Executor(tiny, workers=1, timeout=0.2) as executor:
        engine = engine_of(executor, [b"n" + bytes(4), b"h" + bytes(4)], keep=1)
        hangs = [engine.mutate(i)[1].parent == 1 for i in range(12)]
        assert 1 < sum(hangs) < 11
        ((lane,),) = run_together([executor.lanes([(0, 12)], skips_slow=skips)], 1)
    assert lane.num_slow == (0 if skips else sum(hangs))
    assert lane.counts.num_mutants == 12
    found = [r.number for r in lane.records if r.status == ExitStatus.HANG]
    assert found == ([] if skips else [i for i in range(12) if hangs[i]])
