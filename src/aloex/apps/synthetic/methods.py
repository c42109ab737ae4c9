"""The methods of the study: the settings of each, and the learner with networks that they make."""

from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp
from jaxtyping import Array, Key

from aloex.baselines import ADE, CD, PCD, VAE, MaximumLikelihood
from aloex.energies import MLP
from aloex.errors import require
from aloex.kernels import Gibbs
from aloex.learning import ALOE, clipped_adam
from aloex.proposals import Inverse
from aloex.samplers import (
    AutoregressiveMLP,
    AutoregressiveRNN,
    Factorized,
    Flip,
    LocalSearch,
    Stop,
)
from aloex.spaces import Bits

SPACE = Bits(32)
METHODS = {  # the sampler that each learns beside f, or in its place
    "aloe": "mlp",
    "aloe-rnn": "rnn",
    "aloe-fac-edit": "factorized",
    "aloe-fac-noedit": "factorized",
    "pcd": None,
    "cd": None,
    "ade": "mlp",
    "ade-fac": "factorized",
    "ade-rnn": "rnn",
    "autoregressive": "mlp",
    "vae": "vae",
}


@dataclass(frozen=True)
class Settings:
    """Sizes and settings of one run; the defaults are the paper's."""

    method: str = "aloe"
    num_steps: int = 100_100
    batch_size: int = 128
    learning_rate_f: float = 1e-3
    learning_rate_q: float = 1e-3
    decay: bool = False  # of the learning rates, along a cosine after the first 40% of the steps
    ema_decay: float = 0.999
    f_hidden: tuple[int, ...] = (256, 256, 256)
    q0_hidden: tuple[int, ...] = (512, 512, 256)  # of the MLP of each prefix
    q0_head: int = 512
    rnn_hidden: int = 256
    bfloat16: bool = False  # activations of the MLP q0
    lookahead: int = 1  # sites per round when the MLP q0 is drawn
    q_hidden: tuple[int, ...] = (512, 512)  # of the editor and of the stop policy
    max_edits: int = 16
    repeats: bool = False  # whether the inverse proposal may change a site twice
    num_trajectories: int = 10
    persistence: int = 1
    resample: bool = False
    num_sweeps: int = 1  # of Gibbs a step; the paper's PCD has 10
    restart: float = 0.05  # of PCD's chains
    num_chains: int = 10_000  # in PCD's buffer
    rate_ratio: float = 1.0  # ADE: f's learning rate to q's
    num_q_steps: int = 1  # ADE: steps of q to one of f
    latent_dim: int = 16  # VAE

    def __post_init__(self):
        choices = ", ".join(METHODS)
        require(self.method in METHODS, f"no method {self.method!r}; choose one of {choices}")

    @classmethod
    def from_dict(cls, settings: dict[str, Any]) -> "Settings":
        """Settings from JSON values: lists become tuples."""
        fields: dict[str, Any] = {
            k: tuple(v) if isinstance(v, list) else v for k, v in settings.items()
        }
        return cls(**fields)


TUNED = {  # the paper's settings where it gives a grid, as our own search over it decided
    "pcd": {"num_sweeps": 10, "restart": 0.05},
    "cd": {"num_sweeps": 10},
}
BEST = {  # what the ablation found worth having, for every method that it applies to
    "aloe": {
        "num_steps": 30_000,
        "batch_size": 2048,
        "learning_rate_f": 3e-3,
        "decay": True,
        "persistence": 8,
        "resample": True,
        "num_trajectories": 4,
        "q0_hidden": (256, 256, 128),
        "q0_head": 256,
        "q_hidden": (256, 256),
        "bfloat16": True,
        "lookahead": 2,
    },
    "pcd": {
        "num_steps": 45_000,  # of as many seconds as ALOE's
        "batch_size": 2048,
        "learning_rate_f": 3e-3,
        "decay": True,
        "num_sweeps": 1,
        "restart": 0.01,
    },
}
QUICK = {  # sizes for a CPU
    "num_steps": 3000,
    "batch_size": 128,
    "f_hidden": (128, 128),
    "q0_hidden": (64, 64),
    "q0_head": 64,
    "rnn_hidden": 64,
    "q_hidden": (128, 128),
    "bfloat16": False,
    "lookahead": 1,
}


def choose(method: str, recipe: str = "paper", preset: str = "paper", **changes: Any) -> Settings:
    """The settings of a method: recipe `paper` or `best`, preset `paper` (full size) or `quick`."""
    require(recipe in ("paper", "best"), f"recipe must be paper or best, got {recipe!r}")
    require(preset in ("paper", "quick"), f"preset must be paper or quick, got {preset!r}")
    settings: dict[str, Any] = dict(TUNED.get(method, {}))
    if recipe == "best":
        settings |= BEST.get("aloe" if method.startswith("aloe") else method, {"decay": True})
    if preset == "quick":
        settings |= QUICK
        if settings.get("persistence", 1) > 1:
            settings |= {"batch_size": 256, "persistence": 4}
    return Settings(method, **(settings | changes))


