"""What may be seen of a program on all rows, and of the table: the inputs of the energy.

The search's own features say what a program is; these say what it does. Examples are compared with
rows that have none: lengths, kinds of characters, words cut in two, rows that look like an example
but get another kind of output. Names begin with `rows_` and `table_`, so that they meet no other.
"""

import math
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import fields, is_dataclass
from functools import lru_cache
from typing import Any, NamedTuple

from aloex.apps.fill.expressions.base import Constant, Row
from aloex.apps.fill.search.costs import Features
from aloex.apps.fill.search.solve import Found

Texts = Sequence[str | None]
MISSING = {"", "-", "?", "n/a", "na", "nan", "none", "null", "tbd", "unknown"}


class Seen(NamedTuple):
    """A text, looked at once."""

    length: int
    shape: str  # with the lengths of runs of digits
    loose: str  # without the case of letters
    marks: frozenset[str]
    words: frozenset[str]
    ragged: bool  # spaces or marks at an end, or several spaces


@lru_cache(maxsize=1 << 15)
def seen(text: str) -> Seen:
    """What a text looks like."""
    digits = lambda m: "0" * len(m.group())
    exact = re.sub(r"[^\W\d_]+", "a", re.sub(r"\d+", digits, text))
    return Seen(
        len(text),
        exact,
        _loose(text.lower()),
        frozenset(re.findall(r"[\W_]", text)),
        frozenset(re.findall(r"[^\W_]+", text.casefold())),
        bool(re.search(r"^[\s,;:/_-]|[\s,;:/_-]$|\s\s", text)),
    )


def _loose(text: str) -> str:
    """Runs of digits, letters and spaces as one character each; scripts without case apart."""
    text = re.sub(r"\d+", "0", text)
    text = re.sub(r"[^\W\d_]+", lambda m: "a" if m.group().islower() else "x", text)
    return re.sub(r"\s+", " ", text)


def others_of(rows: Sequence[Row], num_examples: int) -> list[int]:
    """Rows without an example that are not empty."""
    missing = lambda row: all(cell.strip().casefold() in MISSING for cell in row)
    return [i for i, row in enumerate(rows) if i >= num_examples and not missing(row)]


def seen_on_rows(found: Sequence[Found], rows: Sequence[Row], num_examples: int) -> list[Features]:
    """What all rows say of each program."""
    others = others_of(rows, num_examples)
    if not others:
        return [{} for _ in found]
    view = _View(rows, list(range(num_examples)), others)
    agree = _agreement(found, others)
    return [
        {**view.features(each.texts), **_of_constants(each, view), "rows_agree": share}
        for each, share in zip(found, agree, strict=True)
    ]


class _View:
    """The table as examples and other rows, with what does not depend on the program."""

    def __init__(self, rows: Sequence[Row], examples: list[int], others: list[int]):
        self.rows, self.examples, self.others = rows, examples, others
        shapes = [tuple(seen(cell).loose for cell in row) for row in rows]
        known = {shapes[i] for i in examples}
        self.known = [i for i in others if shapes[i] in known]
        self.inputs = ["\0".join(row) for row in rows]
        self.words = [frozenset[str]().union(*(seen(cell).words for cell in row)) for row in rows]

    def features(self, texts: Texts) -> Features:
        """Everything that the outputs say."""
        good = [(i, texts[i] or "") for i in self.others if texts[i]]
        shown = [texts[i] or "" for i in self.examples]
        looks = [seen(text) for text in shown]
        if not good:
            return {"rows_nothing": 1.0}
        share = lambda hits: sum(hits) / len(good)
        own = [seen(text) for _, text in good]
        lengths = [look.length for look in looks]
        marks = frozenset[str]().union(*(look.marks for look in looks))
        exact, loose = {look.shape for look in looks}, {look.loose for look in looks}
        return {
            "rows_empty": 1 - len(good) / len(self.others),
            "rows_new_exact": share(look.shape not in exact for look in own),
            "rows_new_loose": share(look.loose not in loose for look in own),
            "rows_new_marks": share(not look.marks <= marks for look in own),
            "rows_lost_marks": share(bool(marks - look.marks) for look in own),
            "rows_ragged": share(x.ragged for x in own) - _mean([x.ragged for x in looks]),
            "rows_longer": share(look.length > 2 * max(lengths) + 2 for look in own),
            "rows_length": abs(
                math.log((_mean([x.length for x in own]) + 1) / (_mean(lengths) + 1))
            ),
            "rows_strange_though_known": self._strange(texts, loose),
            "rows_fails_though_known": self._fails(texts),
            "rows_one_shape": max(_counts([look.loose for look in own])) / len(own),
            "rows_all_equal": float(len({text for _, text in good}) == 1 and len(good) > 1),
            "rows_as_before": share(text in shown for _, text in good),
            "rows_identity": share(text in self.rows[i] for i, text in good),
            **self._against_inputs(good, shown),
        }

    def _strange(self, texts: Texts, loose: set[str]) -> float:
        """Rows that look like an example, with an output that looks like none."""
        odd = sum(seen(texts[i] or "").loose not in loose for i in self.known)
        return odd / len(self.others)

    def _fails(self, texts: Texts) -> float:
        return sum(texts[i] is None for i in self.known) / len(self.others)

    def _against_inputs(self, good: list[tuple[int, str]], shown: list[str]) -> Features:
        """Copied, cut and new words, in other rows as against examples."""
        given = list(zip(self.examples, shown, strict=True))
        measures: dict[str, Callable[[int, str], float]] = {
            "rows_copied": lambda i, text: float(text in self.inputs[i]),
            "rows_cut": lambda i, text: float(cuts_words(text, self.inputs[i])),
            "rows_new_words": self._new_words,
            "rows_used": lambda i, text: len(text) / max(len(self.inputs[i]), 1),
        }
        found: Features = {}
        for name, measure in measures.items():
            here = _mean([measure(i, text) for i, text in good])
            there = _mean([measure(i, text) for i, text in given])
            found[name] = here
            found[f"{name}_more"] = max(here - there, 0.0)
            found[f"{name}_less"] = max(there - here, 0.0)
        return found

    def _new_words(self, i: int, text: str) -> float:
        words = seen(text).words
        return len(words - self.words[i]) / max(len(words), 1)


