"""One frozen record from which a model is built and trained, and the functions that build it."""

from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Key

from aloex.base.errors import require
from aloex.energies import MLP
from aloex.kernels import Gibbs
from aloex.learning.aloe import ALOE, ALOEState
from aloex.learning.updates import clipped_adam, clipped_muon
from aloex.proposals import Inverse
from aloex.samplers import (
    AutoregressiveMLP,
    AutoregressiveRNN,
    Factorized,
    Flip,
    LocalSearch,
    PositionValue,
    Stop,
)
from aloex.spaces import Bits, Categorical, Space


@dataclass(frozen=True)
class Config:
    """Sizes and settings; the defaults suit small problems on a CPU.

    The paper's networks for 32 bits: f_hidden = (256, 256, 256), q_hidden = (512, 512), q0_head =
    512, and q0 = "mlp" with q0_hidden = (512, 512, 256), "rnn" with (256,), or "factorized".
    """

    dim: int
    num_values: int = 2
    cond_dim: int = 0
    f_hidden: tuple[int, ...] = (256, 256)
    q0: str = "factorized"
    q0_hidden: tuple[int, ...] = (256,)  # of the MLP of each prefix, or the LSTM's one size
    q0_head: int = 256
    lookahead: int = 1  # sites per round when the MLP q0 is drawn; 2 suits an accelerator
    bfloat16: bool = False  # activations of the MLP q0, for an accelerator
    q_hidden: tuple[int, ...] = (256, 256)  # of the editor and of the stop policy
    max_edits: int = 16
    max_stop_prob: float = 0.95  # bound on the probability that a search stops; see `Stop`
    walk_stop_prob: float = 0.5  # with which a walk of the inverse proposal ends at each step
    repeats: bool = True  # whether the inverse proposal may change a site twice
    num_trajectories: int = 10
    num_power_steps: int = 1
    num_f_steps: int = 1  # steps of f to one of q; see `ALOE`
    num_data: int = 1  # examples of data to each negative; see `ALOE`
    num_sweeps: int = 1  # of Gibbs, from a draw of q to a negative: `num_kernel_steps` of `ALOE`
    persistence: int = 1  # kernel steps that a draw of q lives for; see `ALOE`
    resample: bool = False  # draws of q by their importance weights; see `ALOE`
    optimizer_f: str = "adam"  # or "muon", which learns f in fewer steps; see `clipped_muon`
    learning_rate_f: float = 1e-3
    learning_rate_q: float = 1e-3
    decay_steps: int | None = None  # when learning rates reach 0; see `clipped_adam`
    ema_decay: float = 0.999
    batch_size: int = 128  # negatives of a step of q

    def __post_init__(self):
        kinds = ("factorized", "mlp", "rnn")
        require(self.q0 in kinds, f"q0 must be one of {kinds}, got {self.q0!r}")
        require(
            self.optimizer_f in ("adam", "muon"),
            f"optimizer_f must be adam or muon, got {self.optimizer_f!r}",
        )
        for name in ("f_hidden", "q0_hidden", "q_hidden"):
            sizes = getattr(self, name)
            require(
                len(sizes) > 0 and min(sizes) >= 1,
                f"{name} must be one or more positive sizes, got {sizes}",
            )
        require(
            self.q0 != "rnn" or len(self.q0_hidden) == 1,
            f"q0='rnn' is one LSTM: q0_hidden must be a single size, got {self.q0_hidden}",
        )
        require(
            0 < self.max_stop_prob <= 1,
            f"max_stop_prob must be in (0, 1], got {self.max_stop_prob}",
        )
        for name in ("learning_rate_f", "learning_rate_q", "q0_head"):
            value = getattr(self, name)
            require(value > 0, f"{name} must be positive, got {value}")
        require(
            self.persistence == 1 or self.batch_size % self.persistence == 0,
            f"persistence must divide batch_size={self.batch_size}, got {self.persistence}",
        )

    @classmethod
    def from_dict(cls, settings: dict[str, Any]) -> "Config":
        """A config from JSON values: its lists become tuples."""
        fields: dict[str, Any] = {
            k: tuple(v) if isinstance(v, list) else v for k, v in settings.items()
        }
        return cls(**fields)

    @property
    def space(self) -> Space:
        return Bits(self.dim) if self.num_values == 2 else Categorical(self.dim, self.num_values)


