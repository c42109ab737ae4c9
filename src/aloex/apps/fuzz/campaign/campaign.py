"""A campaign: run the seeds, then mutants in batches, and keep what covers something new.

    journal.jsonl   the settings, then a line per batch, see `record.py`
    corpus/         inputs with new coverage; the name is the input's hash
    crashes/        inputs that failed, see `crashes.py`

A mutant may start from the seeds and, if the campaign grows, from what was found before its batch;
batches begin at multiples of their size. A mutator that learns knows the notes on the batches
before, which are in the journal, too. So a campaign is a function of its settings. It may be
killed at any moment and goes on after its last whole batch: the files of a batch are written first,
then the line that tells of them.
"""

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

from aloex.apps.fuzz.campaign.crashes import MAX_KEPT, Crashes, place
from aloex.apps.fuzz.campaign.journal import Journal
from aloex.apps.fuzz.campaign.record import Record
from aloex.apps.fuzz.execute.executor import Executor, Failure, Outcomes
from aloex.apps.fuzz.inputs import seeds as seed_files
from aloex.apps.fuzz.inputs.seeds import hash_of
from aloex.apps.fuzz.mutate.mutators import Learner, Mutants, Mutator
from aloex.apps.fuzz.target.target import Target
from aloex.base.errors import AloexError, CheckpointError, InputError, require
from aloex.base.files import write_file
from aloex.base.signals import StopSignals

BATCH = 4000  # mutants
MAX_BYTES = 1 << 28  # of mutants in memory, about

# Tells of an input by its place in a batch: its bytes, and whose mutant it is by which edits.
Describe = Callable[[int], tuple[bytes, dict[str, Any]]]


