"""Algorithms by name: each binds an energy to the kernel of `aloex.kernels` that does the work.

The arguments after f and space are the kernel's, and are explained there. Costs are evaluations of
f in a step, for d sites of K values; a gradient counts one more than the value.
"""

from collections.abc import Callable, Sequence
from typing import Literal

import jax.numpy as jnp
from jaxtyping import Array, Float

from aloex.cursor import Energy
from aloex.differences import How
from aloex.energies import as_energy
from aloex.kernels import (
    Backward,
    BlockGibbs,
    ColouredGibbs,
    DiscreteLangevin,
    Gibbs,
    GibbsWithGradients,
    HammingBall,
    Kernel,
    ParallelTempering,
    PathAuxiliary,
    RandomWalk,
    Search,
    SearchMetropolis,
)
from aloex.mcmc.algorithm import SamplingAlgorithm, algorithm
from aloex.spaces import Space

AnyEnergy = Energy | Callable[[Array], Array]  # f(x, z), or f(x)


def gibbs(
    f: AnyEnergy,
    space: Space,
    *,
    z: Array | None = None,
    scan: Literal["systematic", "random"] = "systematic",
    num_sweeps: int = 1,
) -> SamplingAlgorithm:
    """Gibbs sampling: redraw each site by p(x_i = v | rest) ~ exp f(x with x_i = v).

    Cost: d (K - 1). The one to try first: there is nothing to tune, and it knows sequences.

    Args:
        f, space, z: the energy f(x, z) or f(x), what x is, and the condition if there is one.
        scan, num_sweeps: as for `kernels.Gibbs`.

    Returns:
        The algorithm.

    Example:
        >>> from aloex import mcmc, spaces
        >>> mcmc.gibbs(lambda x: 1.0 * x.sum(), spaces.Bits(3), num_sweeps=2).kernel.num_sweeps
        2
    """
    return algorithm(Gibbs(space, scan, num_sweeps), f, z)


def block_gibbs(
    f: AnyEnergy,
    space: Space,
    *,
    z: Array | None = None,
    block_size: int = 2,
    scan: Literal["systematic", "random"] = "systematic",
) -> SamplingAlgorithm:
    """Gibbs sampling of b sites at once: p(x_B = v | rest) ~ exp f(x with x_B = v).

    Cost: ceil(d / b) (K^b - 1). For small groups of sites that hold each other fast.

    Args:
        f, space, z: the energy f(x, z) or f(x), what x is, and the condition if there is one.
        block_size, scan: as for `kernels.BlockGibbs`.

    Returns:
        The algorithm.

    Example:
        >>> from aloex import mcmc, spaces
        >>> mcmc.block_gibbs(lambda x: 1.0 * x.sum(), spaces.Bits(4)).kernel.block_size
        2
    """
    return algorithm(BlockGibbs(space, block_size=block_size, scan=scan), f, z)


def coloured_gibbs(
    f: AnyEnergy,
    space: Space,
    colours: Sequence[Sequence[int]],
    *,
    z: Array | None = None,
    differences: Literal["auto", "exact"] = "auto",
) -> SamplingAlgorithm:
    """Gibbs sampling of all sites of a colour at once, which are independent given the rest.

    Cost: d (K - 1) and one a colour; two a colour for energies with differences of their own. For
    grids and bipartite graphs.

    Args:
        f, space, z: the energy f(x, z) or f(x), what x is, and the condition if there is one.
        colours, differences: as for `kernels.ColouredGibbs`.

    Returns:
        The algorithm.

    Example:
        >>> from aloex import kernels, mcmc, spaces
        >>> colours = kernels.checkerboard(2, 2)
        >>> mcmc.coloured_gibbs(lambda x: 1.0 * x.sum(), spaces.Bits(4), colours).kernel.colours
        ((0, 3), (1, 2))
    """
    return algorithm(ColouredGibbs(space, colours, differences=differences), f, z)


