"""Atoms that copy a part of a cell: whole cells, matches, parts between separators, slices."""

import re
from collections import Counter
from collections.abc import Iterator, Sequence

from aloex.apps.fill.expressions.base import Expression, Row
from aloex.apps.fill.expressions.between import Between
from aloex.apps.fill.expressions.cases import Case
from aloex.apps.fill.expressions.patterns import compiled, spans
from aloex.apps.fill.expressions.text import Cell, Digits, Match, MatchNear, Split, digits_of
from aloex.apps.fill.search.atoms import Atom, atom, evaluate
from aloex.apps.fill.search.costs import Features
from aloex.apps.fill.search.texts.between import between
from aloex.apps.fill.search.texts.contexts import Contexts
from aloex.apps.fill.search.texts.names import with_names
from aloex.apps.fill.search.texts.slices import FORMS, ks, slices

MATCHED = (
    "word",
    "name",
    "number",
    "decimal",
    "alnum",
    "capitalized",
    "upper",
    "lower",
    "nonspace",
    "code",
    "signed",
    "email",
    "url",
    "tag",
)
NEAR = ("word", "number", "decimal", "alnum", "nonspace", "code", "capitalized")
WITH_PIECES = ("word", "number", "nonspace")
KEPT = (1, 2, 3, 4, -1, -2, -3, -4)
COMMON_WORDS = 6
MAX_DIGITS = 24  # of a cell whose digits are cut


def text_atoms(rows: Sequence[Row], outputs: Sequence[str]) -> list[Atom]:
    """Atoms of all columns."""
    found: list[Atom] = []
    for column in range(len(rows[0])):
        texts = [row[column] for row in rows]
        if not any(texts[: len(outputs)]):
            continue
        literals = literals_of(texts, len(outputs))
        contexts = Contexts(texts, len(outputs))
        copies = list(copied(column, texts, len(outputs), literals))
        copies += near(column, literals)
        copies += between(column, texts[: len(outputs)], literals)
        copies += digits(column, texts, outputs)
        written = [part for part in copies if _may_be_written(part.run(rows[0]), outputs[0])]
        cased = [Case(form, part) for part in written for form in FORMS[1:]]
        cased += [Case("swap", Cell(column)), Case("headline", Cell(column))]
        of_column: list[Atom] = []
        for each in evaluate([*copies, *cased], rows, outputs):
            more = {**_context(each, texts, contexts), "idle": each.features["idle"]}
            of_column.append(atom(each.expression, each.texts, more))
        of_column += slices(column, texts, outputs, literals, contexts)
        found += with_names(of_column, texts)
    return found


def _may_be_written(text: str | None, output: str) -> bool:
    """Whether a text is part of an output in some case."""
    return bool(text) and str(text).casefold() in output.casefold()


def _context(found: Atom, texts: Sequence[str], contexts: Contexts) -> Features:
    part = found.expression.part if isinstance(found.expression, Case) else found.expression
    if not isinstance(part, Between | Match | MatchNear | Split):
        return {}
    where = [part.span(text) or (-1, -1) for text in texts]
    starts, ends = [start for start, _ in where], [end for _, end in where]
    return {
        "new_context": contexts.new(starts, True) + contexts.new(ends, False),
        "cuts": contexts.cuts(starts) + contexts.cuts(ends),
    }


def literals_of(texts: Sequence[str], num_examples: int) -> list[str]:
    """Marks, runs of marks, and words with or without marks that all examples have in common."""
    examples, others = texts[:num_examples], texts[num_examples:]
    runs = [set(compiled("nonalnum").findall(text)) for text in examples]
    chars = [{char for char in text if not char.isalnum()} for text in examples]
    found = sorted(set.intersection(*runs) | set.intersection(*chars) - {" "})
    words = set.intersection(*map(_words, examples))
    counts = Counter(word for text in others for word in _words(text) & words)
    common = [word for word in sorted(words) if 2 * counts[word] >= len(others)]
    if num_examples == 1 and not others:
        common = []
    return [*found[:24], *sorted(common, key=len, reverse=True)[:COMMON_WORDS]]


_MARKED = re.compile(r"(?=(?<![^\W_])([^\W_]+[^\w\s]{1,3} ?))")


def _words(text: str) -> set[str]:
    """The words of a text, alone and with the marks behind them: id, id=."""
    return {*compiled("alnum").findall(text), *_MARKED.findall(text)}


def copied(
    column: int, texts: Sequence[str], num_examples: int, literals: Sequence[str]
) -> Iterator[Expression]:
    """The cell, its matches, and its parts between separators."""
    yield Cell(column)
    for pattern in MATCHED:
        most = min(len(spans(pattern, text)) for text in texts[:num_examples])
        for k in ks(most):
            yield Match(column, pattern, k)
            if pattern in WITH_PIECES:
                yield from (Match(column, pattern, k, keep) for keep in KEPT)
    for literal in dict.fromkeys([*literals, " ", *_marks(texts[:num_examples])]):
        if any(char.isalnum() for char in literal):
            continue
        most = min(text.count(literal) for text in texts[:num_examples]) + 1
        for k in ks(most):
            yield Split(column, literal, k)


def _marks(texts: Sequence[str]) -> list[str]:
    """Marks of some examples: a cell without them is its own first part."""
    return sorted({char for text in texts for char in text if compiled("mark").match(char)})[:12]


def near(column: int, literals: Sequence[str]) -> Iterator[Expression]:
    """Matches after and before the texts that all examples have."""
    for literal in literals:
        if literal.isspace():
            continue
        for pattern in NEAR:
            for after in (True, False):
                yield MatchNear(column, pattern, literal, after)
                yield MatchNear(column, pattern, literal, after, last=True)


def digits(column: int, texts: Sequence[str], outputs: Sequence[str]) -> Iterator[Expression]:
    """Digits of cells that have more than one number, cut by counting from either end."""
    if all(len(spans("number", text)) < 2 for text in texts):
        return
    found = [digits_of(text) for text in texts[: len(outputs)]]
    shortest, longest = min(map(len, found)), max(map(len, found))
    if not 0 < longest <= MAX_DIGITS:
        return
    for start in range(-shortest, shortest):
        stops = range(start + 1, shortest + 1) if start >= 0 else range(start + 1, 1)
        for stop in (*stops, *((-1, -2, -3, -4) if start >= 0 else ())):
            end = None if stop == 0 else stop
            if all(d[start:end] and d[start:end] in y for d, y in zip(found, outputs, strict=True)):
                yield Digits(column, start, end)
    yield Digits(column, 0, None)
