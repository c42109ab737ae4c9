"""What goes into a run of a target, and what comes out of it: many inputs, and their outcomes.

edge     a branch in the target's control flow; libFuzzer's `cov` counts the same edges
feature  an edge and how often it was hit: 8 * edge + bucket, buckets 1, 2, 3, 4-7, ..., 128+
"""

from dataclasses import dataclass
from enum import IntEnum
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray


class Inputs(NamedTuple):
    """Many inputs in one buffer: input i is data[bounds[i] : bounds[i + 1]]."""

    data: NDArray[np.uint8]  # [bytes]
    bounds: NDArray[np.integer]  # [n + 1]


class ExitStatus(IntEnum):
    """How the run of an input ended."""

    OK = 0
    CRASH = 1  # a signal, or a call of exit
    HANG = 2
    OOM = 3


@dataclass(frozen=True)
class Failure:
    """An input that did not end well."""

    index: int  # of the input
    status: ExitStatus
    signal: int  # 0: none, the target called exit
    frames: tuple[int, ...]  # offsets in the target's library, innermost first
    report: str = ""  # what the run wrote to stderr: a sanitizer's report


@dataclass(frozen=True)
class Outcomes:
    """The outcomes of n inputs. The features of input i are features[first[i] : first[i + 1]]."""

    status: NDArray[np.uint8]  # [n], of `ExitStatus`
    num_edges: NDArray[np.uint32]  # [n], edges that the input hit
    new_edges: NDArray[np.integer]  # [n], edges that no input before it had hit
    new_features: NDArray[np.integer]  # [n]
    first: NDArray[np.integer]  # [n + 1]
    features: NDArray[np.uint32]  # the new ones; all with full=True or where the input failed
    is_new: NDArray[np.bool_]  # of each feature
    failures: list[Failure]

    def features_of(self, i: int) -> NDArray[np.uint32]:
        """The features of input i, in ascending order."""
        return self.features[self.first[i] : self.first[i + 1]]

    def new_features_of(self, i: int) -> NDArray[np.uint32]:
        """The features of input i that no input before it had."""
        return self.features_of(i)[self.is_new[self.first[i] : self.first[i + 1]]]

    def edges_of(self, i: int) -> NDArray[np.uint32]:
        """The edges of input i, in ascending order."""
        return self.features_of(i) // 8
