"""Names of months and weekdays in seven languages, to be read and to be written."""

import unicodedata

# language -> twelve months, their abbreviations, seven weekdays from Monday, their abbreviations
_TABLE = {
    "en": (
        "january february march april may june july august september october november december",
        "jan feb mar apr may jun jul aug sep oct nov dec",
        "monday tuesday wednesday thursday friday saturday sunday",
        "mon tue wed thu fri sat sun",
    ),
    "de": (
        "januar februar märz april mai juni juli august september oktober november dezember",
        "jan feb mär apr mai jun jul aug sep okt nov dez",
        "montag dienstag mittwoch donnerstag freitag samstag sonntag",
        "mo di mi do fr sa so",
    ),
    "fr": (
        "janvier février mars avril mai juin juillet août septembre octobre novembre décembre",
        "janv févr mars avr mai juin juil août sept oct nov déc",
        "lundi mardi mercredi jeudi vendredi samedi dimanche",
        "lun mar mer jeu ven sam dim",
    ),
    "es": (
        "enero febrero marzo abril mayo junio julio agosto septiembre octubre noviembre diciembre",
        "ene feb mar abr may jun jul ago sep oct nov dic",
        "lunes martes miércoles jueves viernes sábado domingo",
        "lun mar mié jue vie sáb dom",
    ),
    "it": (
        "gennaio febbraio marzo aprile maggio giugno luglio agosto settembre ottobre novembre "
        "dicembre",
        "gen feb mar apr mag giu lug ago set ott nov dic",
        "lunedì martedì mercoledì giovedì venerdì sabato domenica",
        "lun mar mer gio ven sab dom",
    ),
    "nl": (
        "januari februari maart april mei juni juli augustus september oktober november december",
        "jan feb mrt apr mei jun jul aug sep okt nov dec",
        "maandag dinsdag woensdag donderdag vrijdag zaterdag zondag",
        "ma di wo do vr za zo",
    ),
    "pt": (
        "janeiro fevereiro março abril maio junho julho agosto setembro outubro novembro dezembro",
        "jan fev mar abr mai jun jul ago set out nov dez",
        "segunda-feira terça-feira quarta-feira quinta-feira sexta-feira sábado domingo",
        "seg ter qua qui sex sáb dom",
    ),
}

KINDS = ("month_name", "month_abbr", "weekday_name", "weekday_abbr")

# (kind, language) -> the names; a name of month m is at [m - 1], of ISO weekday w at [w - 1]
NAMES = {
    (kind, language): tuple(line.split())
    for language, lines in _TABLE.items()
    for kind, line in zip(KINDS, lines, strict=True)
}

LANGUAGES = {
    "en": "English",
    "de": "German",
    "fr": "French",
    "es": "Spanish",
    "it": "Italian",
    "nl": "Dutch",
    "pt": "Portuguese",
}

_MORE_ENGLISH = {"sept": 9, "febr": 2}
_MORE_WEEKDAYS = {"tues": 2, "weds": 3, "thur": 4, "thurs": 4, "sonnabend": 6}


def _spellings(kind: str, languages: tuple[str, ...]) -> dict[str, int]:
    """Every name, with and without its accents -> its number."""
    spellings: dict[str, int] = {}
    for language in languages:
        for number, name in enumerate(NAMES[kind, language], start=1):
            plain = "".join(
                c for c in unicodedata.normalize("NFD", name) if c.isalpha() or c == "-"
            )
            for spelling in (name, plain):
                spellings.setdefault(spelling, number)
    return spellings


_ALL = tuple(_TABLE)
# English abbreviations and full names of every language: read wherever they stand.
MONTHS = _spellings("month_name", _ALL) | _spellings("month_abbr", ("en",)) | _MORE_ENGLISH
# Other abbreviations are words of other languages too ("set", "out", "ago"): read beside a number.
WEAK_MONTHS = {
    name: number for name, number in _spellings("month_abbr", _ALL).items() if name not in MONTHS
}
WEEKDAYS = _spellings("weekday_name", _ALL) | _spellings("weekday_abbr", ("en",)) | _MORE_WEEKDAYS


def _writers() -> dict[str, tuple[tuple[str, str], ...]]:
    found: dict[str, list[tuple[str, str]]] = {}
    for (kind, language), names in NAMES.items():
        for name in names:
            found.setdefault(name, []).append((kind, language))
    return {name: tuple(each) for name, each in found.items()}


# name -> the (kind, language) of each list that has it
LISTS_WITH_NAME = _writers()
