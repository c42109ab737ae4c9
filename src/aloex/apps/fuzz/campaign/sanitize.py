"""Inputs and mutants run once more with AddressSanitizer and UndefinedBehaviorSanitizer.

They find what does not crash. That build is slow, so every new input of the corpus runs in it, and
a share of all mutants. Coverage is always that of the plain build, so nothing waits for these runs:
what an epoch has found runs beside the mutants of the next.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

from aloex.apps.fuzz.bugs.verdict import SLOWER
from aloex.apps.fuzz.campaign.epochs import Epoch
from aloex.apps.fuzz.execute import Executor, Lane, RunRecord, Task, failure_of, run_together
from aloex.apps.fuzz.inputs import ExitStatus, Failure
from aloex.apps.fuzz.native import Engine
from aloex.apps.fuzz.target import Target
from aloex.base.errors import require


class Failed(NamedTuple):
    """An input that failed."""

    number: int  # of the mutant; negative: a seed
    data: bytes
    failure: Failure
    is_sanitized: bool = False  # whether it failed in the build with sanitizers


class Sanitizer:
    """Runs inputs with sanitizers; does nothing if the target has no build with them.

    Args:
        target: the target.
        engine: makes the mutants.
        share: of the mutants that are run, from 0 to 1.
        timeout: seconds that an input may take without sanitizers; it may take longer here.
        limits: as of `Executor`.
    """

    def __init__(
        self, target: Target, engine: Engine, share: float, *, timeout: float, **limits: Any
    ):
        require(0 <= share <= 1, f"the share with sanitizers must be from 0 to 1, got {share}")
        self.engine, self.share = engine, share
        self._executor = None
        if target.sanitized is not None:
            limits |= {"timeout": SLOWER * timeout, "sanitized": True}
            self._executor = Executor(target, engine=engine, **limits)

    @property
    def is_there(self) -> bool:
        """Whether the target has a build with sanitizers."""
        return self._executor is not None

    def close(self) -> None:
        """End the processes."""
        if self._executor is not None:
            self._executor.close()

    def run(self, inputs: Sequence[tuple[int, bytes]]) -> list[Failed]:
        """Run inputs, given with their numbers. Returns those that failed."""
        if self._executor is None:
            return []
        found = run_together(self.tasks(inputs, []), self._executor.num_workers)
        return [failed for some in found for failed in some]

    def tasks(
        self, inputs: Sequence[tuple[int, bytes]], lanes: Sequence[tuple[int, int]]
    ) -> list[Task[list[Failed]]]:
        """Tasks of running inputs, and lanes of mutants, that return those which failed."""
        if self._executor is None:
            return []
        given = self._executor.given([data for _, data in inputs])
        made = self._executor.lanes(lanes)

        def failed(number: int, data: bytes, record: RunRecord) -> Failed:
            return Failed(number, data, failure_of(record, 0), is_sanitized=True)

        def failed_inputs(batches: list[list[RunRecord]]) -> list[Failed]:
            pairs = zip(inputs, given.finish(batches), strict=True)
            return [failed(*numbered, r) for numbered, r in pairs if r.status != ExitStatus.OK]

        def failed_mutants(ran: list[Lane]) -> list[Failed]:
            records = [r for lane in ran for r in lane.records if r.status != ExitStatus.OK]
            return [failed(r.number, self.engine.mutate(r.number)[0], r) for r in records]

        tasks = [
            Task(given.workers, given.requests, failed_inputs),
            Task(made.workers, made.requests, failed_mutants),
        ]
        return [task for task in tasks if task.requests]

    def share_of(self, epoch: Epoch) -> Epoch:
        """The mutants of an epoch that run with sanitizers: the first."""
        return Epoch(epoch.first, epoch.first + round(self.share * (epoch.stop - epoch.first)))
