"""Bugs: what failing inputs have in common, and a folder of them. No JAX."""

from aloex.apps.fuzz.bugs.baseline import FAIL_ON, Baseline, fail_reason
from aloex.apps.fuzz.bugs.bug import Bug
from aloex.apps.fuzz.bugs.bugs import MAX_KEPT, Bugs
from aloex.apps.fuzz.bugs.fault import signal_name
from aloex.apps.fuzz.bugs.symbols import Frame

__all__ = [
    "FAIL_ON",
    "MAX_KEPT",
    "Baseline",
    "Bug",
    "Bugs",
    "Frame",
    "fail_reason",
    "signal_name",
]
