"""Factors, sums and other arithmetic that bring numbers of the input near those of every output."""

from collections.abc import Iterator, Sequence
from decimal import Decimal
from functools import reduce
from itertools import combinations, permutations

from aloex.apps.fill.expressions.numbers.arithmetic import EXACT, combine, linear
from aloex.apps.fill.expressions.numbers.values import CellNumber, Combined, Linear
from aloex.apps.fill.search.numbers.columns import Source
from aloex.apps.fill.search.numbers.rounding import plain
from aloex.apps.fill.search.numbers.targets import Targets, apply, is_short

MAX_COMBINED = 6  # sources that are added, multiplied and so on with each other
MAX_SUMMED = 8  # columns that are added
MAX_SOLVED = 8  # sources for which factors are solved
LOOSE = Decimal("0.02")  # a factor known no better than this would fit by accident

Coefficients = tuple[Decimal, Decimal, Decimal]  # (x multiply + add) / divide

_ZERO, _ONE = Decimal(0), Decimal(1)
COMMON_FACTORS: list[Coefficients] = [
    coefficients
    for factor in map(Decimal, (100, 1000, 1024, 60, 10**6, 10**9))
    for coefficients in ((factor, _ZERO, _ONE), (_ONE, _ZERO, factor))
]
TEMPERATURES: list[Coefficients] = [
    (Decimal("1.8"), Decimal(32), _ONE),
    (Decimal(5), Decimal(-160), Decimal(9)),
]


def scaled(sources: Sequence[Source], targets: Targets) -> Iterator[Source]:
    """Sources under linear functions that are near numbers of the outputs, not yet rounded."""
    for i, source in enumerate(sources):
        examples = source.examples(len(targets.tokens))
        solved = _solved(examples, targets) if i < MAX_SOLVED else []
        for coefficients in dict.fromkeys([*COMMON_FACTORS, *solved]):
            if not targets.are_told([linear(x, *coefficients) for x in examples]):
                continue
            expression = Linear(source.expression, *map(plain, coefficients))
            yield apply(source, lambda x, c=coefficients: linear(x, *c), expression)


def combined(sources: Sequence[Source], targets: Targets) -> Iterator[Source]:
    """Sums, differences, products and quotients of two sources, also times or by 100."""
    num_examples = len(targets.tokens)
    pool = [source for source in sources if source.alone or num_examples > 1][:MAX_COMBINED]
    operations = [("sum", combinations), ("difference", permutations)]
    operations += [("product", combinations), ("quotient", permutations)]
    operations += [(name, permutations) for name in ("change", "less_percent", "plus_percent")]
    times_100 = (Decimal(100), _ZERO, _ONE)
    percent = {"product": (_ONE, _ZERO, Decimal(100)), "quotient": times_100, "change": times_100}
    percent["sum"] = (_ONE, _ZERO, Decimal(2))  # the mean
    for operation, choose in operations:
        for left, right in choose(pool, 2):
            if operation.endswith("_percent") and (left.percent or not right.percent):
                continue
            xs, ys = left.examples(num_examples), right.examples(num_examples)
            values = [combine(x, y, operation) for x, y in zip(xs, ys, strict=True)]
            if values in (xs, ys) or not all(value.is_finite() for value in values):
                continue  # times 1 or plus 0 in all examples; or divided by 0
            if targets.are_told(values):
                yield _combined(left, right, operation)
            coefficients = percent.get(operation)
            if coefficients and targets.are_told([linear(x, *coefficients) for x in values]):
                whole = _combined(left, right, operation)
                expression = Linear(whole.expression, *map(plain, coefficients))
                yield apply(whole, lambda x, c=coefficients: linear(x, *c), expression)


