"""A learner that compiles in no time, and a program that trains it, for tests that kill it."""

import json
import os
import signal
import sys
from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from aloex.learning import RunFolder, Stopped, fit

X = np.random.default_rng(0).integers(0, 2, (50, 4))
SETTINGS: dict[str, Any] = {"batch_size": 8, "log_every": 5, "checkpoint_every": 10}
STOPPED = 3  # exit status after a signal


class State(NamedTuple):
    """One of each: weights, a counter, a random key, an array without elements, a function."""

    logits: Any
    step: Any
    key: Any
    empty: Any
    function: Any


class Info(NamedTuple):
    loss: Any
    noise: Any


class Toy(eqx.Module):
    """Fits a Bernoulli to each site, with noise from every random source that a learner may use."""

    nan_at: int = eqx.field(static=True, default=0)  # the loss of this step is NaN
    inf_weights_at: int = eqx.field(static=True, default=0)  # the weights after it are infinite

    def init(self, dim: int = 4) -> State:
        zero = jnp.zeros((), jnp.int32)
        return State(jnp.zeros(dim), zero, jax.random.key(7), jnp.zeros((3, 0)), jax.nn.sigmoid)

    def step(self, key, state, x, z=None):
        return self.step_on_shard(jax.random.split(key, x.shape[0]), state, x, z)

    def step_on_shard(self, keys, state, x, z=None, *, axis=None):
        mean = (lambda a: jax.lax.pmean(a, axis)) if axis else (lambda a: a)
        key, key_own = jax.random.split(state.key)
        noise = jnp.mean(jax.vmap(jax.random.normal)(keys)) + jax.random.normal(key_own)
        slope = jnp.mean(x, axis=0) - state.function(state.logits) + 0.01 * noise
        step = state.step + 1
        loss = jnp.where(step == self.nan_at, jnp.nan, jnp.mean(slope**2))
        logits = state.logits + mean(slope)
        logits = jnp.where(step == self.inf_weights_at, jnp.inf, logits)
        return state._replace(logits=logits, step=step, key=key), mean(Info(loss, noise))


def train(folder, num_steps, **settings):
    """A quiet run of the toy."""
    learner = settings.pop("learner", Toy())
    settings = {**SETTINGS, "progress": False, **settings}
    return fit(learner, learner.init(), X, num_steps=num_steps, folder=folder, **settings)


def same(a, b) -> bool:
    """Whether two states agree in every bit."""
    return all(
        np.array_equal(jax.random.key_data(u), jax.random.key_data(v))
        if jax.dtypes.issubdtype(u.dtype, jax.dtypes.prng_key)
        else np.array_equal(u, v)
        for u, v in zip(jax.tree.leaves(a[:4]), jax.tree.leaves(b[:4]), strict=True)
    )


def metrics(folder) -> list[dict]:
    """The record without the times."""
    rows = [json.loads(line) for line in (folder / "metrics.jsonl").read_text().splitlines()]
    return [{k: v for k, v in row.items() if k not in ("seconds", "waited")} for row in rows]


def main(folder, num_steps, die_at=None):
    """Train, saying each step on stdout; SIGKILL itself at the `die_at`-th os.replace."""
    replace, calls = os.replace, 0

    def deadly_replace(*args):
        nonlocal calls
        calls += 1
        if calls == die_at:
            os.kill(os.getpid(), signal.SIGKILL)
        return replace(*args)

    if die_at is not None:
        os.replace = deadly_replace
    try:
        train(folder, num_steps, on_log=lambda row: print(row["step"], flush=True))
    except Stopped as stopped:
        print("stopped", stopped.step, RunFolder(folder).checkpoints.latest(), flush=True)
        sys.exit(STOPPED)


if __name__ == "__main__":
    main(sys.argv[1], *(int(a) for a in sys.argv[2:]))
