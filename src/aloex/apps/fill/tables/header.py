"""Is the first row of a table a header? A guess from the cells alone; no program is looked for."""

import re
from collections.abc import Sequence
from itertools import zip_longest

NUM_COMPARED = 30  # rows after the first that it is compared with
MAX_CELL = 200  # characters of a cell that are looked at
COLUMN_NAME = "column {}"  # the name of a column without a header

TYPICAL = """
    achternaam address adresse after age amount amt anzahl area author before betrag
    birthday brand category city client code codice cognome color colour comment company
    contact cost count country county currency customer date datum day department
    description dob email employee end example expected fecha first from full gender given
    group handle hour id in index initials input invoice item job key kind kunde kurz label
    land language last lat level link lon mail maker manager menge middle mobile model month
    monto nachname name new no nom nombre nome note num number numero nummer old order ort
    out output owner path pays percent person phone plz postcode precio preis prenom price
    prix product qty quantity rank rate rating raw reference region result role salary score
    sender serial sex short site size sku source stadt start state status strasse street
    string sum surname tag target tel telefon telefono telephone text time timestamp title
    to total type unit url user username value vendor ville voornaam vorname wanted website
    week weight x y year zip
"""  # words that end the names of columns, in the singular
MAX_TEXTS = 1 / 3  # of the cells of a column of numbers or dates
TWICE = 2.0  # points against a row for each cell that it has twice
LETTERS = 2.0  # points for a row of letters, as in a,b,c, above others
LETTER = re.compile(r"[^\W\d_]")
YEAR = re.compile(r"(?:19|20)\d\d")
KINDS = (  # what a cell is, the first that matches
    ("number", re.compile(r"[-+(]?\W{0,2}\d[\d.,' ]*\W{0,2}%?\s?\w{0,3}\)?")),
    ("date", re.compile(r"\d{1,4}[-/.]\d{1,2}[-/.]\d{1,4}\b.*|\d{1,2}:\d{2}.*")),
    ("address", re.compile(r"\S+@\S+\.\S+|\w+://\S+|www\.\S+|/\S+/\S*|[A-Za-z]:\\\S+")),
)


def looks_like_header(rows: Sequence[Sequence[str]], target: int | None = None) -> bool:
    """Whether the first row names the columns.

    Points for and against it: words that name columns, cells of another kind than those below, a
    cell that is found again below or beside it, and a target that is made of the other cells, as in
    an example. A word alone above empty cells is a name in any case: as an example it would be
    written into all of them.

    Args:
        rows: the cells of the first rows.
        target: the column to be filled, if that is known.
    """
    first, below = rows[0], [row for row in rows[1 : NUM_COMPARED + 1] if any(row)]
    named = [cell.strip().casefold() for cell in first if cell.strip()]
    if not named:
        return False
    if _names_an_empty_column(first, rows[1:], target):
        return True
    points = -TWICE * (len(named) - len(set(named)))
    if all(map(LETTER.fullmatch, named)) and not any(
        LETTER.fullmatch(cell.strip().casefold()) for row in below for cell in row
    ):
        points += LETTERS
    for column, cell in enumerate(first):
        others = [row[column].strip() for row in below if column < len(row)]
        points += _points(cell.strip()[:MAX_CELL], [each[:MAX_CELL] for each in others if each])
    column = len(first) - 1 if target is None else target
    if column < len(first) and _is_made_of(first[column], [*first[:column], *first[column + 1 :]]):
        points -= 2
    return points > 0


def _names_an_empty_column(
    first: Sequence[str], below: Sequence[Sequence[str]], target: int | None
) -> bool:
    """Whether a row of words has the only text of the target, one that is not made of the others.

    If nobody names a target, it is the only column that is partly empty.
    """
    columns = [list(map(str.strip, column)) for column in zip_longest(first, *below, fillvalue="")]
    cells = [cell[:MAX_CELL] for column in columns for cell in column if cell]
    if any(_kind(cell) != "text" for cell in cells):
        return False
    partly = [i for i, column in enumerate(columns) if any(column) and not all(column)]
    goal = target if target is not None else partly[0] if len(partly) == 1 else None
    if goal not in partly or any(columns[goal][1:]):
        return False
    return not _is_made_of(first[goal], [*first[:goal], *first[goal + 1 :]])


def _points(cell: str, below: list[str]) -> float:
    """How much a cell looks like the name of the cells below it."""
    if not cell:
        return -0.5
    points = 0.0
    words = re.findall(r"[^\W\d_]+", re.sub(r"(?<=[a-z])(?=[A-Z])", " ", cell).casefold())
    if words and {words[-1], words[-1].removesuffix("s")} & set(TYPICAL.split()):
        points += 1.5
    if YEAR.fullmatch(cell) and not any(map(YEAR.fullmatch, below)):
        return points  # columns are named by years; but years below make it a cell like the others
    if _kind(cell) != "text":
        points -= 3
    if not below:
        return points
    if cell in below:
        points -= 2
    kinds = [_kind(other) for other in below]
    if kinds.count("text") < len(kinds) * MAX_TEXTS:
        points += 2 if _kind(cell) == "text" else 0
        return points
    if cell not in below and _are_labels(below):
        points += 1
    elif _shape(cell) in map(_shape, below):
        points -= 1
    if _shape(cell) not in map(_shape, below):
        points += 1
    return points


def _are_labels(cells: list[str]) -> bool:
    """Whether there are a few texts, and each of them again and again."""
    return 1 < len(set(cells)) <= len(cells) / 2


def _kind(cell: str) -> str:
    return next((kind for kind, pattern in KINDS if pattern.fullmatch(cell)), "text")


def _shape(cell: str) -> str:
    """Kinds of characters one after the other: "Ada King" is "Aa Aa"."""
    text = re.sub(r"\d+", "0", cell)
    text = re.sub(r"[^\W\d_]+", lambda m: _case(m.group()), text)
    return re.sub(r"\s+", " ", text)


def _case(letters: str) -> str:
    return "A" if letters.isupper() else "a" if letters.islower() else "Aa"


def _is_made_of(text: str, cells: Sequence[str]) -> bool:
    """Whether all words and numbers of a text stand in the other cells, at least by their start."""
    words = re.findall(r"[^\W\d_]+|\d+", text.casefold())
    known = [w for cell in cells for w in re.findall(r"[^\W\d_]+|\d+", cell.casefold())]
    return bool(words) and all(any(k.startswith(w) for k in known) for w in words)
