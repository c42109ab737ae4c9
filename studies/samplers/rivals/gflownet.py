"""A GFlowNet: x is built site by site, and what is learned is which site to set next, and to what.

From the empty state each step sets one more site: the forward law P_F(site, value | what is set).
The backward law P_B(site | what is set) says which site to take away; both are learned, with log Z,
by trajectory balance,

    (log Z + log P_F(tau) - b f(x) - log P_B(tau | x))^2,

whose zero for all trajectories tau makes x a draw of exp(b f) / Z. The inverse temperature b rises
to 1 over the first part of the training. Trajectories come from P_F mixed with uniform steps, and,
backwards by P_B, from states of the past, one half of these from the tenth with the largest f. With
`order="fixed"` the next site is always the first that is not set: an autoregressive model with one
network for all sites, and nothing to learn backwards. For every state of P_F and P_B

    E[exp f(x) P_B(tau | x) / P_F(tau)] = Z

over draws tau of P_F: these are the weights of draws.
(N. Malkin, M. Jain, E. Bengio, C. Sun and Y. Bengio, Trajectory balance, 2022; M. W. Shen, E.
Bengio, E. Hajiramezanali, A. Loukas, K. Cho and T. Biancalani, Towards understanding and improving
GFlowNet training, 2023; D. Zhang, N. Malkin, Z. Liu, A. Volokhova, A. Courville and Y. Bengio,
Generative flow networks for discrete probabilistic modeling, 2022.)
"""

from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import optax
from jaxtyping import Array, Bool, Float, Int, Key

from aloex.base.errors import require
from aloex.nets import Dense
from aloex.spaces import Bits, Categorical
from studies.samplers.problems import Problem
from studies.samplers.rivals.base import Budget, Draws, train


class Path(NamedTuple):
    """A trajectory: x, and the sites in the order in which they are set."""

    x: Int[Array, " dim"]
    order: Int[Array, " dim"]


class Flow(eqx.Module):
    """P_F and P_B by one network of what is set, and log Z.

    Args:
        space: of x.
        hidden: sizes of the layers.
        order: `free`, or `fixed`: the sites as they are numbered.
        key: of the first weights.
    """

    net: Dense
    log_z: Float[Array, ""]
    space: Bits | Categorical = eqx.field(static=True)
    is_free: bool = eqx.field(static=True)

    def __init__(
        self,
        space: Bits | Categorical,
        *,
        hidden: tuple[int, ...] = (256, 256),
        order: Literal["free", "fixed"] = "free",
        key: Key[Array, ""],
    ):
        num = space.dim * space.num_values
        self.net = Dense((num, *hidden, num + space.dim), key=key)
        self.log_z = jnp.asarray(space.dim * jnp.log(1.0 * space.num_values))  # that of f = 0
        self.space, self.is_free = space, order == "free"

    def log_probs(
        self, x: Int[Array, " dim"], is_set: Bool[Array, " dim"]
    ) -> tuple[Float[Array, "dim values"], Float[Array, " dim"]]:
        """log P_F of each site and value, and log P_B of each site; -inf where there is none.

        What x has where nothing is set does not count. Where all is set P_F is of no use, and P_B
        where nothing is.
        """
        dim, num_values = self.space.dim, self.space.num_values
        chosen = jax.nn.one_hot(x, num_values, dtype=self.net.dtype) * is_set[:, None]
        out = self.net(2 * chosen.reshape(-1))
        forward, backward = (
            out[: dim * num_values].reshape(dim, num_values),
            out[dim * num_values :],
        )
        may_set, may_unset = ~is_set, is_set
        if not self.is_free:
            number, count = jnp.arange(dim), is_set.sum()
            may_set, may_unset = number == count, number == count - 1
        forward = jnp.where(may_set[:, None], forward, -jnp.inf).reshape(-1)
        log_forward = jax.nn.log_softmax(forward).reshape(dim, num_values)
        return log_forward, jax.nn.log_softmax(jnp.where(may_unset, backward, -jnp.inf))

    def sample(self, key: Key[Array, ""], epsilon: Float[Array, ""] | float = 0.0) -> Path:
        """A trajectory by P_F, each step uniform with probability epsilon."""
        dim, num_values = self.space.dim, self.space.num_values

        def step(state: tuple[Array, Array], key: Array) -> tuple[tuple[Array, Array], Array]:
            x, is_set = state
            key_kind, key_action = jax.random.split(key)
            log_probs = self.log_probs(x, is_set)[0].reshape(-1)
            uniform = jnp.where(jnp.isfinite(log_probs), 0.0, -jnp.inf)
            explores = jax.random.bernoulli(key_kind, epsilon)
            action = jax.random.categorical(key_action, jnp.where(explores, uniform, log_probs))
            site, value = action // num_values, (action % num_values).astype(x.dtype)
            return (x.at[site].set(value), is_set.at[site].set(True)), site

        empty = jnp.zeros(dim, jnp.int32), jnp.zeros(dim, bool)
        (x, _), order = jax.lax.scan(step, empty, jax.random.split(key, dim))
        return Path(x, order)

    def sample_backward(self, key: Key[Array, ""], x: Int[Array, " dim"]) -> Path:
        """A trajectory that ends in x, by P_B."""

        def step(is_set: Array, key: Array) -> tuple[Array, Array]:
            site = jax.random.categorical(key, self.log_probs(x, is_set)[1])
            return is_set.at[site].set(False), site

        keys = jax.random.split(key, self.space.dim)
        _, backwards = jax.lax.scan(step, jnp.ones(self.space.dim, bool), keys)
        return Path(x, backwards[::-1])

    def score(self, path: Path) -> tuple[Float[Array, ""], Float[Array, ""]]:
        """log P_F(tau) and log P_B(tau | x)."""
        dim = self.space.dim
        rank = jnp.zeros(dim, path.order.dtype).at[path.order].set(jnp.arange(dim))
        is_set = rank < jnp.arange(dim + 1)[:, None]  # after 0..dim steps
        log_forward, log_backward = jax.vmap(lambda s: self.log_probs(path.x, s))(is_set)
        steps, sites = jnp.arange(dim), path.order
        forward = log_forward[steps, sites, path.x[sites]]
        return forward.sum(), log_backward[steps + 1, sites].sum()


