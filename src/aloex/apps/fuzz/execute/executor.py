"""Run inputs in a target, isolated and fast, and tell what each of them covers.

Inputs go in batches through the shared memory of worker processes (`worker.py`), which run a batch
in a forked child. An input that crashes, hangs or takes too much memory is run again alone; that
run gives its verdict, and the other inputs are not touched.

    edge     a place in the target's control flow; libFuzzer's `cov` counts the same edges
    feature  an edge and how often it was hit: 8 * edge + bucket, buckets 1, 2, 3, 4-7, ..., 128+

What is new is decided in the order of the inputs, and batches are cut in the same way however many
workers there are. So the results do not depend on their number.
"""

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import IntEnum
from typing import NamedTuple

import numpy as np
from jaxtyping import Bool, Int, UInt8, UInt32

from aloex.apps.fuzz.execute.worker import VERDICT, Worker, WorkerDied, ready
from aloex.apps.fuzz.target.target import Target
from aloex.base.errors import AloexError, require

BATCH = 500  # inputs per child
MAX_BYTES = 16 << 20  # inputs of a batch together, unless one alone may be longer
MAX_DEATHS = 3  # of workers, over one batch


class Status(IntEnum):
    """How an input ended."""

    OK = 0
    CRASH = 1  # a signal, or a call of exit
    HANG = 2
    OOM = 3


@dataclass(frozen=True)
class Failure:
    """An input that did not end well."""

    index: int  # of the input
    status: Status
    signal: int  # 0: none, the target called exit
    frames: tuple[int, ...]  # offsets in the target's library, innermost first


@dataclass(frozen=True)
class Outcomes:
    """What became of n inputs. The features of input i are features[first[i] : first[i + 1]]."""

    status: UInt8[np.ndarray, " n"]
    num_edges: UInt32[np.ndarray, " n"]  # that the input hit
    new_edges: Int[np.ndarray, " n"]  # that no input before it had hit
    new_features: Int[np.ndarray, " n"]
    first: Int[np.ndarray, " n_plus_1"]
    features: UInt32[np.ndarray, " total"]  # the new ones; all with full=True or where it failed
    is_new: Bool[np.ndarray, " total"]
    failures: list[Failure]

    def features_of(self, i: int) -> UInt32[np.ndarray, " count"]:
        """Features of input i, in order."""
        return self.features[self.first[i] : self.first[i + 1]]

    def new_features_of(self, i: int) -> UInt32[np.ndarray, " count"]:
        """Those that no input before it had."""
        return self.features_of(i)[self.is_new[self.first[i] : self.first[i + 1]]]

    def edges_of(self, i: int) -> UInt32[np.ndarray, " count"]:
        """Edges of input i, in order."""
        return self.features_of(i) // 8


class Inputs(NamedTuple):
    """Many inputs in one buffer: input i is data[bounds[i] : bounds[i + 1]]."""

    data: UInt8[np.ndarray, " bytes"]
    bounds: Int[np.ndarray, " n_plus_1"]