def hamming_ball(
    f: AnyEnergy,
    space: Space,
    *,
    z: Array | None = None,
    block_size: int | None = None,
    radius: int = 1,
) -> SamplingAlgorithm:
    """Redraw b sites among the states near a random centre: u ~ ball of x, x' ~ exp f on ball of u.

    Cost: the size of a ball less one, b (K - 1) for radius 1. It changes up to 2 radius sites at
    once, for less than `block_gibbs`.

    Args:
        f, space, z: the energy f(x, z) or f(x), what x is, and the condition if there is one.
        block_size, radius: as for `kernels.HammingBall`.

    Returns:
        The algorithm.

    Example:
        >>> from aloex import mcmc, spaces
        >>> mcmc.hamming_ball(lambda x: 1.0 * x.sum(), spaces.Bits(4), radius=2).kernel.radius
        2
    """
    return algorithm(HammingBall(space, block_size=block_size, radius=radius), f, z)


def gwg(
    f: AnyEnergy, space: Space, *, z: Array | None = None, differences: How = "auto"
) -> SamplingAlgorithm:
    """Gibbs with gradients: propose one change with q ~ exp((f(x') - f(x)) / 2), then a test.

    Cost: 2 with a gradient, else 1 + d (K - 1). For many sites of which few want to change.

    Args:
        f, space, z: the energy f(x, z) or f(x), what x is, and the condition if there is one.
        differences: as for `kernels.GibbsWithGradients`.

    Returns:
        The algorithm.

    Example:
        >>> from aloex import mcmc, spaces
        >>> mcmc.gwg(lambda x: 1.0 * x.sum(), spaces.Bits(4)).kernel.differences
        'auto'
    """
    return algorithm(GibbsWithGradients(space, differences=differences), f, z)


def dmala(
    f: AnyEnergy,
    space: Space,
    *,
    z: Array | None = None,
    step_size: float | Float[Array, ""] = 0.2,
    differences: How = "auto",
) -> SamplingAlgorithm:
    """Discrete Langevin with a test: q ~ prod_i exp(d_iv / 2 - [v != x_i] / (2 step_size)).

    Cost: 2 with a gradient, else 1 + d (K - 1). For many sites, of which it changes several at
    once. Warm-up tunes `step_size`.

    Args:
        f, space, z: the energy f(x, z) or f(x), what x is, and the condition if there is one.
        step_size, differences: as for `kernels.DiscreteLangevin`.

    Returns:
        The algorithm.

    Example:
        >>> from aloex import mcmc, spaces
        >>> dmala = mcmc.dmala(lambda x: 1.0 * x.sum(), spaces.Bits(4), step_size=0.5)
        >>> float(dmala.kernel.step_size)
        0.5
    """
    return algorithm(DiscreteLangevin(space, step_size=step_size, differences=differences), f, z)


def dula(
    f: AnyEnergy,
    space: Space,
    *,
    z: Array | None = None,
    step_size: float | Float[Array, ""] = 0.2,
    differences: How = "auto",
) -> SamplingAlgorithm:
    """Discrete Langevin without a test: the law of its draws is only near p_f.

    Cost: as for `dmala`. For a quick look, or to move negatives while an energy is trained.

    Args:
        f, space, z: the energy f(x, z) or f(x), what x is, and the condition if there is one.
        step_size, differences: as for `kernels.DiscreteLangevin`.

    Returns:
        The algorithm.

    Example:
        >>> from aloex import mcmc, spaces
        >>> mcmc.dula(lambda x: 1.0 * x.sum(), spaces.Bits(4)).kernel.adjusted
        False
    """
    kernel = DiscreteLangevin(space, step_size=step_size, adjusted=False, differences=differences)
    return algorithm(kernel, f, z)


