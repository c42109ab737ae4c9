"""All energies of the study, from the generator to files of weights."""

from collections.abc import Sequence
from pathlib import Path

from studies.fill.energy.pools import Pool, generated, pools
from studies.fill.energy.store import save
from studies.fill.energy.train import (
    Settings,
    Trained,
    data_of,
    fine_tuned,
    forget_unseen,
    inputs_of,
    pretrain,
)
from studies.fill.tasks import Task

TRAIN_SEED, VALID_SEED = 0, 1


# File -> what is trained. The network on top of the costs looks at rows only, so that it learns how
# outputs should look, not which programs our generator happens to draw.
ENERGIES = {
    "tuned": Settings(hidden=32),
    "on_costs": Settings(hidden=16, with_base=True, looks_at="rows"),
}
GENERATOR = {"tuned": "generator"}  # also kept as it is before fine-tuning


def train_all(
    tasks: Sequence[Task], num_train: int, num_valid: int, seeds: int, out: Path
) -> dict[str, str]:
    """Train on generated tasks, fine-tune on ours; how each energy came out, in words."""
    train, valid = generated(TRAIN_SEED, num_train), generated(VALID_SEED, num_valid)
    own, told = pools(tasks), {}
    for name, settings in ENERGIES.items():
        start, loss = _pretrained(train, valid, own, settings, seeds)
        if name in GENERATOR:
            save(out / f"{GENERATOR[name]}.safetensors", {"all": start}, settings, 0)
        tuned = fine_tuned(start, own)
        groups = {"all": tuned.all_tasks}
        groups |= {f"fold{fold}": each for fold, each in enumerate(tuned.without)}
        save(out / f"{name}.safetensors", groups, settings, tuned.num_epochs)
        told[name] = (
            f"log-likelihood of generated validation tasks {-loss:.4f}, "
            f"then {tuned.num_epochs} epochs on tasks of our own"
        )
    return told


def _pretrained(
    train: Sequence[Pool],
    valid: Sequence[Pool],
    own: Sequence[Pool],
    settings: Settings,
    seeds: int,
) -> tuple[Trained, float]:
    inputs = inputs_of(train, own, settings)
    data, check = data_of(train, inputs), data_of(valid, inputs)
    energies = [
        forget_unseen(pretrain(data, check, inputs, settings, seed), data) for seed in range(seeds)
    ]
    loss = sum(map(check.loss, energies)) / seeds
    return Trained(tuple(energies), inputs), loss
