"""Expressions and conditions from the JSON that they write: by name, from a list of classes."""

from dataclasses import fields
from types import ModuleType
from typing import Any

from aloex.apps.fill.expressions import (
    affixes,
    base,
    between,
    cases,
    conditions,
    counting,
    programs,
    rewrite,
    several_cells,
    slices,
    text,
)
from aloex.apps.fill.expressions.base import Expression
from aloex.apps.fill.expressions.conditions import Condition
from aloex.apps.fill.expressions.dates import date_part, later
from aloex.apps.fill.expressions.durations import values as duration_values
from aloex.apps.fill.expressions.numbers import quantities, short
from aloex.apps.fill.expressions.numbers import values as number_values
from aloex.apps.fill.expressions.slices import Position


def _classes(*modules: ModuleType) -> dict[str, type]:
    kinds = (Expression, Condition, Position)
    return {
        name: value
        for module in modules
        for name, value in vars(module).items()
        if isinstance(value, type) and issubclass(value, kinds)
    }


CLASSES = _classes(
    affixes,
    base,
    between,
    cases,
    conditions,
    counting,
    date_part,
    duration_values,
    later,
    number_values,
    programs,
    quantities,
    rewrite,
    several_cells,
    short,
    slices,
    text,
)


def from_json(values: dict[str, Any]) -> Any:
    """The expression or condition with these values; unknown names are a KeyError."""
    known = CLASSES[values["op"]]
    given = {name: _value(value) for name, value in values.items() if name != "op"}
    if set(given) != {field.name for field in fields(known)}:
        raise ValueError(f"{values['op']} does not have the settings {sorted(given)}")
    return known(**given)


def _value(value: Any) -> Any:
    if isinstance(value, dict):
        return from_json(value)
    return tuple(map(_value, value)) if isinstance(value, list) else value
