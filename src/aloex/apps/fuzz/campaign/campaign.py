"""A campaign: run the seeds, then mutants in batches, and keep what covers something new.

    journal.jsonl   the settings, then a line for each batch, see `record.py`
    corpus/         inputs with new coverage; the name is the input's hash
    crashes/        inputs that failed, see `crashes.py`

A mutant may start from the seeds and, if the campaign grows, from what was found before its batch;
batches begin at multiples of their size. An adaptive mutator knows the notes on the batches before,
which are in the journal, too. So a campaign is a function of its settings. It may be killed at any
moment and resumes after its last complete batch: the files of a batch are written first, then the
line that names them.
"""

import signal
import time
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

from aloex.apps.fuzz.campaign.crashes import MAX_KEPT, Crashes, crash_site
from aloex.apps.fuzz.campaign.journal import Journal
from aloex.apps.fuzz.campaign.record import Record
from aloex.apps.fuzz.execute import Executor
from aloex.apps.fuzz.inputs import ExitStatus, Failure, Outcomes, fingerprint, hash_of
from aloex.apps.fuzz.mutate import AdaptiveMutator, Mutants, Mutator
from aloex.apps.fuzz.target import Target
from aloex.base.errors import AloexError, CheckpointError, InputError, require
from aloex.base.files import explain_os_error, write_file
from aloex.base.locks import LOCK
from aloex.base.signals import StopSignals

BATCH = 4000  # mutants
MAX_BYTES = 1 << 28  # of mutants in memory, about

# From the index of an input in a batch: its bytes, and how it was made from which parent.
Describe = Callable[[int], tuple[bytes, dict[str, Any]]]


