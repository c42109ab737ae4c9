"""Gibbs sampling of many sites at once: those of a colour are independent given the rest.

Where no two sites of a colour meet in a term of f, their joint conditional is a product,

    p(x_C | rest) = prod_{i in C} softmax_v (f(x with x_i = v))(x_i),

and one table of exact differences redraws them all: the black squares of a grid, then the white
ones (`checkerboard`); the visible units of a restricted Boltzmann machine, then the hidden ones. A
sweep over c colours costs c tables.

Nothing warns of a wrong colouring: p_f is then no longer left unchanged. `check_colours` looks for
sites of a colour that do interact.
"""

from typing import Literal

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jax.core import Tracer
from jaxtyping import Array, Float, Int, Key

from aloex.base.errors import InputError, require
from aloex.cursor import Cursor, Energy, check_energy, start
from aloex.differences import (
    OffersDifferences,
    are_own_and_exact,
    differences,
    exact_changes,
    num_changes,
)
from aloex.kernels import informed
from aloex.kernels.base import (
    check_possible,
    check_same_space,
    check_space,
    checked_state,
    num_changed,
)
from aloex.kernels.gibbs import GibbsInfo
from aloex.spaces import Space, values_per_site

Colours = tuple[tuple[int, ...], ...]


def checkerboard(height: int, width: int) -> Colours:
    """The black and the white squares of a grid, whose sites are numbered row by row.

    On a grid whose opposite borders meet, both sides must be even.

    Args:
        height: rows.
        width: sites in a row.

    Returns:
        Two colours, as numbers of sites.

    Example:
        >>> from aloex import kernels
        >>> kernels.checkerboard(2, 3)
        ((0, 2, 4), (1, 3, 5))
    """
    require(
        height >= 1 and width >= 1 and height * width >= 2,
        f"a checkerboard needs two squares or more, got {height} x {width}",
    )
    is_black = np.indices((height, width)).sum(axis=0).reshape(-1) % 2 == 0
    return tuple(tuple(np.flatnonzero(c).tolist()) for c in (is_black, ~is_black))


