"""A sampler that was learned for an energy: draws with weights, and what can be had from them.

sampler = aloex.learn_sampler(f, space)
draws = sampler.sample(1000)         # draws.x [1000, d] and draws.log_w [1000]
print(sampler.log_z())               # with its error, and what the error does not say
print(sampler.expect(lambda x: x.sum()))

The draws are independent and come from q. Their weights exp f(x) / q_K(x) correct what q lacks
(`aloex.proposals.weigh`): averages with these weights are those of p_f, and come with an error.
"""

import os
import warnings
from collections.abc import Callable
from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Int, Key

from aloex.base.errors import InputError, UntrustedEstimate
from aloex.base.seeds import check_seed
from aloex.cursor import Energy
from aloex.energies import as_energy
from aloex.importance_weights import pareto_k
from aloex.kernels import SearchMetropolis
from aloex.learning.build import build_backward, build_search
from aloex.learning.config import Config
from aloex.learning.model import settings_of
from aloex.learning.rows import chunk_or_none, chunk_size, conditions
from aloex.learning.settings import whole
from aloex.log_z.estimate import BOUNDS, Bound
from aloex.proposals import Proposal, SearchWeight, weigh
from aloex.runs import model_file
from aloex.samplers import LocalSearch
from aloex.spaces import Space

MIN_EFFECTIVE_DRAWS = 100  # fewer do not tell their own error
MAX_PARETO_K = 0.7  # beyond it the error of a mean of weights is not to be had from the draws
MAX_GAP = 0.1  # nats, between estimates of log q(x) with and without the drawn trajectory


class WeightedDraws(NamedTuple):
    """Independent draws of q, and what makes them draws of p_f.

    Example:
        >>> import numpy as np
        >>> from aloex.learning import WeightedDraws
        >>> draws = WeightedDraws(np.array([[0], [1]]), np.log([1.0, 3.0]), np.zeros(2))
        >>> draws.weights.round(2).tolist()
        [0.25, 0.75]
    """

    x: np.ndarray  # [n, d]
    log_w: np.ndarray  # [n]; E[exp log_w] = Z
    gap: np.ndarray  # [n] log q(x) with and without the drawn trajectory, apart

    @property
    def weights(self) -> np.ndarray:
        """The weights [n], which add up to 1."""
        w = np.exp(self.log_w - self.log_w.max())
        return w / w.sum()

    @property
    def effective_sample_size(self) -> float:
        """(sum w)^2 / sum w^2."""
        return float(1 / np.sum(self.weights**2))


class WeightedEstimate(NamedTuple):
    """A number found from weighted draws, its error, and whether to trust that.

    Example:
        >>> from aloex.learning import WeightedEstimate
        >>> print(WeightedEstimate("log Z", 2.5, 0.01, 950.0, 1000, 0.02, 0.1, "lower"))
        log Z = 2.500 +- 0.010 (lower bound on average; ESS 950 of 1000, gap 0.020)
    """

    name: str
    value: Any  # a number, or an array of them
    standard_error: Any
    effective_sample_size: float
    num_draws: int
    gap: float  # of log q(x); log Z may be too low by as much
    pareto_k: float  # of the weights' tail
    bound: Bound  # "lower" for log Z: E[value] <= log Z
    warnings: tuple[str, ...] = ()

    def __str__(self) -> str:
        about = f"ESS {self.effective_sample_size:.0f} of {self.num_draws}, gap {self.gap:.3f}"
        if self.bound != "none":
            about = f"{BOUNDS[self.bound]}; {about}"
        if np.ndim(self.value) == 0:
            shown = f"{self.value:.3f} +- {self.standard_error:.3f}"
        else:
            shown = f"{np.round(self.value, 3)} +- {np.round(self.standard_error, 3)}"
        return "; warning: ".join([f"{self.name} = {shown} ({about})", *self.warnings])


