"""Requests to several builds run together, by no more processes at a time than there may be."""

import numpy as np
import pytest

from aloex.apps.fuzz.execute import Executor, Task, run_together
from aloex.apps.fuzz.execute.schedule import Request, Workers
from aloex.apps.fuzz.execute.worker import WorkerDied
from aloex.base.errors import AloexError

INPUTS = [b"w%d" % i for i in range(40)]  # a millisecond each


@pytest.fixture
def executors(tiny, quiet):
    with Executor(tiny, workers=2) as one, Executor(quiet, sanitized=True, workers=2) as other:
        yield one, other


@pytest.mark.parametrize("num_workers", [1, 2, 3])
def test_no_more_are_busy_than_there_may_be(executors, monkeypatch, num_workers):
    busy, most = 0, 0
    take, give_back = Workers.take, Workers.give_back

    def count_taken(workers):
        nonlocal busy, most
        busy += 1
        most = max(most, busy)
        return take(workers)

    def count_given(workers, worker):
        nonlocal busy
        busy -= 1
        give_back(workers, worker)

    monkeypatch.setattr(Workers, "take", count_taken)
    monkeypatch.setattr(Workers, "give_back", count_given)
    together = run_together([executor.given(INPUTS) for executor in executors], num_workers)
    assert (most, busy) == (num_workers, 0)
    for executor, records in zip(executors, together, strict=True):
        (alone,) = run_together([executor.given(INPUTS)], 1)
        assert [r.status for r in records] == [r.status for r in alone]
        features = zip(records, alone, strict=True)
        assert all(np.array_equal(r.features, s.features) for r, s in features)


def test_a_task_of_no_requests_has_no_results(executors):
    assert run_together([executor.given([]) for executor in executors], 2) == [[], []]
    assert run_together([], 2) == []


@pytest.mark.parametrize("num_damaged", [2, 3])
def test_results_that_are_not_whole_are_asked_for_again(tiny, num_damaged):
    """Three times, in all."""
    num_read = 0
    with Executor(tiny, workers=2) as executor:
        given = executor.given([b"n"])
        (request,) = given.requests

        def read(records, copied):
            nonlocal num_read
            num_read += 1
            if num_read <= num_damaged:
                raise WorkerDied
            return request.read(records, copied)

        again = Request(request.name, request.begin, request.copy, read)
        task = Task(given.workers, [again], given.finish)
        if num_damaged == 3:
            with pytest.raises(AloexError, match="was killed 3 times over inputs 0 to 0"):
                run_together([task], 2)
        else:
            ((record,),) = run_together([task], 2)
            assert record.number == 0
    assert num_read == 3
