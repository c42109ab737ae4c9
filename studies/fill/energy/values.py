"""Programs on numbers and dates: rounded, scaled, moved, and written in other ways."""

import random

from aloex.apps.fill.expressions.base import Constant, Expression
from aloex.apps.fill.expressions.dates.date_part import DatePart
from aloex.apps.fill.expressions.numbers.values import (
    CellNumber,
    Combined,
    Linear,
    NumberExpression,
    NumberText,
    RangeEnd,
    Rounded,
)
from aloex.apps.fill.expressions.programs import Join
from studies.fill.energy.columns import Table

# Parts of dates with a space between, or constants in their place.
DATES = (
    "yyyy - mm - dd|dd / mm / yyyy|mm / dd / yyyy|dd . mm . yyyy|d  month_name  yyyy|"
    "month_abbr  d ,  yyyy|yyyy|month_name|yyyy - mm|month_name  yyyy|weekday_name|weekday_abbr|"
    "dd  month_abbr  yyyy|yyyymmdd|Q quarter  yyyy|mm / yy|d|m|month_abbr|month_abbr - yy|"
    "day_ordinal  month_name|yyyy -W week_2"
)
TIMES = "HH : MM|h : MM  AM|h  am|HH|HH . MM|HH h|HH : MM : SS"
PARTS = {
    *("yyyy", "yy", "mm", "m", "dd", "d", "month_name", "month_abbr", "weekday_name", "quarter"),
    *("weekday_abbr", "day_ordinal", "week_2", "HH", "h", "MM", "SS", "AM", "am"),
}


def number_text(rng: random.Random, table: Table) -> Expression | None:
    """A number of a cell, perhaps rounded, scaled or combined, in some style."""
    columns = [i for i, kind in enumerate(table.kinds) if kind == "amount"]
    column = rng.choice(columns)
    marks = "," if all("EUR" in row[column] for row in table.rows) else "."  # 5,20 EUR
    number: NumberExpression = CellNumber(column, rng.choice([0, 0, 0, -1]), marks)
    kind = rng.random()
    if len(columns) > 1 and kind < 0.5:
        other = CellNumber(rng.choice([i for i in columns if i != column]), 0, marks)
        number = Combined(number, other, rng.choice(["sum", "difference", "product"]))
    elif kind < 0.35:
        step = rng.choice(["1", "1", "10", "100", "0.1", "0.01", "5", "0.5", "1000"])
        number = Rounded(number, step, rng.choice(["half_up"] * 4 + ["floor", "floor", "ceiling"]))
    elif kind < 0.5:
        number = _scaled(rng, number)
    elif kind < 0.58:
        return _range(rng, number)
    style = rng.random()
    if style < 0.3:
        return NumberText(number)
    decimals = rng.choice([None, 0, 1, 2, 2])
    mark, group = rng.choice([(".", ""), (".", ""), (".", ","), (",", ""), (",", ".")])
    width = rng.choice([3, 4, 6]) if rng.random() < 0.1 else 0
    text = NumberText(number, decimals, mark, group, width=width)
    if rng.random() < 0.25:
        sign = rng.choice(["$", "€", "#"])
        return Join((Constant(sign), text))
    ending = rng.choice([" kg", " EUR", "%", " km", " USD"])
    return Join((text, Constant(ending))) if rng.random() < 0.25 else text


def _scaled(rng: random.Random, number: NumberExpression) -> NumberExpression:
    kind = rng.random()
    if kind < 0.35:
        return Linear(number, multiply=rng.choice(["100", "1000", "2", "12", "-1"]))
    if kind < 0.7:
        return Linear(number, divide=rng.choice(["100", "1000", "10", "2"]))
    return Linear(number, add=rng.choice(["1", "-1", "5", "10", "100"]))


def _range(rng: random.Random, number: NumberExpression) -> Expression:
    step = rng.choice(["10", "10", "100", "5", "20", "1000"])
    gap = rng.choice(["0", "0", "1"])
    mark = Constant(rng.choice(["-", " - ", "–", " to "]))
    return Join((RangeEnd(number, step, "lower"), mark, RangeEnd(number, step, "upper", gap=gap)))


def date_text(rng: random.Random, table: Table) -> Expression | None:
    """The date or time of a cell in another layout, or a part of it, perhaps rounded first."""
    columns = [i for i, kind in enumerate(table.kinds) if kind in ("date", "time")]
    column = rng.choice(columns)
    time = table.kinds[column] == "time" or rng.random() < 0.15
    order = "ANY" if time else _order(table, column)
    if order is None:
        return None
    change = ("none", 0, "")
    kind = rng.random()
    if kind < 0.12 and time:
        change = (rng.choice(["floor", "nearest"]), *rng.choice([(15, "minute"), (1, "hour")]))
    elif kind < 0.08:
        change = ("floor", 1, rng.choice(["month", "week", "year"]))
    elif kind < 0.12:
        change = ("add", rng.choice([1, 7, 30, -1, 14]), "day")
    parts = [
        _part(each, column, order, change) if each in PARTS else Constant(each or " ")
        for each in _pieces(rng.choice((TIMES if time else DATES).split("|")))
    ]
    return Join(tuple(parts))


def _pieces(layout: str) -> list[str]:
    """Parts and constants: two spaces in a row are a constant space; 20210305 has none between."""
    if layout == "yyyymmdd":
        return ["yyyy", "mm", "dd"]
    return layout.split(" ")


def _part(name: str, column: int, order: str, change: tuple[str, int, str]) -> Expression:
    named = name.startswith(("month_", "weekday_"))
    language, case = ("en", "title") if named else ("", "")
    return DatePart(column, 1, name, order, *change, language=language, case=case)


def _order(table: Table, column: int) -> str | None:
    """The order in which the dates of a column are read as they are meant."""
    for order in ("ANY", "DMY", "MDY", "YMD"):
        day, month = DatePart(column, 1, "dd", order), DatePart(column, 1, "mm", order)
        right = sum(
            day.run(row) == each["dd"] and month.run(row) == each["mm"]
            for row, each in zip(table.rows, table.records, strict=True)
        )
        if right >= len(table.rows) - max(len(table.odd), 1):
            return order
    return None
