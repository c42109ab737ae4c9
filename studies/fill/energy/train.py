"""Train energies: on generated tasks until validation tasks get no better, then on ours if wanted.

Several networks from several seeds stand together: their energies are averaged.
"""

import hashlib
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import equinox as eqx
import jax
import numpy as np
import optax
from jaxtyping import Array

from studies.fill.energy.net import (
    Batch,
    Energy,
    Inputs,
    Prepared,
    batch_of,
    find_inputs,
    loss,
    losses,
    prepare,
)
from studies.fill.energy.pools import Pool, can_teach

SIZE = 32  # pools in a batch
WIDTHS = (16, 32, 64, 128)  # programs that batches are filled up to; beyond, multiples of the last
MAX_EPOCHS = 40
PATIENCE = 4  # epochs without a better likelihood of validation tasks
RATE, TUNE_RATE = 2e-3, 1e-3
DECAY = 0.03
TUNE_EPOCHS = 24  # at most; as many as cross-validation likes best
FOLDS = 5


class Settings(NamedTuple):
    """What kind of energy."""

    hidden: int = 32
    with_base: bool = False  # on top of the costs in place
    looks_at: str = "all"  # or at features of "programs", or at what is seen on "rows"


class Trained(NamedTuple):
    """Networks of several seeds, and their inputs."""

    energies: tuple[Energy, ...]
    inputs: Inputs

    def scores(self, found: Sequence[Pool]) -> list[np.ndarray]:
        """The mean energy of each program of each pool."""
        made = prepare(found, self.inputs)
        width = _width(max((len(each.x) for each in made), default=1))
        sums = [np.zeros(len(each.x)) for each in made]
        for i in range(0, len(made), SIZE):
            batch = batch_of(made[i : i + SIZE], width, SIZE)
            for energy in self.energies:
                for f, own in zip(np.asarray(_energies(energy, batch)), sums[i:], strict=False):
                    own += f[: len(own)]
        return [each / len(self.energies) for each in sums]


@eqx.filter_jit
def _energies(energy: Energy, batch: Batch) -> Array:
    return jax.vmap(energy)(batch.x, batch.z, batch.base)


