"""Expressions of numbers in words."""

from decimal import Decimal

_ORDINALS = ("first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth")


def position_in_words(k: int) -> str:
    """Where in a row of things: 0 is the first, -1 the last."""
    index = k if k >= 0 else -1 - k
    ordinal = _ORDINALS[index] if index < len(_ORDINALS) else f"{index + 1}th"
    if k >= 0:
        return ordinal
    return "last" if k == -1 else f"{ordinal} to last"


def rounding_in_words(step: str, mode: str) -> str:
    """`down to a multiple of 10`, `to 2 decimals`."""
    how = {
        "half_up": "",
        "half_even": "(halves to even) ",
        "floor": "down ",
        "ceiling": "up ",
        "down": "towards zero ",
        "up": "away from zero ",
    }[mode]
    return how + _precision(step, nearest=mode.startswith("half"))


def _precision(step: str, *, nearest: bool) -> str:
    if step == "1":
        return "to an integer"
    decimals = -Decimal(step).as_tuple().exponent  # pyright: ignore
    if decimals > 0 and step.strip("0.") == "1":
        return f"to {decimals} decimal{'s' if decimals > 1 else ''}"
    return f"to {'the nearest' if nearest else 'a'} multiple of {step}"


def in_words(
    *,
    decimals: int | None,
    mark: str,
    group: str,
    lakhs: bool,
    width: int,
    plus: bool,
    negative: str,
) -> list[str]:
    """What is unusual in how a number is written, one phrase each."""
    phrases = []
    if decimals is not None:
        phrases.append(f"with {decimals or 'no'} decimal{'s' if decimals != 1 else ''}")
    if mark == ",":
        phrases.append("with a decimal comma")
    if group:
        name = {",": "commas", ".": "points", "'": "apostrophes", "’": "apostrophes"}.get(
            group, "spaces"
        )
        phrases.append(f"with {name} between {'thousands and lakhs' if lakhs else 'thousands'}")
    if width:
        phrases.append(f"with zeros in front up to {width} digits")
    if plus:
        phrases.append("with a plus sign")
    if negative != "-":
        named = {"()": "in parentheses", "5-": "with the sign behind"}
        phrases.append(f"negatives {named.get(negative, f'with {negative} in front')}")
    return phrases
