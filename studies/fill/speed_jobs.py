"""Typical columns for the study of speed: their rows, and scripts that fill them by hand.

`python -m studies.fill.speed_jobs NAME IN OUT` is the peer: what somebody who knows Python and
knows the answer would write, with the module csv of the standard library. It imports nothing else
that is large, so that its memory and its start are its own.
"""

import csv
import random
import sys
from collections.abc import Callable
from datetime import date, datetime, timedelta
from typing import NamedTuple

TARGET = "filled"
FIRST = ["Ada", "Alan", "Grace", "Kurt", "Emmy", "Leonhard", "Sofia", "José", "Zoë", "Ólafur"]
LAST = ["Lovelace", "Turing", "Hopper", "Noether", "Euler", "Curie", "Peña", "Müller", "Sørensen"]
CITIES = ["Oslo", "Bern", "New York", "São Paulo", "Lyon", "Kyoto", "Cape Town", "Lima"]


class Job(NamedTuple):
    """A column to fill.

    Args:
        columns: names of the cells that are made.
        make: the cells of a row.
        answer: what a person would write to fill it; it gets all cells, from the one behind the id.
    """

    columns: tuple[str, ...]
    make: Callable[[random.Random], tuple[str, ...]]
    answer: Callable[[list[str]], str]


def _name(rng: random.Random) -> str:
    """Names that hardly repeat: nothing is won by remembering answers."""
    return f"{rng.choice(FIRST)}{rng.randrange(10**6)} {rng.choice(LAST)}{rng.randrange(10**6)}"


def _letters(rng: random.Random, number: int) -> str:
    return "".join(rng.choices("abcdefghijklmnopqrstuvwxyz", k=number))


def _person(rng: random.Random) -> tuple[str, str]:
    return _letters(rng, 6).title(), _letters(rng, 8).title()


def _moment(rng: random.Random) -> datetime:
    return datetime(2000, 1, 1) + timedelta(seconds=rng.randrange(700_000_000))


def _initials(cells: list[str]) -> str:
    return f"{cells[1]}, {cells[0][0]}."


def _user(cells: list[str]) -> str:
    return cells[0].partition("@")[0].lower()


def _day(cells: list[str]) -> str:
    day, month, year = cells[0].split("/")
    return f"{year}-{month}-{day}"


def _hour(cells: list[str]) -> str:
    time = datetime.strptime(cells[0], "%Y-%m-%d %H:%M:%S")
    return f"{time:%d.%m.%Y %H:%M}"


def _money(rng: random.Random) -> str:
    return str(rng.randrange(1000, 10**7) / 100)


JOBS = {
    "word": Job(("name",), lambda rng: (_name(rng),), lambda cells: cells[0].split()[-1]),
    "repeated word": Job(
        ("name",),
        lambda rng: (f"{rng.choice(FIRST)} {rng.choice(LAST)}",),
        lambda cells: cells[0].split()[-1],
    ),
    "constant": Job(
        ("user",),
        lambda rng: (f"{_letters(rng, 5)}{rng.randrange(10**5)}",),
        lambda cells: f"https://example.org/u/{cells[0]}",
    ),
    "case": Job(
        ("mail",),
        lambda rng: (f"{_letters(rng, 5).title()}.{_letters(rng, 7).title()}@example.org",),
        _user,
    ),
    "two columns": Job(("first", "last"), _person, _initials),
    "part": Job(
        ("code",),
        lambda rng: (f"{_letters(rng, 3)}-{rng.randrange(10**4, 10**6)}-{_letters(rng, 2)}",),
        lambda cells: cells[0].split("-")[1],
    ),
    "number": Job(("amount",), lambda rng: (_money(rng),), lambda cells: f"{float(cells[0]):,.2f}"),
    "date": Job(("day",), lambda rng: (f"{date(2000, 1, 1) + _days(rng):%d/%m/%Y}",), _day),
    "date and time": Job(("time",), lambda rng: (f"{_moment(rng)}",), _hour),
}


def _days(rng: random.Random) -> timedelta:
    return timedelta(days=rng.randrange(9000))


def write_table(path: str, name: str, num_rows: int, num_examples: int, seed: int) -> None:
    """A table of random rows; the first have an answer, the column is missing if none has."""
    job, rng = JOBS[name], random.Random(seed)
    with open(path, "w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["id", *job.columns, "city", *([TARGET] if num_examples else [])])
        for i in range(num_rows):
            cells = [*job.make(rng), rng.choice(CITIES)]
            output = [job.answer(cells) if i < num_examples else ""] if num_examples else []
            writer.writerow([str(100_000 + i), *cells, *output])


def fill_by_hand(name: str, source: str, out: str) -> None:
    """The peer: fill the column of a table, or add it."""
    answer = JOBS[name].answer
    with (
        open(source, encoding="utf-8", newline="") as file,
        open(out, "w", encoding="utf-8", newline="") as written,
    ):
        reader, writer = csv.reader(file), csv.writer(written, lineterminator="\n")
        header = next(reader)
        width = len(header) - (header[-1] == TARGET)
        writer.writerow([*header[:width], TARGET])
        writer.writerows([*row[:width], answer(row[1:])] for row in reader)


if __name__ == "__main__":
    fill_by_hand(*sys.argv[1:])
