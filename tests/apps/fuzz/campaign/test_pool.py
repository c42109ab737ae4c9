"""What a model is asked of, and what runs with sanitizers: shares, as mutants come first."""

from dataclasses import replace

import numpy as np
import pytest

from aloex.apps.fuzz.campaign import sanitize
from aloex.apps.fuzz.campaign.epochs import Epoch
from aloex.apps.fuzz.campaign.pool import Candidate, Pool
from aloex.apps.fuzz.campaign.sanitize import Sanitizer
from aloex.apps.fuzz.execute import Executor, Task
from aloex.apps.fuzz.execute.schedule import Workers
from aloex.apps.fuzz.native import LIKELY, Engine
from aloex.base.errors import InputError
from fuzz_engines import NUM_EDGES, an_engine, traced

MODEL_SHARE, MAX_SEEDS = 0.05, 500


class Tracer(Executor):
    """Runs nothing: remembers what it was asked to trace."""

    def __init__(self, target):
        self.target, self.num_workers, self.asked = target, 1, []

    def traced(self, inputs):
        self.asked += inputs
        return Task(
            Workers("", lambda: None), [], lambda _: [traced(cost=100 + len(x)) for x in inputs]
        )


class Model:
    """Expects nothing: remembers what it was asked of."""

    def __init__(self):
        self.asked = []

    def __call__(self, inputs):
        self.asked += inputs
        return [np.zeros(len(x), LIKELY) for x in inputs]


def a_pool(target, engine: Engine | None = None, model: Model | None = None) -> Pool:
    return Pool(engine or an_engine(()), Tracer(target), model)


def seed(i: int, features=(0,)) -> Candidate:
    return Candidate(-1 - i, b"%d" % i, np.array(features, np.uint32))


def test_all_seeds_are_traced_and_a_model_is_asked_of_some(secrets):
    pool = a_pool(secrets, model=(model := Model()))
    seeds = [seed(i) for i in range(MAX_SEEDS + 50)]
    added = pool.add_seeds(seeds)
    assert len(added) == pool.engine.num_inputs == MAX_SEEDS + 50
    assert pool.executor.asked == [candidate.data for candidate in seeds]
    assert model.asked == pool.executor.asked[:MAX_SEEDS]
    assert [a.new_edges for a in added] == [1, *(MAX_SEEDS + 49) * [0]]


def test_only_what_is_new_is_added_in_order(secrets):
    pool = a_pool(secrets)
    features = [(0,), (0,), (0, 9), (1,), (0, 1, 9), (2, 16)]
    added = pool.add_new(
        [Candidate(i, b"%d" % i, np.array(f, np.uint32)) for i, f in enumerate(features)]
    )
    found = [(a.candidate.number, a.new_edges, a.new_features) for a in added]
    assert found == [(0, 1, 1), (2, 1, 1), (3, 0, 1), (5, 1, 2)]


def test_a_model_is_asked_of_all_new_edges_and_of_a_share_of_the_others(secrets):
    pool = a_pool(secrets, model=(model := Model()))
    pool.add_new([Candidate(0, b"edge", np.array([8 * e for e in range(NUM_EDGES)], np.uint32))])
    only_hits = [(e, b) for e in range(NUM_EDGES) for b in range(1, 8)]
    for number, (edge, bucket) in enumerate(only_hits, start=1):
        data = b"hits %d" % number
        pool.add_new([Candidate(number, data, np.array([8 * edge + bucket], np.uint32))])
        of_hits = pool.engine.num_predicted - 1
        assert of_hits <= MODEL_SHARE * number
    assert of_hits == int(MODEL_SHARE * len(only_hits)) - 1 == 6
    assert len(model.asked) == 7


def test_a_target_without_a_tracer_is_not_traced(secrets):
    pool = a_pool(replace(secrets, tracer=None))
    pool.add_seeds([seed(0)])
    assert pool.executor.asked == []


def test_what_an_input_costs_is_what_its_trace_says(secrets):
    pool = a_pool(secrets)
    pool.add_seeds([seed(0)])
    ran = traced(cost=5)
    added = pool.add_new([Candidate(0, b"abcd", np.array([8], np.uint32), ran)])
    assert pool.engine.cost(0) == pool.engine.cost(1) == 101  # what its parent costs, until
    (task,) = pool.traces(added)
    pool.set_traces(added, task.finish([]))
    assert pool.engine.cost(1) == 104
    dear = traced(cost=500)  # it has allocated more than its parent costs
    pool.add_new([Candidate(1, b"ab", np.array([16], np.uint32), dear)])
    assert pool.engine.cost(2) == 500
    pool = a_pool(replace(secrets, tracer=None))
    pool.add_new([Candidate(0, b"ab", np.array([0], np.uint32), ran)])
    assert pool.engine.cost(0) == 5


class Lanes:
    """Stands for an executor: remembers its options."""

    def __init__(self, target, **options):
        self.options = options


@pytest.mark.parametrize(("share", "count"), [(0.0, 0), (0.02, 20), (0.5, 500), (1.0, 1000)])
def test_a_share_of_an_epoch_runs_with_sanitizers(quiet, monkeypatch, share, count):
    monkeypatch.setattr(sanitize, "Executor", Lanes)
    sanitizer = Sanitizer(quiet, an_engine(()), share, timeout=0.2)
    assert sanitizer.share_of(Epoch(3000, 4000)) == (3000, 3000 + count)
    assert sanitizer._executor.options["timeout"] == 1.0  # with sanitizers all takes longer


def test_a_share_beyond_one_is_refused(quiet):
    with pytest.raises(InputError, match=r"must be from 0 to 1, got 1\.5"):
        Sanitizer(quiet, an_engine(()), 1.5, timeout=1.0)