class Campaign:
    """A campaign in a folder, new or resumed; use it in a `with` block.

    Args:
        target: the target to run.
        mutator: makes the mutants.
        seeds: the inputs to start from.
        out: the folder.
        settings: a description of the mutator, in plain JSON values. A campaign is not resumed if
            it has changed, or the target, the seeds, or an argument below other than `workers`.
        grow: whether mutants may start from what was found, too.
        batch: number of mutants in a batch, after which the campaign grows.
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
        _require_own_folder(out)
        self.target, self.mutator, self.seeds, self.out = target, mutator, list(seeds), out
        self.grow, self.batch = grow, batch
        self.signal: int | None = None  # that stopped the last `run`
        self.settings = {
            "target": target.name,
            "library": hash_of(target.library.read_bytes()),
            "seeds": fingerprint(self.seeds),
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
        """Run until the campaign has so many mutants or seconds. Returns False if interrupted.

        Both count from the beginning of the campaign. `on_batch` is called after each batch. A
        batch that is interrupted is run again next time; `signal` has the number of the signal.
        """
        record, self.signal = self.record, None
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
                self.signal = signals.number
        except KeyboardInterrupt:
            self.signal = self.signal or signal.SIGINT
        return self.signal is None

    @contextmanager
    def _whole_batch(self) -> Generator[None]:
        """Forget what a batch covered if its line was not written."""
        seen, num_rows = self.executor.seen.copy(), self.record.num_rows
        try:
            yield
        finally:
            if self.record.num_rows == num_rows:
                self.executor.seen[:] = seen

    def _run_seeds(self) -> None:
        start = time.monotonic()
        outcomes = self.executor.run(self.seeds, full=self._adapts)
        self._save(-len(self.seeds), 0, outcomes, lambda i: (self.seeds[i], {}), start)

    @property
    def _adapts(self) -> bool:
        return isinstance(self.mutator, AdaptiveMutator)

    def _start_pool(self) -> None:
        """Fill the pool, which mutants start from, with the seeds that did not fail."""
        record = self.record
        good = [x for i, x in enumerate(self.seeds) if i not in record.failing_seeds]
        if not any(good):
            bug = next(iter(record.bugs), "none has a byte")
            raise InputError(
                f"none of the {len(self.seeds)} seeds can be used: {self.target.name} fails on "
                f"them ({bug}); see {self.out / 'crashes'}, and give seeds that it takes"
            )
        self._pool, self._names = good, [hash_of(x) for x in good]
        self._num_pooled = 0  # inputs found that were added
        self._num_learned = 0  # notes
        if isinstance(self.mutator, AdaptiveMutator):
            self.mutator.forget()

    def _grow_pool(self, before: int) -> None:
        """Add to the pool what was found before a mutant."""
        while self.grow and self._num_pooled < len(self.record.found):
            found = self.record.found[self._num_pooled]
            if found["number"] >= before:
                break
            if found["number"] >= 0:  # the seeds are there
                self._pool.append(read_input(self.out / "corpus" / found["input"]))
                self._names.append(found["input"])
            self._num_pooled += 1

    def _learn(self, before: int) -> None:
        """Give the mutator the notes on the batches before a mutant."""
        notes = self.record.notes
        while self._num_learned < len(notes) and notes[self._num_learned][0] <= before:
            assert isinstance(self.mutator, AdaptiveMutator)
            self.mutator.learn(notes[self._num_learned][1])
            self._num_learned += 1

    def _run_mutants(self, num_inputs: int | None) -> None:
        """Run a batch, or the rest of it, or a part of it if it is too large for the memory."""
        start, first = time.monotonic(), self.record.num_run
        begin = first // self.batch * self.batch
        self._grow_pool(before=begin)
        self._learn(before=begin)
        fitting = first + 1 + MAX_BYTES // max(1, int(np.mean([len(x) for x in self._pool])))
        stop = min(begin + self.batch, fitting, fitting if num_inputs is None else num_inputs)
        mutants = self.mutator.mutate(self._pool, first, stop - first)
        outcomes = self.executor.run(mutants.inputs, full=self._adapts)
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
            row: dict[str, Any] = {
                "stop": stop,
                "seconds": seconds,
                "found": found,
                "failed": failed,
            }
            if isinstance(self.mutator, AdaptiveMutator):
                # The pool has the seeds that did not fail, then what was found.
                is_added = (
                    outcomes.status == ExitStatus.OK
                    if mutants is None
                    else outcomes.new_features > 0
                )
                added = np.flatnonzero(is_added).tolist()
                row["note"] = self.mutator.observe(outcomes, added, mutants)
            with StopSignals() as signals:  # so that the journal and the record stay the same
                self.journal.append(row)
                self.record.add(row)
        if signals.received:
            self.signal = signals.number
            raise KeyboardInterrupt

    def _triage(
        self, first: int, failures: list[Failure], describe: Describe
    ) -> list[dict[str, Any]]:
        """Find out which bugs they are. Some inputs of each crash site are kept and triaged."""
        sites, rows = dict(self.record.crash_sites), []
        for failure in failures:
            site = crash_site(failure)
            bug, count = sites.get(site, ("", 0))
            row: dict[str, Any] = {"number": first + failure.index, "site": site, "bug": bug}
            if count < MAX_KEPT:
                data, origin = describe(failure.index)
                row |= {**asdict(self.crashes.add(data, failure)), **origin}
            sites[site] = bug or row["bug"], count + 1
            rows.append(row)
        return rows


def _require_own_folder(out: Path) -> None:
    """A folder is new, or that of a campaign: what is in another could be written over."""
    if out.is_dir() and not (out / "journal.jsonl").exists():
        others = sorted({path.name for path in out.iterdir()} - {"corpus", LOCK})
        require(
            not others,
            f"{out} holds other files ({', '.join(others[:3])}) and no campaign; use "
            "another folder: --out",
        )


def _is_over(record: Record, num_inputs: int | None, max_seconds: float | None) -> bool:
    enough = num_inputs is not None and record.num_run >= num_inputs
    return enough or (max_seconds is not None and record.seconds >= max_seconds)


def read_input(path: Path) -> bytes:
    """Read an input from the corpus, and check it against its name, which is its hash."""
    try:
        data = path.read_bytes()
    except OSError as error:
        raise CheckpointError(
            f"{path}, which the journal names, cannot be read: {error.strerror}; put it back, "
            "or start again in another folder"
        ) from None
    if hash_of(data) != path.name:
        raise CheckpointError(
            f"{path} is not as it was written; put it back, or start again in another folder"
        )
    return data


@contextmanager
def writing_to(folder: Path) -> Generator[None]:
    """Turn an error of the file system into an `AloexError` that names the folder."""
    try:
        yield
    except OSError as error:
        known = isinstance(error, AloexError)
        reason = str(error) if known else f"cannot write to {explain_os_error(error, folder)}"
        raise AloexError(
            f"{reason}; the same command then resumes the campaign after its last complete batch"
        ) from None
