"""What `kernels` measures: a step of each kernel on energies that offer more or less, at any size.

The energies differ in what they offer beyond being called, and so in where `aloex.differences`
takes its table from: `lattice` has a method of its own, `mlp` increments and a gradient, `plain`
nothing, so that f is evaluated for each change of a site.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array

from aloex import energies, kernels, proposals, samplers, spaces
from aloex.cursor import Energy
from aloex.spaces import Space
from studies.speed.ours import Ours

COUPLING, WIDTHS, NUM_REPLICAS = 0.4, (64, 64), 8
PATHS_OF_16, ALOE = "PathAuxiliary(max_path=16)", "step of ALOE"


class Case(NamedTuple):
    """A kernel on an energy of d sites with K values, and chains at once."""

    kernel: str
    energy: str
    dim: int
    num_values: int
    batch: int


class Program(NamedTuple):
    """What is compiled and run: `step(given, state)` returns the next state, and an info."""

    step: Any  # of jax.jit; the state is donated
    given: Any
    state: Any


def sides(dim: int) -> tuple[int, int]:
    """Height and width of the grid, as square as powers of two allow."""
    height = 2 ** ((dim.bit_length() - 1) // 2)
    return height, dim // height


def space_of(case: Case) -> Space:
    """The space of its states."""
    few = case.num_values == 2
    return spaces.Bits(case.dim) if few else spaces.Categorical(case.dim, case.num_values)


def lattice(case: Case) -> Energy:
    """Neighbours that agree; sparse couplings, exact differences from one product with them."""
    if case.num_values == 2:
        return energies.ising_lattice(*sides(case.dim), COUPLING)
    return energies.potts_lattice(*sides(case.dim), case.num_values, COUPLING)


def mlp(case: Case) -> Energy:
    """A network; a change of a site costs all but its first layer."""
    return energies.MLP(space_of(case), hidden=WIDTHS, key=jax.random.key(0))


def plain(case: Case) -> Energy:
    """The same grid, written by somebody who knows of nothing but f."""

    def agreeing(x: Array, z: Array | None = None) -> Array:
        grid = x.reshape(sides(case.dim))
        down, across = grid[1:] == grid[:-1], grid[:, 1:] == grid[:, :-1]
        return COUPLING * (down.sum() + across.sum())

    return agreeing


def search(space: Space) -> kernels.SearchMetropolis:
    """Independent proposals of a factorized law."""
    q = samplers.LocalSearch(samplers.Factorized(space))
    backward = proposals.Inverse(space=space, max_edits=0)
    return kernels.SearchMetropolis(q, backward, space=space)


def tempering(space: Space) -> kernels.ParallelTempering:
    """A ladder of replicas, each moved by a sweep."""
    return kernels.ParallelTempering(kernels.Gibbs(space), jnp.linspace(0.1, 1.0, NUM_REPLICAS))


ENERGIES: dict[str, Callable[[Case], Energy]] = {"lattice": lattice, "mlp": mlp, "plain": plain}
KERNELS: dict[str, Callable[[Space], Any]] = {
    "Gibbs": kernels.Gibbs,
    "ColouredGibbs": lambda space: kernels.ColouredGibbs(
        space, kernels.checkerboard(*sides(space.dim))
    ),
    "BlockGibbs": kernels.BlockGibbs,
    "HammingBall": kernels.HammingBall,
    "RandomWalk": kernels.RandomWalk,
    "GibbsWithGradients": kernels.GibbsWithGradients,
    "DiscreteLangevin": kernels.DiscreteLangevin,
    "PathAuxiliary": kernels.PathAuxiliary,
    PATHS_OF_16: lambda space: kernels.PathAuxiliary(space, max_path=16),
    "ParallelTempering": tempering,
    "SearchMetropolis": search,
}


def program(case: Case) -> Program:
    """The step of a case, and what it begins with."""
    return _of_aloe(case) if case.kernel == ALOE else _of_kernel(case)


def _of_aloe(case: Case) -> Program:
    """A step of learning with the paper's networks; the batch is that of the data."""
    ours = Ours(space=space_of(case), batch=case.batch)
    step = jax.jit(lambda key, state: ours.step(key, state), donate_argnums=1)
    return Program(step, ours.keys[0], ours.arrays)


def _of_kernel(case: Case) -> Program:
    """A step of chains side by side.

    They begin with zeros in all fields: what a step costs does not depend on them, and `init` need
    not be compiled.
    """
    made = KERNELS[case.kernel](space_of(case)), ENERGIES[case.energy](case)
    arrays, static = eqx.partition(made, eqx.is_array)
    keys = jax.random.split(jax.random.key(0), case.batch)

    def start(key: Array, arrays: Any) -> Any:
        kernel, f = eqx.combine(arrays, static)
        return kernel.init(key, jnp.zeros(case.dim, jnp.int32), f)

    def step(given: Any, state: Any) -> tuple[Any, Any]:
        keys, arrays = given
        kernel, f = eqx.combine(arrays, static)
        return jax.vmap(lambda key, state: kernel.step(key, state, f))(keys, state)

    shapes = jax.eval_shape(jax.vmap(start, in_axes=(0, None)), keys, arrays)
    state = jax.tree.map(lambda a: jnp.zeros(a.shape, a.dtype), shapes)
    return Program(jax.jit(step, donate_argnums=1), (keys, arrays), state)
