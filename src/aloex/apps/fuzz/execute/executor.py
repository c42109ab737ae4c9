"""Run inputs in a target, isolated and fast, and report what each of them covers.

Requests go to worker processes (`worker.py`), which run the inputs of one in a forked child. An
input that crashes, hangs or takes too much memory is run again by itself in a new process. The
second run decides how it ended, and the other inputs are not affected.

There are two kinds of requests: inputs that are given, in batches, and lanes of mutants, which the
worker makes itself with the engine. How inputs are cut into requests does not depend on the number
of workers, and what is new is decided in the order of the inputs. So the number of workers changes
nothing but the time.
"""

import math
import os
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from aloex.apps.fuzz.execute.records import RunRecord
from aloex.apps.fuzz.execute.schedule import Request, Task, Workers, run_together
from aloex.apps.fuzz.execute.worker import Source, Worker, WorkerDied
from aloex.apps.fuzz.inputs import ExitStatus, Failure, Inputs, Outcomes
from aloex.apps.fuzz.native import Counts, Engine
from aloex.apps.fuzz.target import Target
from aloex.base.errors import require

BATCH = 500  # inputs per request, at most
MIN_BATCH = 8  # at least, if there are so many: each batch has a process of its own
NUM_BATCHES = 16  # between these bounds, so that all workers have some
MAX_BYTES = 16 << 20  # of all inputs of a batch, unless a single one may be longer

Piece = Callable[[int, int], bytes | np.ndarray]  # the bytes of inputs start..stop - 1


class Lane(NamedTuple):
    """What came of mutants first..stop - 1."""

    records: list[RunRecord]  # of those with new features, and of those that failed
    counts: Counts  # of all
    seconds: float  # in the target
    num_cut: int  # of those that were cut short for what they cost
    num_slow: int  # of those that seemed to hang, and were run again alone
    hits: NDArray[np.uint32]  # number of mutants with each feature
    chosen: NDArray[np.uint32]  # number of mutants from each input of the pool


