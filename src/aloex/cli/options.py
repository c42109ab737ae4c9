"""Helpers for options of the command line: choices that explain themselves, and lists of numbers.

class Size(Choice):
    FULL = "full", "Networks as in the study."
    TINY = "tiny", "Small networks, for a try."

size: Annotated[Size, typer.Option(help=choice_help("How large.", Size))] = Size.FULL
"""

from collections.abc import Callable
from enum import StrEnum
from typing import Any

from aloex.base.errors import InputError


class Choice(StrEnum):
    """What an option can be: each member is a value and one line of help."""

    help: str

    def __new__(cls, value: str, help: str):
        member = str.__new__(cls, value)
        member._value_, member.help = value, help
        return member


def choice_help(text: str, choices: type[Choice]) -> str:
    """The help of an option: what it is about, then a line for each choice."""
    width = max(len(choice.value) for choice in choices)
    lines = [f"{choice.value:{width}}  {choice.help}" for choice in choices]
    return "\n".join([text, "", "\b", *lines])  # \b keeps lines as they are


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
