"""Where training runs: on every device in sight, be they in one process or in many.

A batch is split evenly over the devices, the gradients are averaged, all else is replicated. Every
example brings its own key, so the draws do not depend on the number of devices and the losses agree
with those of a single one up to rounding.
"""

from collections.abc import Callable
from functools import partial
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jax.experimental import multihost_utils
from jax.sharding import AxisType, Mesh, NamedSharding, PartitionSpec
from jaxtyping import Array, Key

from aloex.base.errors import InputError, require
from aloex.runs.trees import Tree, from_numpy, to_numpy

AXIS = "batch"
REPLICATED, SPLIT = PartitionSpec(), PartitionSpec(AXIS)


def initialize(
    coordinator: str | None = None,
    num_processes: int | None = None,
    process_id: int | None = None,
) -> None:
    """Join the other processes of a run; to be called first thing in each. A second call is free.

    Args:
        coordinator: "host:port" of process 0. Without arguments JAX asks the cluster it runs on
            (Slurm, Open MPI, Kubernetes, Cloud TPU) for all three.
        num_processes: how many processes there are.
        process_id: which of them this is, from 0.
    """
    if jax.distributed.is_initialized():
        return
    _check_address(coordinator, num_processes, process_id)
    jax.config.update("jax_cpu_collectives_implementation", "gloo")
    try:
        jax.distributed.initialize(coordinator, num_processes, process_id)
    except ValueError as error:
        raise InputError(
            f"cannot join the other processes: {error} (got coordinator={coordinator}, "
            f"num_processes={num_processes}, process_id={process_id}); "
            "outside a cluster that JAX knows, give all three"
        ) from error
    except RuntimeError as error:
        raise InputError(
            f"cannot join the other processes: {error}; call initialize() before anything else"
        ) from error


def _check_address(
    coordinator: str | None, num_processes: int | None, process_id: int | None
) -> None:
    """Told here, because JAX waits for minutes for a coordinator that cannot be."""
    if coordinator is None:
        require(
            num_processes is None and process_id is None,
            f"num_processes={num_processes} and process_id={process_id} go with a coordinator; "
            "give its host:port, too, or none of the three in a cluster that JAX knows",
        )
        return
    host, _, port = coordinator.rpartition(":")
    require(
        host != "" and port.isdecimal() and 0 < int(port) < 2**16,
        f"coordinator must be host:port, such as 10.0.0.1:1234, got {coordinator!r}",
    )
    for name, number, least in (("num_processes", num_processes, 1), ("process_id", process_id, 0)):
        require(number is None or number >= least, f"{name} must be {least} or more, got {number}")
    require(
        num_processes is None or process_id is None or process_id < num_processes,
        f"process_id counts from 0 and must be below num_processes={num_processes}, got "
        f"{process_id}",
    )


def mesh(batch_size: int) -> Mesh | None:
    """All devices of all processes in a row, or None when there is just one."""
    devices = jax.devices()
    if len(devices) == 1:
        return None
    require(
        batch_size % len(devices) == 0,
        f"batch_size={batch_size} cannot be split evenly over {len(devices)} devices; use a "
        f"multiple of {len(devices)}, such as {-(-batch_size // len(devices)) * len(devices)}",
    )
    return Mesh(np.array(devices), (AXIS,), axis_types=(AxisType.Auto,))


def sharded_step(learner: Any, mesh: Mesh | None) -> Callable[..., tuple[Any, Any]]:
    """`learner.step`, each device doing its part of the batch."""
    if mesh is None:
        return learner.step

    def step(key: Key[Array, ""], state: Any, x: Any, z: Any = None) -> tuple[Any, Any]:
        arrays, static = eqx.partition((learner, state), eqx.is_array)

        # Without check_vma=False, grad would sum over the devices before the learner averages.
        @partial(
            jax.shard_map,
            mesh=mesh,
            in_specs=(SPLIT, REPLICATED, SPLIT, SPLIT),
            out_specs=REPLICATED,
            check_vma=False,
        )
        def on_shard(keys: Key[Array, " shard"], arrays: Any, x: Any, z: Any) -> tuple[Any, Any]:
            learner, state = eqx.combine(arrays, static)
            state, info = learner.step_on_shard(keys, state, x, z, axis=AXIS)
            return eqx.filter(state, eqx.is_array), info

        arrays, info = on_shard(jax.random.split(key, x.shape[0]), arrays, x, z)
        return eqx.combine(arrays, eqx.filter(state, eqx.is_array, inverse=True)), info

    return step


def put_on_devices(tree: Tree, mesh: Mesh | None) -> Tree:
    """A fresh copy of every array on each device of the mesh, or on the default device."""

    def put(leaf: Array | np.ndarray) -> Array:
        data = to_numpy(jnp.asarray(leaf))
        if mesh is None:
            return from_numpy(jnp.array(data), leaf)
        everywhere = NamedSharding(mesh, REPLICATED)
        copy = lambda part: data[part].copy()
        return from_numpy(jax.make_array_from_callback(data.shape, everywhere, copy), leaf)

    return jax.tree.map(lambda a: put(a) if isinstance(a, jax.Array | np.ndarray) else a, tree)


def is_main() -> bool:
    """Whether this is the process that writes files and talks to the user."""
    return jax.process_index() == 0


def wait_for_all(where: str) -> None:
    """Return once every process has come here."""
    if jax.process_count() > 1:
        multihost_utils.sync_global_devices(where)


def highest(number: int) -> int:
    """The highest number of all processes, each of which gives one: all get the same answer."""
    if jax.process_count() == 1:
        return number
    return int(multihost_utils.process_allgather(np.array(number)).max())
