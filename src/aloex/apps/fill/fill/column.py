"""Fill a column: find programs for its examples, let them vote on every other row."""

import math
from array import array
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import overload

from aloex.apps.fill.expressions.base import Expression, Row
from aloex.apps.fill.fill.confidence import SURE, Limits
from aloex.apps.fill.fill.program import Program
from aloex.apps.fill.fill.votes import Votes
from aloex.apps.fill.search.solve import search
from aloex.apps.fill.search.vote import Candidate, ranked, rows_to_look_at
from aloex.base.errors import InputError, require

AT_ONCE = 4  # examples that the search begins with; others are checked, and added if need be
MAX_EXAMPLE = 50_000  # characters of a row and its output that the search begins with
VOTERS = 8  # programs that vote on rows
ENOUGH = 0.995  # of the probability; programs after that do not vote
NUM_OTHERS = 4  # other answers that a row reports
MAX_TABLE = 1000  # rows that tell which columns have few different cells


@dataclass(frozen=True)
class Answer:
    """What a row gets: None where no program applies."""

    text: str | None
    confidence: float  # share of the votes for it; 1 for examples
    others: dict[str, float]  # other answers and their shares

    @property
    def in_doubt(self) -> bool:
        """Whether a person should look at the row."""
        return self.text is None or self.confidence < SURE


class Answers(Sequence[Answer]):
    """The answers of all rows: each is made when it is asked for, since there may be millions.

    Args:
        make: makes that of a row.
        texts: of all of them.
    """

    def __init__(self, make: Callable[[int], Answer], texts: Sequence[str | None]):
        self.make, self.texts = make, texts
        self.confidence = array("d", (make(i).confidence for i in range(len(texts))))

    def __len__(self) -> int:
        return len(self.texts)

    @overload
    def __getitem__(self, i: int) -> Answer: ...
    @overload
    def __getitem__(self, i: slice) -> list[Answer]: ...
    def __getitem__(self, i: int | slice) -> Answer | list[Answer]:
        places = range(len(self.texts))[i]
        return self.make(places) if isinstance(places, int) else list(map(self.make, places))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sequence) and list(self) == list(other)

    def __repr__(self) -> str:
        return repr(list(self))


@dataclass(frozen=True)
class Filled:
    """A filled column.

    Args:
        answers: one for each row; examples keep their text.
        program: the program that agrees best with the vote.
        alternatives: other programs that fit the examples, the likeliest first.
        examples: the rows that had an output.
    """

    answers: Answers
    program: Program
    alternatives: list[Program]
    examples: list[int]

    @property
    def values(self) -> list[str]:
        """The whole column; "" where no program applies."""
        return [text or "" for text in self.answers.texts]

    @property
    def confidence(self) -> list[float]:
        """How sure each row is, from 0 to 1."""
        return list(self.answers.confidence)

    @cached_property
    def in_doubt(self) -> list[int]:
        """The rows that a person should look at."""
        pairs = zip(self.answers.texts, self.answers.confidence, strict=True)
        return [i for i, (text, share) in enumerate(pairs) if text is None or share < SURE]

    @property
    def sure(self) -> bool:
        """Whether no row is in doubt."""
        return not self.in_doubt

    @cached_property
    def ask_next(self) -> int | None:
        """The row whose answer would tell most; None if no row is in doubt."""
        if not self.in_doubt:
            return None
        return max(self.in_doubt, key=lambda i: (_entropy(self.answers[i]), -i))