def summed(sources: Sequence[Source], targets: Targets) -> Iterator[Source]:
    """Sums and means of three columns or more that stand side by side and hold one number each."""
    alone = {s.expression.column: s for s in sources if s.alone and _is_cell(s)}  # pyright: ignore
    columns = sorted(alone)[:MAX_SUMMED]
    for count in range(len(columns), 2, -1):
        for start in range(len(columns) - count + 1):
            own = [alone[column] for column in columns[start : start + count]]
            whole = reduce(lambda left, right: _combined(left, right, "sum"), own)
            values = whole.examples(len(targets.tokens))
            mean = (_ONE, _ZERO, Decimal(count))
            if targets.are_told(values):
                yield whole
            if targets.are_told([linear(x, *mean) for x in values]):
                expression = Linear(whole.expression, *map(plain, mean))
                yield apply(whole, lambda x, c=mean: linear(x, *c), expression)


def _is_cell(source: Source) -> bool:
    return isinstance(source.expression, CellNumber)


def _combined(left: Source, right: Source, operation: str) -> Source:
    """Two sources combined in all rows."""
    values = [
        None if x is None or y is None else combine(x, y, operation)
        for x, y in zip(left.values, right.values, strict=True)
    ]
    finite = tuple(value if value is not None and value.is_finite() else None for value in values)
    expression = Combined(left.expression, right.expression, operation)
    return Source(expression, finite, left.marks)


def _solved(examples: Sequence[Decimal], targets: Targets) -> list[Coefficients]:
    """Linear functions with short coefficients through numbers of two examples that differ."""
    i = targets.pivot
    j = next((j for j, x in enumerate(examples) if x != examples[i]), None)
    if j is None:
        return []
    found = list(TEMPERATURES)
    for y, unit_y in targets.units[i]:
        for z, unit_z in targets.units[j]:
            found += _sums(examples[i], y, examples[j], z)
            found += _factors([(examples[i], y, unit_y), (examples[j], z, unit_z)])
            if len(set(examples)) > 2:
                found += _lines(examples[i], y, examples[j], z)
    return found


def _sums(x: Decimal, y: Decimal, other_x: Decimal, other_y: Decimal) -> list[Coefficients]:
    """x + c and c - x."""
    found = []
    if y - x == other_y - other_x and is_short(y - x) and y != x:
        found.append((_ONE, y - x, _ONE))
    if y + x == other_y + other_x and is_short(y + x):
        found.append((-_ONE, y + x, _ONE))
    return found


def _lines(x: Decimal, y: Decimal, other_x: Decimal, other_y: Decimal) -> list[Coefficients]:
    slope = EXACT.divide(other_y - y, other_x - x)
    add = EXACT.subtract(y, EXACT.multiply(slope, x))
    return [(slope, add, _ONE)] if slope and is_short(slope) and is_short(add) else []


def _factors(points: Sequence[tuple[Decimal, Decimal, Decimal]]) -> list[Coefficients]:
    """The shortest factor and divisor between the bounds that rounded outputs leave."""
    if any(x <= 0 or y <= 0 for x, y, _ in points):
        return []
    x, y, _ = points[0]
    if x * points[1][1] == y * points[1][0]:
        low = high = EXACT.divide(y, x)
    else:
        low = max(EXACT.divide(y - unit, x) for x, y, unit in points)
        high = min(EXACT.divide(y + unit, x) for x, y, unit in points)
    if low > high or low <= 0 or high - low > LOOSE * high:
        return []
    found: list[Coefficients] = []
    factor, divisor = _shortest(low, high), _shortest(1 / high, 1 / low)
    if factor and factor != 1:
        found.append((factor, _ZERO, _ONE))
    if divisor and divisor > 1:
        found.append((_ONE, _ZERO, divisor))
    return found


def _shortest(low: Decimal, high: Decimal) -> Decimal | None:
    """The number of fewest digits between two positive numbers, None beyond three digits."""
    for digits in range(3):
        exponent = high.adjusted() - digits
        value = (
            (high.scaleb(-exponent) + Decimal("1e-20"))
            .to_integral_value("ROUND_FLOOR")
            .scaleb(exponent)
        )
        if low - Decimal("1e-20") <= value and value > 0:
            return value.normalize()
    return None
