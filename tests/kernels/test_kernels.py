"""One contract for every kernel: it leaves p_f unchanged, and its draws follow its matrix."""

from functools import cache

import equinox as eqx
import jax
import jax.numpy as jnp
import jaxtyping
import numpy as np
import pytest

from aloex import exact
from aloex.base.errors import InputError
from aloex.energies import MLP, Tabular
from aloex.kernels import (
    BlockGibbs,
    ColouredGibbs,
    Compose,
    DiscreteLangevin,
    Gibbs,
    GibbsWithGradients,
    HammingBall,
    ParallelTempering,
    PathAuxiliary,
    RandomWalk,
    run,
)
from aloex.kernels.base import num_start_evaluations
from aloex.spaces import Bits, Categorical, Mixed, Sequences
from stats import assert_draws_match, compiled, condition, count_draws, randomised

BITS, CATEGORIES, FIVE = Bits(3), Categorical(2, 3), Bits(5)
MIXED, WORDS, PAIRS = Mixed((2, 3, 1)), Sequences(3, 3), Sequences(3, 2)


class Pairs(eqx.Module):
    """Bits with fields and couplings, and differences of its own, which are exact."""

    coupling: jax.Array  # symmetric, 0 on the diagonal
    field: jax.Array
    differences_are_exact: bool = eqx.field(static=True, default=True)

    def __call__(self, x, z=None):
        return x @ self.coupling @ x / 2 + x @ self.field

    def differences(self, x, z=None):
        return (jnp.arange(2) - x[:, None]) * (self.coupling @ x + self.field)[:, None]


def pairs(neighbours_only=False, space=BITS):
    noise = np.random.default_rng(0).normal(size=(space.dim, space.dim + 1))
    coupling = np.triu(noise[:, :-1], 1)
    if neighbours_only:  # site 0 - site 1 - site 2 ...
        coupling = np.tril(coupling, 1)
    return Pairs(jnp.asarray(2 * (coupling + coupling.T)), jnp.asarray(noise[:, -1]))


class Callable(eqx.Module):
    """An energy of which nothing is known but its values."""

    f: eqx.Module

    def __call__(self, x, z=None):
        return self.f(x, z)


def potts_chain(x, z=None):
    """Neighbouring sites like to be equal; x is compared, so there is no gradient."""
    return 1.3 * jnp.sum(x[1:] == x[:-1]) + 0.9 * x[0]


def mlp(space, cond_dim=0):
    return randomised(MLP, space, hidden=(4,), cond_dim=cond_dim, embed_dim=2, scale=1.5)


ENERGIES = {
    "mlp": lambda space: mlp(space),  # increments, and a gradient from them
    "mlp-z": lambda space: mlp(space, cond_dim=2),
    "tabular": lambda space: randomised(Tabular, space, scale=1.5),  # no gradient
    "quadratic": lambda space: Callable(pairs()),  # a gradient with respect to bits
    "own": lambda space: pairs(),
    "own-chain": lambda space: pairs(neighbours_only=True),
    "chain": lambda space: potts_chain,
}

KERNELS = {
    "systematic": (Gibbs(BITS), BITS),
    "random": (Gibbs(BITS, scan="random"), BITS),
    "two-sweeps": (Gibbs(BITS, num_sweeps=2), BITS),
    "categories": (Gibbs(CATEGORIES), CATEGORIES),
    "categories-random": (Gibbs(CATEGORIES, scan="random"), CATEGORIES),
    "compose": (Compose((Gibbs(BITS), Gibbs(BITS, scan="random"))), BITS),
    "mixed": (Gibbs(MIXED), MIXED),
    "mixed-random": (Gibbs(MIXED, scan="random"), MIXED),
    "words": (Gibbs(WORDS), WORDS),
    "words-random": (Gibbs(WORDS, scan="random"), WORDS),
    "words-of-two-tokens": (Gibbs(PAIRS, num_sweeps=2), PAIRS),
}
WITH_CONDITION = ("systematic", "categories-random", "compose")
OTHERS = {
    "walk": (RandomWalk(MIXED, num_proposals=2), "tabular"),
    "block": (BlockGibbs(BITS), "mlp"),
    "block-random": (BlockGibbs(MIXED, scan="random"), "mlp"),
    "colours-own": (ColouredGibbs(BITS, [(0, 2), (1,)]), "own-chain"),
    "colours-mixed": (ColouredGibbs(MIXED, [(1,), (0, 2)]), "chain"),
    "ball": (HammingBall(MIXED, block_size=2), "tabular"),
    "gradients": (GibbsWithGradients(BITS), "mlp-z"),
    "gradients-categories": (GibbsWithGradients(CATEGORIES), "tabular"),
    "langevin": (DiscreteLangevin(BITS, step_size=0.6), "quadratic"),
    "langevin-mixed": (DiscreteLangevin(MIXED, step_size=0.6), "mlp"),
    "path": (PathAuxiliary(BITS, mean_length=1.7), "own"),
    "path-mixed": (PathAuxiliary(MIXED, max_path=2), "mlp"),
}
IN_ORDER = (
    "systematic",
    "two-sweeps",
    "categories",
    "mixed",
    "words",
    "block",
    "colours",
    "compose",
)


