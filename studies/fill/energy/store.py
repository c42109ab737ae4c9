"""Files of trained energies: their weights and inputs, for all tasks and for each fold."""

from pathlib import Path

import equinox as eqx
import jax
import numpy as np

from aloex.base.weights import read_weights, write_weights
from studies.fill.energy.net import Energy, Inputs
from studies.fill.energy.train import Settings, Trained

FORMAT = "aloex fill energy 1"


def save(path: Path, groups: dict[str, Trained], settings: Settings, num_epochs: int) -> None:
    """Write energies that share their inputs, by the name of their group."""
    arrays: dict[str, np.ndarray] = {}
    inputs = next(iter(groups.values())).inputs
    for group, trained in groups.items():
        for seed, energy in enumerate(trained.energies):
            leaves = jax.tree.leaves(eqx.filter(energy, eqx.is_array))
            arrays |= {f"{group}/{seed}/{i}": np.asarray(leaf) for i, leaf in enumerate(leaves)}
    arrays |= {"scales": inputs.scales, "centres": inputs.centres}
    counts = {group: len(trained.energies) for group, trained in groups.items()}
    write_weights(
        path,
        arrays,
        {
            "format": FORMAT,
            "programs": inputs.programs,
            "tables": inputs.tables,
            "groups": counts,
            "settings": settings._asdict(),
            "epochs": num_epochs,
        },
    )


def load(path: Path) -> dict[str, Trained]:
    """The energies of a file."""
    arrays, about = read_weights(path)
    names = tuple(about["programs"]), tuple(about["tables"])
    inputs = Inputs(*names, arrays["scales"], arrays["centres"])
    settings = Settings(**about["settings"])
    blank = Energy(
        len(names[0]),
        len(names[1]),
        hidden=settings.hidden,
        with_base=settings.with_base,
        key=jax.random.key(0),
    )
    frame, rest = eqx.partition(blank, eqx.is_array)
    leaves, tree = jax.tree.flatten(frame)

    def energy(group: str, seed: int) -> Energy:
        own = [jax.numpy.asarray(arrays[f"{group}/{seed}/{i}"]) for i in range(len(leaves))]
        return eqx.combine(jax.tree.unflatten(tree, own), rest)

    return {
        group: Trained(tuple(energy(group, seed) for seed in range(count)), inputs)
        for group, count in about["groups"].items()
    }
