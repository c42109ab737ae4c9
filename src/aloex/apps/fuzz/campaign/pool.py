"""The pool that mutants start from, with what is known of its inputs.

An input goes into the engine with its features, and with the bytes that a model expects in it. A
model takes time, so it is asked only of some of the inputs that are new by their hit counts alone.
What the target compares an input with, and what the input costs, is known when it has been traced.
Seeds are traced at once, what an epoch has found beside the mutants of the next.
"""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from aloex.apps.fuzz.execute import Executor, RunRecord, Task, run_together
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
    name: str  # its hash
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
        self._names = dict[int, str]()  # of inputs in the engine
        self._has_tracer = executor.target.tracer is not None

    def add_seeds(self, seeds: Sequence[Candidate]) -> list[Addition]:
        """Add all seeds, and trace them."""
        added = [self._add(seed) for seed in seeds]
        for records in run_together(self.traces(added), self.executor.num_workers):
            self.set_traces(added, records)
        self._ask_model(added[: max(0, MAX_SEEDS - self.engine.num_predicted)])
        return added

    def add_new(self, candidates: Sequence[Candidate]) -> list[Addition]:
        """Add those that have features which none before them had."""
        added = [self._add(c) for c in candidates if self.engine.news(c.features)[1]]
        chosen = list[Addition]()
        for addition in added:
            room = MODEL_SHARE * addition.candidate.number - self.engine.num_predicted
            if addition.new_edges or len(chosen) < room:
                chosen.append(addition)
        self._ask_model(chosen)
        return added

    def traces(self, added: Sequence[Addition]) -> list[Task[list[RunRecord]]]:
        """The task of tracing inputs; none if the target has no tracer."""
        if not self._has_tracer or not added:
            return []
        return [self.executor.traced([addition.candidate.data for addition in added])]

    def set_traces(self, added: Sequence[Addition], records: Sequence[RunRecord]) -> None:
        """Tell the engine what came of it."""
        for addition, record in zip(added, records, strict=True):
            if addition.place >= 0:
                self.engine.set_trace(addition.place, record.trace.edits, record.cost)
                self.engine.add_tokens(TokenKind.COMPARED, record.trace.tokens)

    def last_added(
        self, found: Sequence[tuple[int, str]], read: Callable[[str], bytes]
    ) -> list[Addition]:
        """What the last call of `add_new` has added, given by number and name.

        What found no place in the engine is read from where it is kept.
        """
        first = max(0, self.engine.num_inputs - len(found))
        places = {self._name_of(place): place for place in range(first, self.engine.num_inputs)}
        no_features, added = np.empty(0, np.uint32), list[Addition]()
        for number, name in found:
            place = places.get(name, -1)
            data = self.engine.input(place) if place >= 0 else read(name)
            added.append(Addition(Candidate(number, data, no_features), name, place, 0, 0))
        return added

    def about(self, addition: Addition) -> dict[str, Any]:
        """What the journal says of an input."""
        candidate, record = addition.candidate, addition.candidate.record
        about: dict[str, Any] = {"number": candidate.number, "input": addition.name}
        about |= {"new_edges": addition.new_edges, "new_features": addition.new_features}
        if record is not None:
            parent = self._name_of(record.parent)
            about |= {"from": parent, "operators": record.operators, "stack": record.stack}
        return about

    def _name_of(self, place: int) -> str:
        if place not in self._names:  # from before the campaign went on
            self._names[place] = hash_of(self.engine.input(place))
        return self._names[place]

    def _add(self, candidate: Candidate) -> Addition:
        news = self.engine.news(candidate.features)
        cost = candidate.record.cost if candidate.record is not None else 0
        if candidate.record is not None and self._has_tracer:  # a trace will tell; until then
            cost = max(cost, self.engine.cost(candidate.record.parent))
        place = self.engine.add(candidate.data, candidate.features, cost)
        name = self._names[place] = hash_of(candidate.data)
        return Addition(candidate, name, place, *news)

    def _ask_model(self, added: Sequence[Addition]) -> None:
        if self.likely is None:
            return
        added = [addition for addition in added if addition.place >= 0]
        tables = self.likely([addition.candidate.data for addition in added])
        for addition, table in zip(added, tables, strict=True):
            self.engine.set_likely(addition.place, table)
