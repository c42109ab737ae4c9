"""What the page's text says of two lines: who is ahead, and who is not told apart.

All comparisons with the same number of inputs are one family: their p values are adjusted together,
by Holm's method. A test holds every claim against the rows.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

from studies.fuzz.compare import best_edits, edges_of, versus
from studies.statistics import holm

Line = tuple[str, str]  # method, mode; at the number of edits that is best for it
ALPHA = 0.05
ALL = ("libpng", "openjpeg", "mpeg2dec")
TWO = ("libpng", "openjpeg")
BEST, ADAPTIVE = ("aloe", "best"), ("aloe", "adaptive")
UNIFORM, NUMBERS, OTHER_SEED = ("uniform", "plain"), ("numbers", "plain"), ("other-seed", "plain")
NO_MODEL = ("no-model", "adaptive")


class Claim(NamedTuple):
    """Two lines; whether the first is ahead, or else not told apart from the second."""

    one: Line
    other: Line
    targets: Sequence[str] = ALL
    is_ahead: bool = True
    inputs: int = 10_000


FEEDBACK = [
    Claim((method, "adaptive"), (rival, "feedback"))
    for method in ("aloe", "masked", "no-model")
    for rival in ("libfuzzer", "aflpp")
]
CLAIMS = [
    *FEEDBACK,
    # With so few trials no test can tell after the correction, even if all are ahead of all.
    *(claim._replace(inputs=100_000, is_ahead=False) for claim in FEEDBACK),
    *(Claim(ADAPTIVE, (method, "adaptive"), is_ahead=False) for method in ("masked", "no-model")),
    *(
        Claim(NO_MODEL, (method, "adaptive"), targets, is_ahead, 1000)
        for method in ("aloe", "masked")
        for targets, is_ahead in ((["libpng"], True), (["openjpeg", "mpeg2dec"], False))
    ),
    Claim(ADAPTIVE, BEST, ["libpng", "mpeg2dec"]),
    Claim(ADAPTIVE, BEST, ["openjpeg"], is_ahead=False),
    Claim(BEST, OTHER_SEED, TWO),
    *(Claim(BEST, line, ["libpng"]) for line in (UNIFORM, NUMBERS)),
    *(Claim(BEST, line, ["openjpeg", "mpeg2dec"], is_ahead=False) for line in (UNIFORM, NUMBERS)),
    Claim(BEST, ("rnn-ebm", "mixed"), ["libpng", "mpeg2dec"]),
    Claim(BEST, ("rnn-ebm", "mixed"), ["openjpeg"], is_ahead=False),
    *(
        Claim(BEST, (method, mode), TWO)
        for method in ("ade", "learn-and-fuzz")
        for mode in ("mixed", "paper")
    ),
    Claim(BEST, ("cd", "mixed"), ["libpng"]),
    Claim(BEST, ("cd", "mixed"), ["openjpeg"], is_ahead=False),
    Claim(BEST, ("cd", "paper"), ["openjpeg"]),
    Claim(BEST, ("cd", "paper"), ["libpng"], is_ahead=False),
    Claim(BEST, ("ade", "best"), ["openjpeg"]),
    Claim(BEST, ("ade", "best"), ["libpng", "mpeg2dec"], is_ahead=False),
    *(
        Claim(BEST, (method, "best"), is_ahead=False)
        for method in ("cd", "masked", "learn-and-fuzz", "aloe-window")
    ),
    Claim(("aloe", "mixed"), ("rnn-ebm", "mixed"), TWO, is_ahead=False),
    *(
        Claim(UNIFORM, (method, "paper"), ["openjpeg", "mpeg2dec"])
        for method in ("aloe", "cd", "ade", "learn-and-fuzz")
    ),
    Claim(("aloe", "paper"), ("cd", "paper"), ["libpng"], is_ahead=False),
]


class Test(NamedTuple):
    """What came of one comparison on one target."""

    claim: Claim
    target: str
    p_value: float  # adjusted
    a12: float  # the chance that a trial of the first beats one of the second

    __test__ = False  # not for pytest


def tests(rows: list[dict[str, Any]], claims: Sequence[Claim] = tuple(CLAIMS)) -> list[Test]:
    """Every comparison that there are rows of, with p adjusted for those of its family."""
    found = []
    for inputs in sorted({claim.inputs for claim in claims}):
        family = []
        for target in sorted({row["target"] for row in rows}):
            edges = edges_of(rows, target, inputs)
            best = best_edits(edges)
            for claim in claims:
                lines = claim.one, claim.other
                there = claim.inputs == inputs and target in claim.targets
                if there and all(line in best for line in lines):
                    result = versus(*(edges[best[line]] for line in lines))
                    family.append(Test(claim, target, *result))
        adjusted = holm([test.p_value for test in family])
        found += [test._replace(p_value=p) for test, p in zip(family, adjusted, strict=True)]
    return found


@dataclass(frozen=True)
class PValues:
    """Adjusted p values as the text asks for them: values["aloe best, cd best"]."""

    rows: list[dict[str, Any]]
    inputs: int = 10_000

    @cached_property
    def tests(self) -> list[Test]:
        return tests(self.rows)

    def __getitem__(self, lines: str) -> str:
        asked = tuple(tuple(line.split()) for line in lines.split(", "))
        said = [
            f"{test.p_value:.2g} on {test.target}"
            for test in self.tests
            if (test.claim.one, test.claim.other, test.claim.inputs) == (*asked, self.inputs)
        ]
        return f"p {', '.join(said)}" if said else "p unknown"
