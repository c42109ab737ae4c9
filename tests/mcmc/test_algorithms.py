"""One contract for every algorithm: its chains follow p_f, under a condition, on every space."""

import inspect

import equinox as eqx
import jax
import jax.numpy as jnp
import jaxtyping
import numpy as np
import pytest

from aloex import energies, exact, kernels, mcmc
from aloex.base.errors import InputError
from aloex.energies import MLP
from aloex.proposals import Inverse
from aloex.spaces import Bits, Categorical, Mixed, Sequences
from stats import assert_draws_match, compiled, condition, randomised, tiny_search

BITS, CATEGORIES, MIXED = Bits(3), Categorical(2, 3), Mixed((2, 3, 1))
Z = condition(2)
NUM_CHAINS, NUM_STEPS = 4000, 20


class Chain(eqx.Module):
    """Neighbouring sites like to agree; z says what the first one likes. One state may be NaN."""

    nan: jax.Array = eqx.field(default=0.0, converter=jnp.asarray)

    def __call__(self, x, z=None):
        pairs = 0.5 * jnp.sum(x[1:] * x[:-1] - 0.6 * (x[1:] + x[:-1]))
        bad = (x[0] == 1) & (x[1] == 1)
        return pairs + (1.2 * z[1] - z[0]) * x[0] + jnp.where(bad, self.nan, 0.0)


def colours(space):
    return [(0, 2), (1,)] if space.dim == 3 else [(0,), (1,)]


def learned_search(f, space, **z):
    max_edits = 1 if space == BITS else 0  # edits take long to compile
    q = tiny_search(space, max_edits=max_edits, cond_dim=2)
    return mcmc.learned_search(f, space, q, Inverse(space=space, max_edits=max_edits), **z)


ALGORITHMS = {
    "gibbs": mcmc.gibbs,
    "block_gibbs": mcmc.block_gibbs,
    "coloured_gibbs": lambda f, space, **z: mcmc.coloured_gibbs(f, space, colours(space), **z),
    "hamming_ball": mcmc.hamming_ball,
    "gwg": mcmc.gwg,
    "dmala": lambda f, space, **z: mcmc.dmala(f, space, step_size=0.6, **z),
    "dula": mcmc.dula,
    "path_auxiliary": lambda f, space, **z: mcmc.path_auxiliary(f, space, mean_length=1.5, **z),
    "random_walk": lambda f, space, **z: mcmc.random_walk(f, space, num_proposals=3, **z),
    "parallel_tempering": lambda f, space, **z: mcmc.parallel_tempering(f, space, [0.3, 1.0], **z),
    "learned_search": learned_search,
}
by_algorithm = pytest.mark.parametrize("name", ALGORITHMS)


def test_all_algorithms_are_here():
    assert set(ALGORITHMS) | {"algorithm", "sample"} == {
        name for name in mcmc.__all__ if inspect.isfunction(getattr(mcmc, name))
    }


def draws_of_p_f(f, space):
    with exact.float64():
        p = np.exp(np.asarray(compiled(exact.log_p)(exact.to_float64(f), space, Z)))
    rows = np.random.default_rng(0).choice(space.size, NUM_CHAINS, p=p / p.sum())
    return p, np.asarray(space.enumerate())[rows]


def law_after(algorithm, p):
    """p_f, which all but one leave unchanged; of that one, what its matrix makes of p_f."""
    if getattr(algorithm.kernel, "adjusted", True):
        return p
    space, f = algorithm.space, algorithm.f
    matrix = compiled(lambda: algorithm.kernel.transition_matrix(space, f, Z))()
    return p @ np.linalg.matrix_power(np.asarray(matrix, np.float64), NUM_STEPS)


def count(space, x):
    index = compiled(jax.vmap(space.index))(jnp.asarray(x))
    return np.bincount(np.asarray(index), minlength=space.size)