class LearnedSampler(eqx.Module):
    """A search that has learned to sample an energy; `learn_sampler` makes one.

    Args:
        config: the settings of its networks.
        f: the energy.
        q: the search.
        backward: the law of its trajectories given their ends.

    Example:
        >>> import jax
        >>> from aloex.learning import Config, LearnedSampler, build_backward, build_search
        >>> config = Config(dim=5, q_hidden=(8,), max_edits=2)
        >>> keys = jax.random.split(jax.random.key(0))
        >>> q, backward = build_search(config, keys[0]), build_backward(config, keys[1])
        >>> sampler = LearnedSampler(config, lambda x, z=None: 1.0 * x.sum(), q, backward)
        >>> sampler.sample(3).x.shape
        (3, 5)
    """

    config: Config = eqx.field(static=True)
    f: Energy
    q: LocalSearch
    backward: Proposal

    @property
    def space(self) -> Space:
        """What x is."""
        return self.config.space

    @property
    def kernel(self) -> SearchMetropolis:
        """The search as a kernel with an exact test."""
        return SearchMetropolis(self.q, self.backward, space=self.space)

    def sample(
        self, n: int, *, z: Any = None, seed: int = 0, num_trajectories: int = 8
    ) -> WeightedDraws:
        """Independent draws with their weights.

        Args:
            n: how many. A larger n keeps the first draws as they are.
            z: one condition for all [c], or a row for each [n, c]. Weights of draws of different
                conditions are not to be compared.
            seed: of all randomness, 0..2^32 - 1.
            num_trajectories: K, from which q(x) is estimated for the weights.

        Returns:
            States [n, d], log weights [n], gaps [n]. In a Mixed space q may draw a value that a
            site does not have; the weight of such a draw is 0.

        Raises:
            InputError: a setting is out of range, or f is NaN at a draw.
        """
        n, k = whole("n", n, 1), whole("num_trajectories", num_trajectories, 1)
        key = jax.random.key(check_seed(seed))
        z = conditions(z, n, self.config.cond_dim, "sampler")
        k = k if self.config.max_edits else 1  # one trajectory leads to each x
        size = chunk_size(n)
        parts = [
            _draw(self, key, i + jnp.arange(size), chunk_or_none(z, i, size), k)
            for i in range(0, n, size)
        ]
        x, weight = jax.tree.map(lambda *a: np.concatenate([np.asarray(p) for p in a])[:n], *parts)
        if np.isnan(weight.log_w).any():
            row = int(np.isnan(weight.log_w).argmax())
            raise InputError(f"f is NaN at a draw, x = {x[row].tolist()}; mend the energy")
        known = self.config.max_edits == 0
        gap = np.zeros(n) if known else weight.log_q - weight.log_q_of_others
        return WeightedDraws(x, weight.log_w, gap)

    def log_z(
        self, n: int = 10_000, *, z: Any = None, seed: int = 0, num_trajectories: int = 8
    ) -> WeightedEstimate:
        """log Z of f, or of f(., z).

        Args:
            n, z, seed, num_trajectories: as for `sample`; z is one condition.

        Returns:
            The estimate, with its error. Where it cannot be trusted, its `warnings` say why; they
            are Python warnings, too, `errors.UntrustedEstimate`.
        """
        draws = self.sample(n, z=z, seed=seed, num_trajectories=num_trajectories)
        highest = draws.log_w.max()
        w = np.exp(draws.log_w - highest)
        error = w.std(ddof=1) / w.mean() / np.sqrt(n) if n > 1 else np.nan
        return _estimate("log Z", highest + np.log(w.mean()), error, draws, "lower")

    def expect(
        self,
        g: Callable[[Array], Any],
        n: int = 10_000,
        *,
        z: Any = None,
        seed: int = 0,
        num_trajectories: int = 8,
    ) -> WeightedEstimate:
        """The mean of g(x) under p_f.

        Args:
            g: a function of a state [d], a number or an array of them, that JAX can compile.
            n, z, seed, num_trajectories: as for `sample`; z is one condition.

        Returns:
            The estimate, as for `log_z`.
        """
        draws = self.sample(n, z=z, seed=seed, num_trajectories=num_trajectories)
        values = np.asarray(jax.vmap(g)(jnp.asarray(draws.x)), float)
        w = draws.weights.reshape(-1, *[1] * (values.ndim - 1))
        mean = np.sum(w * values, axis=0)
        error = np.sqrt(np.sum(w**2 * (values - mean) ** 2, axis=0))
        return _estimate("mean", mean[()], error[()], draws, "none")

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write a safetensors file. The energy is not in it: `load_sampler` is given it again."""
        parts = {"q": self.q, "backward": self.backward}
        model_file.write(path, parts, settings_of(self.config, None))


def load_sampler(
    path: str | os.PathLike[str], f: Energy | Callable[[Array], Array]
) -> LearnedSampler:
    """The sampler that `LearnedSampler.save` wrote.

    Args:
        path: of the safetensors file.
        f: the energy that it was learned for.

    Returns:
        The sampler.

    Raises:
        CheckpointError: there is no such file, or it holds no sampler.

    Example:
        >>> import aloex, tempfile
        >>> from aloex.spaces import Bits
        >>> f = lambda x, z=None: 1.0 * x.sum()
        >>> sampler = aloex.learn_sampler(f, Bits(3), num_steps=2, progress=False)
        >>> path = tempfile.mkdtemp() + "/sampler.safetensors"
        >>> sampler.save(path)
        >>> bool((aloex.load_sampler(path, f).sample(5).x == sampler.sample(5).x).all())
        True
    """

    def build(settings: dict[str, Any]) -> dict[str, Any]:
        config, key = Config.from_dict(settings), jax.random.key(0)
        return {"q": build_search(config, key), "backward": build_backward(config, key)}

    parts, settings = model_file.read(path, build)
    config = Config.from_dict(settings)
    energy = as_energy(f, jnp.zeros(config.cond_dim) if config.cond_dim else None)
    return LearnedSampler(config, energy, parts["q"], parts["backward"])


@eqx.filter_jit
def _draw(
    sampler: LearnedSampler,
    key: Key[Array, ""],
    numbers: Int[Array, " n"],
    z: Array | None,
    num_trajectories: int,
) -> tuple[Array, SearchWeight]:
    """Draws with these numbers, and their weights."""

    def draw(i: Array, z: Array | None) -> tuple[Array, SearchWeight]:
        key_q, key_weight = jax.random.split(jax.random.fold_in(key, i))
        drawn, how = sampler.q.sample(key_q, z), {"num_trajectories": num_trajectories}
        return drawn.last, weigh(
            key_weight, sampler.f, sampler.q, sampler.backward, drawn, z, **how
        )

    return jax.vmap(draw)(numbers, z)


def _estimate(
    name: str, value: Any, error: Any, draws: WeightedDraws, bound: Bound
) -> WeightedEstimate:
    """The estimate; what is wrong with it is told."""
    size, n = draws.effective_sample_size, len(draws.x)
    gap, k = float(np.mean(draws.gap)), pareto_k(draws.log_w)
    found = WeightedEstimate(name, value, error, size, n, gap, k, bound)
    found = found._replace(warnings=_warnings(found))
    if found.warnings:
        warnings.warn(f"{name}: {'; '.join(found.warnings)}", UntrustedEstimate, stacklevel=3)
    return found


def _warnings(found: WeightedEstimate) -> tuple[str, ...]:
    """Why not to trust an estimate."""
    size, said = found.effective_sample_size, list[str]()
    if size < MIN_EFFECTIVE_DRAWS:
        said.append(
            f"only {size:.0f} of {found.num_draws} draws count (effective sample size); take more "
            "draws, or learn longer"
        )
    if found.pareto_k > MAX_PARETO_K:
        said.append(
            f"a few draws may outweigh all others (Pareto k {found.pareto_k:.2f}, above "
            f"{MAX_PARETO_K}), so the error is too small; learn longer, or with a larger q0"
        )
    if not found.gap <= MAX_GAP:
        said.append(
            f"log q(x) is known to {found.gap:.2f} nats only, and log Z may be too low by as "
            "much; raise num_trajectories"
        )
    return tuple(said)
