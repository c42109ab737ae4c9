"""Tests of many comparisons at once."""

from collections.abc import Sequence


def holm(p_values: Sequence[float]) -> list[float]:
    """p values adjusted by Holm's method for being tests of one family, in the order given.

    The smallest of m is multiplied by m, the next one by m - 1, and so on; none falls below one
    before it, nor exceeds 1. Whoever rejects where the adjusted value is below alpha rejects a true
    hypothesis of the family with probability alpha at most, however the tests depend on each other
    (S. Holm, A simple sequentially rejective multiple test procedure, 1979).
    """
    adjusted, largest = [0.0] * len(p_values), 0.0
    for rank, i in enumerate(sorted(range(len(p_values)), key=lambda i: p_values[i])):
        largest = max(largest, min(1.0, (len(p_values) - rank) * p_values[i]))
        adjusted[i] = largest
    return adjusted
