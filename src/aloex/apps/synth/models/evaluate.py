"""How often a model's programs are right: Top-k of a beam, on tasks with some public pairs.

Candidates are taken in their order, those that fail a public pair are dropped, and of the first k
left one must write the outputs of all the other pairs, too.
"""

import time
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import jax.numpy as jnp
import numpy as np

from aloex.apps.synth.generate import MAX_INPUT, MAX_OUTPUT
from aloex.apps.synth.models import host
from aloex.apps.synth.models.beam import Found, beam_search
from aloex.apps.synth.models.feed import gaps_of
from aloex.apps.synth.models.grammar import Seen
from aloex.apps.synth.models.joint_beam import Edited, joint_search
from aloex.apps.synth.tasks import NUM_PUBLIC, Task
from aloex.errors import require

CHUNK = 500  # tasks at once
Search = Callable[[Seen, int], Found | Edited]  # with a beam's width


class Texts(NamedTuple):
    """The examples of some tasks, as characters, and where their positions are."""

    inputs: np.ndarray  # uint8 [tasks, examples, 20]
    outputs: np.ndarray  # uint8 [tasks, examples, 50]
    gaps: np.ndarray  # int8 [tasks, examples, positions]

    def seen(self, num_public: int) -> Seen:
        """The public examples, for a model."""
        shown = np.broadcast_to(np.arange(NUM_PUBLIC) < num_public, (len(self.inputs), NUM_PUBLIC))
        columns = (self.inputs, self.outputs, shown, self.gaps)
        return Seen(*(jnp.asarray(column[:, :NUM_PUBLIC]) for column in columns))

    def passed(self, codes: np.ndarray) -> np.ndarray:
        """Whether programs [tasks, programs, expressions] write each of the outputs."""
        right = np.zeros((*codes.shape[:2], self.inputs.shape[1]), bool)
        host.check_programs(codes.astype(np.int32), self.inputs, self.outputs, self.gaps, right)
        return right


def encode(examples: Sequence[Sequence[tuple[str, str]]]) -> Texts:
    """The examples of tasks as arrays; as many of each task."""
    column = lambda side, width, name: np.array(
        [[_codes(pair[side], width, name) for pair in task] for task in examples], np.uint8
    )
    inputs, outputs = column(0, MAX_INPUT, "input"), column(1, MAX_OUTPUT, "output")
    return Texts(inputs, outputs, gaps_of(inputs))


def _codes(text: str, width: int, name: str) -> list[int]:
    require(text.isascii(), f"the models know ASCII characters only, got the {name} {text!r}")
    require(
        0 < len(text) <= width,
        f"the models were trained on {name}s of 1 to {width} characters, got {text!r}",
    )
    return list(text.encode().ljust(width, b"\0"))


def evaluate(
    search: Search, tasks: Sequence[Task], *, num_public: int = NUM_PUBLIC
) -> dict[str, Any]:
    """Top-1 Beam-1, Top-1 Beam-10 and Top-10 Beam-10."""
    require(1 <= num_public <= NUM_PUBLIC, f"1 to {NUM_PUBLIC} pairs are public, got {num_public}")
    require(len(tasks) > 0, "there are no tasks to evaluate on")
    began = time.monotonic()
    right: dict[str, list[np.ndarray]] = {}
    for first in range(0, len(tasks), CHUNK):
        chunk = tasks[first : first + CHUNK]
        padded = [*chunk, *[chunk[-1]] * (min(CHUNK, len(tasks)) - len(chunk))]
        texts = encode([task.examples for task in padded])
        for width, tops in ((1, (1,)), (10, (1, 10))):
            found = search(texts.seen(num_public), width)
            for k in tops:
                hits = top(texts, found, k, num_public)[: len(chunk)]
                right.setdefault(f"top{k}_beam{width}", []).append(hits)
    shares = {name: float(np.concatenate(hits).mean()) for name, hits in right.items()}
    seconds = round(time.monotonic() - began, 1)
    return {"public_examples": num_public, "n_tasks": len(tasks), **shares, "seconds": seconds}


def top(texts: Texts, found: Found | Edited, k: int, num_public: int) -> np.ndarray:
    """For each task whether one of the first k programs that fit is right."""
    passed = texts.passed(np.asarray(found.codes))
    fit = passed[:, :, :num_public].all(axis=2) & np.isfinite(np.asarray(found.log_prob))
    counted = fit & (np.cumsum(fit, axis=1) <= k)
    return np.any(counted & passed.all(axis=2), axis=1)


def by_beam(model: Any, *, prune: bool) -> Search:
    """A q0 alone."""
    return lambda seen, width: beam_search(model, seen, width=width, prune=prune)


def by_joint_beam(model: Any, editor: Any, *, prune: bool) -> Search:
    """A q0 and its editor."""
    return lambda seen, width: joint_search(model, editor, seen, width=width, prune=prune)