class Executor:
    """Runs inputs and remembers what they covered; use it in a `with` block.

    Args:
        target: the target to run.
        engine: makes the mutants of `run_lanes`; may be set later, before the first of them.
        sanitized: whether to run the target's program with sanitizers.
        workers: number of processes; all cores by default.
        timeout: seconds that an input may take.
        memory_mb: MiB that an input may allocate.

    `seen` has a byte for each edge, with a bit for each bucket of hit counts seen so far.
    """

    def __init__(
        self,
        target: Target,
        *,
        engine: Engine | None = None,
        sanitized: bool = False,
        workers: int | None = None,
        timeout: float = 1.0,
        memory_mb: int = 2048,
    ):
        self.num_workers = (os.cpu_count() or 1) if workers is None else workers
        require(self.num_workers >= 1, f"--workers must be at least 1, got {workers}")
        require(timeout > 0, f"--timeout must be more than 0 seconds, got {timeout}")
        require(memory_mb > 0, f"--memory must be at least 1 MiB, got {memory_mb}")
        self.target, self._engine = target, engine
        self._max_bytes = max(MAX_BYTES, target.max_len)
        limits: dict[str, Any] = {"batch": BATCH, "max_bytes": self._max_bytes}
        limits |= {"timeout": timeout, "memory_mb": memory_mb, "sanitized": sanitized}
        self.workers = Workers(target.name, lambda: Worker(target, engine=self._engine, **limits))
        self.num_edges: int = self.workers.start().num_edges
        self.seen: NDArray[np.uint8] = np.zeros(self.num_edges, np.uint8)

    def __enter__(self) -> "Executor":
        return self

    def __exit__(self, *_) -> None:
        self.close()

    def close(self) -> None:
        """End the workers. The coverage stays known, and `run` starts new workers."""
        self.workers.close()

    def use(self, engine: Engine) -> None:
        """From now on run the mutants of this engine."""
        self.close()
        self._engine = engine

    @property
    def edges(self) -> int:
        """Number of edges covered so far, by inputs that ended well."""
        return int(np.count_nonzero(self.seen))

    @property
    def features(self) -> int:
        """Number of features covered so far."""
        return int(np.bitwise_count(self.seen).sum())

    def run(
        self,
        inputs: Sequence[bytes] | Inputs,
        *,
        full: bool = False,
        max_seconds: float = math.inf,
    ) -> Outcomes:
        """Run all inputs.

        Args:
            inputs: to run.
            full: whether the outcomes have all features, not only the new ones.
            max_seconds: for all of them; if that is not enough a `TimeoutError` is raised.
        """
        given = self.given(inputs, full=full)
        (records,) = run_together([given], self.num_workers, max_seconds)
        return self._resolve(records, full)

    def run_lanes(self, lanes: Sequence[tuple[int, int]]) -> list[Lane]:
        """Run lanes of mutants. All begin with the same knowledge, which is that of the engine."""
        (ran,) = run_together([self.lanes(lanes)], self.num_workers)
        return ran

    def trace(self, inputs: Sequence[bytes]) -> list[RunRecord]:
        """What the target compares while it runs each input, and what that costs."""
        (records,) = run_together([self.traced(inputs)], self.num_workers)
        return records

    def traced(self, inputs: Sequence[bytes]) -> Task[list[RunRecord]]:
        """The task of tracing inputs."""
        return self.given(inputs, source=Source.TRACED)

    def given(self, inputs: Sequence[bytes] | Inputs, **how: Any) -> Task[list[RunRecord]]:
        """The task of running inputs: a record of each."""
        bounds, piece = _as_pieces(inputs)
        longest = int(np.diff(bounds).max(initial=0))
        require(
            longest <= self._max_bytes,
            f"the target {self.target.name} takes inputs of up to {self._max_bytes} bytes, "
            f"got one of {longest}",
        )

        def request(start: int, stop: int) -> Request:
            def begin(worker: Worker) -> None:
                worker.seen[:] = self.seen  # the same for all batches of this run
                part = bounds[start : stop + 1] - bounds[start]
                worker.run_given(piece(start, stop), part, **how)

            def read(records: list[RunRecord], _: None) -> list[RunRecord]:
                if [record.number for record in records] != list(range(stop - start)):
                    raise WorkerDied  # an input has damaged the records of others
                return records

            return Request(f"inputs {start} to {stop - 1}", begin, lambda worker: None, read)

        requests = [request(*batch) for batch in _cut(bounds, self._max_bytes)]
        return Task(self.workers, requests, lambda batches: [r for batch in batches for r in batch])

    def lanes(
        self, lanes: Sequence[tuple[int, int]], *, skips_slow: bool = False
    ) -> Task[list[Lane]]:
        """The task of running lanes of mutants; those that seem to hang may be passed over."""

        def request(first: int, stop: int) -> Request:
            def copy(worker: Worker) -> Lane:
                counts = Counts.from_buffer_copy(worker.arena.counts)
                arena, hits, chosen = worker.arena, worker.hits.copy(), worker.chosen.copy()
                seconds = arena.nanoseconds / 1e9
                return Lane([], counts, seconds, arena.num_cut, arena.num_slow, hits, chosen)

            begin = lambda worker: worker.run_mutants(first, stop, skips_slow=skips_slow)
            read = lambda records, lane: lane._replace(records=records)
            return Request(f"mutants {first} to {stop - 1}", begin, copy, read)

        return Task(self.workers, [request(*lane) for lane in lanes], list)

    def _resolve(self, records: list[RunRecord], full: bool) -> Outcomes:
        """Decide which features are new, in the order of the inputs, and remember them."""
        n, count = len(records), np.array([len(r.features) for r in records], np.int64)
        status = np.array([r.status for r in records], np.uint8)
        features = np.concatenate([np.empty(0, np.uint32), *(r.features for r in records)])
        owner = np.repeat(np.arange(n), count)  # the input of each feature
        failed = status != ExitStatus.OK
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
            status=status,
            num_edges=np.array([r.num_edges for r in records], np.uint32),
            new_edges=tally(edges_new),
            new_features=tally(features_new),
            first=np.concatenate([[0], np.cumsum(tally(kept))]),
            features=features[kept],
            is_new=is_new[kept],
            failures=[failure_of(r, i) for i, r in enumerate(records) if failed[i]],
        )


def failure_of(record: RunRecord, index: int) -> Failure:
    """How an input failed."""
    return Failure(index, record.status, record.signal, record.frames, record.report)


def _as_pieces(inputs: Sequence[bytes] | Inputs) -> tuple[np.ndarray, Piece]:
    """The bounds of the inputs, and a function that returns inputs start..stop - 1 end to end."""
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
    """Ranges of inputs, one for each batch; they do not depend on the number of workers."""
    batches, start, n = [], 0, len(bounds) - 1
    size = min(BATCH, max(MIN_BATCH, -(-n // NUM_BATCHES)))
    while start < n:
        fitting = int(np.searchsorted(bounds, bounds[start] + max_bytes, side="right")) - 1
        stop = min(start + size, fitting)
        batches.append((start, stop))
        start = stop
    return batches


def _first_of_each(values: np.ndarray) -> np.ndarray:
    """The index at which each value occurs first, in ascending order."""
    return np.sort(np.unique(values, return_index=True)[1])
