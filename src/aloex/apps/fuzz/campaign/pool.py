"""The pool that mutants start from, with what is known of its inputs.

An input goes into the engine with its features, then with what the target compared it with, and
with the bytes that a model expects in it. A model takes time, so it is asked only of some of the
inputs that are new by their hit counts alone.
"""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from aloex.apps.fuzz.execute import Executor, RunRecord
from aloex.apps.fuzz.inputs import hash_of
from aloex.apps.fuzz.native import Engine, TokenKind

MODEL_SHARE = 0.05  # a model is asked of as many of all mutants, beside those with new edges
MAX_SEEDS = 500  # that a model is asked of

Likely = Callable[[Sequence[bytes]], list[NDArray[Any]]]  # arrays of `LIKELY`, one for an input


class Candidate(NamedTuple):
    """An input that may be new."""

    number: int  # of the mutant; negative: a seed
    data: bytes
    features: NDArray[np.uint32]
    record: RunRecord | None = None  # of a mutant


class Addition(NamedTuple):
    """What a candidate added."""

    candidate: Candidate
    place: int  # in the pool; -1: it is full
    new_edges: int
    new_features: int


class Pool:
    """Adds inputs to an engine.

    Args:
        engine: the engine.
        executor: traces compares.
        likely: asks a model; None: there is none.
    """

    def __init__(self, engine: Engine, executor: Executor, likely: Likely | None):
        self.engine, self.executor, self.likely = engine, executor, likely

    def add_seeds(self, seeds: Sequence[Candidate]) -> list[Addition]:
        """Add all seeds."""
        added = [self._add(seed) for seed in seeds]
        self._trace(added)
        self._ask_model(added[: max(0, MAX_SEEDS - self.engine.num_predicted)])
        return added

    def add_new(self, candidates: Sequence[Candidate]) -> list[Addition]:
        """Add those that have features which none before them had."""
        added = [self._add(c) for c in candidates if self.engine.news(c.features)[1]]
        self._trace(added)
        chosen = list[Addition]()
        for addition in added:
            room = MODEL_SHARE * addition.candidate.number - self.engine.num_predicted
            if addition.new_edges or len(chosen) < room:
                chosen.append(addition)
        self._ask_model(chosen)
        return added

    def about(self, addition: Addition) -> dict[str, Any]:
        """What the journal says of an input."""
        candidate, record = addition.candidate, addition.candidate.record
        about: dict[str, Any] = {"number": candidate.number, "input": hash_of(candidate.data)}
        about |= {"new_edges": addition.new_edges, "new_features": addition.new_features}
        if record is not None:
            parent = hash_of(self.engine.input(record.parent))
            about |= {"from": parent, "operators": record.operators, "stack": record.stack}
        return about

    def _add(self, candidate: Candidate) -> Addition:
        news = self.engine.news(candidate.features)
        cost = candidate.record.cost if candidate.record is not None else 0
        place = self.engine.add(candidate.data, candidate.features, cost)
        return Addition(candidate, place, *news)

    def _trace(self, added: Sequence[Addition]) -> None:
        if self.executor.target.tracer is None:
            return
        added = [addition for addition in added if addition.place >= 0]
        records = self.executor.trace([addition.candidate.data for addition in added])
        for addition, record in zip(added, records, strict=True):
            self.engine.set_trace(addition.place, record.trace.edits, record.cost)
            self.engine.add_tokens(TokenKind.COMPARED, record.trace.tokens)

    def _ask_model(self, added: Sequence[Addition]) -> None:
        if self.likely is None:
            return
        added = [addition for addition in added if addition.place >= 0]
        tables = self.likely([addition.candidate.data for addition in added])
        for addition, table in zip(added, tables, strict=True):
            self.engine.set_likely(addition.place, table)
