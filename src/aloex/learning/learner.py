"""What `fit` can train, and what learners that run on several devices share."""

import dataclasses
from abc import abstractmethod
from collections.abc import Callable
from typing import Any, Protocol, TypeVar, runtime_checkable

import equinox as eqx
import jax
from jaxtyping import Array, Int, Key

from aloex.base.errors import require

Rows = TypeVar("Rows")  # a tree of arrays whose first axis is that of the batch


@runtime_checkable
class Learner(Protocol):
    """What `fit` can train; an info is a NamedTuple of numbers, the first of them the loss.

    A learner that offers `step_on_shard` too runs on all devices, else on one.
    """

    def step(self, key: Any, state: Any, x: Any, z: Any = None) -> tuple[Any, Any]: ...


class ShardedLearner(eqx.Module):
    """A method with its settings, checked; a step is one on a shard that holds the whole batch."""

    ema_decay: float = eqx.field(static=True, kw_only=True, default=0.999)

    def __check_init__(self):
        for field in dataclasses.fields(self):
            if field.name.startswith("num_"):
                value = getattr(self, field.name)
                require(value >= 1, f"{field.name} must be at least 1, got {value}")
        require(0 <= self.ema_decay < 1, f"ema_decay must be in [0, 1), got {self.ema_decay}")

    def step(
        self, key: Key[Array, ""], state: Any, x: Int[Array, "batch dim"], z: Array | None = None
    ) -> tuple[Any, Any]:
        """One step on a batch of data."""
        return self.step_on_shard(jax.random.split(key, x.shape[0]), state, x, z)

    @abstractmethod
    def step_on_shard(
        self,
        keys: Key[Array, " batch"],
        state: Any,
        x: Int[Array, "batch dim"],
        z: Array | None = None,
        *,
        axis: str | None = None,
    ) -> tuple[Any, Any]:
        """A step on this device's part of the batch, gradients averaged over the mesh axis.

        Every example brings its own key, so the draws do not depend on how the batch is split.
        """


def mean_over(axis: str | None) -> Callable[[Rows], Rows]:
    """The mean of a tree over the devices, or the tree itself when there is just one."""
    return (lambda tree: jax.lax.pmean(tree, axis)) if axis else (lambda tree: tree)


def check_num_data(num_data: int, x: Array) -> None:
    """Whether the batch holds `num_data` examples to each of a number of negatives."""
    require(
        x.shape[0] % num_data == 0,
        f"with num_data={num_data} a batch must hold a multiple of {num_data} examples, got "
        f"{x.shape[0]}",
    )


def split_keys(keys: Key[Array, " rows"]) -> tuple[Key[Array, " rows"], Key[Array, " rows"]]:
    """Two keys of each."""
    pairs = jax.vmap(jax.random.split)(keys)
    return pairs[:, 0], pairs[:, 1]


def shard(rows: Rows, axis: str | None) -> Rows:
    """This device's part of rows that all devices hold."""
    if axis is None:
        return rows
    own = lambda a: a.reshape(jax.lax.axis_size(axis), -1, *a.shape[1:])[jax.lax.axis_index(axis)]
    return jax.tree.map(own, rows)


def gather(rows: Rows, axis: str | None) -> Rows:
    """The rows of all devices: the inverse of `shard`."""
    if axis is None:
        return rows
    return jax.tree.map(lambda a: jax.lax.all_gather(a, axis, tiled=True), rows)
