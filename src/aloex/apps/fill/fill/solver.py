"""Fill a column from a few examples: `solve(examples, inputs)`.

The version space of the examples holds many programs. Programs that write the same outputs for the
inputs behave alike, and the weights exp(score) of such programs are added up. `solve` shows the
best program of the heaviest behaviour. It also draws programs with these weights: the share of them
that write the same output for a row says how sure the row is.
"""

import math
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from aloex.apps.fill.language import Outputs, Program, in_words, show
from aloex.apps.fill.space import (
    TABLES,
    Sampler,
    Score,
    VersionSpace,
    behaviours,
    best,
    table_space,
)
from aloex.base.errors import InputError, require

SURE = 0.9  # smallest share of the drawn programs that must agree on a row; below it is in doubt
NUM_AT_ONCE = 6  # examples that a space is built from; the others are checked, and added if need be
NUM_CANDIDATES = 50  # programs to choose from
NUM_COMPARED = 12  # inputs to compare programs on
ODD = 0.01  # least share of the weight that must apply to all inputs that are compared
NUM_OTHERS = 4  # other outputs that a row reports

Examples = Sequence[tuple[str, str]]
ScoreOrMaker = Score | Callable[[VersionSpace], Score]


@dataclass(frozen=True)
class Row:
    """An input with its output; the output is None where the program does not apply."""

    input: str
    output: str | None
    share: float  # of the drawn programs that write the same output
    others: dict[str, float]  # other outputs of drawn programs, with their shares

    @property
    def in_doubt(self) -> bool:
        """Whether a person should look at the row."""
        return self.output is None or self.share < SURE


@dataclass(frozen=True)
class Solution:
    """The chosen program, its outputs, and programs that would write others."""

    program: Program
    rows: list[Row]
    num_programs: int  # that fit the examples
    alternatives: list[tuple[Program, list[str | None]]] = field(default_factory=list)

    @property
    def outputs(self) -> list[str | None]:
        """One output for each input."""
        return [row.output for row in self.rows]

    def __str__(self) -> str:
        return in_words(self.program)

    def to_json(self) -> dict[str, Any]:
        """The answer as JSON values, for other programs."""
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
    score: ScoreOrMaker | None = None,
) -> Solution:
    """Find a program that fits the examples, and write the outputs of `inputs`.

    Args:
        examples: pairs of input and output.
        inputs: the inputs without outputs.
        num_alternatives: how many other programs to return; each writes another output somewhere.
        num_samples: how many programs are drawn to vote on each row.
        seed: of the draws.
        score: rates programs; or a function that makes a score for a space. Default: `TABLES`.

    Returns:
        The program, a row for each input, and the alternatives.

    Raises:
        InputError: no examples, two outputs for one input, or no program that fits.

    Example:
        >>> from aloex.apps.fill import solve
        >>> examples = [("Ada Lovelace", "Lovelace"), ("Alan Turing", "Turing")]
        >>> solve(examples, ["Grace Hopper"]).outputs
        ['Hopper']
    """
    require(num_samples > 0, f"num_samples must be positive, got {num_samples}")
    pairs = _checked(examples)
    found = _space(pairs, score or TABLES, num_samples, seed)
    drawn, outputs_of = found.drawn, Outputs(inputs)
    votes = [Counter(column) for column in zip(*map(outputs_of, drawn), strict=True)]
    candidates = _candidates(found, pairs, _most_disputed(inputs, votes))
    program = candidates[0]
    rows = []
    for text, output, vote in zip(inputs, outputs_of(program), votes, strict=True):
        share = {y: n / len(drawn) for y, n in vote.most_common() if y is not None}
        own = 0.0 if output is None else share.pop(output, 0.0)
        rows.append(Row(text, output, own, dict(list(share.items())[:NUM_OTHERS])))
    others = _alternatives(program, candidates, outputs_of, num_alternatives)
    return Solution(program, rows, found.space.count(), others)


