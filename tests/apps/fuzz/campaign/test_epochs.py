"""Epochs and lanes: each mutant is in one of each, and they depend on nothing but its number."""

import itertools

import pytest

from aloex.apps.fuzz.campaign.epochs import Epoch, epoch_at

SOME = {0: 64, 64: 128, 1023: 1087, 1024: 1088, 1600: 1700, 160_000: 170_000}  # where epochs end


@pytest.mark.parametrize("first", SOME)
def test_an_epoch_is_a_sixteenth_of_what_was_before(first):
    assert epoch_at(first) == (first, SOME[first])


def test_epochs_do_not_grow_for_ever():
    assert epoch_at(16 << 17) == (16 << 17, 17 << 17)
    assert epoch_at(10**9) == (10**9, 10**9 + (1 << 17))


@pytest.mark.parametrize(("size", "count"), [(1, 1), (127, 1), (128, 2), (700, 10), (1 << 15, 16)])
def test_lanes_are_the_epoch_in_even_parts(size, count):
    epoch = Epoch(1000, 1000 + size)
    lanes = epoch.lanes
    assert len(lanes) == count
    assert [n for first, stop in lanes for n in range(first, stop)] == list(range(*epoch))
    sizes = [stop - first for first, stop in lanes]
    assert max(sizes) - min(sizes) <= 1


def test_a_part_of_an_epoch_is_the_beginning_of_its_lanes():
    epoch = Epoch(500, 1100)
    for stop in range(501, 1101):
        part = epoch.lanes_before(stop)
        assert [n for a, b in part for n in range(a, b)] == list(range(500, stop))
        assert all(a == first for (a, _), (first, _) in zip(part, epoch.lanes, strict=False))
    assert epoch.lanes_before(1100) == epoch.lanes


def test_all_numbers_come_up_once():
    epochs = list(
        itertools.accumulate(range(100), lambda e, _: epoch_at(e.stop), initial=epoch_at(0))
    )
    assert all(a.stop == b.first for a, b in itertools.pairwise(epochs))
