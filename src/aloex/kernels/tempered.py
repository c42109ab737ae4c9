"""The tempered energy f_b(x, z) = (1 - b) base(x, z) + b f(x, z), b from 0 to 1.

Without a base it is b f, for which all states are alike at b = 0. It offers what both offer:
first-layer sums, side by side, and differences of its own.
"""

from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, Int

from aloex.cursor import Energy, Incremental
from aloex.differences import OffersDifferences, are_own_and_exact


def tempered(f: Energy, b: Float[Array, ""], base: Energy | None = None) -> "Tempered":
    """f_b."""
    parts = [f] if base is None else [f, base]
    increments = all(isinstance(part, Incremental) for part in parts)
    own = all(isinstance(part, OffersDifferences) for part in parts)
    if increments and own:
        return IncrementalTemperedWithDifferences(f, b, base)
    if increments:
        return IncrementalTempered(f, b, base)
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
    """The same with first-layer sums: those of f, then those of the base."""

    def hidden(self, x: Int[Array, " dim"], z: Array | None = None) -> Float[Array, " width"]:
        """Those of both."""
        own = self.f.hidden(x, z)
        return own if self.base is None else jnp.concatenate([own, self.base.hidden(x, z)])

    def site(self, i: Int[Array, ""] | int, v: Int[Array, ""]) -> Float[Array, " width"]:
        """Those of both."""
        own = self.f.site(i, v)
        return own if self.base is None else jnp.concatenate([own, self.base.site(i, v)])

    def head(self, hidden: Float[Array, " width"]) -> Float[Array, ""]:
        """f_b from the sums."""
        if self.base is None:
            return self.mixed(self.f.head(hidden), 0)
        zero = jnp.zeros((), jnp.int32)
        width = jax.eval_shape(self.f.site, zero, zero).shape[0]
        return self.mixed(self.f.head(hidden[:width]), self.base.head(hidden[width:]))


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
