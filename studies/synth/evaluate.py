"""How often a model's programs are right: Top-k of a beam, on tasks with some public pairs.

Candidates are taken in their order, those that fail a public pair are dropped, and of the first k
left one must write the outputs of all the other pairs, too.
"""

import time
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from aloex.apps.programs.networks.programs import host
from aloex.apps.programs.networks.programs.grammar import PublicPairs
from aloex.apps.programs.networks.search.beam import Found, beam_search
from aloex.apps.programs.networks.search.joint_beam import Edited, joint_search
from aloex.apps.programs.networks.train.feed import gaps_of
from aloex.apps.programs.tasks import MAX_INPUT, MAX_OUTPUT
from aloex.apps.programs.tasks.tasks import NUM_PUBLIC, Task
from aloex.base.errors import require
from studies.synth.repairs import Judged, told

CHUNK = 500  # tasks at once
Search = Callable[[PublicPairs, int], Found | Edited]  # with a beam's width


class Texts(NamedTuple):
    """The examples of some tasks, as characters, and where their positions are."""

    inputs: np.ndarray  # uint8 [tasks, examples, 20]
    outputs: np.ndarray  # uint8 [tasks, examples, 50]
    gaps: np.ndarray  # int8 [tasks, examples, positions]

    def seen(self, num_public: int) -> PublicPairs:
        """The public examples, for a model."""
        shown = np.broadcast_to(np.arange(NUM_PUBLIC) < num_public, (len(self.inputs), NUM_PUBLIC))
        columns = (self.inputs, self.outputs, shown, self.gaps)
        return PublicPairs(*(jnp.asarray(column[:, :NUM_PUBLIC]) for column in columns))

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


def judge(texts: Texts, found: Found | Edited, num_public: int) -> Judged:
    """Run what was found on all pairs."""
    passed = texts.passed(np.asarray(found.codes))
    fit = passed[:, :, :num_public].all(axis=2) & np.isfinite(np.asarray(found.log_prob))
    return Judged(fit, fit & passed.all(axis=2))


def evaluate(
    search: Search,
    tasks: Sequence[Task],
    *,
    num_public: int = NUM_PUBLIC,
    wider: Sequence[int] = (),
) -> dict[str, Any]:
    """Top-1 Beam-1, Top-1 Beam-10 and Top-10 Beam-10, and what the edits did, if there were any.

    `ms_mean` is the time of the beam of 10 for a task among many, where there are enough of them
    to leave out the first, which wait for the compiler. Of wider beams only Top-1 is told.
    """
    require(1 <= num_public <= NUM_PUBLIC, f"1 to {NUM_PUBLIC} pairs are public, got {num_public}")
    require(all(width > 10 for width in wider), f"wider beams than 10 are asked for, got {wider}")
    require(len(tasks) > 0, "there are no tasks to evaluate on")
    parts, seconds = [], []
    for first in range(0, len(tasks), CHUNK):
        chunk = tasks[first : first + CHUNK]
        padded = [*chunk, *[chunk[-1]] * (min(CHUNK, len(tasks)) - len(chunk))]
        texts = encode([task.examples for task in padded])
        seen = texts.seen(num_public)
        narrow = jax.block_until_ready(search(seen, 1))
        began = time.monotonic()
        wide = jax.block_until_ready(search(seen, 10))
        seconds.append(time.monotonic() - began)
        start = Found(wide.start, wide.log_prob) if isinstance(wide, Edited) else wide
        more = [search(seen, width) for width in wider]
        judged = [judge(texts, x, num_public) for x in (narrow, wide, start, *more)]
        parts.append((wide, *judged))
    found, one, ten, start, *more = jax.tree.map(lambda *a: np.concatenate(a)[: len(tasks)], *parts)
    hits = {"top1_beam1": one.top(1), "top1_beam10": ten.top(1), "top10_beam10": ten.top(10)}
    hits |= {f"top1_beam{width}": x.top(1) for width, x in zip(wider, more, strict=True)}
    row = {"public_examples": num_public, "n_tasks": len(tasks)}
    row |= {name: float(hit.mean()) for name, hit in hits.items()}
    if len(seconds) > 1:
        row["ms_mean"] = 1000 * float(np.mean(seconds[1:])) / CHUNK
    return row | (told(tasks, found, ten, start) if isinstance(found, Edited) else {})


def by_beam(model: Any, *, prune: bool) -> Search:
    """A q0 alone."""
    return lambda seen, width: beam_search(model, seen, width=width, prune=prune)


def by_joint_beam(model: Any, editor: Any, *, prune: bool, until_fit: bool = False) -> Search:
    """A q0 and its editor."""
    how = {"prune": prune, "until_fit": until_fit}
    return lambda seen, width: joint_search(model, editor, seen, width=width, **how)
