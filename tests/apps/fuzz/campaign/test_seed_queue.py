"""Seeds in portions: a campaign may end, or be stopped, between two of them."""

import os
import signal

import pytest

from aloex.apps.fuzz.campaign import notes_of
from aloex.apps.fuzz.campaign.seed_queue import MIN_PORTION, SHARE, SeedQueue
from campaigns import assert_same, end_of, open_in, run_in, told_in

MANY = [b"seed %d" % i for i in range(3 * MIN_PORTION + 5)]


def portions(queue: SeedQueue, *, can_mutate: bool = True) -> list[list[tuple[int, bytes]]]:
    found, num_run = [], 0
    while portion := queue.next(num_run, can_mutate=can_mutate):
        found.append(portion.inputs)
        num_run += portion.num_seeds
    return found


@pytest.mark.parametrize("n", [1, MIN_PORTION, MIN_PORTION + 1, 5000])
def test_each_seed_runs_once_in_order_and_the_empty_input_before_them(n):
    seeds = [b"%d" % i for i in range(1, n + 1)]
    found = portions(SeedQueue(seeds, 100))
    assert [x for portion in found for x in portion] == list(
        zip(range(-n - 1, 0), [b"", *seeds], strict=True)
    )
    num_run = 0
    for portion in found:
        assert len(portion) <= 1 + max(MIN_PORTION, num_run // SHARE)
        num_run += len(portion)
    assert portions(SeedQueue([b"a", b""], 100)) == [[(-2, b"a"), (-1, b"")]]


def test_zeros_take_the_place_of_seeds():
    """None is longer than the target takes; and where they fail, too, that is all."""
    zeros = [bytes(1), bytes(4), bytes(16)]
    for can_mutate in (True, False):
        (portion,) = portions(SeedQueue([], 20), can_mutate=can_mutate)
        assert [data for _, data in portion] == [b"", *zeros]
    given, instead = portions(SeedQueue([b"a", b"b"], 20), can_mutate=False)
    assert given == [(-3, b""), (-2, b"a"), (-1, b"b")]
    assert instead == list(zip((-4, -5, -6), zeros, strict=True))


@pytest.fixture(scope="module")
def undisturbed(stairs, tmp_path_factory):
    return run_in(tmp_path_factory.mktemp("undisturbed"), stairs, 300, seeds=MANY, workers=1)


def test_time_that_is_up_among_the_seeds_is_told(stairs, undisturbed, tmp_path):
    """What was run is kept; with more time the campaign ends as any other."""
    for num_run in (MIN_PORTION, MIN_PORTION):  # and the same time is up at once
        with open_in(tmp_path, stairs, seeds=MANY) as campaign:
            assert campaign.run(max_seconds=1e-9)
            assert (campaign.record.num_seeds_run, campaign.record.num_run) == (num_run, 0)
            assert campaign.num_seeds_left == len(MANY) - num_run
            (note,) = notes_of(campaign)
            assert f"no time for a mutant: {num_run} of {len(MANY)} seeds ran in " in note
            assert "repeat the command with more --seconds" in note
    with open_in(tmp_path, stairs, seeds=MANY) as campaign:
        assert campaign.run(num_inputs=300, max_seconds=1e9)
        assert notes_of(campaign) == []
        assert_same(end_of(campaign), undisturbed)
    assert [row["num_seeds"] for row in told_in(tmp_path)[1:5]] == [*(3 * [MIN_PORTION]), 5]


def test_an_interrupt_among_the_seeds_loses_nothing(stairs, undisturbed, tmp_path):
    shown = []

    def interrupt(campaign):
        shown.append(campaign.record.num_seeds_run)
        if len(shown) in (1, 2):
            os.kill(os.getpid(), signal.SIGINT)

    for num_portions in (1, 2):
        with open_in(tmp_path, stairs, seeds=MANY) as campaign:
            assert not campaign.run(num_inputs=300, on_epoch=interrupt)
            assert campaign.record.num_seeds_run == num_portions * MIN_PORTION
    with open_in(tmp_path, stairs, seeds=MANY, workers=2) as campaign:
        assert campaign.run(num_inputs=300, on_epoch=interrupt)
        assert_same(end_of(campaign), undisturbed)
    assert shown[:4] == [MIN_PORTION, 2 * MIN_PORTION, 3 * MIN_PORTION, len(MANY)]


def test_all_workers_run_a_portion(stairs, tmp_path, monkeypatch):
    """It is cut into several requests, which go to several workers."""
    with open_in(tmp_path, stairs, seeds=MANY, workers=2) as campaign:
        campaign.run(max_seconds=1e-9)
        assert len(campaign.executor.workers.all) == 2
