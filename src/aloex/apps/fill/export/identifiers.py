"""Names for Python, made from the names of columns."""

import builtins
import keyword
import unicodedata
from collections.abc import Iterable

from aloex.base.errors import require

RESERVED = frozenset({*keyword.kwlist, *keyword.softkwlist, *dir(builtins), "re"})


def identifier(text: str, default: str, taken: Iterable[str] = ()) -> str:
    """A name that looks like a text.

    Args:
        text: any text.
        default: the name if the text has no letters; what comes before a digit.
        taken: names that it must not be.

    Returns:
        The name: no keyword, and none that Python itself uses.

    Example:
        >>> identifier("Full name", "column"), identifier("class", "column")
        ('full_name', 'class_')
        >>> identifier("2025", "column"), identifier("name", "column", ["name"])
        ('column_2025', 'name_2')
    """
    plain = unicodedata.normalize("NFKC", text).lower()
    chars = "".join(char if f"a{char}".isidentifier() else " " for char in plain)
    name = unicodedata.normalize("NFKC", "_".join(chars.replace("_", " ").split()))
    if not name.isidentifier():
        name = f"{default}_{name}" if f"a{name}".isidentifier() and name else default
    name += "_" * (name in RESERVED)
    number, found = 2, name
    while found in {*taken}:
        number, found = number + 1, f"{name}_{number}"
    return found


def check_name(name: str) -> None:
    """Raise an `InputError` for a name that a function cannot have."""
    require(
        name.isidentifier() and name not in RESERVED,
        f"a function cannot be called {name!r}; give it a name of letters, digits and underscores "
        "that Python does not use itself",
    )
