"""Numbers in options of the command line, and options that many commands have."""

from collections.abc import Callable
from typing import Annotated, Any

import typer

from aloex.base.errors import InputError
from aloex.base.seeds import NUM_SEEDS

MAX_SEED = NUM_SEEDS - 1
Seed = Annotated[int, typer.Option(min=0, max=MAX_SEED, help="Seed of all randomness.")]
Resume = Annotated[
    bool, typer.Option("--resume", help="Go on with the run; start it if there is none.")
]


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
