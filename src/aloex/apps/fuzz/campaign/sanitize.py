"""Inputs and mutants run once more with AddressSanitizer and UndefinedBehaviorSanitizer.

They find what does not crash. That build is slow, so every new input of the corpus runs in it, and
a share of all mutants. Coverage is always that of the plain build.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

from aloex.apps.fuzz.bugs.verdict import SLOWER
from aloex.apps.fuzz.campaign.epochs import Epoch
from aloex.apps.fuzz.execute import Executor, failure_of
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

    def close(self) -> None:
        """End the processes."""
        if self._executor is not None:
            self._executor.close()

    def run(self, inputs: Sequence[tuple[int, bytes]]) -> list[Failed]:
        """Run inputs, given with their numbers. Returns those that failed."""
        if self._executor is None or not inputs:
            return []
        failures = self._executor.run([data for _, data in inputs]).failures
        return [Failed(*inputs[failure.index], failure, is_sanitized=True) for failure in failures]

    def run_mutants(self, epoch: Epoch) -> list[Failed]:
        """Run the first mutants of an epoch. Returns those that failed."""
        stop = epoch.first + round(self.share * (epoch.stop - epoch.first))
        if self._executor is None or stop == epoch.first:
            return []
        lanes = self._executor.run_lanes(Epoch(epoch.first, stop).lanes)
        return [
            Failed(r.number, self.engine.mutate(r.number)[0], failure_of(r, 0), is_sanitized=True)
            for lane in lanes
            for r in lane.records
            if r.status != ExitStatus.OK
        ]
