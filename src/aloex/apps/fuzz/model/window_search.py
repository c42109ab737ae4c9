"""q for windows: an LSTM over the window, an editor of site and value, and a stop policy."""

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, Int, Key

from aloex.apps.fuzz.model.block_search import with_edits
from aloex.apps.fuzz.model.contexts import MASKED, POSITION_DIM, WINDOW
from aloex.apps.fuzz.model.windows import FREE, SPACE, unpacked
from aloex.nets import Features, Linear, elu, lstm_cell
from aloex.samplers import LocalSearch
from aloex.spaces import Categorical

State = tuple[Float[Array, " hidden"], Float[Array, " hidden"]]  # h and c


class WindowEncoder(eqx.Module):
    """Encodes the condition of a window."""

    features: Features
    linear: Linear

    def __init__(self, size: int, *, embed_dim: int = 4, key: Key[Array, ""]):
        key_features, key_linear = jax.random.split(key)
        symbols = Categorical(WINDOW, FREE + 1)
        self.features = Features(
            symbols, cond_dim=POSITION_DIM, embed_dim=embed_dim, key=key_features
        )
        self.linear = Linear(self.features.size, size, key=key_linear)

    def __call__(self, z: Float[Array, " cond"]) -> Float[Array, " size"]:
        return elu(self.linear(self.features(*unpacked(z), self.linear.weight.dtype)))


class WindowLSTM(eqx.Module):
    """q0(x | z): each free site given z and the window before it; the other sites are uniform.

    MASKED is a symbol of its own; bytes that are given are read as if they had been drawn.
    """

    symbols: Float[Array, "symbols gates"]
    sites: Float[Array, "sites gates"]
    encoder: WindowEncoder
    where: Linear
    recurrent: Linear
    last: Linear

    def __init__(self, hidden: int, *, key: Key[Array, ""]):
        keys, bound = jax.random.split(key, 6), hidden**-0.5
        table = lambda key, n: jax.random.uniform(key, (n, 4 * hidden), minval=-bound, maxval=bound)
        self.symbols, self.sites = table(keys[0], MASKED + 1), table(keys[1], WINDOW)
        self.encoder = WindowEncoder(hidden, key=keys[2])
        self.where = Linear(hidden, 4 * hidden, key=keys[3])
        self.recurrent = Linear(hidden, 4 * hidden, key=keys[4])
        self.last = Linear(hidden, 256, key=keys[5])

    def sample(self, key: Key[Array, ""], z: Float[Array, " cond"]) -> Int[Array, " sites"]:
        given, gates = unpacked(z).sites, self._gates(z)

        def draw(
            carry: tuple[State, Array], site: tuple[Array, Array, Array]
        ) -> tuple[tuple[State, Array], Int[Array, ""]]:
            (state, before), (key, gates, given) = carry, site
            state, h = self._advance(state, gates + before)
            value = jax.random.categorical(key, self._logits(h, given)).astype(jnp.int32)
            return (state, self.symbols[jnp.where(given == FREE, value, given)]), value

        begin = (self._start(), jnp.zeros_like(gates[0]))
        return jax.lax.scan(draw, begin, (jax.random.split(key, WINDOW), gates, given))[1]

    def log_prob(self, x: Int[Array, " sites"], z: Float[Array, " cond"]) -> Float[Array, ""]:
        before = self.symbols[unpacked(z).read(x)[:-1]]
        gates = self._gates(z).at[1:].add(before)
        _, h = jax.lax.scan(lambda *at: self._advance(*at), self._start(), gates)
        log_probs = jax.nn.log_softmax(jax.vmap(self._logits)(h, unpacked(z).sites))
        return jnp.sum(jnp.take_along_axis(log_probs, x[:, None], axis=1))

    def _gates(self, z: Float[Array, " cond"]) -> Float[Array, "sites gates"]:
        """The part of the gates that depends on z alone."""
        return self.sites + self.where(self.encoder(z))

    def _start(self) -> State:
        zeros = jnp.zeros(self.recurrent.weight.shape[1], self.recurrent.weight.dtype)
        return zeros, zeros

    def _advance(
        self, state: State, gates: Float[Array, " gates"]
    ) -> tuple[State, Float[Array, " hidden"]]:
        h, c = state
        h, c = lstm_cell(gates + self.recurrent(h), c, forget_bias=1.0)
        return (h, c), h

    def _logits(self, h: Float[Array, " hidden"], given: Int[Array, ""]) -> Float[Array, " values"]:
        return jnp.where(given == FREE, self.last(h), 0)


def build_q(hidden: int, max_edits: int, *, key: Key[Array, ""]) -> LocalSearch:
    """The whole search, with fresh weights."""
    key_q0, *keys = jax.random.split(key, 5)
    return with_edits(WindowLSTM(hidden, key=key_q0), WindowEncoder, SPACE, hidden, max_edits, keys)