def trajectory_balance(flow: Flow, path: Path, log_reward: Float[Array, ""]) -> Float[Array, ""]:
    """(log Z + log P_F - log reward - log P_B)^2."""
    log_forward, log_backward = flow.score(path)
    return (flow.log_z + log_forward - log_reward - log_backward) ** 2


class FittedFlow(eqx.Module):
    """Draws by P_F with their weights, and the log Z that was learned."""

    flow: Flow
    f: Any
    log_z: float | None

    def sample(self, key: Key[Array, ""], n: int) -> Draws:
        """Independent draws, weighted by exp f P_B / P_F of their trajectories."""
        parts = [_draw(self.flow, self.f, k, m) for k, m in _parts(key, n, 4096)]
        return Draws(*(jnp.concatenate(part) for part in zip(*parts, strict=True)))


class _State(NamedTuple):
    flow: Flow
    optimizer_state: Any
    past: Int[Array, "buffer dim"]
    past_values: Float[Array, " buffer"]  # f; -inf where nothing is yet
    next_row: Int[Array, ""]


@dataclass(frozen=True)
class GFlowNet:
    """The budget counts steps of training.

    Attributes:
        order: `free` or `fixed`, see `Flow`.
        hidden: sizes of the network's layers.
        batch_size: trajectories of a step.
        replay_share: the part of them that ends in states of the past.
        buffer_size: how many of those are kept.
        epsilon: probability of a uniform step, falling to 0 over the last half of the training.
        heating: the part of the training over which b rises, from `first_b` to 1.
        learning_rate, log_z_rate: of Adam, for the network and for log Z.
    """

    order: Literal["free", "fixed"] = "free"
    hidden: tuple[int, ...] = (256, 256)
    batch_size: int = 256
    replay_share: float = 0.5
    buffer_size: int = 16_384
    epsilon: float = 0.05
    heating: float = 0.5
    first_b: float = 0.1
    learning_rate: float = 1e-3
    log_z_rate: float = 0.1

    def fit(self, key: Key[Array, ""], problem: Problem, budget: Budget) -> FittedFlow:
        """A flow, trained."""
        num_replayed = round(self.replay_share * self.batch_size)
        num_new = self.batch_size - num_replayed
        require(
            num_new >= 1 and self.buffer_size >= num_new,
            f"a step needs new trajectories, and a buffer that holds them, got {num_new} of them "
            f"and a buffer of {self.buffer_size}",
        )
        space, f = problem.space, problem.f
        key_flow, key_train = jax.random.split(key)
        flow = Flow(space, hidden=self.hidden, order=self.order, key=key_flow)
        optimizer = self._optimizer(budget)

        def loss(flow: Flow, paths: Path, log_rewards: Array) -> Array:
            losses = jax.vmap(lambda p, r: trajectory_balance(flow, p, r))(paths, log_rewards)
            return jnp.mean(losses)

        def step(key: Array, state: _State, time: Array) -> _State:
            flow, key_rows, keys = state.flow, *_two(key, self.batch_size)
            b = self.first_b + (1 - self.first_b) * jnp.clip(time / self.heating, 0, 1)
            epsilon = self.epsilon * jnp.clip(2 * (1 - time), 0, 1)
            new = jax.vmap(lambda k: flow.sample(k, epsilon))(keys[:num_new])
            values = jax.vmap(f)(new.x)
            state = _remember(state, new.x, values)
            rows = _rows_to_replay(key_rows, state.past_values, num_replayed)
            old = jax.vmap(flow.sample_backward)(keys[num_new:], state.past[rows])
            paths = jax.tree.map(lambda a, b: jnp.concatenate([a, b]), new, old)
            all_values = jnp.concatenate([values, state.past_values[rows]])
            slope = eqx.filter_grad(loss)(flow, paths, b * all_values)
            changes, optimizer_state = optimizer.update(slope, state.optimizer_state)
            return state._replace(
                flow=eqx.apply_updates(flow, changes), optimizer_state=optimizer_state
            )

        past = jnp.zeros((self.buffer_size, space.dim), jnp.int32)
        unknown = jnp.full(self.buffer_size, -jnp.inf)
        start = optimizer.init(eqx.filter(flow, eqx.is_inexact_array))
        state = _State(flow, start, past, unknown, jnp.array(0))
        flow = train(key_train, state, step, budget).flow
        return FittedFlow(flow, f, float(flow.log_z))

    def _optimizer(self, budget: Budget) -> Any:
        """Adam with clipped slopes; log Z has a rate of its own. Rates fall on a cosine."""
        rate = lambda first: optax.cosine_decay_schedule(first, budget.num_steps, alpha=0.01)
        net = optax.chain(optax.clip_by_global_norm(10.0), optax.adam(rate(self.learning_rate)))
        which = lambda flow: eqx.tree_at(
            lambda f: f.log_z, jax.tree.map(lambda _: "net", flow), "log_z"
        )
        return optax.multi_transform(
            {"net": net, "log_z": optax.adam(rate(self.log_z_rate))}, which
        )