def fill_column(
    rows: Sequence[Row],
    outputs: Sequence[str | None],
    columns: Sequence[str],
    progress: Callable[[int], None] = lambda num_rows: None,
) -> Filled:
    """Fill the outputs that are None.

    Args:
        rows: the cells of each row.
        outputs: one for each row.
        columns: the names of the cells.
        progress: is told now and then for how many rows the programs have voted.

    Raises:
        InputError: there are no examples, they contradict each other, or no program fits them.
    """
    examples = _examples(rows, outputs)
    candidates = _search(rows, outputs, examples)
    if not candidates:
        raise InputError(
            f"no program fits the {len(examples)} examples: tried parts of the cells, numbers, "
            "dates, conditions with up to 3 cases and memorised tables"
        )
    voters = _voters(candidates)
    votes = Votes(voters, rows, progress)
    best = votes.best()
    texts = votes.texts[best]
    limits = Limits(
        voters[best][1],
        [rows[i] for i in examples],
        [str(outputs[i]) for i in examples],
        rows[:MAX_TABLE],
    )
    filled = [text if given is None else given for given, text in zip(outputs, texts, strict=True)]
    own = list(rows), list(outputs)  # answers are made later, and the caller's may change
    answers = Answers(partial(_answer_of, *own, votes, best, limits), filled)
    names = tuple(columns)
    others = [Program(program, names) for i, (_, program) in enumerate(voters) if i != best]
    return Filled(answers, Program(voters[best][1], names), others, examples)


def _examples(rows: Sequence[Row], outputs: Sequence[str | None]) -> list[int]:
    """The rows with an output, each input once."""
    first: dict[Row, int] = {}
    for i, (row, output) in enumerate(zip(rows, outputs, strict=True)):
        if output is None:
            continue
        j = first.setdefault(row, i)
        require(
            outputs[j] == output,
            f"rows {j + 1} and {i + 1} contradict each other: the same input {row!r} has the "
            f"outputs {outputs[j]!r} and {output!r}; correct one of them",
        )
    require(len(first) > 0, "no row has an output: fill in two or three by hand")
    return list(first.values())


def _search(
    rows: Sequence[Row], outputs: Sequence[str | None], examples: list[int]
) -> list[Candidate]:
    """Programs that fit all examples, found from as few of them as it takes."""
    short = [i for i in examples if len("".join(rows[i])) + len(outputs[i] or "") <= MAX_EXAMPLE]
    require(
        len(short) > 0, f"all examples are longer than {MAX_EXAMPLE:,} characters; give a short one"
    )
    chosen = short[:AT_ONCE]
    given = set(examples)
    others = [i for i in range(len(rows)) if i not in given]
    while True:
        order = [*chosen, *others]
        looked_at = [rows[order[i]] for i in rows_to_look_at([rows[i] for i in order], len(chosen))]
        wanted = [str(outputs[i]) for i in chosen]
        candidates = ranked(search(looked_at, wanted), looked_at, len(chosen))
        fits, wrong = [], dict.fromkeys(examples, 0)
        for candidate in candidates:
            misses = [i for i in examples if candidate.program.run(rows[i]) != outputs[i]]
            fits += [] if misses else [candidate]
            for i in misses:
                wrong[i] += 1
        if fits or not candidates or len(chosen) == len(short):
            return fits
        # Twice as many each time, so that a long list of examples takes few searches.
        left = sorted((i for i in short if i not in chosen), key=lambda i: -wrong[i])
        chosen = [*chosen, *left[: len(chosen)]]


def _voters(candidates: list[Candidate]) -> list[tuple[float, Expression]]:
    """The likeliest programs, with probabilities that add up to 1."""
    chosen, total = [], 0.0
    for candidate in candidates[:VOTERS]:
        chosen.append(candidate)
        total += candidate.probability
        if total >= ENOUGH * sum(each.probability for each in candidates):
            break
    return [(each.probability / total, each.program) for each in chosen]


def _answer_of(
    rows: Sequence[Row],
    outputs: Sequence[str | None],
    votes: Votes,
    best: int,
    limits: Limits,
    i: int,
) -> Answer:
    """The answer of a row; that of an example is given."""
    output, text = outputs[i], votes.texts[best][i]
    if output is not None:
        return Answer(output, 1.0, {})
    return _answer(rows[i], text, votes.shares(i), limits)


def _answer(row: Row, text: str | None, share: dict[str | None, float], limits: Limits) -> Answer:
    others = {t: s for t, s in share.items() if t is not None and t != text}
    likeliest = dict(sorted(others.items(), key=lambda item: -item[1])[:NUM_OTHERS])
    own = 0.0 if text is None else share.get(text, 0.0)
    return Answer(text, limits(row, text, own), likeliest)


def _entropy(answer: Answer) -> float:
    shares = [answer.confidence, *answer.others.values()]
    return -sum((p * math.log(p) for p in shares if p > 0), 0.0)
