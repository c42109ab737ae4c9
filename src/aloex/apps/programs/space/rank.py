"""Programs of a version space in the order in which they are worth trying.

A program is right if it writes what the true program writes for the other inputs. So a program is
as probable as all programs together that write the same there. `for_inputs` knows the other inputs,
and ranks what can be written for them. `unseen` does not: it makes up several sets of inputs like
those of the examples. Its first program is the one that is right with the highest probability, the
next the one that is right most probably where the first fails, and so on.
"""

import re
from collections import Counter
from collections.abc import Sequence

import numpy as np

from aloex.apps.programs.language.run import Outputs
from aloex.apps.programs.language.syntax import Program
from aloex.apps.programs.space.behaviours import behaviours
from aloex.apps.programs.space.k_best import best
from aloex.apps.programs.space.score import Score
from aloex.apps.programs.space.version_space import VersionSpace

NUM_SETS, SET_SIZE, MAX_KEPT, MAX_CANDIDATES = 6, 6, 40, 60
TOKEN = re.compile(r"[^a-zA-Z0-9]?[a-zA-Z0-9]+|[^a-zA-Z0-9]")  # a word with the mark before it


def for_inputs(
    space: VersionSpace,
    score: Score,
    inputs: Sequence[str],
    k: int = 10,
    max_length: int | None = None,
) -> list[tuple[float, Program]]:
    """Up to k programs, one for each of the most probable behaviours, with its probability.

    Those that write more than `max_length` characters for an input are left out.
    """
    found, outputs_of = behaviours(space, score, inputs), Outputs(inputs)
    if max_length is not None:
        fits = lambda program: all(len(text or "") <= max_length for text in outputs_of(program))
        found = [each for each in found if fits(each.program)]
    total = sum(each.weight for each in found)
    ranked = [(each.weight / total, each.program) for each in found[:k]]
    return ranked or [(0.0, program) for _, program in best(space, k, score)]


def unseen(space: VersionSpace, score: Score, k: int = 10, seed: int = 0) -> list[Program]:
    """Up to k programs, the best first, for inputs that are not known."""
    texts = [x for x, _ in space.examples]
    found = _covering(space, score, k, imagined(texts, np.random.default_rng(seed)))
    return found or [program for _, program in best(space, k, score)]


def imagined(inputs: Sequence[str], rng: np.random.Generator) -> list[list[str]]:
    """Sets of inputs like these: their marks and words in another order, words exchanged."""
    cut = [TOKEN.findall(text) for text in inputs]
    words: dict[str, list[str]] = {}
    for token in (token for tokens in cut for token in tokens if len(token) > 1):
        words.setdefault(token[0], []).append(token)
    most: Counter[tuple[str, bool]] = Counter()  # of each mark, alone or before a word
    for tokens in cut:
        most |= Counter((token[0], len(token) > 1) for token in tokens)
    pool, longest = list(most.elements()), max(map(len, inputs))

    def one() -> str:
        order = [pool[i] for i in rng.permutation(len(pool))]
        parts = [words[m][rng.integers(len(words[m]))] if word else m for m, word in order]
        return "".join(parts)[:longest]

    return [[one() for _ in range(SET_SIZE)] for _ in range(NUM_SETS)]


def _covering(space: VersionSpace, score: Score, k: int, sets: list[list[str]]) -> list[Program]:
    """The programs that together are right with the highest probability, chosen greedily."""
    found = [behaviours(space, score, each, MAX_KEPT) for each in sets]
    weights: Counter[Program] = Counter()
    for each in found:
        weights.update({program: weight for weight, program in each})
    candidates = [program for program, _ in weights.most_common(MAX_CANDIDATES)]
    runs = [Outputs(each) for each in sets]
    behaves = [[tuple(outputs_of(program)) for outputs_of in runs] for program in candidates]
    left = [
        {tuple(outputs_of(program)): weight for weight, program in each}
        for outputs_of, each in zip(runs, found, strict=True)
    ]
    chosen = []
    for _ in range(min(k, len(candidates))):
        gains = [
            sum(known.get(texts, 0.0) for texts, known in zip(row, left, strict=True))
            for row in behaves
        ]
        top = max(range(len(gains)), key=gains.__getitem__)
        chosen.append(candidates.pop(top))
        for texts, known in zip(behaves.pop(top), left, strict=True):
            known.pop(texts, None)
    return chosen