def space_of(kernel):
    inner = kernel.kernels[0] if isinstance(kernel, Compose) else kernel
    return (inner.kernel if isinstance(inner, ParallelTempering) else inner).space


ONE_OF_EACH = [
    Gibbs(BITS),
    RandomWalk(BITS),
    BlockGibbs(BITS),
    ColouredGibbs(BITS, [(0, 2), (1,)]),
    HammingBall(BITS),
    GibbsWithGradients(BITS),
    DiscreteLangevin(BITS),
    PathAuxiliary(BITS),
    Compose((Gibbs(BITS), RandomWalk(BITS))),
    ParallelTempering(Gibbs(BITS), jnp.array([0.5, 1.0])),
]


CASES = (
    {name: (*KERNELS[name], "mlp") for name in KERNELS}
    | {f"{name}-z": (*KERNELS[name], "mlp-z") for name in WITH_CONDITION}
    | {name: (kernel, space_of(kernel), f) for name, (kernel, f) in OTHERS.items()}
)
by_kernel = pytest.mark.parametrize("name", CASES)


@compiled
def matrix_and_target(kernel, space, f, z):
    return kernel.transition_matrix(space, f, z), jnp.exp(exact.log_p(f, space, z))


@cache
def exact_matrix(name):
    kernel, space, energy = CASES[name]
    with exact.float64():
        f = exact.to_float64(ENERGIES[energy](space))
        z = condition(2 if energy == "mlp-z" else 0)
        return tuple(np.asarray(a) for a in matrix_and_target(kernel, space, f, z))


@by_kernel
def test_p_f_is_stationary(name):
    (_, space, _), (matrix, pi) = CASES[name], exact_matrix(name)
    assert matrix.shape == (space.size, space.size)
    assert (matrix >= 0).all()
    np.testing.assert_allclose(matrix.sum(axis=1), 1, atol=1e-12)
    np.testing.assert_allclose(pi @ matrix, pi, atol=1e-12)
    # ... which the identity would do as well, and any kernel if p_f were uniform:
    assert np.abs(matrix - np.eye(space.size)).max() > 0.1
    assert pi.max() > 3 * pi.min()


@by_kernel
def test_what_is_reversible(name):
    """All kernels are, pi(x) K(x, x') = pi(x') K(x', x), unless they have an order."""
    matrix, pi = exact_matrix(name)
    flow = pi[:, None] * matrix
    in_order = name.startswith(IN_ORDER) and "random" not in name
    assert np.allclose(flow, flow.T, atol=1e-12) != in_order


@by_kernel
def test_draws_follow_the_matrix(name):
    (kernel, space, energy), (matrix, _) = CASES[name], exact_matrix(name)
    f, z = ENERGIES[energy](space), condition(2 if energy == "mlp-z" else 0)
    start = 2 if space.size < 10 else 7
    x = space.enumerate()[start]

    def draw(key):
        key_init, key_step = jax.random.split(key)
        return kernel.step(key_step, kernel.init(key_init, x, f, z), f)[0].x

    assert_draws_match(count_draws(space, draw), matrix[start])


@pytest.mark.parametrize("num_steps", [1, 3])
def test_run_takes_the_steps(num_steps):
    kernel = Gibbs(BITS, scan="random")  # slow enough that the number of steps shows
    f = randomised(Tabular, BITS, scale=2.0)
    matrix, _ = (np.asarray(a) for a in matrix_and_target(kernel, BITS, f, None))
    x = BITS.enumerate()[5]
    counts = count_draws(BITS, lambda key: run(kernel, key, x, f, num_steps=num_steps))
    assert_draws_match(counts, np.linalg.matrix_power(matrix, num_steps)[5])


