"""Which character separates the fields of a table: told, or the one that fits the first lines."""

from collections import Counter
from collections.abc import Sequence

from aloex.apps.fill.tables.records import Record, read_records
from aloex.base.errors import InputError, require

CANDIDATES = "\t,;|"  # of two that fit equally well, the first
NAMES = {"tab": "\t", "\\t": "\t", "comma": ",", "semicolon": ";", "pipe": "|", "space": " "}
MIN_SHARE = 0.5  # of the lines, with the same number of fields, if the first line has only one


def told_delimiter(told: str) -> str:
    """The character that the user means: itself, or its name."""
    mark = NAMES.get(told.casefold(), told)
    require(
        len(mark) == 1 and mark not in '"\r\n' and not mark.isalnum(),
        f"--delimiter must be one character, or one of {', '.join(sorted(NAMES))}; got {told!r}",
    )
    return mark


def find_delimiter(lines: Sequence[str]) -> str:
    """The delimiter of a table with these first lines; a comma if nothing speaks for another.

    That by which the largest share of the lines has the same number of fields, more than one. Where
    two are equal, that which looks less like a mark inside a text.
    """
    fits = {mark: _fit(lines, mark) for mark in CANDIDATES}
    best = max(CANDIDATES, key=lambda mark: fits[mark])
    return best if fits[best] > (0.0, 0.0) else ","


def _fit(lines: Sequence[str], mark: str) -> tuple[float, float]:
    """The share of the lines that agree, and the share of the marks that look like delimiters."""
    records = [record for record in _records(lines, mark) if not record.is_blank]
    counts = Counter(len(record.fields) for record in records)
    number = max((n for n in counts if n > 1), key=lambda n: (counts[n], n), default=None)
    if number is None:
        return 0.0, 0.0
    share = counts[number] / len(records)
    if len(records[0].fields) == 1:
        share = share / 2 if share >= MIN_SHARE else 0.0
    borders = [pair for r in records for pair in zip(r.fields, r.fields[1:], strict=False)]
    in_texts = sum(_is_in_text(left, right, mark) for left, right in borders)
    return share, 1 - in_texts / len(borders)


def _records(lines: Sequence[str], mark: str) -> list[Record]:
    try:
        return list(read_records(lines, mark))
    except InputError:  # the last of the lines ends inside quotes, or a quote is just a character
        return list(read_records([line.replace('"', "'") for line in lines], mark))


def _is_in_text(left: str, right: str, mark: str) -> bool:
    """Whether a mark is rather one of a sentence ("Lovelace, Ada") or of a number ("2,50")."""
    return right.startswith(" ") or (mark == "," and left[-1:].isdigit() and right[:1].isdigit())
