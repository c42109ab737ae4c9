"""Holm's correction, by hand."""

import pytest

from studies.statistics import holm


def test_holm_by_hand():
    """Of four: 0.005 x 4, 0.01 x 3, 0.03 x 2, 0.04 x 1, of which none may fall below one before."""
    assert holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])


def test_holm_at_the_edges():
    assert holm([]) == [] and holm([0.2]) == [0.2]
    assert holm([0.5, 0.9, 0.6]) == [1.0, 1.0, 1.0]
    assert holm([0.02, 0.02]) == pytest.approx([0.04, 0.04])


def test_holm_never_favours():
    p_values = [0.001, 0.2, 0.013, 0.9, 0.04, 0.013]
    adjusted = holm(p_values)
    assert all(a >= p for a, p in zip(adjusted, p_values, strict=True))
    by_rank = [a for _, a in sorted(zip(p_values, adjusted, strict=True))]
    assert by_rank == sorted(by_rank)
