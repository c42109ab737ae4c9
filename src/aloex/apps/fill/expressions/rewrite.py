"""Expressions that rewrite a whole text: replace, remove, pad, repeat for every word, rearrange."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from aloex.apps.fill.expressions.base import Expression, Row
from aloex.apps.fill.expressions.patterns import compiled, first_number, in_words
from aloex.apps.fill.expressions.text import CASES


@dataclass(frozen=True)
class ReplaceAll(Expression):
    """Every match of a pattern replaced by a text; "" removes them."""

    part: Expression
    pattern: str
    text: str
    by_the_character: bool = False  # a match of n characters is replaced by n times the text

    def run(self, row: Row) -> str | None:
        old = self.part.run(row)
        if old is None:
            return None
        if self.by_the_character:
            return compiled(self.pattern).sub(lambda m: self.text * len(m.group()), old)
        return compiled(self.pattern).sub(lambda _: self.text, old)

    def features(self) -> dict[str, float]:
        letters = sum(char.isalnum() for char in self.text)
        return {**self.part.features(), "replace": 1.0, "constant_letters": letters / 2}

    def explain(self, columns: Sequence[str]) -> str:
        what, where = in_words(self.pattern, plural=True), self.part.explain(columns)
        if not self.text:
            return f"{where} without {what}"
        return f'{where} with {what} replaced by "{self.text}"'


@dataclass(frozen=True)
class ReplaceByColumn(Expression):
    """Every occurrence of a text replaced by another cell."""

    column: int
    text: str
    other: int

    def run(self, row: Row) -> str | None:
        return row[self.column].replace(self.text, row[self.other])

    def features(self) -> dict[str, float]:
        letters = sum(char.isalnum() for char in self.text)
        return {"cell": 1.0, "replace": 1.0, "two_columns": 1.0, "constant_letters": letters / 2}

    def explain(self, columns: Sequence[str]) -> str:
        return f'{columns[self.column]} with "{self.text}" replaced by {columns[self.other]}'


@dataclass(frozen=True)
class Collapse(Expression):
    """Without spaces at both ends, and with single ones between words."""

    part: Expression

    def run(self, row: Row) -> str | None:
        text = self.part.run(row)
        return None if text is None else " ".join(text.split())

    def features(self) -> dict[str, float]:
        return {**self.part.features(), "collapse": 1.0}

    def explain(self, columns: Sequence[str]) -> str:
        return f"{self.part.explain(columns)} with single spaces"


@dataclass(frozen=True)
class Strip(Expression):
    """Without certain characters at the start (`left`), at the end (`right`) or at `both`."""

    part: Expression
    chars: str
    side: str = "both"

    def run(self, row: Row) -> str | None:
        text = self.part.run(row)
        if text is None:
            return None
        strip = {"left": text.lstrip, "right": text.rstrip, "both": text.strip}[self.side]
        return strip(self.chars or None)

    def features(self) -> dict[str, float]:
        return {**self.part.features(), "strip": 1.0, "strip_chars": float(bool(self.chars))}

    def explain(self, columns: Sequence[str]) -> str:
        what = f'"{self.chars}"' if self.chars else "spaces"
        where = {"left": "at the start", "right": "at the end", "both": "at both ends"}[self.side]
        return f"{self.part.explain(columns)} without {what} {where}"


@dataclass(frozen=True)
class Pad(Expression):
    """Filled up to a width, at the left or at the right."""

    part: Expression
    width: int
    fill: str
    left: bool = True

    def run(self, row: Row) -> str | None:
        text = self.part.run(row)
        if text is None:
            return None
        return text.rjust(self.width, self.fill) if self.left else text.ljust(self.width, self.fill)

    def features(self) -> dict[str, float]:
        return {**self.part.features(), "pad": 1.0}

    def explain(self, columns: Sequence[str]) -> str:
        side = "left" if self.left else "right"
        what = self.part.explain(columns)
        return f'{what} filled up to {self.width} characters with "{self.fill}" on the {side}'


@dataclass(frozen=True)
class Truncate(Expression):
    """The first characters, and a text behind them where something was cut off."""

    part: Expression
    width: int
    ending: str

    def run(self, row: Row) -> str | None:
        text = self.part.run(row)
        if text is None or len(text) <= self.width:
            return text
        return text[: self.width] + self.ending

    def features(self) -> dict[str, float]:
        return {**self.part.features(), "truncate": 1.0}

    def explain(self, columns: Sequence[str]) -> str:
        what = self.part.explain(columns)
        return f'{what} cut to {self.width} characters, with "{self.ending}" where it was cut'


KEEP = {
    "all": (lambda text: text, ""),
    "first": (lambda text: text[:1], "the first letters of "),
}


@dataclass(frozen=True)
class EveryMatch(Expression):
    """All matches of a pattern, or a letter of each, joined by a separator."""

    part: Expression
    pattern: str
    keep: str = "all"
    form: str = ""  # a case
    separator: str = ""
    order: str = ""  # "", reversed, sorted or unique
    after: str = ""  # behind each, also the last

    def run(self, row: Row) -> str | None:
        text = self.part.run(row)
        found = [] if text is None else compiled(self.pattern).findall(text)
        if not found:
            return None
        change = CASES[self.form][0] if self.form else lambda text: text
        kept = [change(KEEP[self.keep][0](each)) + self.after for each in found]
        return self.separator.join(ORDERS[self.order][0](kept))

    def is_idle(self, rows: Sequence[Row]) -> bool:
        texts = (self.part.run(row) for row in rows)
        return all(len(compiled(self.pattern).findall(text or "")) < 2 for text in texts)

    def features(self) -> dict[str, float]:
        letters = sum(char.isalnum() for char in self.separator + self.after)
        found = {**self.part.features(), "every": 1.0, "constant_letters": float(letters)}
        found |= {f"every_{self.keep}": 1.0, "order": float(bool(self.order))}
        found |= {"every_after": float(bool(self.after)), "case": float(bool(self.form))}
        return found

    def explain(self, columns: Sequence[str]) -> str:
        what = f"{KEEP[self.keep][1]}all {in_words(self.pattern, plural=True)}"
        words = f"{what} of {self.part.explain(columns)}"
        if self.form:
            words += f" {CASES[self.form][1]}"
        if self.after:
            words += f', "{self.after}" after each'
        if self.separator:
            words += f', joined by "{self.separator}"'
        return words + (f", {ORDERS[self.order][1]}" if self.order else "")


ORDERS = {
    "": (lambda items: items, ""),
    "reversed": (lambda items: items[::-1], "the last first"),
    "sorted": (sorted, "sorted"),
    "unique": (lambda items: list(dict.fromkeys(items)), "each once"),
}


@dataclass(frozen=True)
class EverySplit(Expression):
    """All parts of a cell that is cut at a separator, joined by another, perhaps in new order."""

    part: Expression
    cut: str
    separator: str
    order: str = ""
    form: str = ""

    def run(self, row: Row) -> str | None:
        text = self.part.run(row)
        if text is None:
            return None
        change = CASES[self.form][0] if self.form else lambda text: text
        parts = [change(each.strip()) for each in text.split(self.cut)]
        return self.separator.join(ORDERS[self.order][0](parts))

    def is_idle(self, rows: Sequence[Row]) -> bool:
        return all(self.cut not in (self.part.run(row) or "") for row in rows)

    def features(self) -> dict[str, float]:
        letters = sum(char.isalnum() for char in self.separator)
        return {
            **self.part.features(),
            "every": 1.0,
            "order": float(bool(self.order)),
            "case": float(bool(self.form)),
            "constant_letters": float(letters),
        }

    def explain(self, columns: Sequence[str]) -> str:
        words = f'all parts of {self.part.explain(columns)} cut at "{self.cut}", joined by '
        words += f'"{self.separator}"'
        return words + (f", {ORDERS[self.order][1]}" if self.order else "")


@dataclass(frozen=True)
class JoinColumns(Expression):
    """Several cells, without those that are empty, joined by a separator."""

    columns: tuple[int, ...]
    separator: str
    order: str = ""

    def run(self, row: Row) -> str | None:
        cells = [row[column] for column in self.columns if row[column].strip()]
        return self.separator.join(ORDERS[self.order][0](cells))

    def features(self) -> dict[str, float]:
        letters = sum(char.isalnum() for char in self.separator)
        return {"join": 1.0, "order": float(bool(self.order)), "constant_letters": float(letters)}

    def explain(self, columns: Sequence[str]) -> str:
        names = ", ".join(columns[column] for column in self.columns)
        order = f", {ORDERS[self.order][1]}" if self.order else ""
        return f'those of {names} that are not empty, joined by "{self.separator}"{order}'


@dataclass(frozen=True)
class Count(Expression):
    """How many matches of a pattern, or how many characters (pattern ""), a cell has."""

    column: int
    pattern: str
    plus: int = 0

    def run(self, row: Row) -> str | None:
        text = row[self.column]
        number = len(compiled(self.pattern).findall(text)) if self.pattern else len(text)
        return str(number + self.plus)

    def features(self) -> dict[str, float]:
        return {"count": 1.0, "count_plus": float(self.plus != 0)}

    def explain(self, columns: Sequence[str]) -> str:
        what = in_words(self.pattern, plural=True) if self.pattern else "characters"
        more = f" plus {self.plus}" if self.plus else ""
        return f"the number of {what} in {columns[self.column]}{more}"


@dataclass(frozen=True)
class TwoCells(Expression):
    """What two cells make together."""

    column: int
    other: int
    how: str

    def run(self, row: Row) -> str | None:
        return TWO_CELLS[self.how][0](row[self.column], row[self.other])

    def features(self) -> dict[str, float]:
        return {"two_columns": 1.0, f"two_{self.how}": 1.0}

    def explain(self, columns: Sequence[str]) -> str:
        one, other = columns[self.column], columns[self.other]
        return TWO_CELLS[self.how][1].format(one, other)


def _common_prefix(a: str, b: str) -> str:
    number = next((i for i, (x, y) in enumerate(zip(a, b, strict=False)) if x != y), None)
    return a[: min(len(a), len(b)) if number is None else number]


def _by_number(a: str, b: str, choose: Callable[..., float]) -> str | None:
    """The cell whose first number is the largest (or smallest)."""
    x, y = first_number(a), first_number(b)
    return None if x is None or y is None else a if choose(x, y) == x else b


def _pad_to(text: str, width: str, fill: str = " ") -> str | None:
    return text.rjust(int(width), fill) if width.isascii() and width.isdigit() else None


TWO_CELLS = {
    "common_prefix": (_common_prefix, "the common start of {} and {}"),
    "common_suffix": (
        lambda a, b: _common_prefix(a[::-1], b[::-1])[::-1],
        "the common end of {} and {}",
    ),
    "without_prefix": (
        lambda a, b: a[len(b) :] if a.startswith(b) else None,
        "{} without {} at its start",
    ),
    "without_suffix": (
        lambda a, b: a[: len(a) - len(b)] if a.endswith(b) else None,
        "{} without {} at its end",
    ),
    "without": (lambda a, b: a.replace(b, "") if b and b in a else None, "{} without {}"),
    "longer": (lambda a, b: a if len(a) >= len(b) else b, "the longer one of {} and {}"),
    "shorter": (lambda a, b: a if len(a) <= len(b) else b, "the shorter one of {} and {}"),
    "larger": (lambda a, b: _by_number(a, b, max), "the larger one of {} and {}"),
    "smaller": (lambda a, b: _by_number(a, b, min), "the smaller one of {} and {}"),
    "first_filled": (lambda a, b: a if a.strip() else b, "{}, or {} where it is empty"),
    "count": (lambda a, b: str(a.count(b)) if b else None, "how often {} contains {}"),
    "pad": (_pad_to, "{} filled up with spaces to the width in {}"),
    "repeat": (
        lambda a, b: a * min(int(b), 1000) if b.isascii() and b.isdigit() else None,
        "{} repeated {} times",
    ),
}
