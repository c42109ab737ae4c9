"""What `sample` returns: draws, what was recorded beside them, and the tuned algorithm."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, NamedTuple

import jax
import numpy as np
from jaxtyping import Float, Int, Shaped

from aloex.base.extras import require_extra
from aloex.mcmc.algorithm import SamplingAlgorithm
from aloex.mcmc.loop import Record
from aloex.mcmc.summary import Summary, summarise


class Seconds(NamedTuple):
    """How long the parts of a call of `sample` took.

    Example:
        >>> from aloex import mcmc
        >>> mcmc.Seconds(compiling=2.0, warm_up=0.5, sampling=0.5).sampling
        0.5
    """

    compiling: float
    warm_up: float
    sampling: float


@dataclass(frozen=True, eq=False, repr=False)
class Draws:
    """Draws of several chains.

    Attributes:
        x: the draws [chains, draws, dim], or what `keep` made of them.
        energy: f(x) of each.
        functions: the named functions of each.
        acceptance: the mean probability of acceptance in the steps of each draw; None of kernels
            that accept everything, such as Gibbs. Of tempering, that of the coldest replica.
        hops: the mean number of sites that a step changed.
        num_evaluations: of f in all steps after the warm-up; None if the kernel does not tell.
        swap_acceptance: of tempering, how often each pair of neighbours was swapped, of the times
            that they might be.
        seconds: for compiling, the warm-up and sampling.
        algorithm: the algorithm as it was tuned.
        last: the kernel's states at the end; `sample(..., initial=draws.last)` goes on from there.

    Example:
        >>> import jax
        >>> from aloex import mcmc, spaces
        >>> dmala = mcmc.dmala(lambda x: 0.5 * x.sum(), spaces.Bits(8))
        >>> draws = mcmc.sample(jax.random.key(0), dmala, 100, num_warmup=100, progress=False)
        >>> draws
        Draws(4 chains of 100 draws, x of shape (8,))
        >>> draws.acceptance.mean(axis=1).shape, draws.last.x.shape
        ((4,), (4, 8))
    """

    x: Any
    energy: Float[np.ndarray, "chains draws"]
    functions: dict[str, Shaped[np.ndarray, "chains draws"]]
    acceptance: Float[np.ndarray, "chains draws"] | None
    hops: Float[np.ndarray, "chains draws"]
    num_evaluations: int | None
    swap_acceptance: Float[np.ndarray, " pairs"] | None
    seconds: Seconds
    algorithm: SamplingAlgorithm
    last: Any

    @property
    def num_chains(self) -> int:
        """How many chains there are."""
        return self.energy.shape[0]

    @property
    def num_draws(self) -> int:
        """How many draws each chain has."""
        return self.energy.shape[1]

    def summary(self) -> Summary:
        """Mean, MCSE, ESS and R-hat of f(x) and of each function, as a table to print."""
        return summarise(
            {"f(x)": self.energy, **self.functions},
            acceptance=self.acceptance,
            hops=self.hops,
            swap_acceptance=self.swap_acceptance,
            seconds=self.seconds.sampling,
            num_evaluations=self.num_evaluations,
        )

    def to_arviz(self) -> Any:
        """An `arviz.InferenceData`: x and the functions as posterior; lp (f), acceptance and hops.

        Raises:
            MissingExtraError: ArviZ is not installed; `pip install 'aloex[arviz]'` brings it.
        """
        require_extra("arviz")
        import arviz  # pyright: ignore[reportMissingImports]

        kept = self.x if isinstance(self.x, dict) else {"x": self.x}
        stats = {"lp": self.energy, "hops": self.hops}
        if self.acceptance is not None:
            stats["acceptance_rate"] = self.acceptance
        return arviz.from_dict(posterior={**kept, **self.functions}, sample_stats=stats)

    def __repr__(self) -> str:
        shapes = [leaf.shape[2:] for leaf in jax.tree.leaves(self.x)]
        kept = f"x of shape {shapes[0]}" if len(shapes) == 1 else f"{len(shapes)} arrays kept"
        return f"Draws({self.num_chains} chains of {self.num_draws} draws, {kept})"


def draws_of(
    algorithm: SamplingAlgorithm,
    last: Any,
    parts: list[Record],
    functions: Iterable[str],
    seconds: Seconds,
) -> Draws:
    """Records [draws, chains, ...] put one after the other."""
    joined = jax.tree.map(lambda *a: np.swapaxes(np.concatenate(a), 0, 1), *parts)
    report = joined.report
    per_step = lambda total: None if total is None else total / report.num_steps
    evaluations, swaps = report.num_evaluations, report.swaps
    if swaps is not None:
        count: Int[np.ndarray, " pairs"] = report.num_proposed_swaps.sum(axis=(0, 1))
        swaps = swaps.sum(axis=(0, 1), dtype=np.float64) / np.where(count == 0, np.nan, count)
    return Draws(
        x=joined.kept,
        energy=joined.energy,
        functions={name: joined.functions[name] for name in functions},  # JAX sorts names
        acceptance=per_step(report.acceptance),
        hops=report.hops / report.num_steps,
        num_evaluations=None if evaluations is None else int(evaluations.sum(dtype=np.int64)),
        swap_acceptance=swaps,
        seconds=seconds,
        algorithm=algorithm,
        last=last,
    )
