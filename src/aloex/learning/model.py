"""The friendly layer: a learned model that can be sampled, scored with and kept.

model = aloex.learn(x)               # x: integers [n, d]
model.sample(10)                     # integers [10, d]
model.save("model.safetensors")      # aloex.load("model.safetensors") brings it back
"""

import dataclasses
import os
from typing import TYPE_CHECKING, Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Int, Key

from aloex.base.errors import InputError
from aloex.base.seeds import check_seed
from aloex.cursor import Energy
from aloex.kernels import Gibbs, run
from aloex.learning.build import build_networks
from aloex.learning.config import Config
from aloex.learning.data.columns import Columns
from aloex.learning.rows import CHUNK, chunk, chunk_or_none, conditions
from aloex.learning.settings import whole
from aloex.runs import model_file
from aloex.samplers import LocalSearch
from aloex.spaces import Space

if TYPE_CHECKING:
    from pandas import DataFrame


class Model(eqx.Module):
    """A learned p(x | z) ~ exp f(x, z), with the q that learned to sample it.

    Args:
        config: the settings of its networks.
        f: the energy, the moving average over training.
        q: the sampler.
        columns: what the integers stand for, of a model learned from a DataFrame.

    Example:
        >>> import jax
        >>> from aloex.learning import Config, Model, build_networks
        >>> config = Config(dim=5, f_hidden=(8,), q_hidden=(8,), max_edits=2)
        >>> model = Model(config, *build_networks(config, jax.random.key(0)))
        >>> model.sample(3).shape
        (3, 5)
        >>> model.energy(model.sample(3)).shape
        (3,)
    """

    config: Config = eqx.field(static=True)
    f: Energy
    q: LocalSearch
    columns: Columns | None = eqx.field(static=True, default=None)

    @property
    def space(self) -> Space:
        """What x is."""
        return self.config.space

    @property
    def kernel(self) -> Gibbs:
        """The kernel that improves draws of q."""
        return Gibbs(self.space)

    def sample(self, n: int, *, z: Any = None, seed: int = 0, num_sweeps: int = 1) -> np.ndarray:
        """Draws from q, each improved by Gibbs sweeps under f.

        Args:
            n: how many. A larger n keeps the first draws as they are.
            z: one condition for all [c], or a row for each [n, c].
            seed: of all randomness, 0..2^32 - 1.
            num_sweeps: sweeps of each draw; with 0, draws of q as it is.

        Returns:
            Integers [n, d].
        """
        n, num_sweeps = whole("n", n, 1), whole("num_sweeps", num_sweeps, 0)
        key, z = jax.random.key(check_seed(seed)), self._conditions(z, n)
        starts = range(0, n, CHUNK)
        parts = [
            _sample(self, key, jnp.asarray(i), chunk_or_none(z, i), num_sweeps) for i in starts
        ]
        if any(bool(bad) for _, bad in parts):
            raise InputError(
                "the model's energy is NaN at a draw, so its weights are broken; learn it again, "
                "with smaller learning rates if it was trained to this"
            )
        return np.concatenate([np.asarray(x) for x, _ in parts])[:n]

    def energy(self, x: Any, z: Any = None) -> np.ndarray:
        """f of each row: log p(x | z) up to a constant that depends on z alone.

        Args:
            x: states [n, d]; or a DataFrame, of a model that was learned from one.
            z: one condition for all [c], or a row for each [n, c].

        Returns:
            Numbers [n].
        """
        if self.columns is not None and hasattr(x, "columns"):
            x = self.columns.encode(x)
        x = self.space.check(np.asarray(x), "x")
        n, z = len(x), self._conditions(z, len(x))
        parts = [_energy(self, chunk(x, i), chunk_or_none(z, i)) for i in range(0, n, CHUNK)]
        return np.concatenate([np.asarray(part) for part in parts])[:n]

    def decode(self, x: Any) -> "DataFrame":
        """States [n, d] as the DataFrame that they stand for, of a model learned from one."""
        if self.columns is None:
            raise InputError("this model was learned from integers, not from a DataFrame")
        return self.columns.decode(x)

    def _conditions(self, z: Any, n: int) -> np.ndarray | None:
        return conditions(z, n, self.config.cond_dim, "model")

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write a safetensors file: the arrays, and the config as JSON in its metadata."""
        model_file.write(path, {"f": self.f, "q": self.q}, settings_of(self.config, self.columns))


def settings_of(config: Config, columns: Columns | None) -> dict[str, Any]:
    """The config, and the columns if there are any, as JSON values."""
    named = {} if columns is None else {"columns": dataclasses.asdict(columns)}
    return {**dataclasses.asdict(config), **named}


def load(path: str | os.PathLike[str]) -> Model:
    """The model that `Model.save` wrote.

    Args:
        path: of the safetensors file.

    Returns:
        The model.

    Raises:
        CheckpointError: there is no such file, or it holds no model.

    Example:
        >>> import jax, tempfile
        >>> from aloex.learning import Config, Model, build_networks, load
        >>> config = Config(dim=5, f_hidden=(8,), q_hidden=(8,), max_edits=2)
        >>> path = tempfile.mkdtemp() + "/model.safetensors"
        >>> Model(config, *build_networks(config, jax.random.key(0))).save(path)
        >>> load(path).config == config
        True
    """

    def parts(settings: dict[str, Any]) -> tuple[Config, Columns | None]:
        columns = settings.get("columns")
        config = Config.from_dict({k: v for k, v in settings.items() if k != "columns"})
        return config, None if columns is None else Columns.from_dict(columns)

    def build(settings: dict[str, Any]) -> dict[str, Any]:
        networks = build_networks(parts(settings)[0], jax.random.key(0))
        return dict(zip("fq", networks, strict=True))

    networks, settings = model_file.read(path, build)
    config, columns = parts(settings)
    return Model(config, networks["f"], networks["q"], columns)


@eqx.filter_jit
def _sample(
    model: Model, key: Key[Array, ""], first: Array, z: Array | None, num_sweeps: int
) -> tuple[Int[Array, "chunk dim"], Bool[Array, ""]]:
    """CHUNK draws, the first of them with the number `first`; and whether an energy is NaN."""

    def draw(i: Array, z: Array | None) -> tuple[Array, Array]:
        key_q, key_kernel = jax.random.split(jax.random.fold_in(key, i))
        x = model.q.sample(key_q, z).last
        if num_sweeps == 0:
            return x, jnp.zeros((), bool)
        x = run(model.kernel, key_kernel, x, model.f, z, num_steps=num_sweeps)
        return x, jnp.isnan(model.f(x, z))

    numbers = jnp.asarray(first) + jnp.arange(CHUNK)
    x, bad = jax.vmap(draw)(numbers, None if z is None else jnp.asarray(z))
    return x, bad.any()


@eqx.filter_jit
def _energy(model: Model, x: Array, z: Array | None) -> Float[Array, " chunk"]:
    return jax.vmap(model.f)(x, z)
