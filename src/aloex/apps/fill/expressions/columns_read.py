"""Which cells of a row an expression reads."""

from typing import Any

from aloex.apps.fill.expressions.base import Expression


def columns_read(expression: Expression) -> list[int]:
    """The columns from 0, in order: all that is called `column`, `other` or `columns` in it."""
    return sorted(_columns(expression.to_json()))


def _columns(value: Any) -> set[int]:
    if isinstance(value, list):
        return {i for each in value for i in _columns(each)}
    if not isinstance(value, dict):
        return set()
    own = [*(value[name] for name in ("column", "other") if name in value)]
    own += value.get("columns", [])
    return {*own, *(i for each in value.values() for i in _columns(each))}
