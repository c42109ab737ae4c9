"""The friendly layer: learn a model of a table of integers, sample it, score with it, keep it.

model = aloex.learn(x)               # x: integers [n, d]
model.sample(10)                     # integers [10, d]
model.save("model.safetensors")      # aloex.load("model.safetensors") brings it back
"""

import dataclasses
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int

from aloex.base.errors import InputError, require
from aloex.cursor import Energy
from aloex.kernels import Gibbs, run
from aloex.learning.config import Config, build_learner, build_networks, first_state
from aloex.learning.fit import fit
from aloex.runs import devices, model_file
from aloex.samplers import LocalSearch
from aloex.spaces import Space

MAX_BATCH = 1024  # rows that `sample` and `energy` handle at a time
INIT = 2**32 - 1  # folded into the seed for the initial weights, as `fit` folds in its steps


class Model(eqx.Module):
    """A learned p(x | z) ~ exp f(x, z), with the q that learned to sample it."""

    config: Config = eqx.field(static=True)
    f: Energy  # the moving average over training
    q: LocalSearch

    @property
    def space(self) -> Space:
        return self.config.space

    @property
    def kernel(self) -> Gibbs:
        return Gibbs(self.config.num_values)

    def sample(self, n: int, *, z: Any = None, seed: int = 0, num_sweeps: int = 1) -> np.ndarray:
        """n draws from q [n, d], each improved by Gibbs sweeps under f (with 0, q as it is).

        z is one condition for all or a row for each. A larger n keeps the first draws as they are.
        """
        require(n >= 1, f"n must be at least 1, got {n}")
        require(num_sweeps >= 0, f"num_sweeps must not be negative, got {num_sweeps}")
        z = self._conditions(z, n)
        return np.asarray(_sample(self, jax.random.key(seed), z, n, num_sweeps))

    def energy(self, x: Any, z: Any = None) -> np.ndarray:
        """f of each row of x [n, d]: log p(x | z) up to a constant that depends on z alone."""
        x = self.space.check(np.asarray(x), "x")
        return np.asarray(_energy(self, jnp.asarray(x), self._conditions(z, x.shape[0])))

    def _conditions(self, z: Any, n: int) -> np.ndarray | None:
        """z as a row for each of n examples."""
        width = self.config.cond_dim
        if z is None:
            require(width == 0, f"this model has a condition: z must have {width} columns")
            return None
        require(width > 0, "this model was learned without a condition: leave out z")
        z = np.atleast_1d(_numbers(z))
        if z.ndim == 1:
            z = z[:, None] if width == 1 else z[None]
        require(
            z.ndim == 2 and z.shape[0] in (1, n) and z.shape[1] == width,
            f"z must have shape ({n}, {width}), or ({width},) for all alike, got {z.shape}",
        )
        return np.broadcast_to(z, (n, width))

    def save(self, path: str | os.PathLike) -> None:
        """Write a safetensors file: the arrays, and the config as JSON in its metadata."""
        settings = dataclasses.asdict(self.config)
        model_file.write(path, {"f": self.f, "q": self.q}, settings)


def load(path: str | os.PathLike) -> Model:
    """The model that `Model.save` wrote."""

    def build(settings):
        networks = build_networks(Config.from_dict(settings), jax.random.key(0))
        return dict(zip("fq", networks, strict=True))

    networks, settings = model_file.read(path, build)
    return Model(Config.from_dict(settings), **networks)


@eqx.filter_jit
def _sample(model: Model, key, z, n: int, num_sweeps: int) -> Int[Array, "n dim"]:
    def draw(row):
        i, z = row
        key_q, key_kernel = jax.random.split(jax.random.fold_in(key, i))
        x = model.q.sample(key_q, z).last
        if num_sweeps == 0:
            return x
        return run(model.kernel, key_kernel, x, model.f, z, num_steps=num_sweeps)

    return jax.lax.map(draw, (jnp.arange(n), z), batch_size=min(n, MAX_BATCH))


@eqx.filter_jit
def _energy(model: Model, x, z) -> Float[Array, " n"]:
    return jax.lax.map(lambda row: model.f(*row), (x, z), batch_size=min(len(x), MAX_BATCH))


def learn(
    x: Any,
    z: Any = None,
    *,
    num_steps: int = 5000,
    q0: str = "factorized",
    seed: int = 0,
    folder: str | os.PathLike | None = None,
    resume: bool = False,
    progress: bool = True,
    checkpoint_every: int = 1000,
    log_every: int = 50,
    on_log: Callable[[dict[str, Any]], None] | None = None,
    **settings: Any,
) -> Model:
    """Learn a model of data x [n, d], or of x given conditions z ([n, c] numbers, or n of them).

    Bits are told from categories by the data; `num_values` says more than the data can. Other
    `settings` are the fields of `Config`. With a `folder` the run can be resumed and ends with
    its model.safetensors; see `fit` for the rest, and for what interrupts it.
    """
    x = np.asarray(x)
    if z is not None:
        z = _numbers(z)
        z = z[:, None] if z.ndim == 1 else z
        require(z.ndim == 2, f"z must be a table [examples, columns], got shape {z.shape}")
    config = _infer_config(x, z, {"q0": q0, **settings})
    x = config.space.check(x, "x")
    state = fit(
        build_learner(config),
        first_state(config, jax.random.fold_in(jax.random.key(seed), INIT), z),
        x,
        z,
        seed=seed,
        num_steps=num_steps,
        batch_size=config.batch_size * config.num_data,
        folder=folder,
        resume=resume,
        config=dataclasses.asdict(config),
        checkpoint_every=checkpoint_every,
        log_every=log_every,
        progress=progress,
        on_log=on_log,
    )
    model = Model(config, state.ema_f, state.q)
    if folder is not None and devices.is_main():
        model.save(Path(folder) / "model.safetensors")
    return model


def _infer_config(x: np.ndarray, z: np.ndarray | None, settings: dict[str, Any]) -> Config:
    """The settings, with what the data says of the space."""
    dim = x.shape[1] if x.ndim == 2 else 1
    counts = np.issubdtype(x.dtype, np.integer)
    inferred = {
        "dim": dim,
        "num_values": max(2, int(x.max(initial=0)) + 1) if counts else 2,
        "cond_dim": 0 if z is None else z.shape[1],
        "max_edits": min(16, dim),
    }
    names = {field.name for field in dataclasses.fields(Config)} - {"dim", "cond_dim"}
    unknown = sorted(settings.keys() - names)
    require(not unknown, f"unknown settings {unknown}; there are {sorted(names)}")
    return Config.from_dict(inferred | settings)


def _numbers(z: Any) -> np.ndarray:
    """Conditions as finite float32 numbers."""
    try:
        z = np.asarray(z, np.float32)
    except (TypeError, ValueError) as error:
        raise InputError(f"z must hold numbers: {error}") from None
    require(bool(np.isfinite(z).all()), "z must be finite, but has NaN or infinite values")
    return z
