"""Fill a column from a few examples: `solve(examples, inputs)`.

The version space of the examples has many programs. The one that is shown writes what, weighed by
their scores, most of them write for the rows on which they differ. Others are drawn from the space
by their scores, and the share of them that write the same for a row says how sure it is.
"""

import math
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from aloex.apps.fill.language import CONSTANTS, Program, in_words, show
from aloex.apps.fill.space.behaviours import behaviours
from aloex.apps.fill.space.k_best import best
from aloex.apps.fill.space.outputs import Written
from aloex.apps.fill.space.sample import Sampler
from aloex.apps.fill.space.score import TABLES, Score
from aloex.apps.fill.space.version_space import VersionSpace
from aloex.base.errors import InputError, require

SURE = 0.9  # share of agreement below which a row is in doubt
NUM_AT_ONCE = 6  # examples that a space is built from; the others are checked, and added if need be
NUM_CANDIDATES = 50  # programs to choose from
NUM_TELLING = 12  # rows to compare programs on
ODD = 0.01  # least share of the programs that should apply to them
NUM_OTHERS = 4  # other outputs of a row that are told

Examples = Sequence[tuple[str, str]]


@dataclass(frozen=True)
class Row:
    """An input with what was written for it; None where the program does not apply."""

    input: str
    output: str | None
    share: float  # of drawn programs that write the same
    others: dict[str, float]  # what else they write, with shares

    @property
    def in_doubt(self) -> bool:
        return self.output is None or self.share < SURE


@dataclass(frozen=True)
class Solution:
    """The best program, what it writes, and how sure that is."""

    program: Program
    rows: list[Row]
    num_programs: int  # that fit the examples
    alternatives: list[tuple[Program, list[str | None]]] = field(default_factory=list)

    @property
    def outputs(self) -> list[str | None]:
        return [row.output for row in self.rows]

    def __str__(self) -> str:
        return in_words(self.program)

    def to_json(self) -> dict:
        """For programs."""
        return {
            "program": show(self.program),
            "words": in_words(self.program),
            "num_programs": self.num_programs,
            "rows": [
                {
                    "input": row.input,
                    "output": row.output,
                    "share": round(row.share, 4),
                    "in_doubt": row.in_doubt,
                    "others": {text: round(share, 4) for text, share in row.others.items()},
                }
                for row in self.rows
            ],
            "alternatives": [
                {"program": show(program), "words": in_words(program), "outputs": outputs}
                for program, outputs in self.alternatives
            ],
        }


def solve(
    examples: Examples,
    inputs: Sequence[str] = (),
    *,
    num_alternatives: int = 3,
    num_samples: int = 200,
    seed: int = 0,
    score: Score | Callable[[VersionSpace], Score] | None = None,
) -> Solution:
    """Find a program that fits the examples and fill in the outputs of `inputs`.

    Args:
        examples: pairs of input and output.
        inputs: the inputs without outputs.
        num_alternatives: how many other programs to show, which differ on some input.
        num_samples: how many programs vote.
        seed: of the draws.
        score: what makes a program good, or how to tell from the space; by default `score.TABLES`.

    Raises:
        InputError: no examples, two outputs for one input, or no program that fits.
    """
    require(num_samples > 0, f"num_samples must be positive, got {num_samples}")
    pairs = _checked(examples)
    found = _space(pairs, score or TABLES, num_samples, seed)
    space, drawn, written = found.space, found.drawn, Written(inputs)
    votes = [Counter(column) for column in zip(*map(written, drawn), strict=True)]
    candidates = _candidates(found, pairs, _telling(inputs, votes))
    program = candidates[0]
    rows = []
    for text, output, vote in zip(inputs, written(program), votes, strict=True):
        share = {y: n / len(drawn) for y, n in vote.most_common() if y is not None}
        own = 0.0 if output is None else share.pop(output, 0.0)
        rows.append(Row(text, output, own, dict(list(share.items())[:NUM_OTHERS])))
    others = _others(program, candidates, written, num_alternatives)
    return Solution(program, rows, space.count(), others)


