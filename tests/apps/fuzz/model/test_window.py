"""Energies of whole windows: what a window is, their laws by enumeration, and a short run."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from aloex import exact
from aloex.apps.fuzz.inputs import corpus_of, read_corpus
from aloex.apps.fuzz.model.byte_model import ModelSettings
from aloex.apps.fuzz.model.contexts import MASKED, WINDOW, Examples, position_features
from aloex.apps.fuzz.model.learn import TrainingSettings, learn_model, quality
from aloex.apps.fuzz.model.window_energy import ByteWindow, WindowEnergy, WindowGibbs
from aloex.apps.fuzz.model.window_learner import JointAndConditional, JointState
from aloex.apps.fuzz.model.window_search import WindowLSTM, build_q
from aloex.apps.fuzz.model.windows import (
    COND_DIM,
    FREE,
    SPACE,
    Condition,
    Windows,
    around,
    unpacked,
)
from aloex.base.errors import InputError
from aloex.baselines.pcd import CD
from aloex.kernels import run
from aloex.learning import aloe
from aloex.proposals import Inverse
from aloex.spaces import Categorical
from stats import assert_draws_match, compiled, count_draws, randomised

SIZES = ModelSettings(hidden=8, embed_dim=2, method="aloe-window")
CENTRE = 31
WHERE = (jnp.asarray(300), jnp.asarray(5))
SMALL = Categorical(4, 3)  # its centre is site 1


def tiny() -> ByteWindow:
    return randomised(ByteWindow, SIZES, seed=0, scale=0.5)


def some_sites(*free: int) -> jax.Array:
    """Bytes that are given and a few holes, but for some sites."""
    sites = jnp.asarray(np.random.default_rng(0).integers(0, 256, WINDOW), jnp.int32)
    return sites.at[jnp.array([0, 5, 40])].set(MASKED).at[jnp.array(free)].set(FREE)


def small_condition(*sites: int) -> jax.Array:
    return Condition(jnp.array(sites), position_features(*WHERE)).packed()


def drawn(corpus, n, num_joint):
    windows = Windows(Examples(corpus), num_joint)
    x, z = jax.jit(lambda key: windows(key, n))(jax.random.key(0))
    condition = jax.vmap(unpacked)(z)
    np.testing.assert_array_equal(jax.vmap(lambda c: c.packed())(condition), z)
    assert z.shape == (n, COND_DIM) and np.abs(z).max() <= 1
    seen = jax.vmap(lambda c, x: c.read(x))(condition, x)
    return np.asarray(x), np.asarray(condition.sites), np.asarray(seen), condition.position


def test_windows_are_bytes_of_the_corpus(corpus):
    """Null hypothesis, for sites that are not free: their values in x are uniform."""
    x, sites, seen, _ = drawn(read_corpus(corpus), 2048, 500)
    there, free = seen < MASKED, sites == FREE
    follows = (seen[:, [CENTRE]] + np.arange(WINDOW) - CENTRE) % 8
    np.testing.assert_array_equal(seen[there], follows[there])
    assert free[:, CENTRE].all()
    np.testing.assert_array_equal(free[:500], there[:500])
    assert (free[500:].sum(axis=1) == 1).all() and there[500:].sum() > 500 * WINDOW / 4
    assert_draws_match(np.bincount(x[~free], minlength=256), np.full(256, 1 / 256))


def test_every_byte_has_a_window_also_the_last_and_in_short_files():
    corpus = corpus_of([bytes(range(100, 107)), b"!"])
    x, sites, seen, where = drawn(corpus, 512, 512)
    assert set(x[:, CENTRE]) == {ord("!"), *range(100, 107)}
    last = x[:, CENTRE] == 106
    expected = position_features(jnp.asarray(6), jnp.asarray(0))
    np.testing.assert_array_equal(where[last], np.tile(expected, (last.sum(), 1)))
    assert (sites[last, CENTRE + 1 :] == MASKED).all() and (
        seen[last, : CENTRE - 6] == MASKED
    ).all()
    assert (seen[last, CENTRE - 1] == 105).any()
    alone = x[:, CENTRE] == ord("!")
    assert (np.delete(sites[alone], CENTRE, axis=1) == MASKED).all()


@pytest.mark.parametrize("site", [CENTRE, 3])
def test_all_values_of_a_site_at_once(site):
    """As f says for each; also after the kernel has changed other sites."""
    f, sites = tiny().f, some_sites(CENTRE, 3, 60)
    z = Condition(sites, position_features(*WHERE)).packed()
    x = jnp.asarray(np.random.default_rng(1).integers(0, 256, WINDOW), jnp.int32)
    x = WindowGibbs(2).step(jax.random.key(0), f.at(x, z), f)[0].x
    direct = jax.jit(jax.vmap(lambda v: f(x.at[site].set(v), z)))(jnp.arange(256))
    others = f.at(x, Condition(sites.at[site].set(MASKED), position_features(*WHERE)).packed())
    found = compiled(f.at_site)(others.sums, others.unary, jnp.asarray(site))
    np.testing.assert_allclose(found - found[0], direct - direct[0], atol=1e-4)
    assert np.ptp(direct) > 1


def test_sums_are_kept_up_to_date():
    f, z = tiny().f, Condition(some_sites(*range(10, 60)), position_features(*WHERE)).packed()
    x = jnp.zeros(WINDOW, jnp.int32)
    state, _ = jax.jit(lambda key: WindowGibbs(20).step(key, f.at(x, z), f))(jax.random.key(1))
    assert 15 <= int((state.x != x).sum()) <= 20
    np.testing.assert_allclose(state.sums, f.at(state.x, z).sums, atol=1e-4)


def test_what_is_not_free_means_nothing():
    f, sites = tiny().f, some_sites(CENTRE, 3)
    ask, z = compiled(f), Condition(sites, position_features(*WHERE)).packed()
    x = jnp.zeros(WINDOW, jnp.int32)
    for site, counts in ((CENTRE, True), (3, True), (5, False), (20, False)):
        assert (float(ask(x, z)) != float(ask(x.at[site].set(9), z))) == counts
    given = ask(x, Condition(sites.at[20].set(9), position_features(*WHERE)).packed())
    assert float(given) != float(ask(x, z))  # what is given is part of the condition


def test_the_law_of_a_byte_is_that_of_its_window():
    model = tiny()
    context = jnp.asarray(np.random.default_rng(2).integers(0, 257, WINDOW), jnp.int32)
    sites = around(context, FREE)
    np.testing.assert_array_equal(sites[:CENTRE], context[1:32])
    np.testing.assert_array_equal(sites[CENTRE + 1 :], context[32:])
    z = Condition(sites, position_features(*WHERE)).packed()
    states = jnp.zeros((256, WINDOW), jnp.int32).at[:, CENTRE].set(jnp.arange(256))
    f_values = jax.vmap(model.f, (0, None))(states, z)
    law = compiled(model)(context, *WHERE)
    np.testing.assert_allclose(law, jax.nn.log_softmax(f_values), atol=1e-4)


def test_the_gradient_of_the_law():
    """That of f at all values, though f is asked for one example of a batch after the other."""
    model, contexts = tiny(), jnp.stack([jnp.full(WINDOW, 9), jnp.full(WINDOW, MASKED)])
    states = jnp.zeros((256, WINDOW), jnp.int32).at[:, CENTRE].set(jnp.arange(256))

    def direct(f, context):
        z = Condition(around(context, FREE), position_features(*WHERE)).packed()
        return jax.nn.log_softmax(jax.vmap(f, (0, None))(states, z))[3]

    mean = lambda law: lambda m: jnp.mean(jax.vmap(lambda c: law(m, c))(contexts))
    found = compiled(jax.grad(mean(lambda m, c: m(c, *WHERE)[3])))(model).f
    expected = compiled(jax.grad(mean(direct)))(model.f)
    jax.tree.map(lambda a, b: np.testing.assert_allclose(a, b, atol=1e-4), found, expected)
    assert np.abs(found.sites).max() > 1e-2


@pytest.mark.parametrize("num_sites", [1, 2, 4])
def test_the_kernel_leaves_p_unchanged(num_sites):
    """By enumeration, with a byte that is given; null hypothesis: draws follow the matrix."""
    f = randomised(WindowEnergy, SIZES, SMALL, seed=3)
    z, kernel = small_condition(FREE, FREE, 2, FREE), WindowGibbs(num_sites)
    pi = np.asarray(jnp.exp(exact.log_p(f, SMALL, z)))
    matrix = np.asarray(kernel.transition_matrix(SMALL, f, z))
    np.testing.assert_allclose(pi @ matrix, pi, atol=1e-6)
    assert pi.max() > 3 * pi.min() and np.abs(matrix - np.eye(SMALL.size)).max() > 0.1
    x = SMALL.enumerate()[5]
    draw = lambda key: kernel.step(key, kernel.init(key, x, f, z), f)[0].x
    assert_draws_match(count_draws(SMALL, draw), matrix[5])


def test_the_lstm_is_a_law_of_the_free_sites():
    """By enumeration; null hypothesis: draws follow it, and are uniform where nothing is free."""
    q0, values = randomised(WindowLSTM, 4, seed=4), jnp.arange(256)
    log_prob = jax.jit(jax.vmap(q0.log_prob, (0, None)))
    z = Condition(some_sites(CENTRE), position_features(*WHERE)).packed()
    x = jnp.zeros((256, WINDOW), jnp.int32)
    probs = np.exp(log_prob(x.at[:, CENTRE].set(values), z) + (WINDOW - 1) * np.log(256))
    assert abs(probs.sum() - 1) < 1e-3 and probs.max() > 3 * probs.min()
    z = Condition(some_sites(CENTRE, 33), position_features(*WHERE)).packed()
    draw = jax.jit(jax.vmap(q0.sample, (0, None)))
    draws = np.asarray(draw(jax.random.split(jax.random.key(5), 10_000), z))
    assert_draws_match(np.bincount(draws[:, 20], minlength=256), np.full(256, 1 / 256))
    most = np.bincount(draws[:, CENTRE]).argmax()
    given = np.exp(log_prob(x.at[:, CENTRE].set(most).at[:, 33].set(values), z) + 350)
    after = np.bincount(draws[draws[:, CENTRE] == most, 33], minlength=256)
    assert_draws_match(after, given / given.sum())


def test_a_search_edits_windows():
    """Every draw is one that q gives a probability, also with an edit."""
    q = build_q(4, 1, key=jax.random.key(0))
    z = Condition(some_sites(3), position_features(*WHERE)).packed()
    sample = compiled(lambda keys: jax.vmap(lambda key: q.sample(key, z))(keys))
    drawn = sample(jax.random.split(jax.random.key(1), 256))
    assert set(np.asarray(drawn.num_edits)) == {0, 1}
    log_q = compiled(lambda drawn: jax.vmap(lambda d: q.log_prob(d, z))(drawn))(drawn)
    assert np.isfinite(log_q).all()


def test_a_byte_alone_is_drawn_from_its_law():
    """Null hypothesis: negatives of windows given but for the centre follow p, from any start."""
    model = tiny()
    context = jnp.asarray(np.random.default_rng(2).integers(0, 257, WINDOW), jnp.int32)
    z = Condition(around(context, FREE), position_features(*WHERE)).packed()
    law = np.exp(np.asarray(compiled(model)(context, *WHERE), np.float64))
    step = lambda key: run(WindowGibbs(1), key, jnp.zeros(WINDOW, jnp.int32), model.f, z)
    draws = np.asarray(jax.jit(jax.vmap(step))(jax.random.split(jax.random.key(6), 20_000)))
    assert_draws_match(np.bincount(draws[:, CENTRE], minlength=256), law / law.sum())
    assert (np.delete(draws, CENTRE, axis=1) == 0).all()


def test_a_step_is_one_of_each_part(corpus):
    """CD goes on where ALOE has led, each with its own part of the batch."""
    f, given, start = tiny().f, CD(WindowGibbs(1)), jnp.zeros((), jnp.int32)
    moved = eqx.tree_at(lambda f: f.sites, f, f.sites + 0.1)
    sizes = []

    class Moves(aloe.ALOE):
        """A step of ALOE that leads to a known place."""

        def step(self, key, state, x, z=None):
            sizes.append((len(x), len(z)))
            return state._replace(f=moved, step=state.step + 1), aloe.ALOEInfo(*8 * [jnp.zeros(())])

    x, z = compiled(Windows(Examples(read_corpus(corpus)), 4))(jax.random.key(0), 12)
    state = JointState(aloe.ALOEState(f, None, f, None, None, None, start), given.init(f).opt_f)
    first = Moves(WindowGibbs(1), Inverse(space=SPACE, max_edits=0))
    learner = JointAndConditional(first, given, 4)
    state, info = compiled(learner.step)(jax.random.key(1), state, x, z)
    key_given = jax.random.split(jax.random.key(1))[1]
    alone = given.init(moved)._replace(ema_f=f, step=start + 1)
    alone, info_alone = compiled(given.step)(key_given, alone, x[4:], z[4:])
    assert sizes == [(4, 4)] and np.abs(alone.f.sites - moved.sites).max() > 1e-4
    found = state.joint.f, state.joint.ema_f, state.opt_conditional, info.f_loss
    expected = alone.f, alone.ema_f, alone.opt_f, info_alone.f_loss
    close = lambda a, b: np.testing.assert_allclose(a, b, atol=1e-5)
    jax.tree.map(close, found, expected)


def test_every_batch_has_both_kinds():
    num_joint = lambda **how: TrainingSettings(**how).num_joint
    assert [num_joint(batch_size=n) for n in (2, 16, 256)] == [1, 2, 32]
    assert (num_joint(joint_fraction=0.0), num_joint(joint_fraction=1.0, batch_size=8)) == (1, 7)
    with pytest.raises(InputError, match="batch_size must be at least 2, got 1"):
        num_joint(batch_size=1)


def test_a_short_run(corpus):
    """From -5.5 to about -2.5 by the place; what is around a byte tells it."""
    learn_from, rest = read_corpus(corpus).split(0.2)
    how = {"hidden": 32, "hidden_q": 8, "max_edits": 0, "num_trajectories": 1, "batch_size": 32}
    how |= {"joint_fraction": 1 / 16, "num_sites": 2, "num_steps": 150, "learning_rate": 5e-3}
    model = learn_model(learn_from, method="aloe-window", **how, progress=False)
    found = quality(model, rest, num_bytes=1024)
    assert found[0.0] > -4 and found[1.0] > -0.5
