"""Running inputs and mutants in a target, in processes that share memory with us. No JAX."""

from aloex.apps.fuzz.execute.executor import Executor, Lane, failure_of
from aloex.apps.fuzz.execute.records import RunRecord, Trace
from aloex.apps.fuzz.execute.schedule import Task, run_together

__all__ = ["Executor", "Lane", "RunRecord", "Task", "Trace", "failure_of", "run_together"]
