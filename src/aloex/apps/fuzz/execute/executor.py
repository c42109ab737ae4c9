"""Run inputs in a target, isolated and fast, and report what each of them covers.

Inputs go in batches through the shared memory of worker processes (`worker.py`), which run a batch
in a forked child. An input that crashes, hangs or takes too much memory is run again by itself in a
new process. The second run decides how it ended, and the other inputs are not affected.

Whether a feature is new is decided in the order of the inputs, and the cuts between batches do not
depend on the number of workers. So the outcomes do not depend on it either.
"""

import os
from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from aloex.apps.fuzz.execute.worker import VERDICT, Worker, WorkerDied, ready
from aloex.apps.fuzz.inputs import ExitStatus, Failure, Inputs, Outcomes
from aloex.apps.fuzz.target import Target
from aloex.base.errors import AloexError, require

BATCH = 500  # inputs per child
MAX_BYTES = 16 << 20  # of all inputs of a batch, unless a single one may be longer
MAX_DEATHS = 3  # of workers that run the same batch

Piece = Callable[[int, int], bytes | np.ndarray]  # the bytes of inputs start..stop - 1


class Executor:
    """Runs inputs and remembers what they covered; use it in a `with` block.

    Args:
        target: the target to run.
        workers: number of processes; all cores by default.
        timeout: seconds that an input may take.
        memory_mb: MiB that an input may allocate.

    `seen` has a byte for each edge, with a bit for each bucket of hit counts seen so far.
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
        self.seen: NDArray[np.uint8] = np.zeros_like(self._workers[0].seen)

    def __enter__(self) -> "Executor":
        return self

    def __exit__(self, *_) -> None:
        self.close()

    def close(self) -> None:
        """End the workers. The coverage stays known, and `run` starts new workers."""
        for worker in self._workers:
            worker.close()
        self._workers = []

    @property
    def edges(self) -> int:
        """Number of edges covered so far, by inputs that ended well."""
        return int(np.count_nonzero(self.seen))

    @property
    def features(self) -> int:
        """Number of features covered so far."""
        return int(np.bitwise_count(self.seen).sum())

    def run(self, inputs: Sequence[bytes] | Inputs, *, full: bool = False) -> Outcomes:
        """Run all inputs. With `full` the outcomes have all features, not only the new ones."""
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

    def _run_batches(
        self, batches: list[tuple[int, int]], bounds: np.ndarray, piece: Piece, full: bool
    ) -> list[tuple[np.ndarray, np.ndarray]]:
        """The verdicts and the features of each batch; any worker may run it."""
        found: dict[int, tuple[np.ndarray, np.ndarray]] = {}  # by the batch
        deaths = [0] * len(batches)
        waiting = list(range(len(batches)))[::-1]
        busy: dict[Worker, int] = {}  # which batch it runs
        while waiting or busy:
            for worker in self._idle(busy, len(waiting)):
                batch = busy[worker] = waiting.pop()
                start, stop = batches[batch]
                worker.seen[:] = self.seen  # the same for all batches of this run
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
        return [found[batch] for batch in range(len(batches))]

    def _idle(self, busy: dict[Worker, int], num_wanted: int) -> list[Worker]:
        """Up to `num_wanted` workers that are free; workers that died are replaced."""
        self._workers = [worker for worker in self._workers if worker.is_alive]
        while len(self._workers) < min(self._num_workers, len(busy) + num_wanted):
            self._workers.append(self._new_worker())
        return [worker for worker in self._workers if worker not in busy][:num_wanted]

    def _resolve(self, verdicts: np.ndarray, features: np.ndarray, full: bool) -> Outcomes:
        """Decide which features are new, in the order of the inputs, and remember them."""
        n, count = len(verdicts), verdicts["count"].astype(np.int64)
        owner = np.repeat(np.arange(n), count)  # the input of each feature
        failed = verdicts["status"] != ExitStatus.OK
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
    while start < n:
        fitting = int(np.searchsorted(bounds, bounds[start] + max_bytes, side="right")) - 1
        stop = min(start + BATCH, fitting)
        batches.append((start, stop))
        start = stop
    return batches


def _first_of_each(values: np.ndarray) -> np.ndarray:
    """The index at which each value occurs first, in ascending order."""
    return np.sort(np.unique(values, return_index=True)[1])


def _failure(index: int, verdict: np.void) -> Failure:
    frames = verdict["frames"][: verdict["num_frames"]]
    return Failure(
        index, ExitStatus(verdict["status"]), int(verdict["signal"]), tuple(frames.tolist())
    )
