"""How f changes with every change of one site: entry [i, v] is f(x with x_i = v) - f(x).

Kernels that look around before they move read this table. There are three ways to it, the cheapest
first:

- the energy's own method `differences(x, z)`, which many have for less than an evaluation per
  entry: for f = x' J x / 2 with zeros on the diagonal of J, bits and fields J x, it is
  (v - x_i) (J x)_i;
- first order, from one gradient: grad head(h) . (site(i, v) - site(i, x_i)) for an `Incremental`
  energy with f = head(h), and df/dx_i (v - x_i) for other energies of bits (Grathwohl, Swersky,
  Hashemi, Duvenaud and Maddison 2021, Eq. 3);
- one evaluation of f for each entry.

A Metropolis test corrects what the first two may miss; redrawing sites in blocks needs exact ones.
"""

from collections.abc import Callable, Sequence
from typing import Literal, NamedTuple, Protocol, get_args, runtime_checkable

import jax
import jax.numpy as jnp
import numpy as np
from jax.custom_derivatives import SymbolicZero
from jaxtyping import Array, Float, Int

from aloex.base.errors import InputError, require
from aloex.cursor import Cursor, Energy, Incremental, change, check_energy_type, start
from aloex.spaces import Bits, Space, require_fixed_length, values_per_site

How = Literal["auto", "exact", "gradient"]
MAX_NUMBERS = 2**18  # of changed states that are evaluated side by side
Source = Literal["own", "gradient", "changes"]  # where a table comes from


@runtime_checkable
class OffersDifferences(Protocol):
    """What an energy may offer beyond being called: all differences of single-site changes.

    They are taken to be approximate unless the energy says `differences_are_exact = True`.

    Example:
        >>> import jax.numpy as jnp
        >>> from aloex import differences
        >>> class Count:  # f(x) = number of ones
        ...     differences_are_exact = True
        ...
        ...     def __call__(self, x, z=None):
        ...         return 1.0 * x.sum()
        ...
        ...     def differences(self, x, z=None):
        ...         return 1.0 * (jnp.arange(2) - x[:, None])
        >>> isinstance(Count(), differences.OffersDifferences)
        True
    """

    def __call__(self, x: Array, z: Array | None = None) -> Array:
        """f(x, z)."""
        ...

    def differences(self, x: Array, z: Array | None = None) -> Array:
        """f(x with x_i = v, z) - f(x, z) for every site i and value v, 0 at v = x_i."""
        ...


class Surroundings(NamedTuple):
    """f at a state and its differences to the states around it.

    Example:
        >>> import jax.numpy as jnp
        >>> from aloex import differences, spaces
        >>> f = lambda x, z=None: 1.0 * x.sum()
        >>> here = differences.value_and_differences(f, spaces.Bits(2), jnp.array([0, 1]))
        >>> float(here.value), here.differences.tolist()
        (1.0, [[0.0, 1.0], [-1.0, 0.0]])
    """

    value: Float[Array, ""]
    differences: Float[Array, "dim values"]


def differences(
    f: Energy, space: Space, x: Int[Array, " dim"], z: Array | None = None, *, how: How = "auto"
) -> Float[Array, "dim values"]:
    """f(x with x_i = v, z) - f(x, z) for every site i and value v.

    Args:
        f: the energy, f(x, z) -> scalar.
        space: of x; states of a fixed length.
        x: the state [dim].
        z: the condition, if f has one.
        how: `exact` (the energy's own method if that is exact, else an evaluation for each entry),
            `gradient` (first order; for `Incremental` energies, and others of bits that can be
            differentiated), or `auto` (the energy's own method, else the gradient if there is one,
            else exact).

    Returns:
        The table [dim, values]: 0 at the current values, -inf where a site has no such value.

    Raises:
        InputError: there is no gradient, or the energy's value is no floating-point number.

    Example:
        >>> import jax.numpy as jnp
        >>> from aloex import differences, spaces
        >>> f = lambda x, z=None: 2.0 * x[0] * x[1]
        >>> differences.differences(f, spaces.Bits(2), jnp.array([0, 1]), how="exact").tolist()
        [[0.0, 2.0], [0.0, 0.0]]
    """
    return value_and_differences(f, space, x, z, how=how).differences


