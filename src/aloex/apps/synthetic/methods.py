"""The methods of the study: the settings of each, and the learner with networks that they make."""

from dataclasses import dataclass, fields, replace
from typing import Any

import jax
from jaxtyping import Array, Key

from aloex import learning
from aloex.base.errors import require
from aloex.baselines import ADE, CD, PCD, VAE, MaximumLikelihood
from aloex.learning import ALOE, Config
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
PAPER = Config(  # the paper's networks and settings
    dim=SPACE.dim,
    f_hidden=(256, 256, 256),
    q0_hidden=(512, 512, 256),
    q0_head=512,
    q_hidden=(512, 512),
    max_stop_prob=1.0,
    repeats=False,
)


@dataclass(frozen=True)
class Settings:
    """A method with its sizes and settings; the defaults are the paper's."""

    method: str
    num_steps: int = 100_100  # of f, or of q where it is learned alone
    config: Config = PAPER  # of f and q, and of ALOE
    restart: float = 0.05  # PCD: share of the chains that begin anew
    num_chains: int = 10_000  # PCD: in its buffer
    rate_ratio: float = 1.0  # ADE: f's learning rate to q's
    num_q_steps: int = 1  # ADE: steps of q to one of f
    latent_dim: int = 16  # VAE

    def __post_init__(self):
        rounds = self.config.num_f_steps
        require(
            self.num_steps % rounds == 0,
            f"num_steps must be a multiple of num_f_steps={rounds}, got {self.num_steps}",
        )

    @property
    def num_rounds(self) -> int:
        """Steps of the learner, of which each has `num_f_steps` of f."""
        return self.num_steps // self.config.num_f_steps

    @classmethod
    def from_dict(cls, settings: dict[str, Any]) -> "Settings":
        """Settings from JSON values."""
        own: dict[str, Any] = settings | {"config": Config.from_dict(settings["config"])}
        return cls(**own)


TUNED = {  # where the paper gives a grid, a point of it; the study's `tune` tries them all
    "aloe-fac-edit": {
        "max_stop_prob": 0.95
    },  # ours: without it some searches give up editing for good
    "pcd": {"num_sweeps": 10, "restart": 0.05},
    "cd": {"num_sweeps": 10},
    "ade": {
        "num_q_steps": 3
    },  # with 0.5 and 5 the checkerboard does not diverge, but all is slower
    "ade-fac": {"rate_ratio": 0.2, "num_q_steps": 5},  # diverges at every point, here latest
    "ade-rnn": {"rate_ratio": 0.5, "num_q_steps": 5},
}
BEST = {  # what short runs found worth having; `tune` and `ablation` measure it
    "aloe": {
        "num_steps": 14_400,
        "batch_size": 16384,
        "optimizer_f": "muon",
        "learning_rate_f": 1e-2,
        "learning_rate_q": 2e-3,
        "decay": True,
        "num_f_steps": 8,
        "num_data": 4,
        "persistence": 64,
        "resample": True,
        "num_trajectories": 4,
        "q0_hidden": (256, 256, 128),
        "q0_head": 256,
        "q_hidden": (256, 256),
        "bfloat16": True,
        "lookahead": 2,
    },
    "pcd": {
        "num_steps": 16_100,  # which take as many seconds as ALOE's
        "batch_size": 2048,
        "num_data": 4,
        "num_chains": 8192,
        "optimizer_f": "muon",
        "learning_rate_f": 1e-2,
        "decay": True,
        "num_sweeps": 1,
        "restart": 0.001,
    },
    "cd": {
        "num_steps": 16_100,  # as PCD
        "batch_size": 2048,
        "num_data": 4,
        "optimizer_f": "muon",
        "learning_rate_f": 1e-2,
        "decay": True,
        "num_sweeps": 1,
    },
}
QUICK = {  # sizes for a CPU
    "num_steps": 3000,
    "batch_size": 128,
    "f_hidden": (128, 128),
    "q0_hidden": (64, 64),
    "q0_head": 64,
    "q_hidden": (128, 128),
    "num_trajectories": 4,
    "bfloat16": False,
    "lookahead": 1,
}