class ColouredGibbs(eqx.Module):
    """A sweep over colours; the sites of each are redrawn at once.

    Args:
        space: what x is, `Bits`, `Categorical` or `Mixed`.
        colours: groups of sites that are independent given the rest, such as `checkerboard(8, 8)`;
            each site is in one of them.
        differences: `auto` uses the energy's own method `differences`, and refuses one that is not
            exact; without one, and with `exact`, f is evaluated for each change of a site.

    Example:
        >>> import jax, jax.numpy as jnp
        >>> from aloex import kernels, spaces
        >>> def row_of_spins(x, z=None):
        ...     spin = 2.0 * x - 1
        ...     return 2 * jnp.sum(spin[1:] * spin[:-1]) + 50 * spin[0]
        >>> kernel = kernels.ColouredGibbs(spaces.Bits(4), kernels.checkerboard(1, 4))
        >>> x = jnp.zeros(4, jnp.int32)
        >>> kernel.check_colours(row_of_spins, x)
        >>> kernels.run(kernel, jax.random.key(0), x, row_of_spins, num_steps=4).tolist()
        [1, 1, 1, 1]
    """

    space: Space = eqx.field(static=True)
    colours: Colours = eqx.field(static=True, converter=lambda c: tuple(map(tuple, c)))
    differences: Literal["auto", "exact"] = eqx.field(static=True, kw_only=True, default="auto")

    def __check_init__(self):
        check_space(self.space, "ColouredGibbs")
        sites = sorted(i for colour in self.colours for i in colour)
        require(
            sites == list(range(self.space.dim)) and all(self.colours),
            f"each of the sites 0..{self.space.dim - 1} must be in one colour, and no colour be "
            f"empty, got {self.colours}",
        )
        require(
            self.differences in ("auto", "exact"),
            "sites that are redrawn at once need exact differences: differences must be 'auto' or "
            f"'exact', got {self.differences!r}",
        )

    def init(
        self, key: Key[Array, ""], x: Int[Array, " dim"], f: Energy, z: Array | None = None
    ) -> Cursor:
        """A chain at x; needs no randomness.

        Raises:
            InputError: as for `Gibbs`; f(x) is -inf; or the energy's own differences are not
                exact.
        """
        self._has_own(f)
        cursor = start(f, checked_state(self.space, x), z)
        check_energy(cursor.value)
        check_possible(cursor.value)
        return cursor

    def step(self, key: Key[Array, ""], state: Cursor, f: Energy) -> tuple[Cursor, GibbsInfo]:
        """One sweep over the colours."""
        cursor, has_own = state, self._has_own(f)
        num_evaluations = 0
        keys = jax.random.split(key, len(self.colours))
        for n, (key_colour, colour) in enumerate(zip(keys, self.colours, strict=True)):
            sites = jnp.array(colour)
            scores = self._scores(f, cursor, colour)
            values = informed.draw_sites(key_colour, scores, cursor.x.dtype)
            x = cursor.x.at[sites].set(values)
            is_last = n == len(self.colours) - 1
            # Own differences need f(x) at the end of a sweep only, so that the state can tell it.
            cursor = cursor._replace(x=x) if has_own and not is_last else start(f, x, cursor.z)
            num_evaluations += 1 if has_own else 1 + num_changes(self.space, colour)
        num_evaluations += has_own
        after = jax.tree.map(lambda a, b: jnp.where(jnp.isnan(state.value), b, a), cursor, state)
        count = jnp.asarray(num_evaluations, jnp.int32)
        return after, GibbsInfo(num_changed(state.x, after.x), count)

    def _has_own(self, f: Energy) -> bool:
        """Whether f's own differences are used; an `InputError` if they are not exact."""
        if self.differences == "exact" or not isinstance(f, OffersDifferences):
            return are_own_and_exact(f)
        require(
            are_own_and_exact(f),
            "sites that are redrawn at once need exact differences, and this energy does not say "
            "that its own are: set differences_are_exact = True if they are, or use "
            "ColouredGibbs(..., differences='exact'), an evaluation of f for each change of a site",
        )
        return True

    def _scores(
        self, f: Energy, cursor: Cursor, colour: tuple[int, ...]
    ) -> Float[Array, "n values"]:
        """log p(x_i = v | the rest) of the sites of a colour, but for a constant of each site.

        Draws need no more, and normalising would cost as much as the table.
        """
        if self._has_own(f):
            table = differences(f, self.space, cursor.x, cursor.z, how="exact")[jnp.array(colour)]
        else:
            table = exact_changes(f, self.space, cursor, colour)
        large = jnp.finfo(table.dtype).max / 4  # what is NaN is gone to, so that it is found
        return jnp.where(jnp.isnan(table), large, table)

    def check_colours(self, f: Energy, x: Int[Array, " dim"], z: Array | None = None) -> None:
        """An `InputError` that names two sites of a colour which interact at x.

        Two sites are independent given the rest if the differences of one do not depend on the
        value of the other: f(x with x_i = v, x_j = w) - f(x with x_j = w) = f(x with x_i = v) -
        f(x). That is looked up for all values v, w at one x; pass one where f is not flat. It
        needs as many tables of differences as there are changes of a site.

        Args:
            f: the energy, f(x, z) -> scalar.
            x: a state [dim], outside compiled code.
            z: the condition, if f has one.

        Raises:
            InputError: two sites of a colour interact.

        Example:
            >>> import jax.numpy as jnp
            >>> from aloex import errors, kernels, spaces
            >>> kernel = kernels.ColouredGibbs(spaces.Bits(3), [(0, 1), (2,)])
            >>> product = lambda x, z=None: 2.0 * x[0] * x[1]
            >>> try:
            ...     kernel.check_colours(product, jnp.array([0, 1, 0]))
            ... except errors.InputError as error:
            ...     print(str(error).partition(":")[0])
            sites 0 and 1 have the same colour but interact
        """
        require(not isinstance(x, Tracer), "check_colours looks at values: call it outside of jit")
        self.init(jax.random.key(0), x, f, z)
        for colour in self.colours:
            depends = np.asarray(_interactions(self, f, x, z, colour))
            if depends.max(initial=0) > 0:
                largest = depends.max()
                i, j = sorted(colour[n] for n in np.argwhere(depends == largest)[0])
                raise InputError(
                    f"sites {i} and {j} have the same colour but interact: changing one changes "
                    f"the differences of the other by up to {largest:.3g}; put them in different "
                    "colours"
                )

    def transition_matrix(
        self, space: Space, f: Energy, z: Array | None = None
    ) -> Float[Array, "size size"]:
        """The matrix K[x, x'] of a step, by enumeration of this kernel's space."""
        check_same_space(space, self.space)
        states = space.enumerate()

        def redrawn(colour: tuple[int, ...]) -> Float[Array, "size size"]:
            sites = np.array(colour)
            others = np.delete(np.arange(space.dim), sites)

            def row(x: Array) -> Float[Array, " size"]:
                log_probs = jax.nn.log_softmax(self._scores(f, start(f, x, z), colour), axis=1)
                log_q = log_probs[np.arange(len(sites)), states[:, sites]].sum(axis=1)
                stays = jnp.all(states[:, others] == x[others], axis=1)
                return jnp.where(stays, jnp.exp(log_q), 0)

            return jax.vmap(row)(states)

        matrix = redrawn(self.colours[0])
        for colour in self.colours[1:]:
            matrix = matrix @ redrawn(colour)
        return matrix


@eqx.filter_jit
def _interactions(
    kernel: ColouredGibbs, f: Energy, x: Array, z: Array | None, colour: tuple[int, ...]
) -> Float[Array, "n n"]:
    """[i, j]: by how much the differences of site j of a colour depend on site i, or 0.

    What rounding may do is taken for 0.
    """
    table = lambda cursor: exact_changes(f, kernel.space, cursor, colour)
    here = start(f, x, z)
    values = jnp.arange(kernel.space.num_values, dtype=x.dtype)

    def of_change(site: Array, value: Array) -> Float[Array, " n"]:
        there = start(f, x.at[site].set(value), z)
        before, after = table(here), table(there)
        apart = jnp.abs(jnp.where(before == after, 0, after - before))  # -inf is -inf
        finite = lambda table: jnp.where(jnp.isfinite(table), jnp.abs(table), 0).max()
        scale = jnp.abs(here.value) + jnp.abs(there.value) + finite(before) + finite(after)
        # Sums of some thousand terms are this exact. So is what can be seen.
        return jnp.where(apart > 1000 * jnp.finfo(scale.dtype).eps * scale, apart, 0).max(axis=1)

    has_value = jnp.asarray(np.array(values_per_site(kernel.space)))[:, None] > values
    of_site = lambda i: jax.lax.map(lambda v: of_change(i, v) * has_value[i, v], values).max(axis=0)
    depends = jax.lax.map(of_site, jnp.array(colour))
    return jnp.where(jnp.eye(len(colour), dtype=bool), 0, depends)