def test_num_changed_counts_the_sites_that_changed():
    """In one systematic sweep every site is redrawn once, so it is the distance from x."""
    f, x = randomised(Tabular, CATEGORIES), jnp.array([0, 2])
    kernel = Gibbs(CATEGORIES)

    def step(key):
        state, info = kernel.step(key, kernel.init(key, x, f), f)
        return jnp.sum(state.x != x), info.num_changed

    distance, num_changed = compiled(jax.vmap(step))(jax.random.split(jax.random.key(0), 50))
    np.testing.assert_array_equal(num_changed, distance)
    assert set(num_changed.tolist()) == {0, 1, 2}


def sweep_ends(space, x, f, num_draws=200):
    """Where a sweep leads from x, often."""
    step = lambda key, x: run(Gibbs(space), key, x, f)
    keys = jax.random.split(jax.random.key(0), num_draws)
    return np.asarray(compiled(jax.vmap(step))(keys, jnp.tile(x, (num_draws, 1))))


def no_preference(x, z=None):
    return jnp.zeros(())


@pytest.mark.parametrize("space", [WORDS, PAIRS, Sequences(3, 1)], ids=repr)
def test_padding_stays_padding(space):
    x = jnp.array([0, space.pad, space.pad])
    ends = sweep_ends(space, x, no_preference)
    assert (ends[:, 1:] == space.pad).all()
    assert set(ends[:, 0]) == set(range(space.num_values))


def test_potts_states_stay_in_their_space():
    """With a kernel for bits, 1 - 2 = -1 came out."""
    space = Categorical(4, 3)
    ends = sweep_ends(space, jnp.full(4, 2), no_preference)
    assert set(ends.flat) == {0, 1, 2}


def test_values_that_a_site_does_not_have_are_redrawn():
    ends = sweep_ends(MIXED, jnp.array([2, 2, 2]), no_preference)
    assert [set(column) for column in ends.T] == [{0, 1}, {0, 1, 2}, {0}]


@pytest.mark.parametrize(
    ("x", "f", "message"),
    [
        ([0, 2, 0], no_preference, r"x must lie in 0..1 \(bits\), got 2 at row 0, site 1"),
        ([0, 1], no_preference, r"states of Bits\(dim=3\), shape \(3,\), got .* shape \(2,\)"),
        ([0, 1, 0], lambda x, z: jnp.sum(x), "one floating-point number, got int32.*1.0 \\* value"),
        ([0, 1, 0], lambda x, z: 1.0 * x, r"floating-point number, got .* shape \(3,\).*sum\(\)"),
        ([0, 1, 0], lambda x, z: jnp.sum(x) * jnp.nan, "is NaN"),
    ],
    ids=["value", "shape", "integers", "array", "NaN"],
)
def test_states_and_energies_that_cannot_be(x, f, message):
    for kernel in ONE_OF_EACH:
        with pytest.raises(InputError, match=message):
            kernel.init(jax.random.key(0), jnp.array(x), f)


def test_integers_are_refused_in_compiled_code_too():
    for kernel in ONE_OF_EACH:
        init = lambda x, kernel=kernel: kernel.init(jax.random.key(0), x, lambda x, z: jnp.sum(x))
        with pytest.raises(InputError, match="one floating-point number, got int32"):
            jax.eval_shape(init, jnp.zeros(3, jnp.int32))


def test_nan_shows():
    """A chain moves to a state whose energy is NaN and stays there, so that NaN is found."""
    f = lambda x, z: jnp.where(x[0] == 1, jnp.nan, 0.0)
    kernels = [
        Gibbs(BITS),
        BlockGibbs(BITS),
        ColouredGibbs(BITS, [(0, 2), (1,)]),
        GibbsWithGradients(BITS),  # has the test that others have, too
        DiscreteLangevin(BITS, adjusted=False),
    ]
    keys = jax.random.split(jax.random.key(0), 20)

    @compiled
    def ends():
        start = lambda kernel: jnp.zeros(space_of(kernel).dim, jnp.int32)
        chain = lambda kernel: lambda key: run(kernel, key, start(kernel), f, num_steps=60)
        return [jax.vmap(chain(kernel))(keys) for kernel in kernels]

    for kernel, x in zip(kernels, ends(), strict=True):
        assert (x[:, 0] == 1).all(), kernel


