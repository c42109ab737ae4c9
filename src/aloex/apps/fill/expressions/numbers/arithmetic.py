"""Exact arithmetic with decimals: linear functions, rounding to a step, two numbers combined."""

from decimal import (
    ROUND_CEILING,
    ROUND_DOWN,
    ROUND_FLOOR,
    ROUND_HALF_EVEN,
    ROUND_HALF_UP,
    ROUND_UP,
    Context,
    Decimal,
)
from functools import lru_cache

# Products of the longest numbers that are read are exact. Nothing raises: 1/0 is no number.
EXACT = Context(prec=100, traps=[])

ROUNDINGS = {
    "half_up": ROUND_HALF_UP,
    "half_even": ROUND_HALF_EVEN,
    "floor": ROUND_FLOOR,
    "ceiling": ROUND_CEILING,
    "down": ROUND_DOWN,  # towards zero
    "up": ROUND_UP,  # away from zero
}

to_decimal = lru_cache(maxsize=1 << 12)(EXACT.create_decimal)


def linear(x: Decimal, multiply: Decimal, add: Decimal, divide: Decimal) -> Decimal:
    """(x multiply + add) / divide."""
    value = EXACT.add(EXACT.multiply(x, multiply), add)
    return value if divide == 1 else EXACT.divide(value, divide)


def round_to(x: Decimal, step: Decimal, mode: str, offset: Decimal = Decimal(0)) -> Decimal:
    """The multiple of a step, counted from an offset, to which a number is rounded."""
    steps = EXACT.divide(EXACT.subtract(x, offset), step)
    whole = steps.to_integral_value(ROUNDINGS[mode], EXACT)
    return EXACT.add(EXACT.multiply(whole, step), offset)


def combine(x: Decimal, y: Decimal, operation: str) -> Decimal:
    """The sum, difference, product or quotient of two numbers, or with y in per cent of x.

    "change" is what x is more than y as a share of y; "less_percent" and "plus_percent" are x less
    or plus y per cent.
    """
    if operation == "change":
        return EXACT.divide(EXACT.subtract(x, y), y)
    if operation in ("less_percent", "plus_percent"):
        percent = EXACT.subtract(Decimal(0), y) if operation == "less_percent" else y
        return EXACT.divide(EXACT.multiply(x, EXACT.add(Decimal(100), percent)), Decimal(100))
    operations = {"sum": EXACT.add, "difference": EXACT.subtract, "product": EXACT.multiply}
    return operations.get(operation, EXACT.divide)(x, y)


def range_end(
    x: Decimal, step: Decimal, end: str, offset: Decimal, gap: Decimal, closed: str
) -> Decimal:
    """The lower or upper end of the range in which a number lies: see `RangeEnd`."""
    if closed == "lower":
        lower = round_to(x, step, "floor", offset)
    else:
        lower = EXACT.subtract(round_to(x, step, "ceiling", offset), step)
    return lower if end == "lower" else EXACT.subtract(EXACT.add(lower, step), gap)


def finite(value: Decimal) -> Decimal | None:
    """The number, or None if there is none: 1/0."""
    return value if value.is_finite() else None