def _two(key: Array, num: int) -> tuple[Array, Array]:
    """A key, and `num` more."""
    key_one, key_many = jax.random.split(key)
    return key_one, jax.random.split(key_many, num)


def _remember(state: _State, x: Array, values: Array) -> _State:
    """New states in the place of the oldest."""
    size = len(state.past)
    rows = (state.next_row + jnp.arange(len(x))) % size
    return state._replace(
        past=state.past.at[rows].set(x),
        past_values=state.past_values.at[rows].set(values),
        next_row=(state.next_row + len(x)) % size,
    )


def _rows_to_replay(key: Array, values: Array, num: int) -> Int[Array, " num"]:
    """Rows that are known: one half from the tenth with the largest f, one half from the rest."""
    best_first = jnp.argsort(-values)
    known = jnp.sum(jnp.isfinite(values))
    num_best = jnp.maximum(known // 10, 1)
    key_kind, key_row = jax.random.split(key)
    of_best = jax.random.bernoulli(key_kind, shape=(num,))
    first = jnp.where(of_best, 0, jnp.minimum(num_best, known - 1))
    last = jnp.where(of_best, num_best, known)
    u = jax.random.uniform(key_row, (num,))
    return best_first[jnp.minimum(first + (u * (last - first)).astype(first.dtype), last - 1)]


def _parts(key: Array, n: int, most: int) -> list[tuple[Array, int]]:
    """Keys and sizes of batches that are n together: of one size but for the last."""
    sizes = [most] * (n // most) + ([n % most] if n % most else [])
    return list(zip(jax.random.split(key, max(len(sizes), 1)), sizes, strict=False))


@eqx.filter_jit
def _draw(flow: Flow, f: Any, key: Array, n: int) -> tuple[Array, Array]:
    def one(key: Array) -> tuple[Array, Array]:
        path = flow.sample(key)
        log_forward, log_backward = flow.score(path)
        return path.x, f(path.x) + log_backward - log_forward

    # The scores of all states of a trajectory at once are large: one batch of trajectories at once.
    return jax.lax.map(one, jax.random.split(key, n), batch_size=min(n, 256))
