"""Numbers of the outputs that come from numbers of the row.

It works backwards: the outputs say which values are wanted, and only operations that give them in
every example are looked at further. Roundings that agree on the examples but not on another row are
all kept.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from decimal import Decimal, localcontext
from itertools import islice

from aloex.apps.fill.expressions.base import Expression, Row
from aloex.apps.fill.expressions.numbers.arithmetic import EXACT
from aloex.apps.fill.expressions.numbers.short import OrdinalNumber
from aloex.apps.fill.expressions.numbers.text import read_numbers, write_number
from aloex.apps.fill.expressions.numbers.values import AbsoluteValue, CellNumber, Linear, NumberText
from aloex.apps.fill.search.durations.atoms import duration_texts
from aloex.apps.fill.search.durations.sources import cell_durations, times_between
from aloex.apps.fill.search.numbers.columns import Source, number_sources
from aloex.apps.fill.search.numbers.rounding import in_ranges, rounded_to_digits, rounded_to_steps
from aloex.apps.fill.search.numbers.scaling import combined, scaled, summed
from aloex.apps.fill.search.numbers.short import in_thousands, short_numbers
from aloex.apps.fill.search.numbers.styles import Style, styles
from aloex.apps.fill.search.numbers.targets import Targets
from aloex.apps.fill.search.numbers.units import quantities

PER_FAMILY = 50  # numbers of one kind that fit the examples
MAX_EXPRESSIONS = 200
MAX_DECIMALS = 12

Family = Callable[[list[Source], Targets], Iterator[Source]]


def number_expressions(rows: Sequence[Row], outputs: Sequence[str]) -> list[Expression]:
    """Written numbers that are a part of every example's output, the simplest first.

    Args:
        rows: of the table, those with outputs first.
        outputs: of the first rows.
    """
    if not outputs or not all(any(char.isdigit() for char in output) for output in outputs):
        return []
    with localcontext(EXACT):
        return _expressions(rows, outputs)


def _expressions(rows: Sequence[Row], outputs: Sequence[str]) -> list[Expression]:
    targets = Targets.of(outputs)
    if not all(targets.tokens):
        return []
    sources = number_sources(rows, len(outputs))
    found: list[Expression] = []
    seen: set[tuple[Decimal | None, ...]] = set()
    amounts = [source for source in sources if not source.in_date]
    no_times = [source for source in amounts if not source.in_time]
    durations = cell_durations(rows, len(outputs))
    between = times_between(rows, len(outputs))
    with_units = quantities(rows, no_times, len(outputs))
    given: dict[Family, list[Source]] = {
        _signed: [*sources, *with_units, *durations, *between],
        _ranges: [*no_times, *in_thousands(no_times, outputs)],
        _to_digits: [*amounts, *durations, *between],
        _to_steps: [*amounts, *durations, *between],
        _scaled: [*amounts, *with_units, *between],
        _combined: no_times,
        _summed: no_times,
    }
    for family, own in given.items():
        for number in islice(family(own, targets), PER_FAMILY):
            if number.values not in seen:
                seen.add(number.values)
                found += _written(number, targets, rows)
    texts = short_numbers([*no_times, *with_units], outputs)
    texts += duration_texts(rows, [*durations, *between], no_times, outputs)
    return found[: MAX_EXPRESSIONS - len(texts)] + texts


def _signed(sources: list[Source], targets: Targets) -> Iterator[Source]:
    """The number itself, its absolute value, its negative."""
    for source in sources:
        if _fits(source, targets):
            yield source
        absolute = targets.derive(source, Decimal.copy_abs, AbsoluteValue(source.expression))
        negative = targets.derive(source, Decimal.copy_negate, Linear(source.expression, "-1"))
        yield from (number for number in (absolute, negative) if number)


def _ranges(sources: list[Source], targets: Targets) -> Iterator[Source]:
    for source in sources:
        yield from in_ranges(source, targets)


def _to_digits(sources: list[Source], targets: Targets) -> Iterator[Source]:
    for source in sources:
        yield from rounded_to_digits(source, targets)


def _to_steps(sources: list[Source], targets: Targets) -> Iterator[Source]:
    for source in sources:
        if not _fits(source, targets):  # what needs no rounding is not rounded to steps
            yield from rounded_to_steps(source, targets)


def _scaled(sources: list[Source], targets: Targets) -> Iterator[Source]:
    yield from _exact_or_rounded(scaled(sources, targets), targets)


def _combined(sources: list[Source], targets: Targets) -> Iterator[Source]:
    yield from _exact_or_rounded(combined(sources, targets), targets)


def _summed(sources: list[Source], targets: Targets) -> Iterator[Source]:
    yield from _exact_or_rounded(summed(sources, targets), targets)


def _exact_or_rounded(numbers: Iterable[Source], targets: Targets) -> Iterator[Source]:
    """Those that need no rounding first: 2048 / 1024 says more than 2048 / 1000 rounded."""
    near = list(islice(numbers, PER_FAMILY))
    yield from (number for number in near if _fits(number, targets) and _is_exact(number))
    for number in near:
        yield from rounded_to_digits(number, targets)


def _fits(number: Source, targets: Targets) -> bool:
    return all(x in target for x, target in zip(number.values, targets.values, strict=False))


def _is_exact(number: Source) -> bool:
    """Whether all rows have few decimals: thirds and the like are only wanted rounded."""
    return all(value is None or _decimals(value) <= MAX_DECIMALS for value in number.values)


def _written(number: Source, targets: Targets, rows: Sequence[Row]) -> Iterator[Expression]:
    """The number in all styles that fit the examples and differ on some row."""
    tokens = [target[x] for target, x in zip(targets.values, number.values, strict=False)]  # pyright: ignore
    probes = _telling(number.values)
    seen = set()
    if all(any(token.ordinal for token in each) for each in tokens):
        yield OrdinalNumber(number.expression)
    for style in styles(number.values, tokens, number.marks):
        texts = tuple(write_number(value, **style) for value in probes)
        # A fixed number of decimals that not all rows have needs rounding, which is tried besides.
        if None in texts or texts in seen or _copies(number, style, rows):
            continue
        seen.add(texts)
        yield NumberText(number.expression, **style)


def _telling(values: Sequence[Decimal | None]) -> list[Decimal]:
    """The few values in which styles differ if at all: large, below 0, with many decimals."""
    numbers = {value for value in values if value is not None}
    keys = (abs, lambda x: -abs(x), lambda x: x, lambda x: -x, lambda x: -_decimals(x), _decimals)
    return list(dict.fromkeys(max(numbers, key=key) for key in keys))


def _decimals(value: Decimal) -> int:
    exponent = value.normalize().as_tuple().exponent
    return max(0, -exponent) if isinstance(exponent, int) else 0


def _copies(number: Source, style: Style, rows: Sequence[Row]) -> bool:
    """Whether each text written is the text read: a part of the cell then says it more simply."""
    inner = getattr(number.expression, "number", number.expression)
    if not isinstance(inner, CellNumber) or not isinstance(
        number.expression, CellNumber | AbsoluteValue | Linear
    ):
        return False
    for row, value in zip(rows, number.values, strict=True):
        if value is not None:
            read = read_numbers(row[inner.column], inner.marks)[inner.k]
            if write_number(value, **style) not in (read.digits, read.sign + read.digits):
                return False
    return True
