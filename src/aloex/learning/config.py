"""One frozen record from which a model is built and trained, with every value checked."""

import dataclasses
from dataclasses import dataclass
from typing import Any, Literal, get_args

import numpy as np

from aloex.base.errors import require
from aloex.learning import settings as check
from aloex.spaces import Bits, Categorical, Mixed, Space

Q0 = Literal["factorized", "mlp", "rnn"]
ProposalName = Literal["inverse", "edit_distance", "learned"]
OptimizerName = Literal["adam", "muon"]
MAX_VALUES = 2**16  # that a site can have; networks hold a row for each


@dataclass(frozen=True)
class Config:
    """Sizes and settings of a model and its training; the defaults suit small problems on a CPU.

    Types and values are checked; NumPy's numbers and lists become plain ones and tuples. The
    paper's networks for 32 bits: f_hidden = (256, 256, 256), q_hidden = (512, 512), q0_head = 512,
    and q0 = "mlp" with q0_hidden = (512, 512, 256), "rnn" with (256,), or "factorized".

    Args:
        dim: number of sites of x.
        num_values: values of a site, or a tuple with the number for each site.
        cond_dim: numbers in a condition z; 0 for a model without conditions.
        f_hidden: layers of the energy.
        q0: the initial sampler.
        q0_hidden: layers of the MLP of each prefix, or the LSTM's one size.
        q0_head: size of the layer between these and the probabilities.
        lookahead: sites per round when the MLP q0 is drawn; 2 suits an accelerator.
        bfloat16: activations of the MLP q0 in that precision, for an accelerator.
        q_hidden: layers of the editor and of the stop policy.
        max_edits: bound on the number of edits of a search.
        max_stop_prob: bound on the probability to stop a search; see `Stop`.
        proposal: where trajectories to a target come from. `inverse`: random walks back from it.
            `edit_distance`: shortest paths from draws of the q0 that is being trained; needs
            max_edits >= dim. `learned`: walks back by a law that is learned beside q; needs edits.
        walk_stop_prob: probability that a walk of the inverse proposal stops, at each step.
        repeats: whether the inverse proposal may change a site twice.
        num_trajectories: trajectories to each target.
        num_power_steps: updates of q in a step.
        num_f_steps: updates of f in a step; see `ALOE`.
        num_data: examples of data to each negative; see `ALOE`.
        num_sweeps: Gibbs sweeps that improve a draw of q.
        persistence: kernel steps that a draw of q lives for; see `ALOE`.
        resample: whether draws of q are resampled by their importance weights; see `ALOE`.
        optimizer_f: `adam`, or `muon`, which learns f in fewer steps; see `clipped_muon`.
        learning_rate_f: of the energy.
        learning_rate_q: of the sampler.
        decay_steps: the step at which learning rates reach 0; see `clipped_adam`.
        ema_decay: of the moving average of f.
        batch_size: negatives of a step of q.

    Example:
        >>> from aloex.learning import Config
        >>> Config(dim=6, num_values=3).space
        Categorical(dim=6, num_values=3)
        >>> Config(dim=6, f_hidden=())
        Traceback (most recent call last):
        ...
        aloex.base.errors.InputError: f_hidden must be one or more positive sizes, ...
    """

    dim: int
    num_values: int | tuple[int, ...] = 2
    cond_dim: int = 0
    f_hidden: tuple[int, ...] = (256, 256)
    q0: Q0 = "factorized"
    q0_hidden: tuple[int, ...] = (256,)
    q0_head: int = 256
    lookahead: int = 1
    bfloat16: bool = False
    q_hidden: tuple[int, ...] = (256, 256)
    max_edits: int = 16
    max_stop_prob: float = 0.95
    proposal: ProposalName = "inverse"
    walk_stop_prob: float = 0.5
    repeats: bool = True
    num_trajectories: int = 10
    num_power_steps: int = 1
    num_f_steps: int = 1
    num_data: int = 1
    num_sweeps: int = 1
    persistence: int = 1
    resample: bool = False
    optimizer_f: OptimizerName = "adam"
    learning_rate_f: float = 1e-3
    learning_rate_q: float = 1e-3
    decay_steps: int | None = None
    ema_decay: float = 0.999
    batch_size: int = 128

    def __post_init__(self):
        for name, value in _checked(self).items():
            object.__setattr__(self, name, value)
        require(
            self.q0 != "rnn" or len(self.q0_hidden) == 1,
            f"q0='rnn' is one LSTM: q0_hidden must be a single size, got {self.q0_hidden}",
        )
        require(
            0 < self.max_stop_prob <= 1,
            f"max_stop_prob must be in (0, 1], got {self.max_stop_prob}",
        )
        require(
            0 < self.walk_stop_prob < 1,
            f"walk_stop_prob must be in (0, 1), got {self.walk_stop_prob}",
        )
        require(0 <= self.ema_decay < 1, f"ema_decay must be in [0, 1), got {self.ema_decay}")
        require(
            self.batch_size % self.persistence == 0,
            f"persistence must divide batch_size={self.batch_size}, got {self.persistence}",
        )
        require(
            self.proposal != "edit_distance" or self.max_edits >= self.dim,
            f"proposal='edit_distance' needs max_edits >= dim={self.dim}, got {self.max_edits}",
        )
        require(
            self.proposal != "learned" or self.max_edits >= 1,
            "proposal='learned' needs edits to learn from, got max_edits=0; take 'inverse'",
        )

    @classmethod
    def from_dict(cls, settings: dict[str, Any]) -> "Config":
        """A config from JSON values: its lists become tuples."""
        values: dict[str, Any] = {
            name: tuple(value) if isinstance(value, list) else value
            for name, value in settings.items()
        }
        return cls(**values)

    @property
    def space(self) -> Space:
        """What x is: `Bits`, `Categorical`, or `Mixed` where sites differ."""
        if isinstance(self.num_values, tuple):
            return Mixed(self.num_values)
        return Bits(self.dim) if self.num_values == 2 else Categorical(self.dim, self.num_values)