class Executor:
    """Runs inputs and remembers what they covered.

    Args:
        target: what to run.
        workers: processes; all cores by default.
        timeout: seconds for one input.
        memory_mb: MiB that an input may allocate.
    """

    def __init__(
        self,
        target: Target,
        *,
        workers: int | None = None,
        timeout: float = 1.0,
        memory_mb: int = 2048,
    ):
        self._num_workers = (os.cpu_count() or 1) if workers is None else workers
        require(self._num_workers >= 1, f"an executor needs at least one worker, got {workers}")
        require(timeout > 0, f"timeout must be positive, got {timeout}")
        require(memory_mb > 0, f"memory_mb must be positive, got {memory_mb}")
        self.target = target
        self._max_bytes = max(MAX_BYTES, target.max_len)
        self._new_worker: Callable[[], Worker] = lambda: Worker(
            target, batch=BATCH, max_bytes=self._max_bytes, timeout=timeout, memory_mb=memory_mb
        )
        self._workers = [self._new_worker()]
        self.seen: UInt8[np.ndarray, " edges"] = np.zeros_like(self._workers[0].seen)

    def __enter__(self) -> "Executor":
        return self

    def __exit__(self, *_) -> None:
        self.close()

    def close(self) -> None:
        """End the workers. What was covered stays known, and `run` would start new ones."""
        for worker in self._workers:
            worker.close()
        self._workers = []

    @property
    def edges(self) -> int:
        """Edges covered so far, by inputs that ended well."""
        return int(np.count_nonzero(self.seen))

    @property
    def features(self) -> int:
        """Features covered so far."""
        return int(np.bitwise_count(self.seen).sum())

    def run(self, inputs: Sequence[bytes] | Inputs, *, full: bool = False) -> Outcomes:
        """Run all inputs. `full` reports all features of each, not only the new ones."""
        bounds, piece = _as_pieces(inputs)
        longest = int(np.diff(bounds).max(initial=0))
        require(
            longest <= self._max_bytes,
            f"the target {self.target.name} takes inputs of up to {self._max_bytes} bytes, "
            f"got one of {longest}",
        )
        batches = _cut(bounds, self._max_bytes)
        try:
            found = self._run_batches(batches, bounds, piece, full)
        except BaseException:
            self.close()  # a batch may be half done: begin with new workers next time
            raise
        verdicts = np.concatenate([np.empty(0, VERDICT), *(verdicts for verdicts, _ in found)])
        features = np.concatenate([np.empty(0, np.uint32), *(features for _, features in found)])
        return self._resolve(verdicts, features, full)

    def _run_batches(self, batches, bounds, piece, full) -> list[tuple[np.ndarray, np.ndarray]]:
        """Verdicts and features of each batch, whichever worker ran it."""
        found: list = [None] * len(batches)
        deaths = [0] * len(batches)
        waiting = list(range(len(batches)))[::-1]
        busy: dict[Worker, int] = {}  # which batch it runs
        while waiting or busy:
            for worker in self._idle(busy, len(waiting)):
                batch = busy[worker] = waiting.pop()
                start, stop = batches[batch]
                worker.seen[:] = self.seen  # as of now for all, whoever runs the batch
                worker.start(piece(start, stop), bounds[start : stop + 1] - bounds[start], full)
            for worker in ready(busy):
                batch = busy.pop(worker)
                try:
                    found[batch] = worker.finish()
                except WorkerDied:
                    worker.close()
                    deaths[batch] += 1
                    waiting.append(batch)
                    start, stop = batches[batch]
                    if deaths[batch] == MAX_DEATHS:
                        raise AloexError(
                            f"the worker of {self.target.name} was killed {MAX_DEATHS} times over "
                            f"inputs {start} to {stop - 1}; is the machine out of memory?"
                        ) from None
        return found

    def _idle(self, busy: dict[Worker, int], num_wanted: int) -> list[Worker]:
        """Up to `num_wanted` workers with nothing to do; those that died are replaced."""
        self._workers = [worker for worker in self._workers if worker.is_alive]
        while len(self._workers) < min(self._num_workers, len(busy) + num_wanted):
            self._workers.append(self._new_worker())
        return [worker for worker in self._workers if worker not in busy][:num_wanted]

    def _resolve(self, verdicts: np.ndarray, features: np.ndarray, full: bool) -> Outcomes:
        """Say what is new, in the order of the inputs, and remember it."""
        n, count = len(verdicts), verdicts["count"].astype(np.int64)
        owner = np.repeat(np.arange(n), count)  # the input of each feature
        failed = verdicts["status"] != Status.OK
        may_be_new = np.flatnonzero(~failed[owner])
        features_new = may_be_new[_first_of_each(features[may_be_new])]
        edge, bit = features[features_new] // 8, np.uint8(1) << (features[features_new] % 8)
        is_new = (self.seen[edge] & bit) == 0
        features_new, edge, bit = features_new[is_new], edge[is_new], bit[is_new]
        edges_new = features_new[_first_of_each(edge)]
        edges_new = edges_new[self.seen[features[edges_new] // 8] == 0]
        np.bitwise_or.at(self.seen, edge, bit)

        is_new = np.zeros(len(features), bool)
        is_new[features_new] = True
        kept = is_new | full | failed[owner]
        tally = lambda where: np.bincount(owner[where], minlength=n)
        return Outcomes(
            status=verdicts["status"].copy(),
            num_edges=verdicts["num_edges"].copy(),
            new_edges=tally(edges_new),
            new_features=tally(features_new),
            first=np.concatenate([[0], np.cumsum(tally(kept))]),
            features=features[kept],
            is_new=is_new[kept],
            failures=[_failure(int(i), verdicts[i]) for i in np.flatnonzero(failed)],
        )


def _as_pieces(inputs: Sequence[bytes] | Inputs):
    """Where each input begins in the whole, and a function that gives inputs start..stop in one."""
    if isinstance(inputs, Inputs):
        bounds, data = np.asarray(inputs.bounds, np.int64), inputs.data
        ascending = len(bounds) > 0 and bool(np.all(np.diff(bounds) >= 0))
        require(ascending, "the bounds of inputs must be ascending, from 0 to the size of the data")
        inside = bool(bounds[0] >= 0 and bounds[-1] <= len(data))
        require(inside, f"bounds reach beyond the data, which has {len(data)} bytes")
        return bounds, lambda start, stop: data[bounds[start] : bounds[stop]]
    bounds = np.cumsum([0, *map(len, inputs)], dtype=np.int64)
    return bounds, lambda start, stop: b"".join(inputs[start:stop])


def _cut(bounds: np.ndarray, max_bytes: int) -> list[tuple[int, int]]:
    """Ranges of inputs for batches: the same for any number of workers."""
    batches, start, n = [], 0, len(bounds) - 1
    while start < n:
        fitting = int(np.searchsorted(bounds, bounds[start] + max_bytes, side="right")) - 1
        stop = min(start + BATCH, fitting)
        batches.append((start, stop))
        start = stop
    return batches


def _first_of_each(values: np.ndarray) -> np.ndarray:
    """Where each value occurs first, in order."""
    return np.sort(np.unique(values, return_index=True)[1])


def _failure(index: int, verdict: np.void) -> Failure:
    frames = verdict["frames"][: verdict["num_frames"]]
    return Failure(index, Status(verdict["status"]), int(verdict["signal"]), tuple(frames.tolist()))
