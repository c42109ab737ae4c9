"""Requests of several kinds, run together by a number of worker processes.

A process can run requests to one build of a target only, so each build has processes of its own;
but no more of all of them are busy at a time than there are to be workers. Which process runs a
request, and when, changes nothing of what comes of it.
"""

import math
import time
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Generic, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from aloex.apps.fuzz.execute.records import RunRecord, read_records
from aloex.apps.fuzz.execute.worker import Worker, WorkerDied, ready
from aloex.base.errors import AloexError

MAX_DEATHS = 3  # of workers that run the same request

Result = TypeVar("Result")


class Request(NamedTuple):
    """Work for a worker."""

    name: str
    begin: Callable[[Worker], None]
    copy: Callable[[Worker], Any]  # what there is beside the log, once it is done
    read: Callable[[list[RunRecord], Any], Any]  # the result; the worker may be busy again


class Workers:
    """The processes of one build of a target, started when they are needed."""

    def __init__(self, target_name: str, new: Callable[[], Worker]):
        self.target_name, self._new = target_name, new
        self.all: list[Worker] = []
        self._free: list[Worker] = []

    def start(self) -> Worker:
        """A new process, which is free."""
        worker = self._new()
        self.all.append(worker)
        self._free.append(worker)
        return worker

    def take(self) -> Worker:
        """A process that is free; those that died are replaced."""
        self.all = [worker for worker in self.all if worker.is_alive]
        self._free = [worker for worker in self._free if worker.is_alive]
        if not self._free:
            self.start()
        return self._free.pop()

    def give_back(self, worker: Worker) -> None:
        """It is free again."""
        self._free.append(worker)

    def close(self) -> None:
        """End the processes."""
        for worker in self.all:
            worker.close()
        self.all, self._free = [], []


@dataclass(frozen=True)
class Task(Generic[Result]):
    """Requests to the workers of one build, and what to make of all that was collected."""

    workers: Workers
    requests: Sequence[Request]
    finish: Callable[[list[Any]], Result]


class _Running(NamedTuple):
    task: int
    request: int  # the number of one of its requests
    logs: list[NDArray[np.uint8]]  # so far


class _Done(NamedTuple):
    running: _Running
    num_edges: int
    copied: Any


def run_together(
    tasks: Sequence[Task[Any]], num_workers: int, max_seconds: float = math.inf
) -> list[Any]:
    """Run tasks, the requests of the first of them first. Returns what came of each.

    Args:
        tasks: what to run.
        num_workers: processes that are busy at a time.
        max_seconds: for all of them; if that is not enough a `TimeoutError` is raised.
    """
    try:
        collected = _Run(tasks, num_workers, max_seconds).collect()
    except BaseException:
        for task in tasks:  # a request may be half done: begin with new workers next time
            task.workers.close()
        raise
    return [task.finish(found) for task, found in zip(tasks, collected, strict=True)]


class _Run:
    def __init__(self, tasks: Sequence[Task[Any]], num_workers: int, max_seconds: float):
        self.tasks, self.num_workers, self.max_seconds = tasks, num_workers, max_seconds
        self.stop = time.monotonic() + max_seconds
        num_requests = [len(task.requests) for task in tasks]
        self.waiting = deque((t, i) for t, num in enumerate(num_requests) for i in range(num))
        self.collected: list[list[Any]] = [[None] * num for num in num_requests]
        self.deaths: dict[tuple[int, int], int] = {}
        self.busy: dict[Worker, _Running] = {}
        self.unread = deque[_Done]()

    def collect(self) -> list[list[Any]]:
        """Results are read while the workers go on with other requests."""
        while self.waiting or self.busy or self.unread:
            while self.waiting and len(self.busy) < self.num_workers:
                self._begin(*self.waiting.popleft())
            left = max(0.0, self.stop - time.monotonic())
            done = ready(self.busy, 0.0 if self.unread else left) if self.busy else []
            for worker in done:
                self._end(worker, self.busy.pop(worker))
            if self.unread and not done:
                self._read(self.unread.popleft())
            elif not done:
                name = self.tasks[0].workers.target_name
                raise TimeoutError(f"{name} took longer than {self.max_seconds} seconds")
        return self.collected

    def _begin(self, t: int, i: int) -> None:
        worker = self.tasks[t].workers.take()
        self.busy[worker] = _Running(t, i, [])
        self.tasks[t].requests[i].begin(worker)

    def _end(self, worker: Worker, running: _Running) -> None:
        task = self.tasks[running.task]
        try:
            answer = worker.finish()
        except WorkerDied:
            worker.close()
            self._again(running)
            return
        running.logs.append(answer.log)
        if answer.next < worker.arena.stop:
            self.busy[worker] = running
            worker.go_on(answer.next)  # there was no room for more records
            return
        copied = task.requests[running.request].copy(worker)
        self.unread.append(_Done(running, worker.num_edges, copied))
        task.workers.give_back(worker)

    def _read(self, done: _Done) -> None:
        t, i, logs = done.running
        records = [record for log in logs for record in read_records(log, done.num_edges)]
        try:
            self.collected[t][i] = self.tasks[t].requests[i].read(records, done.copied)
        except WorkerDied:
            self._again(done.running)

    def _again(self, running: _Running) -> None:
        t, i, _ = running
        self.waiting.appendleft((t, i))
        deaths = self.deaths[t, i] = self.deaths.get((t, i), 0) + 1
        task = self.tasks[t]
        if deaths == MAX_DEATHS:
            raise AloexError(
                f"the worker of {task.workers.target_name} was killed {MAX_DEATHS} times over "
                f"{task.requests[i].name}; is the machine out of memory, or does the target write "
                "into memory of others?"
            )
