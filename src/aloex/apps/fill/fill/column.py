"""Fill a column: find programs for its examples, let them vote on every other row."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from aloex.apps.fill.expressions.base import Expression, Row
from aloex.apps.fill.fill.confidence import Limits
from aloex.apps.fill.fill.program import Program
from aloex.apps.fill.search.solve import search
from aloex.apps.fill.search.vote import Candidate, ranked, rows_to_look_at
from aloex.base.errors import InputError, require

SURE = 0.9  # least confidence of a row that is not in doubt
AT_ONCE = 4  # examples that the search begins with; others are checked, and added if need be
VOTERS = 8  # programs that vote on rows
ENOUGH = 0.995  # of the probability; programs after that do not vote
NUM_OTHERS = 4  # other answers that a row reports


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


@dataclass(frozen=True)
class Filled:
    """A filled column.

    Args:
        answers: one for each row; examples keep their text.
        program: the program that agrees best with the vote.
        alternatives: other programs that fit the examples, the likeliest first.
        examples: the rows that had an output.
    """

    answers: list[Answer]
    program: Program
    alternatives: list[Program]
    examples: list[int]

    @property
    def values(self) -> list[str]:
        """The whole column; "" where no program applies."""
        return [answer.text or "" for answer in self.answers]

    @property
    def confidence(self) -> list[float]:
        """How sure each row is, from 0 to 1."""
        return [answer.confidence for answer in self.answers]

    @property
    def in_doubt(self) -> list[int]:
        """The rows that a person should look at."""
        return [i for i, answer in enumerate(self.answers) if answer.in_doubt]

    @property
    def sure(self) -> bool:
        """Whether no row is in doubt."""
        return not self.in_doubt

    @property
    def ask_next(self) -> int | None:
        """The row whose answer would tell most; None if no row is in doubt."""
        if not self.in_doubt:
            return None
        return max(self.in_doubt, key=lambda i: (_entropy(self.answers[i]), -i))


def fill_column(
    rows: Sequence[Row], outputs: Sequence[str | None], columns: Sequence[str]
) -> Filled:
    """Fill the outputs that are None.

    Args:
        rows: the cells of each row.
        outputs: one for each row.
        columns: the names of the cells.

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
    texts = [_texts(program, rows) for _, program in voters]
    shares = _shares([p for p, _ in voters], texts)
    agreement = [sum(s.get(t, 0) for s, t in zip(shares, column, strict=True)) for column in texts]
    best = max(range(len(voters)), key=lambda i: (agreement[i], -i))
    limits = Limits(
        voters[best][1], [rows[i] for i in examples], [str(outputs[i]) for i in examples]
    )
    answers = [
        Answer(output, 1.0, {}) if output is not None else _answer(text, share, limits(row, text))
        for row, output, text, share in zip(rows, outputs, texts[best], shares, strict=True)
    ]
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
    chosen = examples[:AT_ONCE]
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
        if fits or not candidates or len(chosen) == len(examples):
            return fits
        chosen = [*chosen, max(wrong, key=lambda i: wrong[i])]


def _voters(candidates: list[Candidate]) -> list[tuple[float, Expression]]:
    """The likeliest programs, with probabilities that add up to 1."""
    chosen, total = [], 0.0
    for candidate in candidates[:VOTERS]:
        chosen.append(candidate)
        total += candidate.probability
        if total >= ENOUGH * sum(each.probability for each in candidates):
            break
    return [(each.probability / total, each.program) for each in chosen]


def _texts(program: Expression, rows: Sequence[Row]) -> list[str | None]:
    known: dict[Row, str | None] = {}
    for row in rows:
        if row not in known:
            known[row] = program.run(row)
    return [known[row] for row in rows]


def _shares(
    probabilities: list[float], texts: list[list[str | None]]
) -> list[dict[str | None, float]]:
    """For each row the answers with their shares of the votes."""
    shares = []
    for answers in zip(*texts, strict=True):
        share: dict[str | None, float] = {}
        for probability, answer in zip(probabilities, answers, strict=True):
            share[answer] = share.get(answer, 0.0) + probability
        shares.append(share)
    return shares


def _answer(text: str | None, share: dict[str | None, float], limit: float) -> Answer:
    others = {t: s for t, s in share.items() if t is not None and t != text}
    likeliest = dict(sorted(others.items(), key=lambda item: -item[1])[:NUM_OTHERS])
    own = 0.0 if text is None else share.get(text, 0.0)
    return Answer(text, min(own, limit), likeliest)


def _entropy(answer: Answer) -> float:
    shares = [answer.confidence, *answer.others.values()]
    return -sum(p * math.log(p) for p in shares if p > 0)