def _checked(examples: Examples) -> list[tuple[str, str]]:
    """The examples without repeats; an error where no program could fit them."""
    require(len(examples) > 0, "there are no examples: give at least one input with its output")
    seen: dict[str, str] = {}
    for x, y in examples:
        require(y != "", f"the output of {x!r} is empty, and programs always write something")
        require(
            seen.setdefault(x, y) == y,
            f"the input {x!r} has two outputs, {seen[x]!r} and {y!r}; keep one of them",
        )
    return list(seen.items())


class _Found(NamedTuple):
    """A space, its score, and programs drawn from it that fit all examples."""

    space: VersionSpace
    score: Score
    drawn: list[Program]
    log_z: float  # of all of the space


def _space(pairs: list[tuple[str, str]], score, num_samples: int, seed: int) -> _Found:
    """The space of as many examples as it takes for draws, and the best, to fit all of them."""
    chosen = pairs[:NUM_AT_ONCE]
    written, wanted = Written([x for x, _ in pairs]), [y for _, y in pairs]
    while True:
        space = space_for(chosen)
        if not space:
            raise InputError(_why_not(chosen))
        own = score if isinstance(score, Score) else score(space)
        sampler = Sampler(space, own)
        drawn = sampler.draw(np.random.default_rng(seed), num_samples)
        top = best(space, 1, own)[0][1]
        columns = zip(*map(written, {*drawn, top}), strict=True)
        wrong = [sum(y != text for text in each) for y, each in zip(wanted, columns, strict=True)]
        if not any(wrong):
            return _Found(space, own, drawn, sampler.log_z)
        chosen = [*chosen, pairs[wrong.index(max(wrong))]]


def _telling(inputs: Sequence[str], votes: list[Counter]) -> list[str]:
    """The inputs that programs differ most on; those that most programs apply to come first."""
    most = sorted(zip(votes, inputs, strict=True), key=lambda pair: max(pair[0].values()))
    by_text = {x: vote[None] for vote, x in most}
    return sorted(list(by_text)[:NUM_TELLING], key=by_text.__getitem__)


def _candidates(found: _Found, pairs: Examples, inputs: list[str]) -> list[Program]:
    """The programs of the most probable behaviours, then the best ones; all fit the examples.

    Where next to none of the programs apply to all inputs, the odd ones among these are left out.
    """
    space, score, ranked = found.space, found.score, []
    for number in range(len(inputs), 0, -1):
        ranked = behaviours(space, score, inputs[:number])
        total = sum(each.weight for each in ranked)
        if total > 0 and math.log(total) >= math.log(ODD) + found.log_z:
            break
    written, wanted = Written([x for x, _ in pairs]), [y for _, y in pairs]
    programs = [program for _, program in (*ranked, *best(space, NUM_CANDIDATES, score))]
    return [program for program in dict.fromkeys(programs) if written(program) == wanted]


def space_for(pairs: Examples) -> VersionSpace:
    """The space with the characters of these very examples as constants, too."""
    inputs, outputs = zip(*pairs, strict=True)
    shared = sorted(set.intersection(*map(set, outputs)))
    marks = sorted(set.intersection(*map(set, inputs)))
    marks = [char for char in marks if not char.isalnum() and not char.isspace()]
    merged = lambda more: tuple(dict.fromkeys((*CONSTANTS, *more)))
    return VersionSpace(pairs, constants=merged(shared), tokens=merged(marks))


def _why_not(pairs: Examples) -> str:
    """That there is no program, and which example stands in the way, if it is only one."""
    message = (
        f"no program fits {'the example' if len(pairs) == 1 else f'all of {len(pairs)} examples'}; "
        "programs copy parts of the input and add fixed characters, they do not compute, "
        "change letters or tell cases apart"
    )
    for i, (x, y) in enumerate(pairs):
        rest = [*pairs[:i], *pairs[i + 1 :]]
        if len(rest) > 1 and space_for(rest):
            return f"{message}; without {x!r} -> {y!r} there would be one"
    return message


def _others(program: Program, candidates: list[Program], written: Written, number: int):
    """Programs that write something else than the chosen one, and than each other."""
    found = {tuple(written(program)): program}
    for other in candidates:
        found.setdefault(tuple(written(other)), other)
    return [(p, list(texts)) for texts, p in list(found.items())[1 : number + 1]]