def value_and_differences(
    f: Energy, space: Space, x: Int[Array, " dim"], z: Array | None = None, *, how: How = "auto"
) -> Surroundings:
    """f(x, z) and its `differences`, for less than both apart.

    Args:
        f, space, x, z, how: as for `differences`.

    Returns:
        The value and the table.

    Example:
        >>> import jax, jax.numpy as jnp
        >>> from aloex import differences, energies, spaces
        >>> space = spaces.Bits(3)
        >>> f = energies.MLP(space, hidden=(4,), key=jax.random.key(0))
        >>> here = differences.value_and_differences(f, space, jnp.array([0, 1, 1]))
        >>> here.value.shape, here.differences.shape
        ((), (3, 2))
    """
    source = _source(f, space, x, z, how)
    if source == "changes":
        cursor = start(f, x, z)
        check_energy_type(cursor.value)
        here = Surroundings(cursor.value, exact_changes(f, space, cursor))
    elif source == "own":
        assert isinstance(f, OffersDifferences)
        value, table = f(x, z), f.differences(x, z)
        _check_table(table, space)
        here = Surroundings(value, table)
    elif isinstance(f, Incremental):
        here = _gradient_of_head(f, space, x, z)
    else:
        here = _gradient_of_bits(f, x, z)
    return here._replace(differences=jnp.where(_has_value(space), here.differences, -jnp.inf))


def num_evaluations(
    f: Energy, space: Space, x: Int[Array, " dim"], z: Array | None = None, *, how: How = "auto"
) -> int:
    """What `value_and_differences` costs, in evaluations of f.

    A gradient counts as one more than the value, and so does an energy's own method. Differences
    by evaluation count one each: as many as there are other values of all sites.

    Args:
        f, space, x, z, how: as for `differences`.

    Returns:
        The number.

    Example:
        >>> import jax.numpy as jnp
        >>> from aloex import differences, spaces
        >>> f, x = lambda x, z=None: 1.0 * x.sum(), jnp.array([0, 1, 1])
        >>> [differences.num_evaluations(f, spaces.Bits(3), x, how=h) for h in ("auto", "exact")]
        [2, 4]
    """
    if _source(f, space, x, z, how) != "changes":
        return 2
    return 1 + num_changes(space)


