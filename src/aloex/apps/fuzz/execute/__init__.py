"""Running inputs in a target, in worker processes that share memory with us. No JAX."""

from aloex.apps.fuzz.execute.executor import Executor

__all__ = ["Executor"]
