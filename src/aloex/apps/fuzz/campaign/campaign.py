"""A campaign: run the seeds, then mutants in epochs, and keep what covers something new.

    journal.jsonl   the settings, then a line for each epoch, see `record.py`
    state           what the engine knew after some of the epochs, see `state.py`
    corpus/         inputs with new coverage; the name is the input's hash
    crashes/        inputs that failed, see `aloex.apps.fuzz.bugs`

A campaign is a function of its settings, whatever the number of workers (`epochs.py`). It may be
killed at any moment. It then goes on after the epoch of its last state: the epochs after it are run
again, with the same results.
"""

import shlex
import signal
import time
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from aloex.apps.fuzz.bugs import Bugs
from aloex.apps.fuzz.campaign.epochs import Epoch, epoch_at, lane_size
from aloex.apps.fuzz.campaign.folder import (
    read_input,
    require_own_folder,
    write_input,
    writing_to,
)
from aloex.apps.fuzz.campaign.journal import Journal
from aloex.apps.fuzz.campaign.merge import Merged, count_win, merge
from aloex.apps.fuzz.campaign.pool import Addition, Candidate, Likely, Pool
from aloex.apps.fuzz.campaign.record import Record
from aloex.apps.fuzz.campaign.sanitize import Failed, Sanitizer
from aloex.apps.fuzz.campaign.seed_queue import Portion, SeedQueue
from aloex.apps.fuzz.campaign.state import State, load_state, save_state
from aloex.apps.fuzz.execute import Executor, Lane, RunRecord, Task, run_together
from aloex.apps.fuzz.inputs import ExitStatus, fingerprint, hash_of
from aloex.apps.fuzz.native import ALL_GUIDES, Engine, Guide, TokenKind
from aloex.apps.fuzz.target import Target
from aloex.base.errors import CheckpointError, InputError, require
from aloex.base.signals import StopSignals

SECONDS_BETWEEN_STATES = 10.0
SANITIZED_SHARE = 0.02


class NoUsableSeed(InputError):
    """The target fails on all seeds and on zeros, so there is nothing to mutate."""


