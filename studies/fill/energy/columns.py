"""Columns as people have them: layouts of records, with optional parts, odd rows and noise.

In a layout `{first}` is a field, `{first:1}` its first letter, and `« {middle}»` is there in some
of the rows.
"""

import random
import re
from collections.abc import Sequence
from typing import NamedTuple

from studies.fill.energy.records import Record

# kind -> (headers, layouts)
LAYOUTS: dict[str, tuple[str, str]] = {
    "name": (
        "name,full name,customer",
        "{first}« {middle}» {last}|{first}« {initial}.» {last}|{last}, {first}« {initial}.»|"
        "«{title} »{first} {last}|{first} {last}«, {suffix}»|{first:1}. {last}|{first}|{last}",
    ),
    "mail": ("e-mail,mail,contact", "{user}@{host}.{top}|{first} {last} <{user}@{host}.{top}>"),
    "phone": (
        "phone,tel,fax",
        "({area}) {exchange}-{line}« ext. {ext}»|{area}-{exchange}-{line}« x{ext}»|"
        "+{land} {area} {exchange} {line}|{area}.{exchange}.{line}|"
        "«+{land} »{area} {exchange}{line}",
    ),
    "address": (
        "address,location,ship to",
        "{house} {street}, {city}, {state} {zip}|{house} {street}«, Apt {flat}», {city}|"
        "{city}, {state}« {zip}»|{zip} {city}|{street} {house}, {zip} {city}, {country}|"
        "{city} ({country})|{city}|{house} {street}|{city}, {country}",
    ),
    "date": (
        "date,day,created,due",
        "{yyyy}-{mm}-{dd}|{mm}/{dd}/{yyyy}|{dd}.{mm}.{yyyy}|{d} {month} {yyyy}|{mon} {d}, {yyyy}|"
        "{dd}/{mm}/{yyyy}|{m}/{d}/{yy}|{wday}, {dd} {mon} {yyyy}|{yyyy}{mm}{dd}|"
        "{yyyy}-{mm}-{dd}« {HH}:{MM}»|{yyyy}-{mm}-{dd}T{HH}:{MM}:{SS}|{d}-{mon}-{yyyy}|"
        "{month} {d}, {yyyy} {h}:{MM} {half}|due {dd}.{mm}.{yyyy}",
    ),
    "time": ("time,start,at", "{HH}:{MM}|{h}:{MM} {half}|{HH}:{MM}:{SS}|{HH}.{MM} Uhr"),
    "amount": (
        "amount,price,total",
        "{whole}.{cents}|${whole}.{cents}|{grouped}.{cents}|{sign}{whole}.{cents} {currency}|"
        "{whole},{cents} EUR|{sign}{whole}|{currency} {grouped}|{whole}.{thousandths}|{small}|"
        "{percent}%|{whole}«.{tenth}» {unit}|{small} x {whole}.{cents}|{age}",
    ),
    "code": (
        "code,id,order,SKU",
        "{AB}-{code}|{ABC}-{code4}-{AB}|{AB}{code4}|#{code}|{yyyy}-{code4}|{code}/{yy}|"
        "{ABC}_{code}«_{AB}»|order {code} ({status})|{ABC}-{code}-{state}-{major}|{code}|{hex}|"
        "v{major}.{minor}«.{patch}»|{ABC}{major}:{code}",
    ),
    "path": (
        "path,file,link",
        "/{folder}/{folder2}«/{folder3}»/{file}.{extension}|{file}.{extension}|"
        "C:\\{folder}\\{folder2}\\{file}.{extension}|https://{host}.{top}/{folder}«/{folder2}»|"
        "https://www.{host}.{top}/{folder}?id={code}«&page={small}»|{folder}/{file}",
    ),
    "log": (
        "line,message,event",
        "{yyyy}-{mm}-{dd} {HH}:{MM}:{SS} {level} {host}: {noun} {verb}|"
        "[{level}] {noun} {verb} after {code} ms|{ip} - {user} [{d}/{mon}/{yyyy}] {code}|"
        "{level}:{host}:{noun} {verb}« ({code})»|{noun} {verb} by {user} at {HH}:{MM}",
    ),
    "text": (
        "item,note,comment,product",
        "{adjective} {noun}|{adjective} {noun}, {small} {unit}|{noun} ({adjective})|{noun}|"
        "{adjective} {noun}« and {other}»|{small} {unit} {noun}|{noun}, {other}«, {adjective}»|"
        "the {noun} in {city}« is {adjective}»|{noun}: {status}|{noun}_{other}|{noun}-{adjective}",
    ),
    "status": ("status,state,type", "{status}|{gender}|{level}|{currency}|{state}"),
}
OFTEN = {"name": 3.0, "date": 2.5, "code": 2.5, "amount": 3.0, "address": 1.5, "path": 1.5}
MISSING = ("", "", "n/a", "-")


class Table(NamedTuple):
    """Rows of cells, and what stands behind each."""

    kinds: tuple[str, ...]
    columns: tuple[str, ...]
    rows: list[tuple[str, ...]]
    records: list[Record]
    odd: frozenset[int]  # rows in which something is missing


def table(rng: random.Random, records: Sequence[Record]) -> Table:
    """One to three columns of these records."""
    names = list(LAYOUTS)
    weights = [OFTEN.get(name, 1.0) for name in names]
    count = rng.choices([1, 2, 3], [0.72, 0.22, 0.06])[0]
    kinds = tuple(rng.choices(names, weights, k=count))
    cells = [_column(rng, kind, records) for kind in kinds]
    odd: set[int] = set()
    if rng.random() < 0.1:  # something is missing in one row or two
        for i in rng.sample(range(len(records)), rng.choice([1, 1, 2])):
            rng.choice(cells)[i] = rng.choice(MISSING)
            odd.add(i)
    headers = tuple(rng.choice(LAYOUTS[kind][0].split(",")) for kind in kinds)
    rows = list(zip(*cells, strict=True))
    return Table(kinds, headers, rows, list(records), frozenset(odd))


def _column(rng: random.Random, kind: str, records: Sequence[Record]) -> list[str]:
    layouts = LAYOUTS[kind][1].split("|")
    layout, other = rng.choice(layouts), rng.choice(layouts)
    strange = 0.2 if rng.random() < 0.08 else 0.0  # rows in another layout
    often = rng.choice([0.15, 0.4, 0.7])  # how often an optional part is there
    cells = [
        _written(other if rng.random() < strange else layout, each, rng, often) for each in records
    ]
    noise = rng.random()
    if noise < 0.04:
        cells = [rng.choice([cell, cell.upper(), cell.lower()]) for cell in cells]
    elif noise < 0.08:
        cells = [rng.choice(["", " ", "  "]) + cell + rng.choice(["", " "]) for cell in cells]
    elif noise < 0.1:
        cells = [cell.replace(" ", rng.choice([" ", "  "])) for cell in cells]
    return cells


def _written(layout: str, each: Record, rng: random.Random, often: float) -> str:
    """A layout filled in."""
    keep = lambda m: m[1] if rng.random() < often else ""
    layout = re.sub("«(.*?)»", keep, layout)
    cut = lambda m: each[m[1]][: 1 if m[2] else None]
    return re.sub(r"\{(\w+)(:1)?\}", cut, layout)