def choose(method: str, recipe: str = "paper", preset: str = "paper", **changes: Any) -> Settings:
    """The settings of a method: recipe `paper` or `best`, preset `paper` (full size) or `quick`.

    Changes are fields of `Settings` or of its `Config`, or `decay`: whether learning rates fall.
    """
    choices = ", ".join(METHODS)
    require(method in METHODS, f"no method {method!r}; choose one of {choices}")
    require(recipe in ("paper", "best"), f"recipe must be paper or best, got {recipe!r}")
    require(preset in ("paper", "quick"), f"preset must be paper or quick, got {preset!r}")
    wanted: dict[str, Any] = dict(TUNED.get(method, {}))
    if recipe == "best":
        wanted |= BEST.get("aloe" if method.startswith("aloe") else method, {"decay": True})
    if preset == "quick":
        wanted |= QUICK
        if wanted.get("persistence", 1) > 1:
            wanted |= {"batch_size": 1024, "persistence": 16}
    wanted |= changes
    if METHODS[method] == "rnn":
        wanted["q0_hidden"] = (64,) if preset == "quick" else (256,)
    if method == "aloe-fac-noedit":
        wanted["max_edits"] = 0
    return _settings(method, wanted)


def _settings(method: str, wanted: dict[str, Any]) -> Settings:
    """Each setting where it belongs."""
    decay, q0 = wanted.pop("decay", False), METHODS[method] or "factorized"
    of_settings = {field.name for field in fields(Settings)}
    own = {name: wanted.pop(name) for name in list(wanted) if name in of_settings}
    q0 = "factorized" if q0 == "vae" else q0
    settings = Settings(method, config=replace(PAPER, q0=q0, **wanted), **own)
    decay_steps = settings.num_rounds if decay else None
    return replace(settings, config=replace(settings.config, decay_steps=decay_steps))


def build_learner(settings: Settings) -> Any:
    """The algorithm with its settings."""
    config = settings.config
    aloe = learning.build_learner(config)
    common: dict[str, Any] = {"ema_decay": config.ema_decay}
    chains: dict[str, Any] = common | {"optimizer_f": aloe.optimizer_f}
    chains |= {"num_kernel_steps": config.num_sweeps, "num_data": config.num_data}
    match settings.method:
        case "pcd":
            chains |= {"num_chains": settings.num_chains, "restart": settings.restart}
            return PCD(aloe.kernel, SPACE, **chains)
        case "cd":
            return CD(aloe.kernel, **chains)
        case "ade" | "ade-fac" | "ade-rnn":
            common |= {"rate_ratio": settings.rate_ratio, "num_q_steps": settings.num_q_steps}
            return ADE(optimizer=aloe.optimizer_q, **common)
        case "autoregressive":
            return MaximumLikelihood(optimizer_q=aloe.optimizer_q, **common)
        case "vae":
            return MaximumLikelihood(objective=VAE.elbo, optimizer_q=aloe.optimizer_q, **common)
        case _:
            return aloe


def init(settings: Settings, key: Key[Array, ""]) -> Any:
    """The learner's state before the first step, with fresh networks."""
    learner = build_learner(settings)
    if isinstance(learner, ALOE):
        return learning.first_state(settings.config, key)
    key_networks, key_state = jax.random.split(key)
    f, q = build_networks(settings, key_networks)
    if isinstance(learner, PCD):
        return learner.init(key_state, f)
    if isinstance(learner, ADE):
        return learner.init(key_state, f, q)
    return learner.init(f if isinstance(learner, CD) else q)


def build_networks(settings: Settings, key: Key[Array, ""]) -> tuple[Any, Any]:
    """f and q with fresh weights; a method that learns only one of them has None for the other."""
    f, q = learning.build_networks(settings.config, key)
    match settings.method:
        case "pcd" | "cd":
            return f, None
        case "ade" | "ade-fac" | "ade-rnn":
            return f, q.q0
        case "autoregressive":
            return None, q.q0
        case "vae":
            hidden = settings.config.q_hidden
            return None, VAE(SPACE, latent_dim=settings.latent_dim, hidden=hidden, key=key)
        case _:
            return f, q


def learned(state: Any) -> tuple[Any, Any]:
    """What a run leaves: the moving average of f, and q (a q that is learned alone, averaged)."""
    return getattr(state, "ema_f", None), getattr(state, "ema_q", getattr(state, "q", None))
