"""Batches that the host makes while the device computes: data larger than memory, or made anew.

    fit(learner, state, HostBatches(make), ...)      # make(step) gives the batch of a step

Batch i is a function of i alone, so a run that is resumed at step i goes on as if it had never
stopped: nothing has to be skipped or stored.
"""

import time
from collections import deque
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

import jax
import numpy as np
from jax.typing import ArrayLike

from aloex.base.errors import require


class HostBatches:
    """A source of batches for `fit`, made ahead by threads so that the device does not wait.

    Args:
        make: called with a step, from 0; gives x or a pair (x, z) of NumPy arrays, or of trees of
            them. The same step must give the same batch. Threads call it at the same time.
        num_threads: how many.
        needs_state: whether `make` is called with the step and the state that it begins with; then
            nothing can be made ahead.

    >>> import numpy as np
    >>> source = HostBatches(lambda step: np.random.default_rng(step).integers(2, size=(8, 4)))
    >>> with source.start(0) as batches:
    ...     batches.take(0)[0].shape
    (8, 4)
    """

    def __init__(
        self, make: Callable[..., Any], *, num_threads: int = 2, needs_state: bool = False
    ):
        require(callable(make), f"make must be a function of a step, got {make!r}")
        require(num_threads >= 1, f"num_threads must be at least 1, got {num_threads}")
        self.make, self.num_threads, self.needs_state = make, num_threads, needs_state

    def start(self, first: int) -> "Feed":
        """The batches from step `first` on."""
        return Feed(self, first)


class Feed:
    """Batches of consecutive steps; `waited` sums up the seconds that they were not ready."""

    def __init__(self, source: HostBatches, first: int):
        self.source, self.next, self.waited = source, first, 0.0
        self.pool = ThreadPoolExecutor(source.num_threads)
        self.queue: deque[Future[Any]] = deque()
        self.ahead = 0 if source.needs_state else 2 * source.num_threads

    def __enter__(self) -> "Feed":
        return self

    def __exit__(self, *_) -> None:
        self.pool.shutdown(wait=True, cancel_futures=True)

    def take(self, step: int, state: Any = None) -> tuple[Any, Any]:
        """x and z of a step; steps are asked for in order."""
        began = time.monotonic()
        if self.source.needs_state:
            made = self.source.make(step, state)
        else:
            assert step == self.next - len(self.queue), (step, self.next, len(self.queue))
            while len(self.queue) < self.ahead:
                self.queue.append(self.pool.submit(self.source.make, self.next))
                self.next += 1
            made = self.queue.popleft().result()
        self.waited += time.monotonic() - began
        return made if type(made) is tuple and len(made) == 2 else (made, None)


def rows_of(key: jax.Array, batch_size: int, num_rows: int) -> jax.Array:
    """The rows of a table that make up a batch, drawn with replacement."""
    return jax.random.randint(key, (batch_size,), 0, num_rows)


def batches_of_table(
    x: np.ndarray, z: np.ndarray | None, *, seed: int, batch_size: int
) -> HostBatches:
    """Batches of a table that stays where it is, on the disk: the same rows as in memory."""
    key_of_step = jax.jit(lambda i: step_keys(np.uint32(seed), i)[0])

    def make(step: int) -> tuple[np.ndarray, np.ndarray | None]:
        rows = np.asarray(rows_of(key_of_step(step), batch_size, len(x)))
        order = np.argsort(rows)  # a disk is read faster in order
        back = np.argsort(order)
        pick = lambda table: np.ascontiguousarray(table[rows[order]][back])
        return pick(x).astype(np.int32), None if z is None else pick(z)

    return HostBatches(make)


def step_keys(seed: ArrayLike, step: ArrayLike) -> tuple[jax.Array, jax.Array]:
    """The keys of a step: one for its batch, one for the learner."""
    key_batch, key_step = jax.random.split(jax.random.fold_in(jax.random.key(seed), step))
    return key_batch, key_step
