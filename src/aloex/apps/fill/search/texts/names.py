"""Columns of people's names: their last word is likelier a part than all but the first one."""

import re
from collections.abc import Iterable, Sequence

from aloex.apps.fill.expressions.base import Expression
from aloex.apps.fill.expressions.cases import Case
from aloex.apps.fill.expressions.slices import Position, Slice
from aloex.apps.fill.expressions.text import Match, Split
from aloex.apps.fill.search.atoms import Atom, atom

LEAST = 0.7  # share of cells that look like names
_WORD = r"[^\W\d_]+(?:['’-][^\W\d_]+)*\.?"
_NAME = re.compile(f"{_WORD}(?: +{_WORD}){{1,3}}")


def with_names(atoms: Iterable[Atom], texts: Sequence[str]) -> list[Atom]:
    """Atoms of a column, with features if its cells look like names."""
    filled = [text for text in texts if text.strip()]
    named = sum(_is_name(text) for text in filled)
    if not filled or named < LEAST * len(filled):
        return list(atoms)
    return [_with_name(each) for each in atoms]


def _is_name(text: str) -> bool:
    """Whether a text is two to four capitalized words or initials."""
    words = text.split()
    capital = all(word[:1].isupper() for word in (words[:1] + words[-1:]))
    return capital and _NAME.fullmatch(text.strip()) is not None


def _with_name(found: Atom) -> Atom:
    part = found.expression.part if isinstance(found.expression, Case) else found.expression
    kind = _kind(part)
    if kind is None:
        return found
    return atom(found.expression, found.texts, {**found.features, f"name_{kind}": 1.0})


def _kind(part: Expression) -> str | None:
    """Whether a part is the last word of a name, or the rest behind its first word."""
    if isinstance(part, Match | Split):
        return "last" if part.k == -1 else None
    if not isinstance(part, Slice) or part.end != Position("", -1):
        return None
    if part.start.pattern not in ("= ", "space", "word", "nonspace", "alnum", "capitalized"):
        return None
    return "last" if part.start.k == -1 else "rest" if part.start.k in (1, 2) else None