def test_states_keep_their_types():
    """So that a loop can carry them, where f has another precision than JAX by default."""
    f = mlp(BITS)
    for kernel in ONE_OF_EACH:
        init = lambda kernel=kernel: kernel.init(jax.random.key(0), jnp.zeros(3, jnp.int32), f)
        step = lambda state, kernel=kernel: kernel.step(jax.random.key(0), state, f)
        with exact.float64():
            state = jax.eval_shape(init)
            after, info = jax.eval_shape(step, state)
        types = [[(a.shape, a.dtype) for a in jax.tree.leaves(s)] for s in (state, after)]
        assert types[0] == types[1], kernel
        assert jnp.float64 not in [dtype for _, dtype in types[0]], kernel  # f has 32 bits
        assert (info.num_changed.shape, info.num_evaluations.dtype) == ((), jnp.int32)


def test_the_matrix_is_that_of_the_kernel_s_space():
    with pytest.raises(InputError, match=r"states of Bits\(dim=3\), not those of Bits\(dim=5\)"):
        Gibbs(BITS).transition_matrix(FIVE, no_preference)


def test_no_steps_are_refused():
    with pytest.raises(InputError, match="num_steps must be at least 1, got 0"):
        run(Gibbs(BITS), jax.random.key(0), jnp.zeros(3, jnp.int32), no_preference, num_steps=0)


class CountedEnergy:
    """An energy whose evaluations can be counted in a program: each has a `reduce_precision`."""

    def __call__(self, x, z=None):
        return self.marked(jnp.sum(x * 0.3))

    def marked(self, value):
        return jax.lax.reduce_precision(value, exponent_bits=8, mantissa_bits=23)


class CountedIncrementalEnergy(CountedEnergy):
    """The same with first-layer sums: what counts is how often the head is evaluated."""

    def hidden(self, x, z=None):
        return jnp.sum(x * 0.3)[None]

    def site(self, i, v):
        return (v * 0.3)[None]

    def head(self, hidden):
        return self.marked(hidden[0])


def num_marks(program):
    """Evaluations when the program runs: as many as a mark has elements, in each turn of a loop.

    The gradient of a mark is a mark.
    """
    count = 0
    for equation in getattr(program, "jaxpr", program).eqns:
        name, params = equation.primitive.name, equation.params
        assert name not in ("while", "cond"), "how often they run is not known"
        inner = [p for p in params.values() if hasattr(getattr(p, "jaxpr", p), "eqns")]
        count += params.get("length", 1) * sum(map(num_marks, inner))
        count += equation.outvars[0].aval.size if name == "reduce_precision" else 0
    return count


FOUR = Categorical(3, 4)
LADDER = jnp.array([0.0, 0.5, 1.0])
# Evaluations at the start and in a step. A gradient counts one more than the value.
EVALUATIONS = [
    (Gibbs(FIVE), 1, 5),
    (Gibbs(FIVE, scan="random", num_sweeps=2), 1, 2 * 5),
    (Gibbs(FOUR), 1, 3 * 3),
    (RandomWalk(FIVE, num_proposals=3), 1, 3),
    (BlockGibbs(FIVE), 1, 3 * 3),
    (BlockGibbs(FOUR, scan="random"), 1, 2 * 15),
    (ColouredGibbs(FIVE, [(0, 2), (1, 3), (4,)]), 1, 3 + 5),
    (HammingBall(FIVE, block_size=4, radius=2), 1, 4 + 6),
    (GibbsWithGradients(FIVE), 2, 2),
    (GibbsWithGradients(FIVE, differences="exact"), 1 + 5, 1 + 5),
    (DiscreteLangevin(FIVE), 2, 2),
    (DiscreteLangevin(FIVE, adjusted=False), 2, 2),
    (PathAuxiliary(FIVE), 2, 2),
    (PathAuxiliary(MIXED, differences="exact"), 1 + 3, 1 + 3),
    (Compose((Gibbs(FIVE), RandomWalk(FIVE))), 1, (1 + 5) + (1 + 1)),
    (Compose((DiscreteLangevin(FIVE), Gibbs(FIVE))), 2, (2 + 2) + (1 + 5)),
    (ParallelTempering(Gibbs(FIVE), LADDER), 1 + 3, 3 * (5 + 1)),
    (ParallelTempering(DiscreteLangevin(FIVE), LADDER, num_steps=4), 2 + 6, 3 * (2 * 4 + 2)),
]


@pytest.mark.parametrize("kind", [CountedEnergy, CountedIncrementalEnergy])
@pytest.mark.parametrize(("kernel", "at_start", "in_step"), EVALUATIONS)
def test_number_of_energy_evaluations(kernel, at_start, in_step, kind):
    f, x, key = kind(), jnp.zeros(space_of(kernel).dim, jnp.int32), jax.random.key(0)
    init = lambda key: kernel.init(key, x, f)
    assert num_marks(jax.make_jaxpr(init)(key)) == at_start
    assert num_start_evaluations(kernel, f, x) == at_start
    step, state = lambda state: kernel.step(key, state, f), jax.eval_shape(init, key)
    assert num_marks(jax.make_jaxpr(step)(state)) == in_step