def _checked(config: Config) -> dict[str, Any]:
    """All fields, each checked for its type and its own bounds."""
    given = {field.name: getattr(config, field.name) for field in dataclasses.fields(config)}
    least = {"cond_dim": 0, "max_edits": 0}
    checked: dict[str, Any] = {}
    for name, value in given.items():
        match name:
            case "num_values":
                checked[name] = _num_values(value, checked["dim"])
            case "f_hidden" | "q0_hidden" | "q_hidden":
                checked[name] = check.sizes(name, value)
            case "q0":
                checked[name] = check.choice(name, value, get_args(Q0))
            case "proposal":
                checked[name] = check.choice(name, value, get_args(ProposalName))
            case "optimizer_f":
                checked[name] = check.choice(name, value, get_args(OptimizerName))
            case "bfloat16" | "repeats" | "resample":
                checked[name] = check.switch(name, value)
            case "learning_rate_f" | "learning_rate_q":
                checked[name] = check.positive(name, value)
            case "max_stop_prob" | "walk_stop_prob" | "ema_decay":
                checked[name] = check.number(name, value)
            case _:
                optional = name == "decay_steps" and value is None
                checked[name] = None if optional else check.whole(name, value, least.get(name, 1))
    return checked


def _num_values(value: Any, dim: int) -> int | tuple[int, ...]:
    if not isinstance(value, tuple | list | np.ndarray):
        return check.whole("num_values", value, 2, MAX_VALUES)
    found = tuple(check.whole("each of num_values", v, 1, MAX_VALUES) for v in value)
    require(len(found) == dim, f"num_values must have dim={dim} numbers or be one, got {found}")
    if len(set(found)) == 1:
        return check.whole("num_values", found[0], 2)
    return found