@pytest.mark.parametrize("space", [BITS, CATEGORIES], ids=repr)
@by_algorithm
def test_a_loop_of_one_s_own_keeps_the_law(name, space):
    f = Chain()
    algorithm = ALGORITHMS[name](f, space, z=Z)
    p, first = draws_of_p_f(f, space)

    @compiled
    @jax.vmap
    def chain(key, x):
        step = lambda state, key: algorithm.step(key, state)
        state = algorithm.init(x, key)
        return jax.lax.scan(step, state, jax.random.split(key, NUM_STEPS))

    state, info = chain(jax.random.split(jax.random.key(0), NUM_CHAINS), jnp.asarray(first))
    assert_draws_match(count(space, state.x), law_after(algorithm, p))
    assert info.num_changed.mean() > 0.1 and p.max() > 2.5 * p.min()


@by_algorithm
def test_sample_keeps_the_law_and_finds_nan(name, monkeypatch):
    algorithm = ALGORITHMS[name](Chain(), MIXED, z=Z)
    p, first = draws_of_p_f(algorithm.f, MIXED)
    settings = {"num_warmup": 10, "adapt": False, "thin": 9, "progress": False}
    draws = mcmc.sample(jax.random.key(0), algorithm, 2, initial=first, **settings)
    assert_draws_match(count(MIXED, draws.x[:, 0]), law_after(algorithm, p))  # after 10 + 9
    assert draws.hops.mean() > 0.1 and draws.num_evaluations >= NUM_CHAINS * 18
    # The same program for another f: from now on there is a state that is NaN.
    broken = eqx.tree_at(lambda a: a.f.nan, algorithm, jnp.array(jnp.nan))
    good = np.zeros_like(first)
    x = r"\[(1 1|1 0|0 1|1 2) 0\]"  # or beside it: where the differences are NaN
    message = rf"the energy became NaN in chain \d+ .*warm-up, by step \d+, at x = {x} or one"
    with pytest.raises(InputError, match=message):
        mcmc.sample(jax.random.key(0), broken, 2, initial=good, **settings)
    good[7] = [1, 1, 0]
    with pytest.raises(InputError, match=r"chain 7, x = \[1 1 0\]: .* is NaN"):
        mcmc.sample(jax.random.key(0), broken, 2, initial=good, **settings)


@pytest.mark.parametrize("space", [BITS, CATEGORIES, MIXED], ids=repr)
@by_algorithm
def test_integer_energies_are_refused(name, space):
    algorithm = ALGORITHMS[name](lambda x, z: jnp.sum(x), space, z=Z)
    with pytest.raises(InputError, match=r"one floating-point number, got int32.*1.0 \* value"):
        mcmc.sample(jax.random.key(0), algorithm, 2, progress=False)


BOUND = {"f", "space", "z"}
KERNELS = {
    "gibbs": kernels.Gibbs,
    "block_gibbs": kernels.BlockGibbs,
    "coloured_gibbs": kernels.ColouredGibbs,
    "hamming_ball": kernels.HammingBall,
    "gwg": kernels.GibbsWithGradients,
    "dmala": kernels.DiscreteLangevin,
    "dula": kernels.DiscreteLangevin,
    "path_auxiliary": kernels.PathAuxiliary,
    "random_walk": kernels.RandomWalk,
    "learned_search": kernels.SearchMetropolis,
}


@pytest.mark.parametrize("name", KERNELS)
def test_arguments_and_defaults_are_those_of_the_kernel(name):
    settings = lambda call: {
        p.name: p.default
        for p in inspect.signature(call).parameters.values()
        if p.name not in BOUND | {"adjusted"}
    }
    assert settings(getattr(mcmc, name)) == settings(KERNELS[name])


