"""Lattices: Ising below, at and above the critical coupling, a spin glass, Potts."""

import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from aloex import exact
from aloex.energies import ising_lattice, lattice_edges, potts_lattice
from aloex.kernels import checkerboard
from aloex.spaces import Bits, Categorical
from studies.samplers.problems.problem import Expectation, Problem, share_of_majority

CRITICAL_ISING = float(np.log(1 + np.sqrt(2)) / 2)  # 0.4407
CRITICAL_POTTS_3 = float(np.log(1 + np.sqrt(3)))  # 1.005


def squared_magnetisation(x: Array) -> Float[Array, ""]:
    """The square of the mean spin."""
    return jnp.mean(2.0 * x - 1) ** 2


def ising(
    height: int = 8,
    width: int = 8,
    *,
    coupling: object = 0.6,
    field: object = 0.01,
    name: str | None = None,
) -> Problem:
    """Free borders. Its two modes are most spins up and most spins down; ties count for neither."""
    dim = height * width
    answers = exact.ising_lattice(height, width, coupling, field)
    squares = (2 * np.arange(dim + 1) / dim - 1) ** 2
    return Problem(
        name=name or f"ising-{height}x{width}-{coupling}",
        space=Bits(dim),
        f=ising_lattice(height, width, coupling, field),
        log_z=answers.log_z,
        marginals=answers.marginals,
        expectations={
            "upper mode": share_of_majority(1, answers.majority(1)),
            "lower mode": share_of_majority(0, answers.majority(0)),
            "squared magnetisation": Expectation(
                squared_magnetisation, float(squares @ answers.counts[1])
            ),
        },
        colours=checkerboard(height, width),
    )


def glass(height: int = 10, width: int = 10, *, coupling: float = 1.0, seed: int = 0) -> Problem:
    """Couplings of random sign, and a weak random field: many modes, none of them known ahead."""
    rng = np.random.default_rng(seed)
    signs = rng.choice([-1.0, 1.0], len(lattice_edges(height, width)))
    field = 0.1 * rng.normal(size=height * width)
    name = f"glass-{height}x{width}-{coupling}"
    return ising(height, width, coupling=coupling * signs, field=field, name=name)


def potts(
    height: int = 8,
    width: int = 8,
    num_values: int = 3,
    *,
    coupling: float = 1.0,
    field: float = 0.01,
) -> Problem:
    """Free borders, a field on value 0. Modes: which value, if any, more than half of all have."""
    by_value = np.eye(num_values)[0] * field
    answers = exact.potts_lattice(height, width, num_values, coupling, by_value)
    return Problem(
        name=f"potts-{height}x{width}-{coupling}",
        space=Categorical(height * width, num_values),
        f=potts_lattice(height, width, num_values, coupling, by_value),
        log_z=answers.log_z,
        marginals=answers.marginals,
        expectations={
            f"mode {v}": share_of_majority(v, answers.majority(v)) for v in range(num_values)
        },
        colours=checkerboard(height, width),
    )
