"""One ALOE step with the paper's networks, compiled, as a program of ours runs it."""

import time
from collections.abc import Callable
from typing import Any

import equinox as eqx
import jax
from jaxtyping import Array

from aloex import energies, kernels, proposals, samplers, spaces
from aloex.learning.aloe import ALOE, ALOEState

BATCH, DIM = 128, 32


def learner(space: Any, *, num_trajectories: int = 10, max_edits: int = 16) -> ALOE:
    """The paper's settings, its proposal without repeated positions included."""
    proposal = proposals.Inverse(space=space, max_edits=max_edits, repeats=False)
    return ALOE(kernels.Gibbs(space), proposal, num_trajectories=num_trajectories)


def models(
    key: Any, space: Any, q0: str = "factorized", max_edits: int = 16, **q0_settings: Any
) -> tuple[energies.MLP, samplers.LocalSearch]:
    """The paper's networks."""
    keys = jax.random.split(key, 4)
    bits = isinstance(space, spaces.Bits)
    start = samplers.Factorized if q0 == "factorized" else samplers.AutoregressiveMLP
    editor = samplers.Flip if bits else samplers.PositionValue
    q = samplers.LocalSearch(
        start(space, key=keys[0], **q0_settings),
        editor(space, key=keys[1]),
        samplers.Stop(space, key=keys[2]),
        max_edits=max_edits,
    )
    return energies.MLP(space, key=keys[3]), q


class Ours:
    """A compiled step for `num_problems` problems at once under vmap."""

    def __init__(
        self,
        num_problems: int = 1,
        *,
        space: Any = None,
        batch: int = BATCH,
        n: int = 10,
        max_edits: int = 16,
        **q: Any,
    ):
        space = space or spaces.Bits(DIM)
        aloe = learner(space, num_trajectories=n, max_edits=max_edits)
        keys = jax.random.split(jax.random.key(0), num_problems)
        state = eqx.filter_vmap(lambda k: aloe.init(*models(k, space, max_edits=max_edits, **q)))(
            keys
        )
        draw = jax.vmap(jax.vmap(space.sample))
        x = draw(jax.random.split(jax.random.key(1), (num_problems, batch)))
        if num_problems == 1:
            state, x = jax.tree.map(lambda a: a[0] if eqx.is_array(a) else a, (state, x))
        self.arrays, static = eqx.partition(state, eqx.is_array)

        def step(key: Array, arrays: Any) -> tuple[Any, Any]:
            state: ALOEState = eqx.combine(arrays, static)
            if num_problems == 1:
                state, info = aloe.step(key, state, x)
            else:
                keys = jax.random.split(key, num_problems)
                state, info = eqx.filter_vmap(aloe.step)(keys, state, x)
            return eqx.filter(state, eqx.is_array), info

        self.step = jax.jit(step, donate_argnums=1)
        self.keys = jax.random.split(jax.random.key(2), 64)

    def run(self, num_steps: int, clock: Callable[[], float] = time.perf_counter) -> float:
        """Milliseconds per step."""
        begin = clock()
        info = None
        for i in range(num_steps):
            self.arrays, info = self.step(self.keys[i % 64], self.arrays)
        jax.block_until_ready((self.arrays, info))
        return 1e3 * (clock() - begin) / num_steps
