"""Epochs and lanes: each mutant is in one of each, and they depend on nothing but its number."""

import itertools

import pytest

from aloex.apps.fuzz.campaign.epochs import Epoch, epoch_at, lane_size

SOME = {0: 64, 64: 128, 1023: 1087, 1024: 1088, 1600: 1700, 160_000: 170_000}  # where epochs end


@pytest.mark.parametrize("first", SOME)
def test_an_epoch_is_a_sixteenth_of_what_was_before(first):
    assert epoch_at(first) == (first, SOME[first])


def test_epochs_do_not_grow_for_ever():
    assert epoch_at(16 << 17) == (16 << 17, 17 << 17)
    assert epoch_at(10**9) == (10**9, 10**9 + (1 << 17))


@pytest.mark.parametrize(
    ("num", "size", "count"),
    [(1, 64, 1), (127, 64, 1), (128, 64, 2), (700, 64, 10), (700, 16, 32), (1 << 15, 2048, 16)],
)
def test_lanes_are_the_epoch_in_even_parts(num, size, count):
    epoch = Epoch(1000, 1000 + num)
    lanes = epoch.lanes(size)
    assert len(lanes) == count
    assert [n for first, stop in lanes for n in range(first, stop)] == list(range(*epoch))
    sizes = [stop - first for first, stop in lanes]
    assert max(sizes) - min(sizes) <= 1
    assert Epoch(1000, 1000).lanes(size) == []


@pytest.mark.parametrize(
    ("cost", "size"),
    [(None, 64), (1, 1024), (1 << 12, 1024), (1 << 14, 512), (1 << 17, 64), (1 << 25, 16)],
)
def test_a_lane_has_more_mutants_the_less_they_cost(cost, size):
    assert lane_size(cost) == size


def test_a_part_of_an_epoch_is_the_beginning_of_its_lanes():
    epoch = Epoch(500, 1100)
    for stop in range(501, 1101):
        part = epoch.lanes_before(stop, 64)
        assert [n for a, b in part for n in range(a, b)] == list(range(500, stop))
        assert all(a == first for (a, _), (first, _) in zip(part, epoch.lanes(64), strict=False))
    assert epoch.lanes_before(1100, 64) == epoch.lanes(64)


def test_all_numbers_come_up_once():
    epochs = list(
        itertools.accumulate(range(100), lambda e, _: epoch_at(e.stop), initial=epoch_at(0))
    )
    assert all(a.stop == b.first for a, b in itertools.pairwise(epochs))
