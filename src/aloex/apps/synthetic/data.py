"""Seven pictures in the plane: independent points, and the 32 bits that stand for each.

A coordinate becomes 16 bits: a sign (1 if negative), then the reflected Gray code of the cell
int(|x| int_scale), cut off at 2^15 - 1, most significant bit first. The bits of x come before those
of y. All cells have width w = 1 / int_scale, those beside 0 too: [0, w) and (-w, 0) are two cells,
and 0 itself, of either sign, lies in the first. So neighbouring cells differ in one bit everywhere;
across 0 it is the sign.
"""

from collections.abc import Callable
from dataclasses import dataclass

import jax
import jax.numpy as jnp
import numpy as np
from jax.random import bernoulli, normal, randint, split, uniform
from jaxtyping import Array, Float, Int, Key, UInt

from aloex.base.errors import require

BITS = 16  # per coordinate, the sign among them
NUM_CELLS = 2 ** (BITS - 1)  # on either side of 0

# NUM_CELLS / (max |coordinate| + 2), with the maximum of the 5000 points that `measured_scale`
# draws. The committed numbers define the bits; they are the same on every machine.
INT_SCALE = {
    "2spirals": 5990.6147,
    "8gaussians": 5435.6625,
    "circles": 5662.6159,
    "moons": 5900.7913,
    "pinwheel": 5477.6493,
    "swissroll": 6174.6242,
    "checkerboard": 5461.8108,
}
DATA_SETS = tuple(INT_SCALE)


@dataclass(frozen=True)
class DataSet:
    """One of the seven, by its name in DATA_SETS. Every method can be compiled."""

    name: str

    def __post_init__(self):
        choices = ", ".join(DATA_SETS)
        require(self.name in DATA_SETS, f"no data set {self.name!r}; choose one of {choices}")

    @property
    def int_scale(self) -> float:
        """Cells per unit of length."""
        return INT_SCALE[self.name]

    def points(self, key: Key[Array, ""], n: int) -> Float[Array, "n 2"]:
        """n independent points."""
        return jax.vmap(_DRAW[self.name])(split(key, n))

    def sample(self, key: Key[Array, ""], n: int) -> Int[Array, "n 32"]:
        """The bits of n independent points."""
        return self.encode(self.points(key, n))

    def encode(self, points: Float[Array, "*n 2"]) -> Int[Array, "*n 32"]:
        """The bits of the cells in which the points lie."""
        cells = jnp.minimum(jnp.abs(points) * self.int_scale, NUM_CELLS - 1).astype(jnp.int32)
        gray = (cells ^ cells >> 1)[..., None] >> _places(BITS - 1) & 1
        negative = (points < 0)[..., None].astype(jnp.int32)
        bits = jnp.concatenate([negative, gray], axis=-1)
        return bits.reshape(*points.shape[:-1], 2 * BITS)

    def decode(self, bits: Int[Array, "*n 32"]) -> Float[Array, "*n 2"]:
        """The middle of each cell."""
        bits = bits.reshape(*bits.shape[:-1], 2, BITS)
        binary = jnp.cumsum(bits[..., 1:], axis=-1) % 2
        cells = jnp.sum(binary << _places(BITS - 1), axis=-1)
        return (1 - 2 * bits[..., 0]) * (cells + 0.5) / self.int_scale


def pack(bits: Int[Array, "*n 32"]) -> UInt[Array, "*n"]:
    """32 bits as one number, the first bit the most significant."""
    return jnp.sum(bits.astype(jnp.uint32) << _places(32, np.uint32), axis=-1, dtype=jnp.uint32)


def unpack(packed: UInt[Array, "*n"]) -> Int[Array, "*n 32"]:
    """The inverse of `pack`."""
    return (packed[..., None] >> _places(32, np.uint32) & 1).astype(jnp.int32)


def measured_scale(name: str) -> float:
    """The number that INT_SCALE holds, drawn again."""
    points = jax.jit(DataSet(name).points, static_argnums=1)(jax.random.key(0), 5000)
    return NUM_CELLS / (float(jnp.max(jnp.abs(points))) + 2)


def _places(num_bits: int, dtype: type = np.int32) -> np.ndarray:
    """How far to shift for each bit, most significant first."""
    return np.arange(num_bits - 1, -1, -1, dtype=dtype)


def _two_spirals(key: Key[Array, ""]) -> Float[Array, "2"]:
    key_angle, key_box, key_mirror, key_noise = split(key, 4)
    angle = jnp.sqrt(uniform(key_angle)) * 3 * jnp.pi
    curve = angle * jnp.stack([-jnp.cos(angle), jnp.sin(angle)])
    point = curve + uniform(key_box, (2,)) / 2
    return jnp.where(bernoulli(key_mirror), point, -point) / 3 + 0.1 * normal(key_noise, (2,))


def _eight_gaussians(key: Key[Array, ""]) -> Float[Array, "2"]:
    key_centre, key_noise = split(key)
    centre = 4 * _on_circle(randint(key_centre, (), 0, 8) * jnp.pi / 4)
    return (centre + 0.5 * normal(key_noise, (2,))) / 1.414


def _circles(key: Key[Array, ""]) -> Float[Array, "2"]:
    key_angle, key_radius, key_noise = split(key, 3)
    radius = jnp.where(bernoulli(key_radius), 1, 0.5)
    circle = radius * _on_circle(2 * jnp.pi * uniform(key_angle))
    return 3 * (circle + 0.08 * normal(key_noise, (2,)))


def _moons(key: Key[Array, ""]) -> Float[Array, "2"]:
    key_angle, key_moon, key_noise = split(key, 3)
    outer = _on_circle(jnp.pi * uniform(key_angle))
    moon = jnp.where(bernoulli(key_moon), outer, jnp.array([1, 0.5]) - outer)
    return 2 * (moon + 0.1 * normal(key_noise, (2,))) + jnp.array([-1, -0.2])


def _pinwheel(key: Key[Array, ""]) -> Float[Array, "2"]:
    key_arm, key_noise = split(key)
    along, across = jnp.array([1, 0]) + jnp.array([0.3, 0.1]) * normal(key_noise, (2,))
    angle = 2 * jnp.pi / 5 * randint(key_arm, (), 0, 5) + 0.25 * jnp.exp(along)
    cos, sin = jnp.cos(angle), jnp.sin(angle)
    return 2 * jnp.stack([along * cos + across * sin, across * cos - along * sin])


def _swissroll(key: Key[Array, ""]) -> Float[Array, "2"]:
    key_angle, key_noise = split(key)
    angle = 1.5 * jnp.pi * (1 + 2 * uniform(key_angle))
    return (angle * _on_circle(angle) + normal(key_noise, (2,))) / 5


def _checkerboard(key: Key[Array, ""]) -> Float[Array, "2"]:
    key_x, key_y, key_square = split(key, 3)
    x = uniform(key_x, minval=-2, maxval=2)
    y = uniform(key_y) - 2 * bernoulli(key_square) + jnp.floor(x) % 2
    return 2 * jnp.stack([x, y])


def _on_circle(angle: Float[Array, ""]) -> Float[Array, "2"]:
    return jnp.stack([jnp.cos(angle), jnp.sin(angle)])


_DRAW: dict[str, Callable[[Key[Array, ""]], Float[Array, "2"]]] = {
    "2spirals": _two_spirals,
    "8gaussians": _eight_gaussians,
    "circles": _circles,
    "moons": _moons,
    "pinwheel": _pinwheel,
    "swissroll": _swissroll,
    "checkerboard": _checkerboard,
}
