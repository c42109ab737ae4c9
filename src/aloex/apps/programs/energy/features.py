"""Features of the energy: numbers for each position, each kind of SubStr and the task as a whole.

They come from the inputs at hand, those of the examples and those still to be filled: how often
each character or regex is found in them. Two of the numbers are the log probabilities with which
the generator of tasks draws a ConstTok and a RegexTok for these inputs (`space.score.Prior`).
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from aloex.apps.programs.language.run import spans
from aloex.apps.programs.language.syntax import MAX_K, ConstPos, ConstTok, Pos, RegexTok
from aloex.apps.programs.space.score import Prior
from aloex.apps.programs.space.version_space import PLAIN_REGEXES, Pairs, VersionSpace

NUM_INPUTS = 10  # of a task; with fewer at hand a program must also fit some that are not seen
MAX_INPUTS = 20  # more are not looked at
MAX_SLACK = 3  # matches beyond the k-th that are told apart
MAX_LENGTH = 4  # of copied texts told apart
NUM_KINDS = 2 * MAX_LENGTH  # of SubStr: in order or crossed, by the shortest text

TYPE, REGEX, GAP, COUNT, SLACK = np.cumsum([0, 3, len(PLAIN_REGEXES), 2 * MAX_K + 1, MAX_K + 2])
MEAN_SLACK = SLACK + MAX_SLACK + 1
GENERATOR_LOG_PROB = MEAN_SLACK + 1
NUM_GLOBAL = 6
NUM_POSITION = GENERATOR_LOG_PROB + 1 + NUM_GLOBAL


class Context:
    """The inputs of a task, and what is found in them."""

    def __init__(self, space: VersionSpace, inputs: Sequence[str] = ()):
        public = [x for x, _ in space.examples]
        self.texts = [*public, *inputs][:MAX_INPUTS]
        self.found: dict[object, np.ndarray] = {}
        prior, lengths = Prior(self.texts), [*map(len, self.texts)]
        # With which the generator draws one such position: minus the log of how many there are.
        self.generator_log_prob = {ConstTok: prior.const_tok / 5, RegexTok: prior.regex / 5}
        self.task = np.array(
            [
                *self.generator_log_prob.values(),
                max(NUM_INPUTS - len(self.texts), 0) / NUM_INPUTS,
                min(len(public), 4) / 4,
                float(np.mean(lengths)) / 20,
                _distinct(space),
            ],
            np.float32,
        )

    def counts(self, pos: Pos) -> np.ndarray:
        """How often each input has what a RegPos looks for."""
        what = pos.char if isinstance(pos, ConstTok) else getattr(pos, "regex", None)
        key = type(pos), what
        if key not in self.found:
            self.found[key] = np.array([len(spans(pos, text)) for text in self.texts])
        return self.found[key]

    def lacking(self, pos: Pos) -> bool:
        """Whether an input lacks the position."""
        return not isinstance(pos, ConstPos) and int(self.counts(pos).min()) < abs(pos.k)

    def positions(self, positions: Sequence[Pos]) -> np.ndarray:
        """A row of features for each position."""
        rows = np.zeros((len(positions), NUM_POSITION), np.float32)
        for row, pos in zip(rows, positions, strict=True):
            if isinstance(pos, ConstPos):
                row[TYPE] = row[GAP + pos.k + MAX_K] = 1
                continue
            if isinstance(pos, RegexTok):
                row[TYPE + 1] = row[REGEX + PLAIN_REGEXES.index(pos.regex)] = 1
            else:
                row[TYPE + 2] = 1
            counts = self.counts(pos)
            row[GENERATOR_LOG_PROB] = self.generator_log_prob[type(pos)]
            row[COUNT + abs(pos.k) - 1] = 1
            row[COUNT + MAX_K] = pos.k < 0
            row[COUNT + MAX_K + 1] = pos.direct == "End"
            row[SLACK + min(max(int(counts.min()) - abs(pos.k), 0), MAX_SLACK)] = 1
            row[MEAN_SLACK] = (counts.mean() - abs(pos.k)) / 4
        rows[:, -NUM_GLOBAL:] = self.task
        return rows


def kinds(pairs: Pairs) -> np.ndarray:
    """The kind of the SubStr of each pair of classes."""
    return kind(pairs.crossed, pairs.shortest)


def kind(crossed: Any, shortest: Any) -> Any:
    """The same from its parts, numbers or arrays."""
    return MAX_LENGTH * crossed + np.minimum(shortest, MAX_LENGTH) - 1


def _distinct(space: VersionSpace) -> float:
    """How probable it is that two positions differ in all examples."""
    sizes = np.array([len(positions) for positions in space.classes], float)
    differ = (space.gaps[:, None] != space.gaps).all(axis=2)
    return float(sizes @ differ @ sizes / sizes.sum() ** 2)