def test_arguments_reach_the_kernel():
    f = lambda x: 1.0 * x.sum()
    colours = [(0, 2), (1,)]
    made = [
        (mcmc.gibbs(f, BITS, scan="random", num_sweeps=2), kernels.Gibbs(BITS, "random", 2)),
        (
            mcmc.block_gibbs(f, BITS, block_size=3, scan="random"),
            kernels.BlockGibbs(BITS, block_size=3, scan="random"),
        ),
        (
            mcmc.coloured_gibbs(f, BITS, colours, differences="exact"),
            kernels.ColouredGibbs(BITS, colours, differences="exact"),
        ),
        (
            mcmc.hamming_ball(f, BITS, block_size=3, radius=2),
            kernels.HammingBall(BITS, block_size=3, radius=2),
        ),
        (
            mcmc.gwg(f, BITS, differences="exact"),
            kernels.GibbsWithGradients(BITS, differences="exact"),
        ),
        (
            mcmc.dmala(f, BITS, step_size=0.3, differences="exact"),
            kernels.DiscreteLangevin(BITS, step_size=0.3, differences="exact"),
        ),
        (
            mcmc.dula(f, BITS, step_size=0.3, differences="exact"),
            kernels.DiscreteLangevin(BITS, step_size=0.3, differences="exact", adjusted=False),
        ),
        (
            mcmc.path_auxiliary(f, BITS, mean_length=1.2, max_path=2, differences="exact"),
            kernels.PathAuxiliary(BITS, mean_length=1.2, max_path=2, differences="exact"),
        ),
        (
            mcmc.random_walk(f, BITS, num_proposals=4),
            kernels.RandomWalk(BITS, num_proposals=4),
        ),
        (
            mcmc.parallel_tempering(f, BITS, kernel=kernels.RandomWalk(BITS), num_steps=2),
            kernels.ParallelTempering(kernels.RandomWalk(BITS), jnp.linspace(0, 1, 8), num_steps=2),
        ),
    ]
    for algorithm, kernel in made:
        assert eqx.tree_equal(algorithm.kernel, kernel) and algorithm.space == BITS


def test_an_energy_may_take_x_alone():
    number = lambda value: jnp.asarray(float(value))
    alone, both = (lambda x: number(2)), (lambda x, z: number(3))
    bound = lambda x, weight=4.0: number(weight)
    x = jnp.zeros(3, jnp.int32)
    assert [energies.as_energy(f)(x, None) for f in (alone, both, bound)] == [2, 3, 4]
    assert energies.as_energy(both) is both and energies.as_energy(bound, Z) is bound
    assert energies.as_energy(jax.jit(alone))(x, None) == 2
    assert energies.as_energy(lambda *both: number(len(both)))(x, None) == 2
    # Twice the same energy is the same program.
    assert eqx.tree_equal(energies.as_energy(alone), energies.as_energy(alone))
    f = randomised(MLP, BITS, hidden=(4,))
    assert energies.as_energy(f) is f


class OfXAlone:
    def __call__(self, x):
        return 1.0 * x.sum()

    def differences(self, x):
        return x


@pytest.mark.parametrize(
    ("f", "z", "message"),
    [
        (3.0, None, r"a function f\(x\) or f\(x, z\), got 3.0"),
        (lambda x: 1.0, Z, r"there is a condition z, but the energy <lambda> takes x alone"),
        (OfXAlone(), None, "the energy OfXAlone offers more than its value, and must take z"),
    ],
)
def test_energies_that_cannot_be(f, z, message, monkeypatch):
    monkeypatch.setattr(jaxtyping.config, "jaxtyping_disable", True)  # it would speak first
    with pytest.raises(InputError, match=message):
        mcmc.algorithm(kernels.Gibbs(BITS), f, z)


def test_init_takes_another_condition():
    algorithm = mcmc.gibbs(Chain(), BITS, z=Z)
    x = jnp.array([1, 0, 0])
    values = [float(algorithm.init(x, z=z).value) for z in (None, Z, 1 - Z)]
    np.testing.assert_allclose(values, [1.2 - 0.3, 1.2 - 0.3, -1 - 0.3], rtol=1e-5)


def test_the_space_is_that_of_the_kernel():
    inner = kernels.Gibbs(BITS)
    f = lambda x: 1.0 * x.sum()
    for kernel in (kernels.Compose((inner, inner)), kernels.ParallelTempering(inner, [0.5, 1.0])):
        assert mcmc.algorithm(kernel, f).space == BITS
    words = Sequences(3, 2)
    assert mcmc.algorithm(inner, f, space=words).space == words
