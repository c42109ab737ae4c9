"""A restricted Boltzmann machine with several modes, exact by the states of its hidden units."""

import jax
import numpy as np
from jaxtyping import Float

from aloex import exact
from aloex.energies import RBM
from aloex.spaces import Bits
from studies.samplers.problems.problem import Expectation, Problem, of_bits


def rbm(dim: int = 64, num_hidden: int = 10, *, scale: float = 1.5, seed: int = 0) -> Problem:
    """Each hidden unit that is on adds a random pattern to all bits.

    The biases balance the two states of each unit, up to a small difference: if all bits were
    fair, W x would have mean W 1 / 2.
    """
    rng = np.random.default_rng(seed)
    weights = scale * rng.choice([-1.0, 1.0], (num_hidden, dim))
    visible, hidden = balanced_biases(weights, 0.2 * rng.normal(size=dim))
    return rbm_problem(f"rbm-{dim}x{num_hidden}", weights, visible, hidden)


def rbm_problem(
    name: str,
    weights: Float[np.ndarray, "hidden dim"],
    visible_bias: Float[np.ndarray, " dim"],
    hidden_bias: Float[np.ndarray, " hidden"],
) -> Problem:
    """The problem of a machine with few hidden units, which are its modes."""
    answers = exact.rbm(weights, visible_bias, hidden_bias)
    f = RBM(weights, visible_bias, hidden_bias)

    def unit(j: int) -> Expectation:
        mean = float(answers.hidden_marginals[j])
        # The mean of p(unit j is on | x) over x is p(unit j is on).
        return Expectation(lambda x: jax.nn.sigmoid(f.hidden(x)[j]), mean)

    return Problem(
        name=name,
        space=Bits(weights.shape[1]),
        f=f,
        log_z=answers.log_z,
        marginals=of_bits(answers.marginals),
        expectations={f"unit {j}": unit(j) for j in range(len(hidden_bias))},
    )


def balanced_biases(
    weights: Float[np.ndarray, "hidden dim"], tilt: Float[np.ndarray, " dim"]
) -> tuple[Float[np.ndarray, " dim"], Float[np.ndarray, " hidden"]]:
    """Biases for which bits and units are fair but for a tilt, where they are looked at alone."""
    return tilt - weights.sum(axis=0) / 2, -weights.sum(axis=1) / 2
