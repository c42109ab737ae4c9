"""A cursor stands at x, knows f(x), and moves by single-site changes at one energy evaluation each.

An energy of the form f(x, z) = head(h(x, z)), with h a sum of one vector per site, can offer its
parts as an `Incremental`: its first layer is then updated, not recomputed. Any other callable is
evaluated from scratch.
"""

from collections.abc import Callable
from typing import Any, NamedTuple, Protocol, runtime_checkable

import jax
import jax.numpy as jnp
from jax.core import Tracer
from jaxtyping import Array, Float, Int

from aloex.base.errors import InputError, require

Energy = Callable[[Array, Any], Array]  # f(x, z) -> scalar; z is None or what f needs


@runtime_checkable
class Incremental(Protocol):
    """What an energy may offer beyond being called: f(x, z) = head(h(x, z)), h a sum over sites.

    Example:
        >>> from aloex import cursor
        >>> class SquaredCount:
        ...     def __call__(self, x, z=None):
        ...         return self.head(self.hidden(x, z))
        ...
        ...     def hidden(self, x, z=None):
        ...         return 1.0 * x.sum(keepdims=True)
        ...
        ...     def site(self, i, v):
        ...         return 1.0 * v[None]
        ...
        ...     def head(self, hidden):
        ...         return hidden[0] ** 2
        >>> isinstance(SquaredCount(), cursor.Incremental)
        True
    """

    def __call__(self, x: Array, z: Array | None = None) -> Array:
        """f(x, z)."""
        ...

    def hidden(self, x: Array, z: Array | None = None) -> Array:
        """h(x, z), the sum of the sites' vectors and z's part."""
        ...

    def site(self, i: Array | int, v: Array) -> Array:
        """The vector that value v at site i adds to h."""
        ...

    def head(self, hidden: Array) -> Array:
        """f from h."""
        ...


class Cursor(NamedTuple):
    """Where a chain stands. It belongs to one f: start anew when f's parameters change.

    Example:
        >>> import jax.numpy as jnp
        >>> from aloex import cursor
        >>> here = cursor.start(lambda x, z=None: 2.0 * x.sum(), jnp.array([0, 1]))
        >>> here.x.tolist(), float(here.value), here.hidden
        ([0, 1], 2.0, None)
    """

    x: Int[Array, " dim"]
    z: Array | None
    value: Float[Array, ""]  # f(x, z)
    hidden: Float[Array, " width"] | None  # first-layer sums, for energies that offer them


def start(f: Energy, x: Int[Array, " dim"], z: Array | None = None) -> Cursor:
    """A cursor at x: one energy evaluation.

    Args:
        f: the energy, f(x, z) -> scalar.
        x: where to stand [dim].
        z: the condition, if f has one.

    Returns:
        The cursor, with f(x, z) and, of an `Incremental`, h(x, z).

    Example:
        >>> import jax.numpy as jnp
        >>> from aloex import cursor
        >>> f = lambda x, z=None: 1.0 * x.sum()
        >>> float(cursor.start(f, jnp.array([0, 1])).value)
        1.0
    """
    if not isinstance(f, Incremental):
        return Cursor(x, z, f(x, z), None)
    hidden = f.hidden(x, z)
    return Cursor(x, z, f.head(hidden), hidden)


def change(f: Energy, cursor: Cursor, i: Int[Array, ""] | int, v: Int[Array, ""]) -> Cursor:
    """The cursor after setting site i to v: one energy evaluation.

    Of an `Incremental`, h becomes h + site(i, v) - site(i, x_i).

    Args:
        f: the energy that the cursor belongs to.
        cursor: where the chain stands.
        i: the site, a number.
        v: its new value, an array of shape [].

    Returns:
        The cursor at the new state.

    Example:
        >>> import jax.numpy as jnp
        >>> from aloex import cursor
        >>> f = lambda x, z=None: 1.0 * x.sum()
        >>> here = cursor.start(f, jnp.array([0, 1]))
        >>> there = cursor.change(f, here, 0, jnp.array(1))
        >>> there.x.tolist(), float(there.value)
        ([1, 1], 2.0)
    """
    x = cursor.x.at[i].set(v.astype(cursor.x.dtype))
    if isinstance(f, Incremental) and cursor.hidden is not None:
        hidden = cursor.hidden + f.site(i, v) - f.site(i, cursor.x[i])
        return cursor._replace(x=x, value=f.head(hidden), hidden=hidden)
    return cursor._replace(x=x, value=f(x, cursor.z))


