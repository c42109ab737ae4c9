"""Expressions that rewrite one text: replace, remove, pad, repeat for every word, rearrange."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from aloex.apps.fill.expressions.base import Expression, Row, num_letters
from aloex.apps.fill.expressions.cases import CASES, in_case, title
from aloex.apps.fill.expressions.patterns import compiled, in_words


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
        letters = num_letters(self.text)
        literal = self.pattern.startswith("=")
        replaced = num_letters(self.pattern) if literal else 0
        return {
            **self.part.features(),
            "replace": 1.0,
            f"replace_{'literal' if literal else self.pattern}": 1.0,
            "replace_letters": float(replaced > 0),
            "replace_by_letters": float(letters > 0 and not (literal or self.by_the_character)),
            "constant_letters": letters / 2,
        }

    def explain(self, columns: Sequence[str]) -> str:
        what, where = in_words(self.pattern, plural=True), self.part.explain(columns)
        if not self.text:
            return f"{where} without {what}"
        return f'{where} with {what} replaced by "{self.text}"'


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
        plain = float(not self.ending)
        return {**self.part.features(), "truncate": 1.0, "truncate_plain": plain}

    def explain(self, columns: Sequence[str]) -> str:
        what = f"{self.part.explain(columns)} cut to {self.width} characters"
        return f'{what}, with "{self.ending}" where it was cut' if self.ending else what


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
        kept = [in_case(self.form, KEEP[self.keep][0](each)) + self.after for each in found]
        return self.separator.join(ORDERS[self.order][0](kept))

    def is_idle(self, rows: Sequence[Row]) -> bool:
        texts = (self.part.run(row) for row in rows)
        if all(len(compiled(self.pattern).findall(text or "")) < 2 for text in texts):
            return True
        plain = replace(self, form="")
        return bool(self.form) and all(plain.run(row) == self.run(row) for row in rows)

    def features(self) -> dict[str, float]:
        letters = num_letters(self.separator + self.after)
        found = {**self.part.features(), "every": 1.0, "constant_letters": float(letters)}
        found |= {f"every_{self.keep}": 1.0, "order": float(bool(self.order))}
        found[f"every_{self.pattern}"] = 1.0
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


@dataclass(frozen=True)
class CamelCase(Expression):
    """All words and numbers without what stands between them: orderNumber."""

    part: Expression

    def run(self, row: Row) -> str | None:
        found = compiled("alnum").findall(self.part.run(row) or "")
        return found[0].lower() + "".join(map(title, found[1:])) if found else None

    def features(self) -> dict[str, float]:
        return {**self.part.features(), "every": 1.0, "case": 1.0}

    def explain(self, columns: Sequence[str]) -> str:
        where = self.part.explain(columns)
        return f"all words of {where} without spaces, all but the first capitalized"


ORDERS = {
    "": (lambda items: items, ""),
    "reversed": (lambda items: items[::-1], "the last first"),
    "sorted": (sorted, "sorted"),
    "unique": (lambda items: list(dict.fromkeys(items)), "each once"),
    "first": (lambda items: items[:1], "the first only"),
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
        parts = [in_case(self.form, each.strip()) for each in text.split(self.cut)]
        return self.separator.join(ORDERS[self.order][0](parts))

    def is_idle(self, rows: Sequence[Row]) -> bool:
        return all(self.cut not in (self.part.run(row) or "") for row in rows)

    def features(self) -> dict[str, float]:
        letters = num_letters(self.separator)
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
