"""Finds parts of dates and times that stand in every example's output.

For each column, each date of its cells and each order of day and month that reads most rows, every
rounding is tried on the examples. A rounding is kept if the examples show it: the outputs have what
it rounds to, and something that the date as it stands would not write.
"""

from collections.abc import Iterable, Sequence
from decimal import localcontext

from aloex.apps.fill.expressions.base import Row
from aloex.apps.fill.expressions.dates.changes import (
    SHIFTS,
    WEEKS,
    change_moment,
    is_of_the_clock,
    possible_changes,
)
from aloex.apps.fill.expressions.dates.date_part import DatePart, read_any
from aloex.apps.fill.expressions.dates.later import LaterPart
from aloex.apps.fill.expressions.dates.layouts import ORDERS, Moment, find_moments, needs_order
from aloex.apps.fill.expressions.dates.parts import TIMES
from aloex.apps.fill.expressions.durations.values import CellDuration
from aloex.apps.fill.expressions.numbers.arithmetic import EXACT
from aloex.apps.fill.search.costs import cost_of
from aloex.apps.fill.search.dates.additions import common_additions
from aloex.apps.fill.search.dates.bare_numbers import bare_orders
from aloex.apps.fill.search.dates.fits import DateFits, Style
from aloex.apps.fill.search.dates.later import later
from aloex.apps.fill.search.durations.sources import cell_durations
from aloex.apps.fill.search.numbers.columns import Source, number_sources

MAX_EXPRESSIONS = 200
MAX_NUMBER = 4  # dates and times of a cell that are looked at

AnyPart = DatePart | LaterPart
Operation = tuple[str, int, str]
Texts = list[str]  # one for each example
_NONE: Operation = ("none", 0, "")
# Parts that do not depend on whether the day or the month comes first.
_WITHOUT_ORDER = TIMES | {"yyyy", "yy", "decade"}
_DAYS = {"d", "dd", "day_ordinal"}
_MONTHS = {"m", "mm", "month_name", "month_abbr", "month_abbr_dot"}
# What is rounded -> parts, one of which must stand in the outputs.
_SHOWN_BY = {
    "last_second": {"S", "SS"},
    "minute": {"M", "MM"},
    **{unit: {"H", "HH", "H24", "HH24", "h", "hh"} for unit in ("hour", *SHIFTS)},
    **dict.fromkeys(("day", *WEEKS, "half_month"), _DAYS),
    "month": _DAYS | _MONTHS,
    "year": _DAYS | _MONTHS | {"yyyy", "yy"},
}


def date_expressions(rows: Sequence[Row], outputs: Sequence[str]) -> list[AnyPart]:
    """Parts of dates that every example's output contains, the likeliest first."""
    if not outputs or not all(outputs):
        return []
    fits = [DateFits(output, outputs) for output in outputs]
    found: list[AnyPart] = []
    numbers = _numbers(rows, outputs)
    for column in range(min(map(len, rows))):
        texts = [row[column] for row in rows]
        examples = texts[: len(outputs)]
        num_dates = min(len(find_moments(text, "ANY")) for text in examples)
        for number in range(1, min(num_dates, MAX_NUMBER) + 1):
            orders = ("ANY", *ORDERS) if any(map(needs_order, texts)) else ("ANY",)
            found += _of_date(column, number, texts, fits, orders)
            if numbers:
                found += _later_parts(column, number, texts, fits, orders, numbers)
        for order in bare_orders(texts, len(outputs)):
            found += [
                each
                for each in _of_date(column, 1, texts, fits, (order,))
                if order != "MONTH" or each.part not in ("m", "mm")
            ]
            if numbers:
                found += _later_parts(column, 1, texts, fits, (order,), numbers)
    return sorted(found, key=date_cost)[:MAX_EXPRESSIONS]


def _numbers(rows: Sequence[Row], outputs: Sequence[str]) -> list[Source]:
    """Numbers that may say how much later a date is: those of other columns."""
    if len(rows[0]) < 2 or not all(_has_digit(output) for output in outputs):
        return []
    with localcontext(EXACT):
        amounts = [each for each in number_sources(rows, len(outputs)) if not each.in_date]
        spans = [
            each
            for each in cell_durations(rows, len(outputs))
            if isinstance(each.expression, CellDuration) and each.expression.unit == "minute"
        ]
    return [*spans, *amounts]


def _has_digit(text: str) -> bool:
    return any(char.isdecimal() for char in text)