def cuts_words(text: str, where: str) -> bool:
    """Whether a text occurs, but only so that a word or number around it is cut.

    >>> cuts_words("Ann", "Anna B."), cuts_words("Anna", "Anna B.")
    (True, False)
    """
    if not text or text not in where:
        return False
    start = where.find(text)
    while start >= 0:
        end = start + len(text)
        left = start > 0 and where[start - 1].isalnum() and text[0].isalnum()
        right = end < len(where) and where[end].isalnum() and text[-1].isalnum()
        if not left and not right:
            return False
        start = where.find(text, start + 1)
    return True


def _of_constants(found: Found, view: _View) -> Features:
    """Whether constants of letters or digits stand in examples' inputs and in other rows'."""
    words = [word for text in constants(found.program) for word in re.findall(r"[^\W_]+", text)]
    if not words:
        return {}
    held = lambda i: sum(word in view.inputs[i] for word in words) / len(words)
    here, there = _mean([held(i) for i in view.others]), _mean([held(i) for i in view.examples])
    return {"rows_constant_in_inputs": there, "rows_constant_misses": max(there - here, 0.0)}


def constants(part: Any) -> Iterator[str]:
    """The texts of all constants in an expression."""
    if isinstance(part, Constant):
        yield part.text
    elif isinstance(part, tuple):
        for each in part:
            yield from constants(each)
    elif is_dataclass(part):
        for field in fields(part):
            yield from constants(getattr(part, field.name))


def _agreement(found: Sequence[Found], others: list[int]) -> list[float]:
    """The share of all programs that write the same, on average over rows."""
    counts: list[dict[str | None, int]] = []
    for i in others:
        column: dict[str | None, int] = {}
        for each in found:
            column[each.texts[i]] = column.get(each.texts[i], 0) + 1
        counts.append(column)
    total = len(found) * len(others)
    return [
        sum(column[each.texts[i]] for i, column in zip(others, counts, strict=True)) / total
        for each in found
    ]


def table_features(rows: Sequence[Row], outputs: Sequence[str], num_programs: int) -> Features:
    """A summary of the table and its examples, the same for all programs."""
    others = others_of(rows, len(outputs))
    shapes = [tuple(seen(cell).loose for cell in row) for row in rows]
    known = {shapes[i] for i in range(len(outputs))}
    text, cells = "".join(outputs), [cell for row in rows for cell in row]
    part = lambda belongs: sum(map(belongs, text)) / max(len(text), 1)
    return {
        "table_examples": float(len(outputs)),
        "table_rows": float(len(rows)),
        "table_columns": float(len(rows[0])),
        "table_programs": math.log(num_programs),
        "table_length": math.log1p(len(text) / len(outputs)),
        "table_digits": part(str.isdigit),
        "table_capitals": part(str.isupper),
        "table_small": part(str.islower),
        "table_spaces": part(str.isspace),
        "table_output_shapes": len({seen(each).loose for each in outputs}) / len(outputs),
        "table_input_shapes": len(set(shapes)) / len(rows),
        "table_new_inputs": _mean([float(shapes[i] not in known) for i in others]),
        "table_missing": _mean([float(cell.strip().casefold() in MISSING) for cell in cells]),
        "table_input_length": math.log1p(_mean([len(cell) for cell in cells])),
        "table_input_digits": _mean([char.isdigit() for cell in cells for char in cell]),
        "table_copied": _mean(
            [float(y in "\0".join(row)) for y, row in zip(outputs, rows, strict=False)]
        ),
    }


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values) if values else 0.0


def _counts(items: Sequence[str]) -> list[int]:
    return [items.count(each) for each in set(items)]