class Campaign:
    """A campaign in a folder, new or resumed; use it in a `with` block.

    Args:
        target: the target to run.
        seeds: the inputs to start from; none: zeros.
        out: the folder.
        seed: of all randomness.
        keep: bytes at the beginning of each input that stay as they are.
        repair: what is mended after the edits: one of `native.REPAIRS`.
        guides: what the engine goes by.
        dictionary, strings: tokens.
        likely: what a model expects in inputs.
        sanitized_share: of the mutants that run with sanitizers, too, if the target has them.
        settings: more to describe the campaign, in plain JSON values. A campaign is not resumed if
            the target, the seeds, or anything here has changed, other than `workers`.
        workers, timeout, memory_mb: as of `Executor`.
    """

    def __init__(
        self,
        target: Target,
        seeds: Sequence[bytes],
        out: Path,
        *,
        seed: int = 0,
        keep: int = 0,
        repair: str = "none",
        guides: Guide = ALL_GUIDES,
        dictionary: Sequence[bytes] = (),
        strings: Sequence[bytes] = (),
        likely: Likely | None = None,
        sanitized_share: float = SANITIZED_SHARE,
        settings: dict[str, Any] | None = None,
        workers: int | None = None,
        timeout: float = 1.0,
        memory_mb: int = 2048,
    ):
        require_own_folder(out)
        self.queue = SeedQueue(seeds, target.max_len)
        self.target, self.seeds, self.out = target, self.queue.seeds, out
        longest = max(map(len, self.seeds))
        require(
            keep < min(longest, target.max_len),
            f"there is nothing to change: the first {keep} bytes are to stay, the longest seed has "
            f"{longest}, and {target.name} takes {target.max_len}; keep fewer bytes: --keep, or "
            "give longer seeds: --seeds",
        )
        self.signal: int | None = None  # that stopped the last `run`
        self.is_late = False  # whether its time was up
        self.settings = {
            "target": target.name,
            "library": hash_of(target.library.read_bytes()),
            "seeds": fingerprint(self.seeds),
            "seed": seed,
            "keep": keep,
            "repair": repair,
            "guides": [guide.name for guide in guides],
            "tokens": fingerprint([*dictionary, *strings]),
            "sanitized_share": sanitized_share if target.sanitized else 0,
            "timeout": timeout,
            "memory_mb": memory_mb,
            **(settings or {}),
        }
        limits: dict[str, Any] = {"workers": workers, "timeout": timeout, "memory_mb": memory_mb}
        self.executor = Executor(target, **limits)
        self.engine = Engine(
            self.executor.num_edges,
            max_len=target.max_len,
            seed=seed,
            keep=keep,
            guides=guides,
            repair=repair,
        )
        self.engine.add_tokens(TokenKind.DICTIONARY, dictionary)
        self.engine.add_tokens(TokenKind.STRINGS, strings)
        self.executor.use(self.engine)
        self.sanitizer = Sanitizer(target, self.engine, sanitized_share, **limits)
        self._at_first = self.engine.pack()
        self.bugs = Bugs(out / "crashes", target, timeout=timeout, memory_mb=memory_mb)
        self.pool = Pool(self.engine, self.executor, likely)
        try:
            with writing_to(out):
                (out / "corpus").mkdir(parents=True, exist_ok=True)
                command = f"aloex fuzz run {shlex.quote(target.argument)}"
                self.journal = Journal(out / "journal.jsonl", self.settings, command)
                self._remove_unfinished()
                self._resume()
        except BaseException:
            self._close_processes()
            raise

    def __enter__(self) -> "Campaign":
        return self

    def __exit__(self, *_) -> None:
        self._close_processes()
        self.journal.close()

    def _close_processes(self) -> None:
        self.executor.close()
        self.sanitizer.close()
        self.bugs.close()
        self.engine.close()

    def _remove_unfinished(self) -> None:
        """Remove files that a process which was killed has not finished."""
        for folder in ("corpus", "crashes"):
            for path in (self.out / folder).glob(".*.writing"):
                path.unlink()

    def _resume(self) -> None:
        """Return to the last state; the rows after it are run again."""
        state = load_state(self.out / "state") or State(0, self._at_first)
        if len(self.journal.rows) < state.num_rows or not self.engine.unpack(state.engine):
            raise CheckpointError(
                f"{self.out / 'state'} is not of this journal; delete it to run the campaign again "
                "from its beginning, with the same results"
            )
        self.journal.keep(state.num_rows)
        self.record = Record(len(self.seeds))
        for row in self.journal.rows:
            self.record.add(row)
        self.bugs.restore(Counter(failed["site"] for failed in self.record.failed))
        self._num_saved, self._last_state = state.num_rows, time.monotonic()
        self._is_changing = False  # the engine has a part of an epoch that has no line yet
        self._last_found = self._found_last()

    def _found_last(self) -> list[Addition]:
        """What the last epoch found: the next traces it, and runs it with sanitizers."""
        found = self.journal.rows[-1]["found"] if self.journal.rows else []
        mutants = [(about["number"], about["input"]) for about in found if about["number"] >= 0]
        return self.pool.last_added(mutants, lambda name: read_input(self.out / "corpus" / name))

    def run(
        self,
        *,
        num_inputs: int | None = None,
        max_seconds: float | None = None,
        on_epoch: Callable[["Campaign"], None] = lambda campaign: None,
    ) -> bool:
        """Run until the campaign has so many mutants or seconds. Returns False if interrupted.

        Both count from the beginning of the campaign. `on_epoch` is called after each epoch, and
        after each portion of the seeds. One that is interrupted is run again next time; `signal`
        has the number of the signal. If no seed can be used, that is a `NoUsableSeed`.
        """
        self.signal = None
        if self.record.is_partial or self._is_changing:
            self._resume()
        record = self.record
        try:
            with StopSignals(at_once=True) as signals:
                while not (signals.received or self._is_over(num_inputs, max_seconds)):
                    if seeds := self._next_seeds():
                        self._run_seeds(seeds)
                    else:
                        self._run_epoch(self._end_of_next(num_inputs, max_seconds))
                    on_epoch(self)
                self.signal = signals.number
                if self.signal is None:
                    self._sanitize_last()
        except KeyboardInterrupt:
            self.signal = self.signal or signal.SIGINT
        self._save_state()
        self.is_late = max_seconds is not None and record.seconds >= max_seconds
        if self.signal is None and self.problem is not None:
            raise NoUsableSeed(self.problem)
        return self.signal is None

    @property
    def num_seeds_left(self) -> int:
        """Seeds that were not run yet."""
        return max(0, len(self.seeds) - self.record.num_seeds_run)

    @property
    def problem(self) -> str | None:
        """Why there is nothing to mutate, if that is so."""
        if not self.record.num_rows or self._next_seeds() or self._can_mutate():
            return None
        bugs = "; ".join(bug.name for bug in self.bugs.known)
        return (
            f"none of the inputs to start from can be used: {self.target.name} fails on "
            f"{self.queue.all_in_words} ({bugs}); mend that, or give inputs that it takes: "
            "--seeds FOLDER --out FOLDER"
        )

    def _next_seeds(self) -> Portion | None:
        if self.record.num_run:
            return None
        return self.queue.next(self.record.num_seeds_run, can_mutate=self._can_mutate())

    def _can_mutate(self) -> bool:
        """Whether there is an input with bytes that may change."""
        inputs = map(self.engine.input, range(self.engine.num_inputs))
        return any(len(data) > self.engine.keep for data in inputs)

    def _is_over(self, num_inputs: int | None, max_seconds: float | None) -> bool:
        """Whether nothing is left to do; something is always done at first."""
        record = self.record
        if not record.num_rows:
            return False
        if max_seconds is not None and record.seconds >= max_seconds:
            return True
        if self._next_seeds():
            return False
        enough = num_inputs is not None and record.num_run >= num_inputs
        return enough or not self._can_mutate()

    def _end_of_next(self, num_inputs: int | None, max_seconds: float | None) -> int:
        """Where the next epoch is to end, which is before its own end if a bound comes before."""
        record = self.record
        stop = epoch_at(record.num_run).stop
        if num_inputs is not None:
            stop = min(stop, num_inputs)
        if max_seconds is not None and record.num_run:
            fitting = record.recent_speed * (max_seconds - record.seconds)
            stop = min(stop, record.num_run + max(1, int(fitting)))
        return stop

    def _run_seeds(self, portion: Portion) -> None:
        """Run some of the seeds."""
        start, inputs = time.monotonic(), portion.inputs
        outcomes = self.executor.run([data for _, data in inputs], full=True)
        well = np.flatnonzero(outcomes.status == ExitStatus.OK).tolist()
        failed = [Failed(*inputs[f.index], f) for f in outcomes.failures]
        failed += self.sanitizer.run([inputs[i] for i in well])
        good = [i for i in well if i >= len(inputs) - portion.num_seeds]  # without the empty one
        self._is_changing = True
        added = self.pool.add_seeds([Candidate(*inputs[i], outcomes.features_of(i)) for i in good])
        self.engine.plan()
        self._end_epoch(0, start, added, failed, num_seeds=portion.num_seeds)

    def _run_epoch(self, stop: int) -> None:
        """Run an epoch, or the part of it before `stop`, which is run again before what follows."""
        start, epoch = time.monotonic(), epoch_at(self.record.num_run)
        if stop < epoch.stop:
            self._save_state()
        lanes, traces, failed = self._run_together(epoch, stop)
        merged = merge(self.engine, lanes)
        self._is_changing = True
        for records in traces:
            self.pool.set_traces(self._last_found, records)
        added = self.pool.add_new(merged.new)
        self._learn(merged, added)
        cost = (stop - epoch.first) * self.engine.usual_cost
        more: dict[str, Any] = {
            "num_cut": merged.num_cut,
            "num_slow": merged.num_slow,
            "cost": cost,
        }
        more["target_seconds"] = round(merged.seconds, 6)
        if stop < epoch.stop:
            more["is_partial"] = True
        self._end_epoch(stop, start, added, merged.failed + failed, **more)
        self._last_found = added

    def _run_together(
        self, epoch: Epoch, stop: int
    ) -> tuple[list[Lane], list[list[RunRecord]], list[Failed]]:
        """The mutants of an epoch; traces of what the one before found; with sanitizers both."""
        size = lane_size(self.engine.usual_cost if self.target.tracer else None)
        part = self.sanitizer.share_of(Epoch(epoch.first, stop))
        sanitized = self.sanitizer.tasks(self._numbered_finds(), part.lanes(size))
        traced = self.pool.traces(self._last_found)
        lanes = self.executor.lanes(
            epoch.lanes_before(stop, size), skips_slow=self.record.skips_slow
        )
        tasks: list[Task[Any]] = [*sanitized, *traced, lanes]
        *others, ran = run_together(tasks, self.executor.num_workers)
        failed = [f for some in others[: len(sanitized)] for f in some]
        return ran, others[len(sanitized) :], failed

    def _numbered_finds(self) -> list[tuple[int, bytes]]:
        return [(added.candidate.number, added.candidate.data) for added in self._last_found]

    def _sanitize_last(self) -> None:
        """Run what the last epoch found with sanitizers; it is run again if there is another."""
        if self._last_found and self.sanitizer.is_there:
            self._save_state()
            start = time.monotonic()
            failed = self.sanitizer.run(self._numbered_finds())
            self._end_epoch(self.record.num_run, start, [], failed, is_partial=True)

    def _learn(self, merged: Merged, added: Sequence[Addition]) -> None:
        counts = merged.counts
        for addition in added:
            if addition.new_edges and addition.candidate.record is not None:
                count_win(counts, addition.candidate.record)
        self.engine.learn(counts, merged.hits, merged.chosen)
        self.engine.plan()

    def _end_epoch(
        self,
        stop: int,
        start: float,
        added: Sequence[Addition],
        failed: Sequence[Failed],
        **more: Any,
    ) -> None:
        """Write the files of an epoch, then its line."""
        with writing_to(self.out):
            found = [self.pool.about(addition) for addition in added]
            for addition in added:
                if addition.new_features:
                    write_input(self.out / "corpus" / addition.name, addition.candidate.data)
            bugs = self._triage(failed)
            row: dict[str, Any] = {
                "stop": stop,
                "seconds": round(self.record.seconds + time.monotonic() - start, 4),
                "found": found,
                "failed": bugs,
                **more,
            }
            with StopSignals() as signals:  # so that the journal and the record stay the same
                self.journal.append(row)
                self.record.add(row)
                self._is_changing = False
        if signals.received:
            self.signal = signals.number
            raise KeyboardInterrupt
        if time.monotonic() - self._last_state > SECONDS_BETWEEN_STATES:
            self._save_state()

    def _triage(self, failed: Sequence[Failed]) -> list[dict[str, Any]]:
        """Find out which bugs they are."""
        by_number = {f.number: f for f in failed}  # runs with sanitizers, which say more, are last
        for f in by_number.values():
            self.bugs.add(f.data, f.failure, sanitized=f.is_sanitized)
        site = lambda f: self.bugs.site(f.failure, sanitized=f.is_sanitized)
        return [{"number": f.number, "site": site(f)} for f in by_number.values()]

    def _save_state(self) -> None:
        """Keep what the engine knows, unless that was done, or it is not what the journal says."""
        is_between = self.record.is_partial or self._is_changing
        if is_between or self.record.num_rows == self._num_saved:
            return
        with writing_to(self.out):
            save_state(self.out / "state", State(self.record.num_rows, self.engine.pack()))
        self._num_saved, self._last_state = self.record.num_rows, time.monotonic()
