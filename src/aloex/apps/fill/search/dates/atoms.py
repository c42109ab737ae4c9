"""Finds parts of dates and times that stand in every example's output.

For each column, each date of its cells and each order of day and month that reads most rows, every
rounding is tried on the examples. A rounding is kept if the examples show it: the outputs have what
it rounds to, and something that the date as it stands would not write.
"""

from collections.abc import Iterable, Sequence

from aloex.apps.fill.expressions.base import Row
from aloex.apps.fill.expressions.dates.changes import change_moment, possible_changes
from aloex.apps.fill.expressions.dates.date_part import DatePart, read_moment
from aloex.apps.fill.expressions.dates.layouts import ORDERS, Moment, find_moments, needs_order
from aloex.apps.fill.expressions.dates.parts import TIMES
from aloex.apps.fill.search.costs import cost_of
from aloex.apps.fill.search.dates.additions import common_additions
from aloex.apps.fill.search.dates.fits import DateFits, Style

MAX_EXPRESSIONS = 200
MAX_NUMBER = 4  # dates and times of a cell that are looked at

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
    "hour": {"H", "HH", "h", "hh"},
    "day": _DAYS,
    "week": _DAYS,
    "sunday_week": _DAYS,
    "month": _DAYS | _MONTHS,
    "year": _DAYS | _MONTHS | {"yyyy", "yy"},
}


def date_expressions(rows: Sequence[Row], outputs: Sequence[str]) -> list[DatePart]:
    """Parts of dates that every example's output contains, the likeliest first."""
    if not outputs or not all(outputs):
        return []
    fits = [DateFits(output, outputs) for output in outputs]
    found: list[DatePart] = []
    for column in range(min(map(len, rows))):
        texts = [row[column] for row in rows]
        examples = texts[: len(outputs)]
        num_dates = min(len(find_moments(text, "ANY")) for text in examples)
        for number in range(1, min(num_dates, MAX_NUMBER) + 1):
            found += _of_date(column, number, texts, fits)
    return sorted(found, key=date_cost)[:MAX_EXPRESSIONS]


def date_cost(expression: DatePart) -> float:
    """The cost of a part, beside that of joining it."""
    return cost_of(expression.features())


def _of_date(
    column: int, number: int, texts: Sequence[str], fits: Sequence[DateFits]
) -> list[DatePart]:
    """Parts of the `number`-th date of a column, in every order that its rows allow."""
    orders = ("ANY", *ORDERS) if any(map(needs_order, texts)) else ("ANY",)
    readings = {order: [read_moment(text, number, order) for text in texts] for order in orders}
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
        change != "none" and unit not in ("minute", "hour", "year")
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
        texts = [
            fit.texts(each, derived=False) for fit, each in zip(fits, changed, strict=True) if each
        ]
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
