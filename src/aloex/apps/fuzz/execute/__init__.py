"""Running inputs and mutants in a target, in processes that share memory with us. No JAX."""

from aloex.apps.fuzz.execute.executor import Executor, Lane, failure_of
from aloex.apps.fuzz.execute.records import RunRecord, Trace

__all__ = ["Executor", "Lane", "RunRecord", "Trace", "failure_of"]
