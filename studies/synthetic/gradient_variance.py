"""How noisy the gradient of the sampler is during training, ADE's against ALOE's (Fig. grad_var).

Both learn the same f and the same q0 on the same data, ALOE without edits. Now and then training
pauses: at the parameters as they are, many independent batches give as many gradients of q0, and
their variance, summed over all parameters, is the number that is plotted; and f has its NLL taken.
"""

from pathlib import Path
from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
from jax.flatten_util import ravel_pytree
from jaxtyping import Array, Float, Key

from aloex.apps.synthetic import evaluate, methods
from aloex.apps.synthetic.methods import Settings
from aloex.apps.synthetic.train import Problem, start
from aloex.apps.synthetic.trained import About, Trained
from aloex.baselines import ADE, reinforce_gradient
from aloex.learning import ALOE, fit
from aloex.learning.batched import unstack
from aloex.learning.power_iteration import q_loss

METHODS = {"ade": {}, "aloe": {"max_edits": 0}}
NUM_BATCHES = 32  # of which the variance is taken


class Noise(NamedTuple):
    gradient_variance: Float[Array, ""]  # summed over the parameters
    gradient_norm: Float[Array, ""]  # of the mean over the batches


def measure(
    folder: Path,
    method: str,
    *,
    preset: str = "paper",
    data: str = "pinwheel",
    seeds: int = 3,
    num_points: int = 10,
    **changes: Any,
) -> list[dict[str, Any]]:
    """Rows {method, data, seed, step, nll_minus_floor, nll_se, gradient_variance, ...} of a run."""
    settings = methods.choose(method, "paper", preset, **(METHODS[method] | changes))
    problems = [Problem(data, seed) for seed in range(seeds)]
    run, rows = start(settings, problems), []
    for i in range(1, num_points + 1):
        step = settings.num_steps * i // num_points
        at = folder / method
        state = fit(**run, num_steps=step, folder=at, resume=(at / "config.json").exists())
        for problem, one in zip(problems, unstack(state), strict=True):
            rows.append({"method": method, "step": step, **_row(settings, problem, one)})
    return rows


def _row(settings: Settings, problem: Problem, state: Any) -> dict[str, Any]:
    learner = methods.build_learner(settings)
    about = About("paper", problem.data, problem.seed, 0.0, 1, "")
    noise = variance(learner, state, settings.config.batch_size)
    nll, _ = evaluate.nll(Trained(settings, about, state.ema_f, state.q), quick=True)
    return {
        "data": problem.data,
        "seed": problem.seed,
        "nll_minus_floor": float(nll.mean),
        "nll_se": float(nll.standard_error),
        **{name: float(value) for name, value in noise._asdict().items()},
    }


@eqx.filter_jit
def variance(learner: ADE | ALOE, state: Any, batch_size: int) -> Noise:
    """Variance and size of a batch's gradient of q."""

    def gradient(key: Key[Array, ""]) -> Float[Array, " size"]:
        grads = _gradient(learner, state, jax.random.split(key, batch_size))
        return ravel_pytree(eqx.filter(grads, eqx.is_inexact_array))[0]

    def add(sums: tuple[Array, Array], key: Key[Array, ""]) -> tuple[tuple[Array, Array], None]:
        grad = gradient(key)
        return (sums[0] + grad, sums[1] + jnp.sum(grad**2)), None

    size = ravel_pytree(eqx.filter(state.q, eqx.is_inexact_array))[0].shape
    keys = jax.random.split(jax.random.key(0), NUM_BATCHES)
    (total, squares), _ = jax.lax.scan(add, (jnp.zeros(size), jnp.zeros(())), keys)
    spread = (squares - jnp.sum(total**2) / NUM_BATCHES) / (NUM_BATCHES - 1)
    return Noise(spread, jnp.sqrt(jnp.sum(total**2)) / NUM_BATCHES)


def _gradient(learner: ADE | ALOE, state: Any, keys: Key[Array, " batch"]) -> Any:
    """A batch's gradient of the loss that the learner's q goes down."""
    if isinstance(learner, ADE):
        return reinforce_gradient(state.q, keys, state.f, state.value)[0]
    keys_draw, keys_proposal = jax.vmap(jax.random.split, out_axes=1)(keys)
    targets, _ = learner.negatives.sample(keys_draw, state.f, state.q)
    loss = lambda q: q_loss(
        q,
        keys_proposal,
        targets.x[:, -1],
        None,
        proposal=learner.proposal,
        num_trajectories=learner.num_trajectories,
    )
    return eqx.filter_grad(loss, has_aux=True)(state.q)[0]
