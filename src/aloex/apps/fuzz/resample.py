"""The paper's way to mutate: resample bytes one after the other from a learned model.

Each edit draws the byte at its position from the model with all that is around it, as it is after
the edits before; it may draw the byte that is there. That is a random-scan Gibbs chain which starts
at the seed. `LearnedByte` differs in both: its edits do not see each other, and change the byte.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Int, UInt8

from aloex.apps.fuzz.byte_law import ByteLaw
from aloex.apps.fuzz.contexts import context
from aloex.apps.fuzz.executor import Inputs
from aloex.apps.fuzz.mutators import Mutants, RandomEdits, Repair, any_byte, repaired

NUM_EDITS = 100  # of each mutant, in the paper
BATCH = 1024


@dataclass(frozen=True)
class Resample:
    """Mutants of as many edits; which bytes they are of is as with `RandomEdits`."""

    model: ByteLaw
    seed: int = 0
    edits: tuple[int | float, ...] = (NUM_EDITS,)
    keep: int = 0
    repair: Repair | None = None

    def mutate(self, seeds: Sequence[bytes], start: int, n: int) -> Mutants:
        """Mutants start..start + n - 1."""
        places = RandomEdits(any_byte, self.seed, self.edits, self.keep)
        plan, chance = places.mutate(seeds, start, n), places.chances(seeds, start, n).value
        data = np.frombuffer(bytearray().join(seeds[i] for i in plan.origin), np.uint8)
        values, num_edits = plan.values.copy(), np.diff(plan.first)
        for k in range(max(num_edits, default=0)):
            mutants = np.flatnonzero(num_edits > k)
            rows = plan.first[mutants] + k
            begin, position = plan.inputs.bounds[mutants], plan.positions[rows]
            length = plan.inputs.bounds[mutants + 1] - begin
            values[rows] = self._draw(data, begin, length, position, chance[rows])
            data[begin + position] = values[rows]
        inputs = repaired(Inputs(data, plan.inputs.bounds), self.repair)
        return plan._replace(inputs=inputs, values=values)

    def _draw(self, data, begin, length, position, chance) -> UInt8[np.ndarray, " n"]:
        """A value for each row, in batches of one size: one program."""
        values, n = np.empty(len(begin), np.uint8), len(begin)
        for i in range(0, n, BATCH):
            rows = np.minimum(np.arange(i, i + BATCH), n - 1)
            drawn = _values(
                self.model,
                context(data, begin[rows], length[rows], position[rows]).astype(np.int32),
                position[rows].astype(np.int32),
                (length - 1 - position)[rows].astype(np.int32),
                chance[rows].astype(np.float32),
            )
            values[i : i + BATCH] = np.asarray(drawn)[: n - i]
        return values


@eqx.filter_jit
def _values(model: ByteLaw, x, offset, after, chance) -> Int[Array, " n"]:
    """The first value up to which the probabilities add up to more than `chance`."""

    def one(x, offset, after, chance):
        sums = jnp.cumsum(jnp.exp(model(x, offset, after)))
        return jnp.minimum(jnp.sum(sums <= chance * sums[-1]), 255)

    return jax.vmap(one)(x, offset, after, chance)
