"""Roundings and ranges that turn a number of the input into one of every output."""

from collections.abc import Iterator
from decimal import Decimal
from math import gcd

from aloex.apps.fill.expressions.numbers.arithmetic import EXACT, ROUNDINGS, round_to
from aloex.apps.fill.expressions.numbers.values import RangeEnd, Rounded
from aloex.apps.fill.search.numbers.columns import Source
from aloex.apps.fill.search.numbers.targets import Targets, is_short, unit
from aloex.apps.fill.search.numbers.tokens import Token

UNSIGNED_ROUNDINGS = ("half_up", "half_even", "floor", "ceiling")  # the others differ below 0 only
MAX_DISTANCE = 8  # characters between the two ends of a range
NICE_STEPS = sorted(
    [Decimal(mantissa).scaleb(e) for mantissa in (1, 2, 5, 25) for e in range(-3, 7)]
    + [Decimal(step) for step in (12, 15, 30, 60)]
)


def rounded_to_digits(source: Source, targets: Targets) -> Iterator[Source]:
    """The source rounded to as many decimals as numbers of the outputs have."""
    if not targets.are_near(source.examples(len(targets.tokens))):
        return
    for decimals in sorted({token.decimals for each in targets.tokens for token in each}):
        yield from _rounded(source, targets, unit(decimals))


def rounded_to_steps(source: Source, targets: Targets) -> Iterator[Source]:
    """The source rounded to multiples of a step that divides a number of every output."""
    x = source.values[targets.pivot]
    if x is None:
        return
    nice = set(NICE_STEPS) | _common_divisor(targets)
    wanted = [target for target, _ in targets.units[targets.pivot] if abs(target - x) <= max(nice)]
    for step in sorted(nice):
        multiples = [target - x for target in wanted if not EXACT.remainder(target, step)]
        if any(abs(distance) < step for distance in multiples):
            yield from _rounded(source, targets, step)
        if step > 1 and any(0 < distance <= step for distance in multiples):
            yield from _range_ends(source, targets, ("upper",), step)


def in_ranges(source: Source, targets: Targets) -> Iterator[Source]:
    """Both ends of ranges: step and offset are solved from two numbers of an output."""
    x = source.values[targets.pivot]
    if x is None:
        return
    distinct = len(set(source.values[: len(targets.tokens)])) > 1
    for lower, upper in _pairs(targets.tokens[targets.pivot]):
        for gap in (Decimal(0), unit(upper.decimals)):
            step = upper.value - lower.value + gap
            if not lower.value <= x <= upper.value + gap or not is_short(step):
                continue
            offset = lower.value - round_to(lower.value, step, "floor")
            if distinct or offset in (0, gap):
                yield from _range_ends(source, targets, ("lower", "upper"), step, offset, gap)


def _rounded(source: Source, targets: Targets, step: Decimal) -> Iterator[Source]:
    has_negative = any(value is not None and value < 0 for value in source.values)
    for mode in ROUNDINGS if has_negative else UNSIGNED_ROUNDINGS:
        expression = Rounded(source.expression, plain(step), mode)
        found = targets.derive(source, lambda x, mode=mode: round_to(x, step, mode), expression)
        # A step above all numbers rounds them to 0, which tells nothing about the step.
        if found and (step <= 1 or any(found.values[: len(targets.tokens)])):
            yield found


def _range_ends(
    source: Source,
    targets: Targets,
    ends: tuple[str, ...],
    step: Decimal,
    offset: Decimal = Decimal(0),
    gap: Decimal = Decimal(0),
) -> Iterator[Source]:
    for closed, mode, back in (("lower", "floor", Decimal(0)), ("upper", "ceiling", step)):
        if gap and closed == "upper":
            continue  # 20-29, 30-39: the upper end is in the range, and the floor says so
        for end in ends:
            shift = EXACT.subtract(step - gap if end == "upper" else Decimal(0), back)
            expression = RangeEnd(
                source.expression, plain(step), end, plain(offset), plain(gap), closed
            )
            found = targets.derive(
                source,
                lambda x, mode=mode, shift=shift: EXACT.add(round_to(x, step, mode, offset), shift),
                expression,
            )
            if found:
                yield found


def _pairs(tokens: list[Token]) -> Iterator[tuple[Token, Token]]:
    """Numbers that may be the two ends of a range: one soon after the other, written alike."""
    for lower in tokens:
        stop = lower.start + len(lower.text)
        for upper in tokens:
            near = stop <= upper.start <= stop + MAX_DISTANCE
            alike = lower.group == upper.group or not all((lower.group, upper.group))
            if near and alike and lower.value < upper.value:
                yield lower, upper


def _common_divisor(targets: Targets) -> set[Decimal]:
    """The largest integer that divides all outputs' numbers, if each has one and they differ."""
    values = [next(iter(each)) for each in targets.values if len(each) == 1]
    if len(values) < max(2, len(targets.values)) or any(value % 1 for value in values):
        return set()
    divisor = Decimal(gcd(*map(int, values)))
    return {divisor} if divisor and len(set(values)) > 1 and is_short(divisor) else set()


def plain(value: Decimal) -> str:
    """A number as the fields of expressions have it: no exponent, no zeros at the end."""
    text = format(value, "f")
    return text.rstrip("0").rstrip(".") if "." in text else text