def _width(number: int) -> int:
    """Programs that a batch is filled up to: few sizes, as each is compiled."""
    return next((width for width in WIDTHS if width >= number), -(-number // 128) * 128)


@eqx.filter_jit
def _step(
    energy: Energy, state: Any, batch: Batch, optimizer: optax.GradientTransformation
) -> tuple[Energy, Any]:
    slope = eqx.filter_grad(loss)(energy, batch)
    change, state = optimizer.update(slope, state, eqx.filter(energy, eqx.is_array))
    return eqx.apply_updates(energy, change), state


_losses = eqx.filter_jit(losses)


class Data(NamedTuple):
    """Prepared pools that can teach something, those of a width together."""

    groups: dict[int, list[Prepared]]

    @property
    def size(self) -> int:
        return sum(map(len, self.groups.values()))

    def loss(self, energy: Energy) -> float:
        """Minus the log-likelihood of the right programs, on average."""
        total = 0.0
        for width, found in self.groups.items():
            for i in range(0, len(found), SIZE):
                part = found[i : i + SIZE]
                total += float(_losses(energy, batch_of(part, width, SIZE))[: len(part)].sum())
        return total / max(self.size, 1)

    def batches(self, rng: np.random.Generator) -> Iterator[Batch]:
        """All pools once, in random batches; a group's last one is filled up with random others."""
        chosen = []
        for width, found in self.groups.items():
            order = rng.permutation(len(found))
            order = np.concatenate([order, rng.integers(len(found), size=-len(found) % SIZE)])
            chosen += [(width, part) for part in order.reshape(-1, SIZE)]
        for i in rng.permutation(len(chosen)):
            width, part = chosen[i]
            yield batch_of([self.groups[width][j] for j in part], width, SIZE)


def data_of(found: Sequence[Pool], inputs: Inputs) -> Data:
    """Those pools that can teach something."""
    groups: dict[int, list[Prepared]] = {}
    for each in prepare([each for each in found if can_teach(each)], inputs):
        groups.setdefault(_width(len(each.x)), []).append(each)
    return Data(groups)


def epochs(
    energy: Energy, data: Data, rate: float, seed: int, watch: Callable[[int, Energy], bool]
) -> None:
    """Epochs over the data until `watch`, told of each, says that it is enough."""
    optimizer = optax.adamw(rate, weight_decay=DECAY)
    state = optimizer.init(eqx.filter(energy, eqx.is_array))
    rng, epoch = np.random.default_rng(seed), 0
    while not watch(epoch, energy):
        for batch in data.batches(rng):
            energy, state = _step(energy, state, batch, optimizer)
        epoch += 1


def pretrain(train: Data, valid: Data, inputs: Inputs, settings: Settings, seed: int) -> Energy:
    """The energy of the epoch that is best on the validation pools."""
    sizes = len(inputs.programs), len(inputs.tables)
    start = Energy(
        *sizes, hidden=settings.hidden, with_base=settings.with_base, key=jax.random.key(seed)
    )
    kept: list[tuple[float, int, Energy]] = []

    def watch(epoch: int, energy: Energy) -> bool:
        now = valid.loss(energy)
        if not kept or now < kept[0][0]:
            kept[:] = [(now, epoch, energy)]
        return epoch == MAX_EPOCHS or epoch - kept[0][1] >= PATIENCE

    epochs(start, train, RATE, seed, watch)
    return kept[0][2]


def tune(energy: Energy, data: Data, num_epochs: int, seed: int) -> list[Energy]:
    """The energy before and after each epoch of fine-tuning."""
    kept: list[Energy] = []

    def watch(epoch: int, energy: Energy) -> bool:
        kept.append(energy)
        return epoch == num_epochs

    epochs(energy, data, TUNE_RATE, seed, watch)
    return kept


def fold_of(task: str) -> int:
    """The part of the cross-validation to which a task belongs, by its name alone."""
    return hashlib.sha256(f"fold {task}".encode()).digest()[0] % FOLDS


class Tuned(NamedTuple):
    """Fine-tuned energies: of all tasks, and of all but each fold."""

    all_tasks: Trained
    without: tuple[Trained, ...]
    num_epochs: int


def fine_tuned(start: Trained, dev: Sequence[Pool]) -> Tuned:
    """Fine-tune on dev for as many epochs as are best when tasks of other folds are rated."""
    inputs = start.inputs
    curves = np.zeros(TUNE_EPOCHS + 1)
    paths: list[list[list[Energy]]] = []
    for fold in range(FOLDS):
        rest = data_of([each for each in dev if fold_of(each.task) != fold], inputs)
        left = data_of([each for each in dev if fold_of(each.task) == fold], inputs)
        paths.append([tune(e, rest, TUNE_EPOCHS, seed) for seed, e in enumerate(start.energies)])
        for path in paths[-1]:
            curves += [left.size * left.loss(energy) for energy in path]
    best = int(np.argmin(curves))
    whole = data_of(dev, inputs)
    final = [tune(e, whole, best, seed)[best] for seed, e in enumerate(start.energies)]
    without = tuple(Trained(tuple(path[best] for path in each), inputs) for each in paths)
    return Tuned(Trained(tuple(final), inputs), without, best)


def inputs_of(train: Sequence[Pool], dev: Sequence[Pool], settings: Settings) -> Inputs:
    """Names from both, so that fine-tuning can use what no generated task has."""
    return find_inputs([*train, *dev], settings.looks_at)


def forget_unseen(energy: Energy, train: Data) -> Energy:
    """Without the first weights of inputs that no training pool had, which no gradient reached."""
    found = [each for group in train.groups.values() for each in group]
    seen = np.any([np.any(each.x != 0, axis=0) for each in found], axis=0)
    if energy.net is None:
        return energy
    tables = len(energy.net.layers[0].weight[0]) - len(seen)
    mask = np.concatenate([seen, np.ones(tables, bool)])
    weight = energy.net.layers[0].weight * mask
    return eqx.tree_at(lambda e: e.net.layers[0].weight, energy, weight)
