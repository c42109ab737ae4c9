"""The energy: a number for each program, given the table: a small network and a linear part.

f(x, z) = w x + MLP([x, z]), where x is what is seen of a program and z the table. With a `base` the
linear costs in place are added, and only what they miss is learned. The higher f, the likelier the
program; p(program | table) is softmax of f over all programs that the search finds. This support is
known, so the sum over programs that learning needs is exact and nothing has to be sampled.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Key

from aloex.nets import Dense
from studies.fill.energy.pools import Pool

LIMIT = 6.0  # of an input, in standard deviations


class Inputs(NamedTuple):
    """Which features are looked at, in which order, and how large each is; found in the data."""

    programs: tuple[str, ...]
    tables: tuple[str, ...]
    scales: np.ndarray  # of both, one after the other; 0 for what was never seen to vary
    centres: np.ndarray


class Batch(NamedTuple):
    """Pools side by side; those with fewer programs are filled up, and `there` says so."""

    x: Any  # (pools, programs, features)
    z: Any  # (pools, features)
    base: Any  # (pools, programs): minus the costs in place
    right: Any
    there: Any


class Energy(eqx.Module):
    """f(x, z); `hidden` 0 leaves the linear part alone."""

    linear: Float[Array, " n_x"]
    net: Dense | None
    with_base: bool = eqx.field(static=True)

    def __init__(
        self, n_x: int, n_z: int, *, hidden: int, with_base: bool = False, key: Key[Array, ""]
    ):
        self.linear = jnp.zeros(n_x)
        self.net = Dense((n_x + n_z, hidden, 1), key=key) if hidden else None
        self.with_base = with_base

    def __call__(
        self, x: Float[Array, "programs n_x"], z: Float[Array, " n_z"], base: Array
    ) -> Float[Array, " programs"]:
        f = x @ self.linear + (base if self.with_base else 0.0)
        if self.net is None:
            return f
        both = jnp.concatenate([x, jnp.broadcast_to(z, (len(x), len(z)))], axis=1)
        return f + jax.vmap(self.net)(both)[:, 0]


def log_likelihood(
    f: Float[Array, " programs"], right: Bool[Array, " programs"], there: Bool[Array, " programs"]
) -> Float[Array, ""]:
    """The log of the probability of all right programs together, among those that are there."""
    all_of = lambda chosen: jax.nn.logsumexp(jnp.where(chosen, f, -jnp.inf))
    return all_of(right & there) - all_of(there)


def losses(energy: Energy, batch: Batch) -> Float[Array, " pools"]:
    """Minus the log-likelihood of each pool, which must have a right program."""
    f = jax.vmap(energy)(batch.x, batch.z, batch.base)
    return -jax.vmap(log_likelihood)(f, batch.right, batch.there)


def loss(energy: Energy, batch: Batch) -> Float[Array, ""]:
    """Their mean."""
    return losses(energy, batch).mean()


def find_inputs(found: Sequence[Pool], looks_at: str = "all") -> Inputs:
    """The features that occur in these pools: of `programs`, of `rows`, or all."""
    columns: dict[str, list[float]] = {}
    total = sum(len(each.costs) for each in found)
    for each in found:
        chosen = each.programs * (looks_at != "rows") + each.rows * (looks_at != "programs")
        for features in chosen:
            for name, amount in features.items():
                columns.setdefault(name, []).append(amount)
    tables = sorted({name for each in found for name in each.table})
    deviation = lambda values: _deviation(np.array(values), total)
    of_tables = np.array([[each.table[n] for n in tables] for each in found if each.table])
    programs = sorted(columns)
    scales = [deviation(columns[name]) for name in programs]
    scales += list(of_tables.std(0))
    centres = np.array([0.0] * len(programs) + list(of_tables.mean(0)))
    return Inputs(tuple(programs), tuple(tables), _inverse(np.array(scales)), centres)


def _deviation(values: np.ndarray, total: int) -> float:
    """The standard deviation when all others of the total are 0."""
    mean = values.sum() / total
    return float(np.sqrt(max((values**2).sum() / total - mean**2, 0.0)))


def _inverse(scales: np.ndarray) -> np.ndarray:
    return np.where(scales > 1e-6, 1 / np.maximum(scales, 0.05), 0.0)


class Prepared(NamedTuple):
    """One pool as arrays."""

    x: np.ndarray
    z: np.ndarray
    base: np.ndarray
    right: np.ndarray


def prepare(found: Sequence[Pool], inputs: Inputs) -> list[Prepared]:
    """Pools as arrays; features that the inputs do not name are left out."""
    at = {name: i for i, name in enumerate(inputs.programs)}
    n = len(inputs.programs)
    made = []
    for each in found:
        x = np.zeros((len(each.costs), n), np.float32)
        for i, (program, rows) in enumerate(zip(each.programs, each.rows, strict=True)):
            for name, amount in (*program.items(), *rows.items()):
                if name in at:
                    x[i, at[name]] = amount
        z = np.array([each.table.get(name, 0.0) for name in inputs.tables], np.float32)
        x = _scaled(x, inputs.centres[:n], inputs.scales[:n])
        made.append(Prepared(x, _scaled(z, inputs.centres[n:], inputs.scales[n:]),
                             -each.costs.astype(np.float32), each.right))  # fmt: skip
    return made


def _scaled(x: np.ndarray, centres: np.ndarray, scales: np.ndarray) -> np.ndarray:
    return np.clip((x - centres) * scales, -LIMIT, LIMIT).astype(np.float32)


def batch_of(found: Sequence[Prepared], width: int, size: int) -> Batch:
    """Prepared pools side by side, each filled up to `width` programs, all to `size` pools."""
    found = [*found, *[found[-1]] * (size - len(found))]
    filled = lambda arrays: np.stack(
        [np.pad(a, [(0, width - len(a)), *[(0, 0)] * (a.ndim - 1)]) for a in arrays]
    )
    return Batch(
        filled([each.x for each in found]),
        np.stack([each.z for each in found]),
        filled([each.base for each in found]),
        filled([each.right for each in found]),
        filled([np.ones(len(each.right), bool) for each in found]),
    )
