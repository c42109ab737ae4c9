"""The energy's weights: two small networks, run by NumPy to rank and by JAX to learn.

A flat dictionary of arrays: `position_0_weight`, `position_0_bias`, ..., `position_linear` give a
number to each position, `task_...` one to each kind of SubStr and one to constants.
"""

from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from aloex.apps.programs.energy.features import NUM_GLOBAL, NUM_KINDS, NUM_POSITION
from aloex.base.errors import CheckpointError
from aloex.base.weights import read_weights, write_weights

Weights = dict[str, Any]  # of NumPy's arrays or of JAX's

FORMAT = "aloex synth energy 1"
HIDDEN = 64
SIZES = {
    "position": (NUM_POSITION, HIDDEN, HIDDEN, 1),
    "task": (NUM_GLOBAL, HIDDEN, NUM_KINDS + 1),
}
START = -3.0  # of each part before anything is learned: short programs are better
FILE = Path(__file__).parent / "energy.safetensors"
NUM_TASKS = 1000 * 64  # that it was trained on


def init(seed: int) -> Weights:
    """Weights to begin with."""
    rng, weights = np.random.default_rng(seed), {}
    for name, sizes in SIZES.items():
        for i, (n_in, n_out) in enumerate(pairwise(sizes)):
            drawn = rng.normal(size=(n_in, n_out)) / n_in**0.5
            weights[f"{name}_{i}_weight"] = drawn.astype(np.float32)
            weights[f"{name}_{i}_bias"] = np.full(n_out, START * (i == len(sizes) - 2), np.float32)
        weights[f"{name}_linear"] = np.zeros((sizes[0], sizes[-1]), np.float32)
    return weights


def apply(weights: Weights, name: str, x: Any) -> Any:
    """The outputs of the network `name` for the rows of x."""
    last, linear = len(SIZES[name]) - 2, x @ weights[f"{name}_linear"]
    for i in range(last + 1):
        x = x @ weights[f"{name}_{i}_weight"] + weights[f"{name}_{i}_bias"]
        x = x if i == last else x * (x > 0)
    return x + linear


def save(path: Path, weights: Weights, **settings: Any) -> None:
    """Write a model file."""
    arrays = {name: np.asarray(array) for name, array in weights.items()}
    write_weights(path, arrays, {"format": FORMAT, **settings})


def load(path: Path) -> Weights:
    """The weights in a file."""
    weights, settings = read_weights(path)
    if settings.get("format") != FORMAT:
        raise CheckpointError(f"{path} holds no energy of programs; check the path")
    wanted = {name: array.shape for name, array in init(0).items()}
    if {name: array.shape for name, array in weights.items()} != wanted:
        raise CheckpointError(
            f"{path} holds other weights than this version of Aloex knows; train them again: "
            "aloex programs train energy"
        )
    return weights


@cache
def trained() -> Weights:
    """The weights that come with the library."""
    return load(FILE)