def build_learner(config: Config) -> ALOE:
    """The algorithm with its settings."""
    decay, rounds = config.decay_steps, config.num_f_steps
    clipped = clipped_muon if config.optimizer_f == "muon" else clipped_adam
    return ALOE(
        Gibbs(config.num_values),
        Inverse(
            space=config.space,
            max_edits=config.max_edits,
            walk_stop_prob=config.walk_stop_prob,
            repeats=config.repeats,
        ),
        num_trajectories=config.num_trajectories,
        num_power_steps=config.num_power_steps,
        num_f_steps=rounds,
        num_data=config.num_data,
        num_kernel_steps=config.num_sweeps,
        persistence=config.persistence,
        resample=config.resample,
        ema_decay=config.ema_decay,
        optimizer_f=clipped(config.learning_rate_f, num_steps=decay and decay * rounds),
        optimizer_q=clipped_adam(config.learning_rate_q, num_steps=decay),
    )


def first_state(
    config: Config, key: Key[Array, ""], z: np.ndarray | Array | None = None
) -> ALOEState:
    """The state before the first step, with fresh networks and chains anywhere in the space.

    Chains that persist take their conditions from rows of z [n, cond], those of the data.
    """
    learner, networks = build_learner(config), build_networks(config, key)
    if config.persistence == 1:
        return learner.init(*networks)
    keys = jax.random.split(jax.random.fold_in(key, 0), config.batch_size)
    chains = jax.vmap(config.space.sample)(keys)
    if z is None:
        return learner.init(*networks, chains)
    rows = jax.random.randint(jax.random.fold_in(key, 1), (config.batch_size,), 0, len(z))
    return learner.init(*networks, chains, jnp.asarray(z[np.asarray(rows)]))


def build_networks(config: Config, key: Key[Array, ""]) -> tuple[MLP, LocalSearch]:
    """f and q with fresh weights."""
    space, cond_dim = config.space, config.cond_dim
    key_f, key_q0, key_editor, key_stop = jax.random.split(key, 4)
    f = MLP(space, hidden=config.f_hidden, cond_dim=cond_dim, key=key_f)
    q0 = _build_q0(config, key_q0)
    if config.max_edits == 0:
        return f, LocalSearch(q0)
    if isinstance(space, Bits):
        editor = Flip(space, hidden=config.q_hidden, cond_dim=cond_dim, key=key_editor)
    else:
        editor = PositionValue(space, hidden=config.q_hidden, cond_dim=cond_dim, key=key_editor)
    stop = Stop(
        space,
        hidden=config.q_hidden,
        cond_dim=cond_dim,
        max_stop_prob=config.max_stop_prob,
        key=key_stop,
    )
    return f, LocalSearch(q0, editor, stop, config.max_edits)


def _build_q0(config: Config, key: Key[Array, ""]):
    space, cond_dim, hidden, head = config.space, config.cond_dim, config.q0_hidden, config.q0_head
    if config.q0 == "mlp":
        return AutoregressiveMLP(
            space,
            hidden=hidden,
            head_hidden=head,
            cond_dim=cond_dim,
            lookahead=config.lookahead,
            dtype=jnp.bfloat16 if config.bfloat16 else None,
            key=key,
        )
    if config.q0 == "rnn":
        return AutoregressiveRNN(
            space, hidden=hidden[0], head_hidden=head, cond_dim=cond_dim, key=key
        )
    return Factorized(space, cond_dim=cond_dim)
