"""The paper's way to mutate: draw bytes again from a learned model, one after the other.

Each edit draws the byte at its position from the model given all that is around it, after the edits
before; it may draw the byte that is there. That is a random-scan Gibbs chain that starts at the
seed. `ModelSampler` differs in both: its edits do not see each other, and change the byte.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int, UInt8

from aloex.apps.fuzz.inputs import Inputs
from aloex.apps.fuzz.model import ByteModel, context
from aloex.nets import on_cpu
from studies.fuzz.mutators.edits import Mutants, RandomEdits, any_byte

NUM_EDITS = 100  # of each mutant, in the paper
CPU_BATCH, BATCH = 1024, 8192


@dataclass(frozen=True)
class Resample:
    """Mutants with edits at the positions that `RandomEdits` draws, and values as said above.

    Args:
        model: the model of bytes.
        seed, edits, keep: as of `RandomEdits`.
        side_by_side: mutants that are edited at once; a number that suits the device if None.
    """

    model: ByteModel
    seed: int = 0
    edits: tuple[int | float, ...] = (NUM_EDITS,)
    keep: int = 0
    side_by_side: int | None = None

    def mutate(self, seeds: Sequence[bytes], start: int, n: int) -> Mutants:
        """Mutants start..start + n - 1."""
        random = RandomEdits(any_byte, self.seed, self.edits, self.keep)
        plan, chance = random.mutate(seeds, start, n), random.chances(seeds, start, n).value
        data = np.frombuffer(bytearray().join(seeds[i] for i in plan.origin), np.uint8)
        batch = self.side_by_side or (CPU_BATCH if on_cpu() else BATCH)
        values = plan.values.copy()
        for i in range(0, n, batch):
            mutants = np.minimum(np.arange(i, i + batch), n - 1)
            bounds = plan.inputs.bounds[mutants[0] : mutants[-1] + 2]
            edits = _table(plan.first, mutants)
            part, values[edits] = self._chain(
                data[bounds[0] : bounds[-1]],
                bounds[mutants - i] - bounds[0],
                np.diff(bounds)[mutants - i],
                plan.positions[edits],
                chance[edits],
            )
            data[bounds[0] : bounds[-1]] = part
        return plan._replace(inputs=Inputs(data, plan.inputs.bounds), values=values)

    def _chain(
        self,
        data: UInt8[np.ndarray, " bytes"],
        begin: Int[np.ndarray, " n"],
        length: Int[np.ndarray, " n"],
        position: Int[np.ndarray, "n edits"],
        chance: Float[np.ndarray, "n edits"],
    ) -> tuple[UInt8[np.ndarray, " bytes"], UInt8[np.ndarray, "n edits"]]:
        """The bytes after the edits, and the values; padded to powers of two, to compile little."""
        room = _power(len(data)) - len(data), _power(position.shape[1]) - position.shape[1]
        pad = lambda a: np.pad(a, ((0, 0), (0, room[1])))
        edited, values = _edited(
            self.model,
            jnp.asarray(np.pad(data, (0, room[0]))),
            jnp.asarray(begin, jnp.int32),
            jnp.asarray(length, jnp.int32),
            jnp.asarray(pad(position), jnp.int32),
            jnp.asarray(pad(chance), jnp.float32),
            jnp.asarray(position.shape[1], jnp.int32),
        )
        return np.asarray(edited)[: len(data)], np.asarray(values)[:, : position.shape[1]]


def _table(
    first: Int[np.ndarray, " n_plus_1"], mutants: Int[np.ndarray, " batch"]
) -> Int[np.ndarray, "batch edits"]:
    """The edits of each mutant. Where others have more, its last edit is repeated.

    A repeated edit, and a mutant that is in the list twice, write the same bytes once more.
    """
    begin, end = first[mutants, None], first[mutants + 1, None]
    return np.minimum(begin + np.arange(np.max(end - begin)), end - 1)


@eqx.filter_jit
def _edited(
    model: ByteModel,
    data: UInt8[Array, " bytes"],
    begin: Int[Array, " n"],
    length: Int[Array, " n"],
    position: Int[Array, "n edits"],
    chance: Float[Array, "n edits"],
    num_edits: Int[Array, ""],
) -> tuple[UInt8[Array, " bytes"], UInt8[Array, "n edits"]]:
    """The files at data[begin] after edit 0 of each, then edit 1 of each, ...; and the values."""

    def draw(x: Array, offset: Array, after: Array, chance: Array) -> UInt8[Array, ""]:
        sums = jnp.cumsum(jnp.exp(model(x, offset, after)))
        # The first value up to which the probabilities add up to more than `chance`.
        return jnp.minimum(jnp.sum(sums <= chance * sums[-1]), 255).astype(jnp.uint8)

    def edit(k: Array, carried: tuple[Array, Array]) -> tuple[Array, Array]:
        data, values = carried
        at = position[:, k]
        x = context(data, begin, length, at)
        drawn = jax.vmap(draw)(x, at, length - 1 - at, chance[:, k])
        return data.at[begin + at].set(drawn), values.at[:, k].set(drawn)

    start = data, jnp.zeros(position.shape, jnp.uint8)
    return jax.lax.fori_loop(0, num_edits, edit, start)


def _power(n: int) -> int:
    return 1 << (n - 1).bit_length()
