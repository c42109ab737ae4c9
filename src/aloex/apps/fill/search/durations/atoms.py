"""Durations that are a part of every output, and numbers that were durations."""

from collections.abc import Iterator, Sequence
from itertools import combinations, permutations

from aloex.apps.fill.expressions.base import Expression, Row
from aloex.apps.fill.expressions.durations.text import (
    MAX_CHARS,
    PATTERN,
    UNITS,
    in_seconds,
    write_duration,
)
from aloex.apps.fill.expressions.durations.values import (
    CellDuration,
    DurationText,
    Elapsed,
)
from aloex.apps.fill.expressions.numbers.arithmetic import combine
from aloex.apps.fill.expressions.numbers.values import CellNumber, Combined
from aloex.apps.fill.search.durations.layouts import duration_layouts
from aloex.apps.fill.search.numbers.columns import Source

MAX_NUMBERS = 6  # numbers of the row that are taken for hours, minutes or seconds
MAX_EXPRESSIONS = 60
ROUNDINGS = ("half_up", "floor", "ceiling")


def duration_texts(
    rows: Sequence[Row],
    durations: Sequence[Source],
    amounts: Sequence[Source],
    outputs: Sequence[str],
) -> list[Expression]:
    """Durations in the layouts that the outputs show.

    Args:
        rows: of the table.
        durations: of the cells, and between them, each in its unit.
        amounts: other numbers, whose unit is not known.
        outputs: of the examples.
    """
    layouts = duration_layouts(outputs)
    if not layouts:
        return []
    found: list[Expression] = []
    for source, unit in _with_units(durations, amounts):
        leaves_out = _leaves_out(source, rows)
        for layout, short in layouts:
            if leaves_out and not short and (layout, True) in layouts:
                continue
            found += _written(source, unit, layout, short, outputs)
    return found[:MAX_EXPRESSIONS]


def _with_units(
    durations: Sequence[Source], amounts: Sequence[Source]
) -> Iterator[tuple[Source, str]]:
    own = [source for source in durations if _unit(source) in ("minute", "second")]
    for source in [*own, *_sums(own)]:
        yield source, _unit(source)
    plain = [source for source in amounts if isinstance(source.expression, CellNumber)]
    for source in plain[:MAX_NUMBERS]:
        units = ["minute", "second", "hour"]
        if any(value is not None and value % 1 for value in source.values):
            units.reverse()  # 1.5 are hours; what writes the same is one, and the first is kept
        for unit in units:
            yield source, unit


def _leaves_out(source: Source, rows: Sequence[Row]) -> bool:
    """Whether cells leave out hours or minutes that are 0: then the outputs do so, too."""
    if not isinstance(source.expression, CellDuration):
        return False
    cells = [row[source.expression.column] for row in rows]
    found = [match for cell in cells for match in PATTERN.finditer(cell[:MAX_CHARS])]
    given = {tuple(unit for unit in UNITS if match[unit]) for match in found}
    return len(given - {()}) > 1


def _unit(source: Source) -> str:
    expression = source.expression
    while isinstance(expression, Combined):
        expression = expression.left
    return expression.unit if isinstance(expression, Elapsed | CellDuration) else ""


def _sums(durations: Sequence[Source]) -> Iterator[Source]:
    """Sums and differences of the durations of two cells."""
    own = [
        source
        for source in durations
        if isinstance(source.expression, CellDuration) and source.expression.unit == "minute"
    ]
    for operation, choose in (("sum", combinations), ("difference", permutations)):
        for left, right in choose(own[:4], 2):
            a, b = left.expression, right.expression
            if getattr(a, "column", 0) != getattr(b, "column", 0):
                values = tuple(
                    None if x is None or y is None else combine(x, y, operation)
                    for x, y in zip(left.values, right.values, strict=True)
                )
                yield Source(Combined(a, b, operation), values, ".")


def _written(
    source: Source, unit: str, layout: str, short: bool, outputs: Sequence[str]
) -> Iterator[DurationText]:
    """The layout, if every example has it; rounded only where some row is not whole."""
    seconds = [None if value is None else in_seconds(value, unit) for value in source.values]
    whole = [None if x is None else write_duration(x, layout, short) for x in seconds]
    is_exact = all(text is not None or x is None for text, x in zip(whole, seconds, strict=True))
    for rounding in ("",) if is_exact else ROUNDINGS:
        texts = [
            None if x is None else write_duration(x, layout, short, rounding)
            for x in seconds[: len(outputs)]
        ]
        if all(text and text in output for text, output in zip(texts, outputs, strict=True)):
            yield DurationText(source.expression, unit, layout, short, rounding)