def test_infos_tell_the_number_of_energy_evaluations():
    x, key = jnp.zeros(5, jnp.int32), jax.random.key(0)
    f = CountedEnergy()
    rows = [row for row in EVALUATIONS if space_of(row[0]) == FIVE]

    @compiled
    def counts():
        step = lambda kernel: kernel.step(key, kernel.init(key, x, f), f)
        return [step(kernel)[1].num_evaluations for kernel, _, _ in rows]

    assert [int(count) for count in counts()] == [in_step for _, _, in_step in rows]


BAD_ARGUMENTS = [
    (Gibbs, (2,), {}, r"Gibbs needs the space of x, such as Gibbs\(Bits\(8\)\), got 2"),
    (Gibbs, (BITS,), {"num_sweeps": 0}, "num_sweeps must be at least 1, got 0"),
    (Gibbs, (BITS,), {"scan": "zigzag"}, "scan must be one of .*, got 'zigzag'"),
    (RandomWalk, (BITS,), {"num_proposals": 0}, "num_proposals must be at least 1, got 0"),
    (BlockGibbs, (BITS,), {"block_size": 4}, r"block_size must be in 1\.\.3, .* got 4"),
    (BlockGibbs, (Bits(15),), {"block_size": 15}, "have 32768 values, more than the 16384"),
    (BlockGibbs, (BITS,), {"scan": "zigzag"}, "scan must be one of .*, got 'zigzag'"),
    (ColouredGibbs, (BITS, [(0, 1)]), {}, r"each of the sites 0\.\.2 must be in one colour"),
    (ColouredGibbs, (BITS, [(0, 1), (1, 2)]), {}, "must be in one colour"),
    (ColouredGibbs, (BITS, [(0, 1, 2), ()]), {}, "no colour be empty"),
    (ColouredGibbs, (BITS, [(0, 1, 2)]), {"differences": "gradient"}, "need exact differences"),
    (HammingBall, (BITS,), {"radius": 4}, r"radius must be in 1\.\.3, .* got 4"),
    (HammingBall, (BITS,), {"block_size": 0}, r"block_size must be in 1\.\.3, .* got 0"),
    (GibbsWithGradients, (BITS,), {"differences": "no"}, "differences must be one of .*, got 'no'"),
    (DiscreteLangevin, (BITS,), {"step_size": 0.0}, r"step_size must be above 0, got 0\.0"),
    (PathAuxiliary, (MIXED,), {"max_path": 3}, r"max_path must be in 1\.\.2, .* got 3"),
    (PathAuxiliary, (BITS,), {"mean_length": 2.5}, r"mean_length must be in 1\.\.2\.0"),
    (PathAuxiliary, (BITS,), {"mean_length": 0.5}, r"mean_length must be in 1\.\.2\.0"),
]


@pytest.mark.parametrize(("kind", "arguments", "settings", "message"), BAD_ARGUMENTS)
def test_bad_arguments(kind, arguments, settings, message, monkeypatch):
    monkeypatch.setattr(jaxtyping.config, "jaxtyping_disable", True)  # it would speak first
    with pytest.raises(InputError, match=message):
        kind(*arguments, **settings)


def test_sequences_are_refused_where_padding_is_not_known():
    kinds = (RandomWalk, BlockGibbs, HammingBall, GibbsWithGradients, DiscreteLangevin)
    for kind in (*kinds, PathAuxiliary, lambda space: ColouredGibbs(space, [(0, 1, 2)])):
        with pytest.raises(InputError, match="needs Bits or Categorical, got Sequences"):
            kind(WORDS)


def test_impossible_starts_are_refused_where_nothing_can_be_compared_with_them():
    f = lambda x, z=None: jnp.where(x[0] == 1, -jnp.inf, 0.0)
    for kernel in (GibbsWithGradients(BITS), ColouredGibbs(BITS, [(0, 1, 2)])):
        with pytest.raises(InputError, match="the first state is -inf"):
            kernel.init(jax.random.key(0), jnp.array([1, 0, 0]), f)


def test_compose_needs_a_kernel():
    with pytest.raises(InputError, match="at least one kernel"):
        Compose(())