class Campaign:
    """A campaign in a folder, new or to be gone on with; use it in a `with` block.

    Args:
        target: what to run.
        mutator: makes the mutants.
        seeds: inputs to start from.
        out: the folder.
        settings: what describes the mutator, in plain JSON values. A campaign is not gone on with
            if they have changed, or the target, the seeds or an argument below but `workers`.
        grow: whether mutants start from what was found, too.
        batch: mutants from one growth to the next.
        workers, timeout, memory_mb: as of `Executor`.
    """

    def __init__(
        self,
        target: Target,
        mutator: Mutator,
        seeds: Sequence[bytes],
        out: Path,
        *,
        settings: dict[str, Any],
        grow: bool = True,
        batch: int = BATCH,
        workers: int | None = None,
        timeout: float = 1.0,
        memory_mb: int = 2048,
    ):
        require(batch >= 1, f"a batch must have at least one mutant, got {batch}")
        self.target, self.mutator, self.seeds, self.out = target, mutator, list(seeds), out
        self.grow, self.batch = grow, batch
        self.settings = {
            "target": target.name,
            "library": hash_of(target.library.read_bytes()),
            "seeds": seed_files.fingerprint(self.seeds),
            **settings,
            **{"grow": grow, "batch": batch, "timeout": timeout, "memory_mb": memory_mb},
        }
        self.executor = Executor(target, workers=workers, timeout=timeout, memory_mb=memory_mb)
        try:
            with writing_to(out):
                (out / "corpus").mkdir(parents=True, exist_ok=True)
                self.journal = Journal(out / "journal.jsonl", self.settings)
                for path in (out / "corpus").glob(".*.writing"):  # of a process that was killed
                    path.unlink()
        except BaseException:
            self.executor.close()
            raise
        self.record = Record(len(self.seeds))
        self.crashes = Crashes(out / "crashes", target)
        for row in self.journal.rows:
            features = np.array([f for x in row["found"] for f in x["features"]], np.int64)
            np.bitwise_or.at(self.executor.seen, features // 8, np.uint8(1) << features % 8)
            self.record.add(row)

    def __enter__(self) -> "Campaign":
        return self

    def __exit__(self, *_) -> None:
        self.executor.close()
        self.journal.close()

    def run(
        self,
        *,
        num_inputs: int | None = None,
        max_seconds: float | None = None,
        on_batch: Callable[[Record], None] = lambda record: None,
    ) -> bool:
        """Go on until there were so many mutants or seconds; False if interrupted before.

        Both count from the campaign's beginning. `on_batch` is called after each batch. The batch
        that an interrupt cuts short is run again next time.
        """
        record = self.record
        try:
            with StopSignals(at_once=True) as signals:
                if not record.curve:
                    with self._whole_batch():
                        self._run_seeds()
                    on_batch(record)
                self._start_pool()
                while not (signals.received or _is_over(record, num_inputs, max_seconds)):
                    with self._whole_batch():
                        self._run_mutants(num_inputs)
                    on_batch(record)
                return not signals.received
        except KeyboardInterrupt:
            return False

    @contextmanager
    def _whole_batch(self) -> Iterator[None]:
        """What a batch covered is forgotten again if its line was not written."""
        seen, num_rows = self.executor.seen.copy(), self.record.num_rows
        try:
            yield
        finally:
            if self.record.num_rows == num_rows:
                self.executor.seen[:] = seen

    def _run_seeds(self) -> None:
        start = time.monotonic()
        outcomes = self.executor.run(self.seeds, full=self._learns)
        self._save(-len(self.seeds), 0, outcomes, lambda i: (self.seeds[i], {}), start)

    @property
    def _learns(self) -> bool:
        return isinstance(self.mutator, Learner)

    def _start_pool(self) -> None:
        """What mutants may start from: at first, the seeds that did not fail."""
        record = self.record
        good = [x for i, x in enumerate(self.seeds) if i not in record.failing_seeds]
        if not any(good):
            bug = next(iter(record.bugs), "none has a byte")
            raise InputError(
                f"none of the {len(self.seeds)} seeds can be used: {self.target.name} fails on "
                f"them ({bug}); see {self.out / 'crashes'}, and give seeds that it takes"
            )
        self._pool, self._names = good, [hash_of(x) for x in good]
        self._num_seen = 0  # of what was found
        self._num_learned = 0  # notes
        if isinstance(self.mutator, Learner):
            self.mutator.forget()

    def _grow_pool(self, before: int) -> None:
        """Add what was found before a mutant."""
        while self.grow and self._num_seen < len(self.record.found):
            found = self.record.found[self._num_seen]
            if found["number"] >= before:
                break
            if found["number"] >= 0:  # the seeds are in
                self._pool.append(read_input(self.out / "corpus" / found["input"]))
                self._names.append(found["input"])
            self._num_seen += 1

    def _learn(self, before: int) -> None:
        """Take in the notes on what was run before a mutant."""
        notes = self.record.notes
        while self._num_learned < len(notes) and notes[self._num_learned][0] <= before:
            assert isinstance(self.mutator, Learner)
            self.mutator.learn(notes[self._num_learned][1])
            self._num_learned += 1

    def _run_mutants(self, num_inputs: int | None) -> None:
        """A batch, or what is left of it; a part of it if it is too large for the memory."""
        start, first = time.monotonic(), self.record.num_run
        begin = first // self.batch * self.batch
        self._grow_pool(before=begin)
        self._learn(before=begin)
        fitting = first + 1 + MAX_BYTES // max(1, int(np.mean([len(x) for x in self._pool])))
        stop = min(begin + self.batch, fitting, fitting if num_inputs is None else num_inputs)
        mutants = self.mutator.mutate(self._pool, first, stop - first)
        outcomes = self.executor.run(mutants.inputs, full=self._learns)
        origin = lambda i: {"from": self._names[mutants.origin[i]], **mutants.about(i)}
        describe = lambda i: (mutants.input(i), origin(i))
        self._save(first, stop, outcomes, describe, start, mutants)

    def _save(
        self,
        first: int,
        stop: int,
        outcomes: Outcomes,
        describe: Describe,
        start: float,
        mutants: Mutants | None = None,
    ) -> None:
        """Write the files of a batch, then its line."""
        with writing_to(self.out):
            found = []
            for i in np.flatnonzero(outcomes.new_features).tolist():
                data, origin = describe(i)
                write_file(self.out / "corpus" / hash_of(data), data)
                new = {"new_edges": int(outcomes.new_edges[i])}
                new |= {"features": outcomes.new_features_of(i).tolist()}
                found.append({"number": first + i, "input": hash_of(data), **origin, **new})
            failed = self._triage(first, outcomes.failures, describe)
            seconds = round(self.record.seconds + time.monotonic() - start, 4)
            row = {"stop": stop, "seconds": seconds, "found": found, "failed": failed}
            if isinstance(self.mutator, Learner):
                # The pool: seeds that did not fail, then what was found.
                is_added = outcomes.status == 0 if mutants is None else outcomes.new_features > 0
                added = np.flatnonzero(is_added).tolist()
                row["note"] = self.mutator.observe(outcomes, added, mutants)
            with StopSignals() as signals:  # what is written and what we know stay the same
                self.journal.append(row)
                self.record.add(row)
        if signals.received:
            raise KeyboardInterrupt

    def _triage(self, first: int, failures: list[Failure], describe: Describe) -> list[dict]:
        """Which bugs they are; some of each place are kept and looked at closely, at a cost."""
        places, rows = dict(self.record.places), []
        for failure in failures:
            bug, count = places.get(place(failure), ("", 0))
            row = {"number": first + failure.index, "place": place(failure), "bug": bug}
            if count < MAX_KEPT:
                data, origin = describe(failure.index)
                row |= {**asdict(self.crashes.add(data, failure)), **origin}
            places[place(failure)] = bug or row["bug"], count + 1
            rows.append(row)
        return rows


def _is_over(record: Record, num_inputs: int | None, max_seconds: float | None) -> bool:
    enough = num_inputs is not None and record.num_run >= num_inputs
    return enough or (max_seconds is not None and record.seconds >= max_seconds)


def read_input(path: Path) -> bytes:
    """An input from the corpus, if it is as it was written."""
    try:
        data = path.read_bytes()
    except OSError as error:
        raise CheckpointError(
            f"{path}, which the journal tells of, cannot be read: {error.strerror}; put it back, "
            "or start again in another folder"
        ) from None
    if hash_of(data) != path.name:
        raise CheckpointError(
            f"{path} is not as it was written; put it back, or start again in another folder"
        )
    return data


@contextmanager
def writing_to(folder: Path) -> Iterator[None]:
    """Tells of a full disk and its like in one line."""
    try:
        yield
    except OSError as error:
        raise AloexError(
            f"cannot write to {folder}: {error.strerror}; mend that and repeat the command: "
            "it goes on after the last whole batch"
        ) from None
