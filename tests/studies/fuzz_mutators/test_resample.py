"""The paper's way: bytes drawn one after the other, each given all around it."""

import jax.numpy as jnp
import numpy as np

from aloex.apps.fuzz.model import ModelSettings
from aloex.apps.fuzz.model.block_energy import ByteEnergy
from aloex.apps.fuzz.model.contexts import context
from stats import compiled, randomised
from studies.fuzz.mutators import RandomEdits
from studies.fuzz.mutators.resample import Resample


def tiny() -> ByteEnergy:
    sizes = ModelSettings(hidden=8, embed_dim=2, method="aloe")
    return randomised(ByteEnergy, sizes, seed=0, scale=0.5)


def test_resampling_by_its_definition():
    """Edit by edit, each of the law at the bytes as they are."""
    seeds, model = [b"0123456789", bytes(range(100)), b"#"], tiny()
    mutator = Resample(model, seed=5, edits=(3, 20))
    mutants = mutator.mutate(seeds, 3, 30)
    places = RandomEdits(seed=5, edits=(3, 20))
    chance, ask = places.chances(seeds, 3, 30).value, compiled(model)
    for i in (0, 7, 29):
        data = np.frombuffer(bytearray(seeds[mutants.origin[i]]), np.uint8)
        for k, (at, value) in enumerate(mutants.edits(i)):
            around = context(data, np.array(0), np.array(len(data)), np.array(at))
            law = np.exp(ask(jnp.asarray(around), jnp.asarray(at), jnp.asarray(len(data) - 1 - at)))
            sums = np.append(0, np.cumsum(np.asarray(law, np.float64)))
            u = chance[mutants.first[i] + k]
            assert sums[value] - 1e-4 <= u <= sums[value + 1] + 1e-4
            data[at] = value
        assert mutants.input(i) == data.tobytes()
    kept = Resample(model, seed=5, keep=4).mutate(seeds, 0, 30)
    for i in range(30):
        data, origin = kept.input(i), seeds[kept.origin[i]]
        assert data[:4] == origin[:4] and len(data) == len(origin)
    parts = [mutator.mutate(seeds, 3, 11), mutator.mutate(seeds, 14, 19)]
    np.testing.assert_array_equal(
        np.concatenate([part.inputs.data for part in parts]), mutants.inputs.data
    )