def exact_changes(
    f: Energy, space: Space, cursor: Cursor, sites: Sequence[int] | None = None
) -> Float[Array, "n values"]:
    """The rows of some sites, by an evaluation of f for each of their other values.

    Args:
        f: the energy that the cursor belongs to.
        space: of the cursor's state; states of a fixed length.
        cursor: where f is known.
        sites: which rows, as plain numbers; all unless given.

    Returns:
        Their rows [n, values] of the table of differences.

    Example:
        >>> import jax.numpy as jnp
        >>> from aloex import cursor, differences, spaces
        >>> f = lambda x, z=None: 2.0 * x[0] * x[1]
        >>> here = cursor.start(f, jnp.array([0, 1]))
        >>> differences.exact_changes(f, spaces.Bits(2), here, sites=(0,)).tolist()
        [[0.0, 2.0]]
    """
    chosen = np.arange(space.dim) if sites is None else np.asarray(sites, int)
    num_values = np.array(values_per_site(space))[chosen]
    # A row of the program for each site and cyclic shift of its value that leads elsewhere. All
    # that a site has not is left out, so that a Mixed space costs no more than it must.
    row, shift = np.nonzero(np.arange(space.num_values) < num_values[:, None])
    row, shift = row[shift > 0], shift[shift > 0]
    values = (cursor.x[chosen[row]] + shift) % num_values[row]
    # All changed states side by side would take d^2 numbers. First-layer sums need no states.
    numbers = space.dim if cursor.hidden is None else cursor.hidden.size
    at = jax.lax.map(
        lambda to: change(f, cursor, *to).value,
        (jnp.asarray(chosen[row]), values),
        batch_size=max(1, MAX_NUMBERS // numbers),
    )
    # [site, shift] -> its entry: first "no change", then "no such value", then those evaluated.
    entry = np.ones((len(chosen), space.num_values), int)
    entry[:, 0], entry[row, shift] = 0, 2 + np.arange(len(row))
    ends = jnp.array([0, -jnp.inf], at.dtype)
    by_shift = jnp.concatenate([ends, at - cursor.value])[entry]
    to_shift = (jnp.arange(space.num_values) - cursor.x[chosen][:, None]) % num_values[:, None]
    table = jnp.take_along_axis(by_shift, to_shift, axis=1)
    return jnp.where(_has_value(space)[chosen], table, -jnp.inf)


def num_changes(space: Space, sites: Sequence[int] | None = None) -> int:
    """How many states differ from a state in one site, or in one of some sites.

    Args:
        space: states of a fixed length.
        sites: which may differ; all unless given.

    Returns:
        The sum of K_i - 1 over them.

    Example:
        >>> from aloex import differences, spaces
        >>> differences.num_changes(spaces.Bits(4)), differences.num_changes(spaces.Mixed((2, 3)))
        (4, 3)
    """
    num_values = values_per_site(space)
    return sum(num_values[i] - 1 for i in (range(space.dim) if sites is None else sites))


def are_own_and_exact(f: Energy) -> bool:
    """Whether f has a method `differences` and says that it is exact.

    Args:
        f: an energy.

    Returns:
        True or False.

    Example:
        >>> from aloex import differences
        >>> differences.are_own_and_exact(lambda x, z=None: 1.0 * x.sum())
        False
    """
    return isinstance(f, OffersDifferences) and bool(getattr(f, "differences_are_exact", False))


def check_how(how: How) -> None:
    """Whether `how` is one of the ways to differences.

    Args:
        how: `auto`, `exact` or `gradient`.

    Raises:
        InputError: it is something else.

    Example:
        >>> from aloex import differences
        >>> differences.check_how("exact")
    """
    require(how in get_args(How), f"differences must be one of {get_args(How)}, got {how!r}")


def _source(f: Energy, space: Space, x: Array, z: Array | None, how: How) -> Source:
    check_how(how)
    require_fixed_length(space, "a table of differences")
    if how == "exact":
        return "own" if are_own_and_exact(f) else "changes"
    if how == "auto" and isinstance(f, OffersDifferences):
        return "own"
    if isinstance(f, Incremental) or (isinstance(space, Bits) and _has_gradient(f, x, z)):
        return "gradient"
    if how == "auto":
        return "changes"
    raise InputError(
        f"this energy has no gradient with respect to states of {space}: an energy of bits has one "
        "if it computes with x as numbers, any energy if it offers hidden, site and head "
        "(aloex.cursor.Incremental); or use how='exact' (in kernels differences='exact'), an "
        "evaluation for each change of a site"
    )


def _has_gradient(f: Energy, x: Array, z: Array | None) -> bool:
    """Whether f takes bits as floating-point numbers, and its value depends on them as such.

    That of x == 1, or of x as an index, does not.
    """
    found: list[bool] = []
    probe = jax.custom_jvp(lambda value: value)  # tells of what comes by

    def rule(primals: tuple[Array], tangents: tuple[Array | SymbolicZero]) -> tuple[Array, Array]:
        found.append(not isinstance(tangents[0], SymbolicZero))
        return primals[0], jnp.zeros_like(primals[0])

    probe.defjvp(rule, symbolic_zeros=True)
    try:
        jax.eval_shape(jax.grad(lambda x: probe(f(x, z))), jnp.zeros(x.shape, _dtype(f, x, z)))
    except InputError:
        raise
    except Exception:  # whatever f raises when it gets numbers that are not integers
        return False
    return any(found)


def _dtype(f: Energy, x: Array, z: Array | None) -> np.dtype:
    """That of f's value at integers; an `InputError` if it is no floating-point number."""
    value = jax.eval_shape(lambda: f(jnp.zeros(x.shape, x.dtype), z))
    check_energy_type(value)
    return value.dtype


def _gradient_of_head(f: Incremental, space: Space, x: Array, z: Array | None) -> Surroundings:
    value, slope = jax.value_and_grad(f.head)(f.hidden(x, z))
    sites, values = jnp.arange(space.dim), jnp.arange(space.num_values, dtype=x.dtype)
    # All vectors of all sites: the same for each chain, so that a batch makes one product of it.
    vectors = jax.vmap(lambda i: jax.vmap(lambda v: f.site(i, v))(values))(sites)
    table = vectors @ slope
    return Surroundings(value, table - jnp.take_along_axis(table, x[:, None], axis=1))


def _gradient_of_bits(
    f: Callable[[Array, Array | None], Array], x: Array, z: Array | None
) -> Surroundings:
    value, slope = jax.value_and_grad(lambda x: f(x, z))(x.astype(_dtype(f, x, z)))
    return Surroundings(value, slope[:, None] * (jnp.arange(2) - x[:, None]))


def _check_table(table: Array, space: Space) -> None:
    shape = (space.dim, space.num_values)
    require(
        table.shape == shape,
        f"an energy's differences must be a table of shape {shape} (sites, values) for {space}, "
        f"got shape {table.shape}",
    )


def _has_value(space: Space) -> np.ndarray:
    """[i, v]: whether site i has value v."""
    return np.arange(space.num_values) < np.array(values_per_site(space))[:, None]