def _later_parts(
    column: int,
    number: int,
    texts: Sequence[str],
    fits: Sequence[DateFits],
    orders: Sequence[str],
    numbers: Sequence[Source],
) -> list[LaterPart]:
    """Parts of the date as much later as a number says, in every order that its rows allow."""
    readings = {order: [read_any(text, number, order) for text in texts] for order in orders}
    found = []
    for order in _best_orders(readings, len(fits)):
        moments = [moment for moment in readings[order][: len(fits)] if moment is not None]
        outputs = [fit.output for fit in fits]
        for by, unit, sign in later(moments, column, numbers, outputs):
            moved = [
                change_moment(moment, "add", sign * int(value), unit)
                for moment, value in zip(moments, by.values, strict=False)
                if value is not None
            ]
            written = [
                fit.texts(each, "direct") for fit, each in zip(fits, moved, strict=True) if each
            ]
            for part, language, case in sorted(_common(written)):
                read = DatePart(column, number, part, order, language=language, case=case)
                found.append(LaterPart(read, by.expression, unit, sign))
    return found


def date_cost(expression: AnyPart) -> float:
    """The cost of a part, beside that of joining it."""
    return cost_of(expression.features())


def _of_date(
    column: int,
    number: int,
    texts: Sequence[str],
    fits: Sequence[DateFits],
    orders: Sequence[str],
) -> list[DatePart]:
    """Parts of the `number`-th date of a column, in every order that its rows allow."""
    readings = {order: [read_any(text, number, order) for text in texts] for order in orders}
    found = {
        order: dict(_styles(readings[order][: len(fits)], fits))
        for order in _best_orders(readings, len(fits))
    }

    def is_open(order: str, key: tuple[Operation, Style]) -> bool:
        """Whether another order agrees in the examples and reads some other row differently."""
        return _needs_order(*key) and any(
            readings[other] != readings[order] and texts.get(key) == found[order][key]
            for other, texts in found.items()
            if other != order
        )

    return [
        DatePart(column, number, part, order, *operation, language, case, is_open(order, key))
        for order in found
        for key in sorted(found[order])
        for operation, (part, language, case) in [key]
    ]


def _best_orders(readings: dict[str, list[Moment | None]], num_examples: int) -> list[str]:
    """The orders that read all examples and the most rows; ANY alone if it does."""
    counts = {
        order: sum(moment is not None for moment in moments)
        for order, moments in readings.items()
        if None not in moments[:num_examples]
    }
    most = max(counts.values(), default=0)
    best = [order for order, count in counts.items() if count == most]
    return ["ANY"] if "ANY" in best else best


def _needs_order(operation: Operation, style: Style) -> bool:
    change, _, unit = operation
    return style[0] not in _WITHOUT_ORDER or (
        change != "none" and unit != "year" and not is_of_the_clock(unit)
    )


def _styles(
    readings: Sequence[Moment | None], fits: Sequence[DateFits]
) -> Iterable[tuple[tuple[Operation, Style], Texts]]:
    """What is done with the dates and how it is written, with the texts in the examples."""
    moments = [moment for moment in readings if moment is not None]
    plain = [fit.texts(moment) for fit, moment in zip(fits, moments, strict=True)]
    for style in _common(plain):
        yield (_NONE, style), [each[style] for each in plain]
    fitting: dict[Operation, dict[Style, Texts]] = {}
    shown: set[Operation] = set()
    for operation in _operations(moments, fits):
        changed = [change_moment(moment, *operation) for moment in moments]
        if None in changed:
            continue
        which = "end" if operation[0] == "next" else "direct"
        texts = [fit.texts(each, which) for fit, each in zip(fits, changed, strict=True) if each]
        styles = _common(texts)
        if _may_show(operation, styles):
            fitting[operation] = {style: [each[style] for each in texts] for style in styles}
            if any(
                written != [each.get(style) for each in plain]
                for style, written in fitting[operation].items()
            ):
                shown.add(operation)
    # An interval that shows at its end has a start, even if no example's start differs.
    intervals = {op[1:] for op in shown if op[0] not in ("ceiling", "nearest", "add")}
    for operation, styles in fitting.items():
        if operation in shown or (operation[0] in ("floor", "next") and operation[1:] in intervals):
            for style, texts in styles.items():
                yield (operation, style), texts


def _may_show(operation: Operation, styles: Iterable[Style]) -> bool:
    """Whether the parts that an operation sets are among those written."""
    change, _, unit = operation
    needed = _SHOWN_BY.get(change) or _SHOWN_BY[unit]
    return any(style[0] in needed for style in styles)


def _operations(moments: Sequence[Moment], fits: Sequence[DateFits]) -> list[Operation]:
    added = common_additions(moments, [fit.output for fit in fits])
    return possible_changes(moments[0]) + [("add", step, unit) for step, unit in added]


def _common(texts: Sequence[dict[Style, str]]) -> list[Style]:
    """Styles that fit every example; other languages if English does not, a week's year with it."""
    first, *others = texts
    common = {style for style in first if all(style in other for other in others)}
    parts = {style[0] for style in common}
    if not parts & {"week", "week_2"}:
        common.discard(("week_year", "", ""))
    return [
        style
        for style in common
        if style[1] in ("", "en") or (style[0], "en", style[2]) not in common
    ]
