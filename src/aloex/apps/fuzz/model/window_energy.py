"""The paper's energy of a window given its position: a hidden layer over all of its bytes.

    f(x | y) = b(y)[x_i] + v . elu(c(y) + sum_j W_j e(x_j)),   j over the sites that are not masked,

with y the position of byte i, the window's centre. A change of one site changes one term of the
sum, so f for all 256 values of a site costs 256 times the hidden layer, whatever the window's size.
"""

from collections.abc import Callable
from functools import reduce
from itertools import permutations
from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Int, Key

from aloex import exact
from aloex.apps.fuzz.model.byte_model import ByteModel, ModelSettings
from aloex.apps.fuzz.model.contexts import MASKED, POSITION_DIM, position_features
from aloex.apps.fuzz.model.windows import FREE, SPACE, around, centre_of, unpacked
from aloex.nets import Linear, elu, on_cpu
from aloex.spaces import Space


class WindowEnergy(eqx.Module):
    """f(x, z) of a window x, z packed as in `windows`; a space of another size is for tests."""

    embedding: Float[Array, "values embed"]
    sites: Float[Array, "sites embed hidden"]
    where: Linear
    unary: Float[Array, "values position"]
    out: Float[Array, " hidden"]

    def __init__(self, settings: ModelSettings, space: Space = SPACE, *, key: Key[Array, ""]):
        keys = jax.random.split(key, 4)
        size = space.dim * settings.embed_dim
        draw = lambda key, shape, n_in: (
            jax.random.uniform(key, shape, minval=-1, maxval=1) / n_in**0.5
        )
        self.embedding = jax.random.normal(keys[0], (space.num_values, settings.embed_dim))
        shape = (space.dim, settings.embed_dim, settings.hidden)
        self.sites = draw(keys[1], shape, size)
        self.where = Linear(POSITION_DIM, settings.hidden, key=keys[2])
        self.unary = jnp.zeros((space.num_values, POSITION_DIM))
        self.out = draw(keys[3], (settings.hidden,), settings.hidden)

    def __call__(self, x: Int[Array, " sites"], z: Float[Array, " cond"]) -> Float[Array, ""]:
        state = self.at(x, z)
        centre = centre_of(x)
        return elu(state.sums) @ self.out + jnp.where(state.free[centre], state.unary[x[centre]], 0)

    def at(self, x: Int[Array, " sites"], z: Float[Array, " cond"]) -> "WindowState":
        """The state in which a chain begins."""
        condition = unpacked(z)
        sums = self.sums(condition.read(x), condition.position)
        return WindowState(x, condition.sites == FREE, sums, self.unary @ condition.position)

    def sums(
        self, symbols: Int[Array, " sites"], position: Float[Array, " position"]
    ) -> Float[Array, " hidden"]:
        """The input of the hidden layer; masked sites add nothing."""
        there = symbols < MASKED
        e = jnp.where(there[:, None], self.embedding[jnp.where(there, symbols, 0)], 0)
        return self.where(position) + e.reshape(-1) @ self.sites.reshape(e.size, -1)

    def at_site(
        self, others: Float[Array, " hidden"], unary: Float[Array, " values"], i: Any
    ) -> Float[Array, " values"]:
        """f for every value of site i, up to a constant, from the sums over the other sites."""
        f_values = one_by_one(_hidden_layer)(others, self.embedding, self.sites[i], self.out)
        return f_values + jnp.where(i == centre_of(self.sites), unary, 0)


def _hidden_layer(
    others: Float[Array, " hidden"],
    embedding: Float[Array, "values embed"],
    site: Float[Array, "embed hidden"],
    out: Float[Array, " hidden"],
) -> Float[Array, " values"]:
    return elu(others + embedding @ site) @ out


def one_by_one(fn: Callable[..., Array]) -> Callable[..., Array]:
    """fn under `vmap`, on a CPU one example after the other: its 256 rows then stay in the cache.

    The gradient is computed for all examples at once.
    """
    if not on_cpu():
        return fn
    mapped = jax.custom_vjp(jax.custom_batching.sequential_vmap(fn))
    mapped.defvjp(lambda *args: (mapped(*args), args), lambda args, g: jax.vjp(fn, *args)[1](g))
    return mapped


class WindowState(NamedTuple):
    """The state of a chain."""

    x: Int[Array, " sites"]
    free: Bool[Array, " sites"]
    sums: Float[Array, " hidden"]
    unary: Float[Array, " values"]


class WindowGibbs(eqx.Module):
    """`Gibbs` for a `WindowEnergy`, at `num_sites` of the free sites, in a random order.

    The choice of sites does not depend on x, so p stays invariant; the sums are kept up to date.
    """

    num_sites: int = eqx.field(static=True)

    def init(
        self, key: Key[Array, ""], x: Int[Array, " sites"], f: Any, z: Any = None
    ) -> WindowState:
        return f.at(x, z)

    def step(self, key: Key[Array, ""], state: WindowState, f: Any) -> tuple[WindowState, None]:
        key_sites, key_noise = jax.random.split(key)
        order = jax.random.uniform(key_sites, state.x.shape) + ~state.free  # the free ones first
        chosen = jnp.argsort(order)[: self.num_sites]
        noise = jax.random.gumbel(key_noise, (self.num_sites, len(f.embedding)))

        def update(
            state: WindowState, site_and_noise: tuple[Array, Array]
        ) -> tuple[WindowState, None]:
            i, noise = site_and_noise
            adds = lambda value: f.embedding[value] @ f.sites[i]
            others = state.sums - adds(state.x[i])
            # Gumbel-max: a draw from the softmax.
            value = jnp.argmax(f.at_site(others, state.unary, i) + noise).astype(state.x.dtype)
            new = state._replace(x=state.x.at[i].set(value), sums=others + adds(value))
            return jax.tree.map(lambda a, b: jnp.where(state.free[i], a, b), new, state), None

        return jax.lax.scan(update, state, (chosen, noise))

    def transition_matrix(self, space: Space, f: Any, z: Any = None) -> Float[Array, "size size"]:
        """By enumeration: the mean over the orders of the free sites."""
        free = [int(i) for i in np.flatnonzero(unpacked(z).sites == FREE)]
        law = lambda x, i: jax.nn.log_softmax(
            jax.vmap(lambda v: f(x.at[i].set(v), z))(jnp.arange(space.num_values))
        )
        sites = {i: exact.site_matrix(space, lambda x, i=i: law(x, i), i) for i in free}
        orders = list(permutations(free, min(self.num_sites, len(free))))
        products = [reduce(jnp.matmul, [sites[i] for i in order]) for order in orders]
        return sum(products[1:], products[0]) / len(orders)


class ByteWindow(ByteModel):
    """log p(byte | context, position) ~ f of the window with the byte in its centre."""

    f: WindowEnergy
    settings: ModelSettings = eqx.field(static=True)

    def __init__(self, settings: ModelSettings, *, key: Key[Array, ""]):
        self.settings, self.f = settings, WindowEnergy(settings, key=key)

    def __call__(
        self, x: Int[Array, " window"], offset: Int[Array, ""], after: Int[Array, ""]
    ) -> Float[Array, " values"]:
        f, window, position = self.f, around(x, MASKED), position_features(offset, after)
        f_values = f.at_site(f.sums(window, position), f.unary @ position, centre_of(window))
        return jax.nn.log_softmax(f_values)
