"""The tempered energy f_b(x, z) = (1 - b) base(x, z) + b f(x, z), b from 0 to 1.

Without a base it is b f, for which all states are alike at b = 0. It offers what f offers:
first-layer sums, and differences of its own if f and the base have them.
"""

from typing import Any

import equinox as eqx
import jax.numpy as jnp
from jaxtyping import Array, Float, Int

from aloex.cursor import Energy, Incremental
from aloex.differences import OffersDifferences, are_own_and_exact


def tempered(f: Energy, b: Float[Array, ""], base: Energy | None = None) -> "Tempered":
    """f_b."""
    increments = base is None and isinstance(f, Incremental)
    own = all(isinstance(e, OffersDifferences) for e in (f, base) if e is not None)
    if increments and own:
        return IncrementalTemperedWithDifferences(f, b)
    if increments:
        return IncrementalTempered(f, b)
    return TemperedWithDifferences(f, b, base) if own else Tempered(f, b, base)


class Tempered(eqx.Module):
    """f_b as a plain callable."""

    f: Any  # an Energy; so is the base
    b: Float[Array, ""]
    base: Any = None

    def __call__(
        self, x: Int[Array, " dim"] | Float[Array, " dim"], z: Array | None = None
    ) -> Array:
        """f_b(x, z)."""
        return self.mixed(self.f(x, z), 0 if self.base is None else self.base(x, z))

    def mixed(self, of_f: Array, of_base: Array | int) -> Array:
        """(1 - b) of_base + b of_f, where 0 times infinity is 0: at b = 0 only the base counts."""
        times = lambda b, value: jnp.where(b == 0, 0, b.astype(of_f.dtype) * value)
        return times(1 - self.b, of_base) + times(self.b, of_f)


class IncrementalTempered(Tempered):
    """The same with f's first-layer sums; it has no base."""

    def hidden(self, x: Int[Array, " dim"], z: Array | None = None) -> Float[Array, " width"]:
        """Those of f."""
        return self.f.hidden(x, z)

    def site(self, i: Int[Array, ""] | int, v: Int[Array, ""]) -> Float[Array, " width"]:
        """That of f."""
        return self.f.site(i, v)

    def head(self, hidden: Float[Array, " width"]) -> Float[Array, ""]:
        """f_b from the sums."""
        return self.mixed(self.f.head(hidden), 0)


class TemperedWithDifferences(Tempered):
    """The same with differences, which are exact if both energies say so."""

    @property
    def differences_are_exact(self) -> bool:
        return all(are_own_and_exact(e) for e in (self.f, self.base) if e is not None)

    def differences(
        self, x: Int[Array, " dim"], z: Array | None = None
    ) -> Float[Array, "dim values"]:
        """Those of f_b."""
        of_base = 0 if self.base is None else self.base.differences(x, z)
        return self.mixed(self.f.differences(x, z), of_base)


class IncrementalTemperedWithDifferences(IncrementalTempered, TemperedWithDifferences):
    """Both."""
