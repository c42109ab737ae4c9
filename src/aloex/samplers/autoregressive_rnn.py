"""An autoregressive LSTM: parameters shared between sites, any length, also token sequences."""

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, Int, Key

from aloex.nets import Dense, check_condition, lstm_cell
from aloex.spaces import Sequences, Space, num_symbols

State = tuple[Float[Array, " hidden"], Float[Array, " hidden"]]  # h and c of the LSTM
Carry = tuple[State, Int[Array, ""]]  # and the symbol before


class AutoregressiveRNN(eqx.Module):
    """q0(x | z) = prod_i q(x_i | x_{<i}, z), the prefix read by one LSTM, z fed at each step.

    On `Sequences` the padding symbol means the end: it is drawn like a token and then stays.

    Args:
        space: any.
        hidden: size of the LSTM.
        head_hidden: size of the hidden layer between LSTM and symbols.
        cond_dim: size of z; 0 without conditions.
        key: for the weights.

    >>> import jax
    >>> from aloex.spaces import Sequences
    >>> q0 = AutoregressiveRNN(Sequences(4, 3), hidden=4, head_hidden=4, key=jax.random.key(0))
    >>> x = q0.sample(jax.random.key(1))
    >>> x.shape, bool(q0.log_prob(x) < 0)
    ((4,), True)
    """

    w_in: Float[Array, "gates inputs"]
    w_rec: Float[Array, "gates hidden"]
    bias: Float[Array, " gates"]
    head: Dense
    space: Space = eqx.field(static=True)
    cond_dim: int = eqx.field(static=True)

    def __init__(
        self,
        space: Space,
        *,
        hidden: int = 256,
        head_hidden: int = 512,
        cond_dim: int = 0,
        key: Key[Array, ""],
    ):
        key_cell, key_head = jax.random.split(key)
        self.space, self.cond_dim = space, cond_dim
        keys, bound = jax.random.split(key_cell, 3), hidden**-0.5
        draw = lambda key, *shape: jax.random.uniform(key, shape, minval=-bound, maxval=bound)
        self.w_in = draw(keys[0], 4 * hidden, num_symbols(space) + 1 + cond_dim)
        self.w_rec, self.bias = draw(keys[1], 4 * hidden, hidden), draw(keys[2], 4 * hidden)
        self.head = Dense((hidden, head_hidden, num_symbols(space)), key=key_head)

    def _start(self) -> Carry:
        nothing_yet = jnp.asarray(num_symbols(self.space), jnp.int32)
        zeros = jnp.zeros(self.w_rec.shape[1], self.w_rec.dtype)
        return (zeros, zeros), nothing_yet

    def _advance(
        self, state: State, previous: Int[Array, ""], z: Array | None
    ) -> tuple[State, Float[Array, " symbols"]]:
        """The LSTM's next state and the log probabilities of the next symbol."""
        inputs = jax.nn.one_hot(previous, num_symbols(self.space) + 1, dtype=state[0].dtype)
        if z is not None:
            inputs = jnp.concatenate([inputs, z.astype(inputs.dtype)])
        gates = self.w_in @ inputs + self.w_rec @ state[0] + self.bias
        state = lstm_cell(gates, state[1])
        log_probs = jax.nn.log_softmax(self.head(state[0]))
        if isinstance(self.space, Sequences):
            ended = jnp.where(jnp.arange(num_symbols(self.space)) == self.space.pad, 0.0, -jnp.inf)
            log_probs = jnp.where(previous == self.space.pad, ended, log_probs)
        return state, log_probs

    def sample(self, key: Key[Array, ""], z: Array | None = None) -> Int[Array, " dim"]:
        check_condition(z, self.cond_dim)

        def draw(carry: Carry, key: Key[Array, ""]) -> tuple[Carry, Int[Array, ""]]:
            state, log_probs = self._advance(*carry, z)
            symbol = jax.random.categorical(key, log_probs).astype(jnp.int32)
            return (state, symbol), symbol

        return jax.lax.scan(draw, self._start(), jax.random.split(key, self.space.dim))[1]

    def log_prob(self, x: Int[Array, " dim"], z: Array | None = None) -> Float[Array, ""]:
        check_condition(z, self.cond_dim)

        def read(carry: Carry, symbol: Int[Array, ""]) -> tuple[Carry, Float[Array, ""]]:
            state, log_probs = self._advance(*carry, z)
            return (state, symbol), log_probs[symbol]

        return jnp.sum(jax.lax.scan(read, self._start(), x.astype(jnp.int32))[1])