def path_auxiliary(
    f: AnyEnergy,
    space: Space,
    *,
    z: Array | None = None,
    mean_length: float | Float[Array, ""] | None = None,
    max_path: int | None = None,
    differences: How = "auto",
) -> SamplingAlgorithm:
    """PAFS: a path of changes, each with q ~ exp(d_iv / 2), and a test at its end.

    Cost: 2 with a gradient, else 1 + d (K - 1). As `dmala`, but it always moves. Warm-up tunes
    `mean_length`.

    Args:
        f, space, z: the energy f(x, z) or f(x), what x is, and the condition if there is one.
        mean_length, max_path, differences: as for `kernels.PathAuxiliary`.

    Returns:
        The algorithm.

    Example:
        >>> from aloex import mcmc, spaces
        >>> float(mcmc.path_auxiliary(lambda x: 1.0 * x.sum(), spaces.Bits(4)).kernel.mean_length)
        2.0
    """
    kernel = PathAuxiliary(
        space, mean_length=mean_length, max_path=max_path, differences=differences
    )
    return algorithm(kernel, f, z)


def random_walk(
    f: AnyEnergy, space: Space, *, z: Array | None = None, num_proposals: int = 1
) -> SamplingAlgorithm:
    """Metropolis: one uniform change of a site, accepted with min(1, exp(f(x') - f(x))).

    Cost: `num_proposals`. The plainest there is, to compare others with.

    Args:
        f, space, z: the energy f(x, z) or f(x), what x is, and the condition if there is one.
        num_proposals: as for `kernels.RandomWalk`.

    Returns:
        The algorithm.

    Example:
        >>> from aloex import mcmc, spaces
        >>> mcmc.random_walk(lambda x: 1.0 * x.sum(), spaces.Bits(4)).kernel.num_proposals
        1
    """
    return algorithm(RandomWalk(space, num_proposals=num_proposals), f, z)


def parallel_tempering(
    f: AnyEnergy,
    space: Space,
    inverse_temperatures: Float[Array, " n"] | Sequence[float] | None = None,
    *,
    z: Array | None = None,
    kernel: Kernel | None = None,
    base: AnyEnergy | None = None,
    num_steps: int = 1,
) -> SamplingAlgorithm:
    """Replicas of a kernel at inverse temperatures b_1 < ... < b_n = 1, which swap their states.

    Cost: n times that of the kernel, and n more. For modes that single changes do not connect.
    Warm-up moves the temperatures between the first and the last until all swaps are as likely.

    Args:
        f, space, z: the energy f(x, z) or f(x), what x is, and the condition if there is one.
        inverse_temperatures: as for `kernels.ParallelTempering`; unless given, eight that are
            evenly spaced from 0 to 1.
        kernel: what moves the replicas, `kernels.Gibbs(space)` unless given.
        base, num_steps: as for `kernels.ParallelTempering`.

    Returns:
        The algorithm.

    Example:
        >>> from aloex import mcmc, spaces
        >>> ladder = [0.0, 0.5, 1.0]
        >>> tempering = mcmc.parallel_tempering(lambda x: 1.0 * x.sum(), spaces.Bits(4), ladder)
        >>> tempering.kernel.inverse_temperatures.tolist()
        [0.0, 0.5, 1.0]
    """
    ladder = jnp.linspace(0, 1, 8) if inverse_temperatures is None else inverse_temperatures
    inner = Gibbs(space) if kernel is None else kernel
    base = None if base is None else as_energy(base, z)
    tempering = ParallelTempering(inner, jnp.asarray(ladder), base=base, num_steps=num_steps)
    return algorithm(tempering, f, z, space=space)


def learned_search(
    f: AnyEnergy, space: Space, q: Search, backward: Backward, *, z: Array | None = None
) -> SamplingAlgorithm:
    """Independent proposals of a learned search q, accepted by f and the weights of trajectories.

    Cost: 1, and what q costs. For an f whose q was learned with it (`aloex.learn`), or before.

    Args:
        f, space, z: the energy f(x, z) or f(x), what x is, and the condition if there is one.
        q, backward: as for `kernels.SearchMetropolis`.

    Returns:
        The algorithm.

    Example:
        >>> from aloex import mcmc, proposals, samplers, spaces
        >>> space = spaces.Bits(3)
        >>> q = samplers.LocalSearch(samplers.Factorized(space))
        >>> backward = proposals.Inverse(space=space, max_edits=0)
        >>> mcmc.learned_search(lambda x: 1.0 * x.sum(), space, q, backward).space
        Bits(dim=3)
    """
    return algorithm(SearchMetropolis(q, backward, space=space), f, z)