def change_sites(
    f: Energy, cursor: Cursor, sites: Int[Array, " n"], values: Int[Array, " n"]
) -> Cursor:
    """The cursor after setting several sites at once: one energy evaluation.

    Args:
        f: the energy that the cursor belongs to.
        cursor: where the chain stands.
        sites: different sites [n].
        values: their new values [n].

    Returns:
        The cursor at the new state.

    Example:
        >>> import jax.numpy as jnp
        >>> from aloex import cursor
        >>> f = lambda x, z=None: 1.0 * x.sum()
        >>> here = cursor.start(f, jnp.array([0, 1, 0]))
        >>> there = cursor.change_sites(f, here, jnp.array([0, 2]), jnp.array([1, 1]))
        >>> there.x.tolist(), float(there.value)
        ([1, 1, 1], 3.0)
    """
    values = values.astype(cursor.x.dtype)
    x = cursor.x.at[sites].set(values)
    if isinstance(f, Incremental) and cursor.hidden is not None:
        site = f.site
        added = jax.vmap(lambda i, v, old: site(i, v) - site(i, old))
        hidden = cursor.hidden + added(sites, values, cursor.x[sites]).sum(axis=0)
        return cursor._replace(x=x, value=f.head(hidden), hidden=hidden)
    return cursor._replace(x=x, value=f(x, cursor.z))


def refresh(f: Energy, cursor: Cursor) -> Cursor:
    """Recompute the first-layer sums, which gather rounding errors over many changes.

    Args:
        f: the energy that the cursor belongs to.
        cursor: where the chain stands.

    Returns:
        The cursor at the same state; the same cursor if f is no `Incremental`.

    Example:
        >>> import jax, jax.numpy as jnp
        >>> from aloex import cursor, energies, spaces
        >>> f = energies.MLP(spaces.Bits(2), hidden=(4,), key=jax.random.key(0))
        >>> here = cursor.start(f, jnp.array([0, 1]))
        >>> there = cursor.refresh(f, cursor.change(f, here, 0, jnp.array(1)))
        >>> bool((there.hidden == f.hidden(jnp.array([1, 1]))).all())
        True
    """
    if not isinstance(f, Incremental):
        return cursor
    return cursor._replace(hidden=f.hidden(cursor.x, cursor.z))


def check_energy(value: Array) -> None:
    """Whether an energy's value is one floating-point number, and not NaN.

    Whether it is NaN can be seen outside compiled code only.

    Args:
        value: what an energy returned.

    Raises:
        InputError: it is something else.

    Example:
        >>> import jax.numpy as jnp
        >>> from aloex import cursor
        >>> cursor.check_energy(jnp.array(-1.5))
    """
    check_energy_type(value)
    if not isinstance(value, Tracer):
        require(not bool(jnp.isnan(value)), "the energy of the first state is NaN; mend the energy")


def check_energy_type(value: Any) -> None:
    """Whether an energy's value is one floating-point number, NaN or not.

    Args:
        value: what an energy returned, or its shape and type.

    Raises:
        InputError: it is something else.

    Example:
        >>> import jax, jax.numpy as jnp
        >>> from aloex import cursor
        >>> cursor.check_energy_type(jax.ShapeDtypeStruct((), jnp.float32))
    """
    if not hasattr(value, "dtype"):
        value = jnp.asarray(value)
    if value.shape != () or not jnp.issubdtype(value.dtype, jnp.floating):
        raise InputError(
            f"an energy must return one floating-point number, got {value.dtype} of shape "
            f"{value.shape}; return 1.0 * value where integers are meant, value.sum() for an array"
        )
