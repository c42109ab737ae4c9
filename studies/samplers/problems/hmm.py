"""The posterior of a factorial hidden Markov model, exact by forward-backward over joint states.

Chains m of bits x_{t,m} keep their value with probability `stay`; what is seen is their weighted
sum with noise, y_t ~ N(sum_m w_m x_{t,m}, noise^2). f(x) = log p(x, y), so log Z = log p(y). Chains
with nearly equal weights can be told apart hardly, which makes modes.
"""

import equinox as eqx
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from aloex.spaces import Bits
from studies.samplers.problems.problem import Expectation, Problem, of_bits


class FactorialHMM(eqx.Module):
    """f(x) = log p(x, y), bit t M + m being chain m at time t."""

    seen: Float[Array, " times"]
    weights: Float[Array, " chains"]
    noise: float = eqx.field(static=True)
    stay: float = eqx.field(static=True)
    differences_are_exact = True

    def __call__(self, x: Array, z: Array | None = None) -> Float[Array, ""]:
        """f(x)."""
        num_times, num_chains = len(self.seen), len(self.weights)
        spins, rest = self._spins_and_rest(x)
        log_seen = -0.5 * jnp.sum((rest / self.noise) ** 2)
        log_seen = log_seen - num_times * np.log(self.noise * np.sqrt(2 * np.pi))
        num_pairs = (num_times - 1) * num_chains
        mean = (np.log(self.stay) + np.log(1 - self.stay)) / 2
        log_moves = self._log_odds / 2 * jnp.sum(spins[1:] * spins[:-1]) + num_pairs * mean
        return log_seen + log_moves - num_chains * np.log(2)

    def differences(self, x: Array, z: Array | None = None) -> Float[Array, "dim 2"]:
        """What a flip changes in the sum at its time, and in its two pairs."""
        spins, rest = self._spins_and_rest(x)
        log_seen = -(2 * rest[:, None] * spins + self.weights) * self.weights / 2 / self.noise**2
        padded = jnp.pad(spins, ((1, 1), (0, 0)))
        log_moves = -self._log_odds * spins * (padded[:-2] + padded[2:])
        flip = (log_seen + log_moves).reshape(-1, 1)
        return jnp.where(jnp.arange(2) == x[:, None], 0, flip)

    @property
    def _log_odds(self) -> float:
        return float(np.log(self.stay / (1 - self.stay)))

    def _spins_and_rest(self, x: Array) -> tuple[Array, Array]:
        """Spins [times, chains], and what the sum leaves of what is seen [times]."""
        bits = x.reshape(len(self.seen), -1).astype(self.weights.dtype)
        return 2 * bits - 1, self.seen - bits @ self.weights


def factorial_hmm(
    num_times: int = 16,
    num_chains: int = 4,
    *,
    noise: float = 0.3,
    stay: float = 0.9,
    seed: int = 0,
) -> Problem:
    """Seen is what a draw of the model made. Chains 0 and 1 have nearly the same weight."""
    rng = np.random.default_rng(seed)
    weights = 1.0 + 0.5 * np.arange(num_chains)
    weights[1:2] = weights[0] + 0.02
    states = (np.arange(2**num_chains)[:, None] >> np.arange(num_chains)) & 1
    transition = np.where(states[:, None] == states, stay, 1 - stay).prod(axis=2)
    path = [int(rng.integers(len(states)))]
    for _ in range(num_times - 1):
        path.append(int(rng.choice(len(states), p=transition[path[-1]])))
    seen = states[path] @ weights + noise * rng.normal(size=num_times)
    log_z, joint, pairs = _forward_backward(seen, weights, noise, states, transition)
    num_switched = (states[:, None] != states).sum(axis=2)
    middle = num_times // 2
    first_alone = (states[:, 0] == 1) & (states[:, 1 % num_chains] == 0)
    site = middle * num_chains
    f = FactorialHMM(jnp.asarray(seen, float), jnp.asarray(weights, float), noise, stay)
    # Within a time all chains meet in the sum; between times only a chain with itself.
    parity_and_chain = [(t % 2, m) for t in range(num_times) for m in range(num_chains)]
    colours = [
        tuple(i for i, found in enumerate(parity_and_chain) if found == (parity, m))
        for parity in range(min(2, num_times))
        for m in range(num_chains)
    ]
    return Problem(
        name=f"hmm-{num_times}x{num_chains}",
        space=Bits(num_times * num_chains),
        f=f,
        log_z=log_z,
        marginals=of_bits((joint @ states).reshape(-1)),
        expectations={
            # Of two chains that look alike, which one is it?
            "first of two": Expectation(
                lambda x: 1.0 * (x[site] * (1 - x[site + 1 % num_chains])),
                float(joint[middle] @ first_alone),
            ),
            "switches": Expectation(
                lambda x: (
                    1.0 * jnp.sum(x.reshape(num_times, -1)[1:] != x.reshape(num_times, -1)[:-1])
                ),
                float(np.sum(pairs * num_switched)),
            ),
        },
        colours=tuple(colours),
    )


def _forward_backward(
    seen: Float[np.ndarray, " times"],
    weights: Float[np.ndarray, " chains"],
    noise: float,
    states: np.ndarray,
    transition: Float[np.ndarray, "states states"],
) -> tuple[float, Float[np.ndarray, "times states"], Float[np.ndarray, "pairs states states"]]:
    """log p(y), p(state at t | y) and p(states at t and t + 1 | y)."""
    log_seen = -0.5 * ((seen[:, None] - states @ weights) / noise) ** 2
    log_seen -= np.log(noise * np.sqrt(2 * np.pi))
    likelihood = np.exp(log_seen - log_seen.max(axis=1, keepdims=True))
    ahead, log_z = [np.full(len(states), 1 / len(states)) * likelihood[0]], log_seen.max(axis=1)
    for t in range(1, len(seen)):
        ahead[-1], log_z[t - 1] = (
            ahead[-1] / ahead[-1].sum(),
            log_z[t - 1] + np.log(ahead[-1].sum()),
        )
        ahead.append(ahead[-1] @ transition * likelihood[t])
    ahead[-1], log_z[-1] = ahead[-1] / ahead[-1].sum(), log_z[-1] + np.log(ahead[-1].sum())
    behind = [np.ones(len(states))]
    for t in range(len(seen) - 1, 0, -1):
        back = transition @ (likelihood[t] * behind[0])
        behind.insert(0, back / back.sum())
    joint = np.array(ahead) * np.array(behind)
    pairs = [
        a[:, None] * transition * (like * b)
        for a, like, b in zip(ahead[:-1], likelihood[1:], behind[1:], strict=True)
    ]
    normal = lambda table: table / table.sum(axis=tuple(range(1, table.ndim)), keepdims=True)
    shape = (len(seen) - 1, len(states), len(states))
    return float(log_z.sum()), normal(joint), normal(np.array(pairs).reshape(shape))
