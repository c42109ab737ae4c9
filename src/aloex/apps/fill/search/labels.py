"""Labels: texts that are all that a case writes, such as pass or fail.

A constant inside a joined program is dear, as it may be a part of an example that was learned by
heart. What a case writes as a whole is likely a word of the person's own.
"""

from collections.abc import Sequence

from aloex.apps.fill.expressions.base import Constant, Expression, Row, num_letters
from aloex.apps.fill.expressions.conditions import Condition, Contains, Equals
from aloex.apps.fill.expressions.patterns import compiled
from aloex.apps.fill.expressions.programs import Join
from aloex.apps.fill.search.costs import Features

LEAST = 3  # letters of a word that says something


def label_features(program: Expression, rows: Sequence[Row]) -> Features | None:
    """The features of a label, given the rows of its examples; None for other programs."""
    text = _label(program)
    if text is None:
        return None
    return {
        "label": 1.0,
        "label_letters": float(num_letters(text)),
        "label_words": float(max(len(text.split()) - 1, 0)),
        "label_copied": float(any(_shares_a_word(text, row) for row in rows)),
        "label_again": 1.0 - 1.0 / len(rows),
    }


def features_of_name(condition: Condition, program: Expression) -> Features:
    """Whether a label says what its condition asks for: Cash where a cell contains cash."""
    text = _label(program)
    if text is None or not isinstance(condition, Contains | Equals):
        return {}
    asked = condition.text.casefold()
    return {"if_named": float(len(asked) >= LEAST and asked in text.casefold())}


def _label(program: Expression) -> str | None:
    parts = program.parts if isinstance(program, Join) else ()
    return parts[0].text if len(parts) == 1 and isinstance(parts[0], Constant) else None


def _shares_a_word(text: str, row: Row) -> bool:
    """Whether a word of a text stands in a cell."""
    words = [word for word in compiled("alnum").findall(text.casefold()) if len(word) >= LEAST]
    return any(word in cell.casefold() for word in words for cell in row)
