"""What stands behind one row of an imitated table: a person, a place, a day, an order, a file.

A record has many small fields; cells are layouts of some of them, so that several columns of a row
speak of the same thing, and a program that copies a whole field is one that somebody might want.
"""

import random
from datetime import datetime, timedelta

Record = dict[str, str]


def _items(text: str, between: str = " ") -> list[str]:
    """A list that is easier to read as one text."""
    return text.split(between)


FIRST = _items(
    "Anna Boris Carla Dmitri Elif Farid Greta Hugo Ines Jamal Kirsten Luca Mira Nils Olga Pablo "
    "Quinn Rosa Stefan Tara Ugo Vera Wim Ximena Yusuf Zoe Al Bo Jean-Luc Anne-Marie Jo Maximilian",
)
LAST = _items(
    "Berger,Castro,Dahl,Eriksen,Fontaine,Gupta,Hansen,Ivanova,Jones,Kowalski,Lopez,Moreau,Nakamura,"
    "Olsen,Petrov,Quist,Rossi,Smith,Tanaka,Ueda,Varga,Weber,Xu,Yilmaz,Zimmer,O'Neill,van Dyk,"
    "de la Cruz,Smith-Jones,Li",
    ",",
)
CITIES = _items(
    "Aarhus,Boston,Cork,Delft,Erfurt,Fargo,Graz,Houston,Ipswich,Jena,Kyoto,Leeds,Malmo,Nice,Oslo,"
    "Porto,Reno,Salem,Turin,Utica,Vaduz,Wells,York,New York,San Jose,Salt Lake City,Le Mans,"
    "Stratford-upon-Avon",
    ",",
)
STATES = _items("AL CA CO FL GA IL MA NV NY OH OR PA TX UT WA")
COUNTRIES = _items("France,Germany,Japan,Norway,Spain,United States,New Zealand,Chile,Kenya", ",")
STREETS = _items(
    "Main St,Oak Ave,Mill Road,Station Road,High Street,Elm Dr,Park Lane,Old Mill Lane,5th Ave,"
    "Church Street,Martin Luther King Blvd",
    ",",
)
NOUNS = _items(
    "lamp chair table hose kettle bottle cable shirt jacket filter mouse screen pump valve brush "
    "garden report budget plan invoice photo sample notes draft summary",
)
ADJECTIVES = _items("red blue small large old new steel round wide soft heavy spare final annual")
UNITS = _items("kg g cm mm km l ml lb oz pcs")
LEVELS = _items("INFO WARN ERROR DEBUG")
STATUS = _items("open closed paid shipped new cancelled pending")
FOLDERS = _items("home data docs src var tmp share archive raw 2021 users projects public")
EXTENSIONS = _items("txt csv pdf png jpg docx xlsx json tar.gz py")
TOP = _items("com org net de co.uk io edu fr")


def record(rng: random.Random) -> Record:
    """All fields of one row."""
    return {**_person(rng), **_place(rng), **_moment(rng), **_thing(rng), **_file(rng)}


def _person(rng: random.Random) -> Record:
    first, last = rng.choice(FIRST), rng.choice(LAST)
    plain = last.lower().replace(" ", "").replace("'", "")
    user = rng.choice([f"{first.lower()}.{plain}", f"{first[0].lower()}{plain}", first.lower()])
    digits = "".join(rng.choices("0123456789", k=10))
    return {
        "first": first,
        "last": last,
        "middle": rng.choice(FIRST),
        "initial": rng.choice("ABCDEFGHJKLMNPRSTW"),
        "title": rng.choice(["Mr.", "Ms.", "Dr.", "Prof."]),
        "suffix": rng.choice(["Jr.", "PhD", "MD", "III"]),
        "user": user + (str(rng.randint(1, 99)) if rng.random() < 0.2 else ""),
        "host": rng.choice(NOUNS) + rng.choice(["", "-" + rng.choice(NOUNS), "mail"]),
        "top": rng.choice(TOP),
        "area": digits[:3],
        "exchange": digits[3:6],
        "line": digits[6:],
        "ext": str(rng.randint(1, 999)),
        "land": str(rng.choice([1, 33, 44, 49, 353])),
        "age": str(rng.randint(16, 90)),
        "gender": rng.choice(["male", "female"]),
    }


def _place(rng: random.Random) -> Record:
    return {
        "city": rng.choice(CITIES),
        "state": rng.choice(STATES),
        "country": rng.choice(COUNTRIES),
        "zip": f"{rng.randint(1000, 99999):05d}",
        "street": rng.choice(STREETS),
        "house": str(rng.randint(1, rng.choice([30, 400, 9999]))),
        "flat": str(rng.randint(1, 40)),
    }


def _moment(rng: random.Random) -> Record:
    time = datetime(1995, 1, 1) + timedelta(minutes=rng.randrange(60 * 24 * 365 * 29))
    second = rng.randrange(60)
    return {
        "yyyy": f"{time:%Y}",
        "yy": f"{time:%y}",
        "mm": f"{time:%m}",
        "m": str(time.month),
        "dd": f"{time:%d}",
        "d": str(time.day),
        "mon": f"{time:%b}",
        "month": f"{time:%B}",
        "wday": f"{time:%a}",
        "weekday": f"{time:%A}",
        "HH": f"{time:%H}",
        "h": str((time.hour + 11) % 12 + 1),
        "MM": f"{time:%M}",
        "SS": f"{second:02d}",
        "half": "AM" if time.hour < 12 else "PM",
    }


def _thing(rng: random.Random) -> Record:
    whole = rng.randint(1, 10 ** rng.randint(1, 5))
    cents = rng.randrange(100)
    return {
        "noun": rng.choice(NOUNS),
        "other": rng.choice(NOUNS),
        "adjective": rng.choice(ADJECTIVES),
        "verb": rng.choice(["started", "failed", "checked", "moved", "sent"]),
        "whole": str(whole),
        "grouped": f"{whole:,}",
        "cents": f"{cents:02d}",
        "tenth": str(rng.randrange(10)),
        "thousandths": f"{rng.randrange(1000):03d}",
        "small": str(rng.randint(1, 20)),
        "percent": str(rng.randint(0, 100)),
        "unit": rng.choice(UNITS),
        "currency": rng.choice(["USD", "EUR", "GBP"]),
        "sign": "-" if rng.random() < 0.3 else "",
        "AB": "".join(rng.choices("ABCDEFGHKLMNPRSTUVWXYZ", k=2)),
        "ABC": "".join(rng.choices("ABCDEFGHKLMNPRSTUVWXYZ", k=3)),
        "code": str(rng.randint(1, 10 ** rng.choice([2, 4, 4, 6]))),
        "code4": f"{rng.randrange(10000):04d}",
        "hex": f"{rng.randrange(16**6):06x}",
        "status": rng.choice(STATUS),
        "level": rng.choice(LEVELS),
        "major": str(rng.randint(0, 12)),
        "minor": str(rng.randint(0, 30)),
        "patch": str(rng.randint(0, 9)),
    }


def _file(rng: random.Random) -> Record:
    return {
        "folder": rng.choice(FOLDERS),
        "folder2": rng.choice(FOLDERS),
        "folder3": rng.choice(FOLDERS),
        "file": rng.choice(NOUNS) + rng.choice(["", "_v2", "-final", str(rng.randint(1, 30))]),
        "extension": rng.choice(EXTENSIONS),
        "ip": ".".join(str(rng.randrange(256)) for _ in range(4)),
    }