def build_learner(settings: Settings) -> Any:
    """The algorithm with its settings."""
    num_steps = settings.num_steps if settings.decay else None
    adam_f = clipped_adam(settings.learning_rate_f, num_steps=num_steps)
    adam_q = clipped_adam(settings.learning_rate_q, num_steps=num_steps)
    kernel, sweeps = Gibbs(), {"num_kernel_steps": settings.num_sweeps}
    ema = settings.ema_decay
    match settings.method:
        case "pcd":
            chains = {"num_chains": settings.num_chains, "restart": settings.restart}
            return PCD(kernel, SPACE, optimizer_f=adam_f, ema_decay=ema, **sweeps, **chains)
        case "cd":
            return CD(kernel, optimizer_f=adam_f, ema_decay=ema, **sweeps)
        case "ade" | "ade-fac" | "ade-rnn":
            ratios = {"rate_ratio": settings.rate_ratio, "num_q_steps": settings.num_q_steps}
            return ADE(optimizer=adam_q, ema_decay=ema, **ratios)
        case "autoregressive":
            return MaximumLikelihood(optimizer_q=adam_q, ema_decay=ema)
        case "vae":
            return MaximumLikelihood(objective=VAE.elbo, optimizer_q=adam_q, ema_decay=ema)
    return ALOE(
        kernel,
        Inverse(space=SPACE, max_edits=_max_edits(settings), repeats=settings.repeats),
        num_trajectories=settings.num_trajectories,
        num_kernel_steps=settings.num_sweeps,
        persistence=settings.persistence,
        resample=settings.resample,
        optimizer_f=adam_f,
        optimizer_q=adam_q,
        ema_decay=ema,
    )


def init(learner: Any, settings: Settings, key: Key[Array, ""]) -> Any:
    """The learner's state before the first step, with fresh networks."""
    key_networks, key_state = jax.random.split(key)
    f, q = build_networks(settings, key_networks)
    if isinstance(learner, ALOE):
        chains = jax.vmap(SPACE.sample)(jax.random.split(key_state, settings.batch_size))
        return learner.init(f, q, chains)
    if isinstance(learner, PCD):
        return learner.init(key_state, f)
    if isinstance(learner, CD):
        return learner.init(f)
    if isinstance(learner, ADE):
        return learner.init(key_state, f, q)
    return learner.init(q)


def build_networks(settings: Settings, key: Key[Array, ""]) -> tuple[Any, Any]:
    """f and q with fresh weights; a method that learns only one of them has None for the other."""
    key_f, key_q = jax.random.split(key)
    explicit = settings.method in ("autoregressive", "vae")
    f = None if explicit else MLP(SPACE, hidden=settings.f_hidden, key=key_f)
    return f, build_q(settings, key_q)


def learned(state: Any) -> tuple[Any, Any]:
    """What a run leaves: the moving average of f, and q (a q that is learned alone, averaged)."""
    return getattr(state, "ema_f", None), getattr(state, "ema_q", getattr(state, "q", None))


def build_q(settings: Settings, key: Key[Array, ""]) -> Any:
    """The sampler that the method learns, or None."""
    key_q0, key_editor, key_stop = jax.random.split(key, 3)
    match METHODS[settings.method]:
        case "mlp":
            q0 = AutoregressiveMLP(
                SPACE,
                hidden=settings.q0_hidden,
                head_hidden=settings.q0_head,
                lookahead=settings.lookahead,
                dtype=jnp.bfloat16 if settings.bfloat16 else None,
                key=key_q0,
            )
        case "rnn":
            sizes = {"hidden": settings.rnn_hidden, "head_hidden": settings.q0_head}
            q0 = AutoregressiveRNN(SPACE, **sizes, key=key_q0)
        case "factorized":
            q0 = Factorized(SPACE)
        case "vae":
            hidden = settings.q_hidden
            return VAE(SPACE, latent_dim=settings.latent_dim, hidden=hidden, key=key_q0)
        case _:
            return None
    max_edits = _max_edits(settings)
    if not settings.method.startswith("aloe"):
        return q0
    if max_edits == 0:
        return LocalSearch(q0)
    editor = Flip(SPACE, hidden=settings.q_hidden, key=key_editor)
    return LocalSearch(q0, editor, Stop(SPACE, hidden=settings.q_hidden, key=key_stop), max_edits)


def _max_edits(settings: Settings) -> int:
    return 0 if settings.method == "aloe-fac-noedit" else settings.max_edits