def _checked(examples: Examples) -> list[tuple[str, str]]:
    """The examples without repeats; an error where no program could fit them."""
    require(len(examples) > 0, "there are no examples: give at least one input with its output")
    outputs: dict[str, str] = {}
    for x, y in examples:
        require(y != "", f"the output of {x!r} is empty, and programs always write something")
        require(
            outputs.setdefault(x, y) == y,
            f"the input {x!r} has two outputs, {outputs[x]!r} and {y!r}; keep one of them",
        )
    return list(outputs.items())


class _Found(NamedTuple):
    """A space, its score, and programs drawn from it that fit all examples."""

    space: VersionSpace
    score: Score
    drawn: list[Program]
    log_z: float  # log of the weight of all programs in the space


def _space(
    pairs: list[tuple[str, str]], score: ScoreOrMaker, num_samples: int, seed: int
) -> _Found:
    """The space of as many examples as it takes for draws, and the best, to fit all of them."""
    chosen = pairs[:NUM_AT_ONCE]
    outputs_of, wanted = Outputs([x for x, _ in pairs]), [y for _, y in pairs]
    while True:
        space = table_space(chosen)
        if not space:
            raise InputError(_why_not(chosen))
        own = score if isinstance(score, Score) else score(space)
        sampler = Sampler(space, own)
        drawn = sampler.draw(np.random.default_rng(seed), num_samples)
        top = best(space, 1, own)[0][1]
        columns = zip(*map(outputs_of, {*drawn, top}), strict=True)
        wrong = [sum(y != text for text in each) for y, each in zip(wanted, columns, strict=True)]
        if not any(wrong):
            return _Found(space, own, drawn, sampler.log_z)
        chosen = [*chosen, pairs[wrong.index(max(wrong))]]


def _most_disputed(inputs: Sequence[str], votes: list[Counter[str | None]]) -> list[str]:
    """The inputs on which programs differ most; those to which most programs apply come first."""
    by_agreement = sorted(zip(votes, inputs, strict=True), key=lambda pair: max(pair[0].values()))
    not_applying = {x: vote[None] for vote, x in by_agreement}
    return sorted(list(not_applying)[:NUM_COMPARED], key=not_applying.__getitem__)


def _candidates(found: _Found, pairs: Examples, inputs: list[str]) -> list[Program]:
    """The programs of the heaviest behaviours, then the best ones; all of them fit the examples.

    Behaviours are compared on as many inputs as possible, from the first on. If the programs that
    apply to all of them have less than a share `ODD` of the weight, the last input is left out.
    """
    space, score, ranked = found.space, found.score, []
    for number in range(len(inputs), 0, -1):
        ranked = behaviours(space, score, inputs[:number])
        total = sum(each.weight for each in ranked)
        if total > 0 and math.log(total) >= math.log(ODD) + found.log_z:
            break
    outputs_of, wanted = Outputs([x for x, _ in pairs]), [y for _, y in pairs]
    programs = [program for _, program in (*ranked, *best(space, NUM_CANDIDATES, score))]
    return [program for program in dict.fromkeys(programs) if outputs_of(program) == wanted]


def _why_not(pairs: Examples) -> str:
    """That there is no program, and which example stands in the way, if it is only one."""
    message = (
        f"no program fits {'the example' if len(pairs) == 1 else f'all of {len(pairs)} examples'}; "
        "programs copy parts of the input and add fixed characters, they do not compute, "
        "change letters or tell cases apart"
    )
    for i, (x, y) in enumerate(pairs):
        rest = [*pairs[:i], *pairs[i + 1 :]]
        if len(rest) > 1 and table_space(rest):
            return f"{message}; without {x!r} -> {y!r} there would be one"
    return message


def _alternatives(program: Program, candidates: list[Program], outputs_of: Outputs, number: int):
    """Programs whose outputs differ from those of the chosen one, and from each other's."""
    found = {tuple(outputs_of(program)): program}
    for other in candidates:
        found.setdefault(tuple(outputs_of(other)), other)
    return [(p, list(texts)) for texts, p in list(found.items())[1 : number + 1]]
