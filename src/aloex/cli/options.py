"""Numbers in options of the command line."""

from collections.abc import Callable
from typing import Any

from aloex.base.errors import InputError


def listed(text: str, option: str, kind: Callable[[str], Any] = int) -> tuple[Any, ...]:
    """Numbers with commas between them."""
    try:
        return tuple(kind(word) for word in text.split(","))
    except ValueError:
        example = "0.5 or 0,0.5,1" if kind is float else "10 or 1,3,10"
        raise InputError(f"{option} must be numbers such as {example}, got {text!r}") from None


def whole_or_share(word: str) -> int | float:
    """A whole number as such, for `listed`; what is below 1 stays as it is."""
    number = float(word)
    return int(number) if number >= 1 and number.is_integer() else number
