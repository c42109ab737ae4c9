"""Rivals of the learned sampler: algebra by enumeration, draws, and short runs to an exact KL."""

from itertools import permutations

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from aloex import energies, exact
from aloex.base.errors import InputError
from aloex.importance_weights import log_mean_exp
from aloex.spaces import Bits, Categorical
from stats import assert_draws_match, assert_mean_matches, compiled, count_draws, randomised
from studies.samplers.problems.bernoulli import bernoulli
from studies.samplers.problems.lattices import glass, ising, potts
from studies.samplers.rivals import Autoregressive, Budget, Draws, GFlowNet, SwendsenWang, gflownet
from studies.samplers.rivals import swendsen_wang as sw

RNG = np.random.default_rng(0)
SW_CASES = {
    "Ising of both signs": (
        Bits(4),
        lambda: energies.ising_lattice(2, 2, [0.7, -0.4, 0.9, 0.2], [0.3, -0.2, 0.0, 0.5]),
    ),
    "Potts": (
        Categorical(3, 3),
        lambda: energies.potts_lattice(1, 3, 3, [0.7, 1.2], RNG.normal(size=(3, 3))),
    ),
}


def transition_matrix(f, space):
    """K[x, x'] of a step of Swendsen-Wang, summed over all bonds and all options of clusters."""
    states = space.enumerate()
    num_options = space.num_values  # Ising has two: keep and flip
    bonds = Bits(len(f.couplings.weights)).enumerate() == 1
    options = Categorical(space.dim, num_options).enumerate()

    def row(x):
        closing = sw.closing_probabilities(f, x)

        def of_bonds(closed):
            labels = sw.cluster_labels(f.couplings, closed)
            log_probs = jax.nn.log_softmax(sw.cluster_logits(f, x, labels))

            def of_options(o):
                log_p = log_probs[jnp.arange(space.dim), o].sum()
                return jnp.exp(log_p), space.index(sw.recoloured(f, x, labels, o))

            p, to = jax.vmap(of_options)(options)
            p_bonds = jnp.prod(jnp.where(closed, closing, 1 - closing))
            return jnp.zeros(space.size, p.dtype).at[to].add(p * p_bonds)

        return jax.vmap(of_bonds)(bonds).sum(axis=0)

    return jax.vmap(row)(states)


@pytest.mark.parametrize("name", SW_CASES)
def test_swendsen_wang_leaves_p_unchanged(name):
    space, build = SW_CASES[name]
    with exact.float64():
        f = build()
        matrix = np.asarray(compiled(lambda: transition_matrix(f, space))())
        p = np.exp(np.asarray(exact.log_p(f, space)))
    np.testing.assert_allclose(matrix.sum(axis=1), 1, atol=1e-12)
    np.testing.assert_allclose(p @ matrix, p, atol=1e-12)
    assert matrix.min() > 0  # every state in one step, as no bond needs to close


@pytest.mark.parametrize("name", SW_CASES)
def test_steps_of_swendsen_wang_follow_the_matrix(name):
    space, build = SW_CASES[name]
    f = build()
    start = space.enumerate()[-2]
    counts = count_draws(space, lambda key: sw.step(key, start, f))
    assert_draws_match(counts, compiled(lambda: transition_matrix(f, space))()[-2])


def test_clusters_are_connected_components():
    """Against paths on a lattice with random bonds."""
    couplings = energies.ising_lattice(4, 5).couplings
    edges, closed = np.asarray(couplings.edges), RNG.random(31) < 0.45
    reach = np.eye(20, dtype=bool)
    reach[edges[closed, 0], edges[closed, 1]] = reach[edges[closed, 1], edges[closed, 0]] = True
    for _ in range(5):
        reach = reach @ reach
    labels = sw.cluster_labels(couplings, jnp.asarray(closed))
    assert labels.tolist() == reach.argmax(axis=1).tolist()
    assert len(set(labels.tolist())) not in (1, 20)


def test_chains_of_swendsen_wang_know_the_modes():
    """At a coupling where Gibbs sampling would keep what it began with."""
    found = ising(4, 4, coupling=0.9, field=0.05)
    fitted = SwendsenWang(num_chains=256).fit(jax.random.key(0), found, Budget(30))
    x = fitted.sample(jax.random.key(1), 256).x  # one of each chain: independent
    mode = found.expectations["upper mode"]
    assert_mean_matches(jax.vmap(mode.function)(x), mode.value)
    assert fitted.sample(jax.random.key(1), 300).x.shape == (300, 16) and fitted.log_z is None


def test_what_swendsen_wang_refuses():
    with pytest.raises(InputError, match="Ising or Potts with SparseCouplings, got bernoulli-3"):
        SwendsenWang().fit(jax.random.key(0), bernoulli(3), Budget(1))
    with pytest.raises(InputError, match="couplings of 0 or more"):
        SwendsenWang().fit(jax.random.key(0), potts(2, 2, coupling=-1.0), Budget(1))


FLOWS = {
    "free": (Bits(3), "free"),
    "fixed": (Bits(3), "fixed"),
    "free-values": (Categorical(2, 3), "free"),
}


def flow_and_paths(name):
    """A flow far from uniform, and all its trajectories."""
    space, order = FLOWS[name]
    flow = randomised(gflownet.Flow, space, hidden=(4,), order=order, scale=0.7)
    orders = list(permutations(range(space.dim)))
    orders = orders if order == "free" else orders[:1]
    x = jnp.repeat(space.enumerate(), len(orders), axis=0)
    return space, flow, gflownet.Path(x, jnp.tile(jnp.array(orders), (space.size, 1)))


@pytest.mark.parametrize("name", FLOWS)
def test_laws_of_trajectories(name):
    """P_F adds up to 1 over all, P_B over those that end in an x, and weights have the mean Z."""
    with exact.float64():
        space, flow, paths = flow_and_paths(name)
        flow, f = exact.to_float64(flow), lambda x: jnp.sin(2.0 * x @ jnp.arange(1, space.dim + 1))
        log_forward, log_backward = compiled(jax.vmap(flow.score))(paths)
        ends = np.asarray(jax.vmap(space.index)(paths.x))
        values = jax.vmap(f)(paths.x)
        assert jnp.exp(log_forward).sum() == pytest.approx(1, abs=1e-12)
        by_end = np.bincount(ends, np.exp(log_backward))
        np.testing.assert_allclose(by_end, 1, atol=1e-12)
        mean = jnp.exp(values + log_backward).sum()  # P_F times exp f P_B / P_F
        assert mean == pytest.approx(float(jnp.exp(exact.log_z(lambda x, z: f(x), space))))
        loss = jax.vmap(lambda p, v: gflownet.trajectory_balance(flow, p, v))(paths, values)
        apart = flow.log_z + log_forward - values - log_backward
        np.testing.assert_allclose(loss, apart**2, atol=1e-12)


@pytest.mark.parametrize("name", FLOWS)
def test_draws_of_trajectories(name):
    space, flow, paths = flow_and_paths(name)
    log_forward, log_backward = compiled(jax.vmap(flow.score))(paths)
    number = lambda path: space.index(path.x) * 100 + path.order @ 3 ** jnp.arange(space.dim)
    numbers = np.asarray(jax.vmap(number)(paths))
    keys = jax.random.split(jax.random.key(0), 20_000)
    drawn = compiled(lambda: jax.vmap(lambda k: number(flow.sample(k)))(keys))()
    count = lambda drawn, among: np.array([np.sum(np.asarray(drawn) == n) for n in among])
    counts = count(drawn, numbers)
    assert counts.sum() == len(keys)
    assert_draws_match(counts, np.exp(log_forward))
    if name != "fixed":
        x = paths.x[-1]
        own = np.asarray(jax.vmap(space.index)(paths.x)) == space.size - 1
        back = compiled(lambda: jax.vmap(lambda k: number(flow.sample_backward(k, x)))(keys))()
        assert_draws_match(count(back, numbers[own]), np.exp(log_backward)[own])


def test_replay_takes_half_of_the_best_tenth():
    values = jnp.where(jnp.arange(50) < 40, jnp.arange(50.0), -jnp.inf)  # ten are not known yet
    draw = compiled(lambda key: gflownet._rows_to_replay(key, values, 20_000))
    counts = np.bincount(draw(jax.random.key(0)), minlength=50)
    best = np.arange(50) >= 36
    probs = np.where(best, 0.5 / 4, 0.5 / 36) * (np.arange(50) < 40)
    assert_draws_match(counts, probs)


@pytest.mark.parametrize("order", ["free", "fixed"])
def test_a_short_training_of_a_flow(order):
    found = glass(2, 2, coupling=0.8)
    rival = GFlowNet(order=order, hidden=(16,), batch_size=64, buffer_size=256, learning_rate=1e-2)
    fitted = rival.fit(jax.random.key(0), found, Budget(300))
    assert fitted.log_z == pytest.approx(found.log_z, abs=0.1)  # seen: 0.014 free, 0.0001 fixed
    draws = fitted.sample(jax.random.key(1), 4000)
    assert draws.x.shape == (4000, 4)
    ratio = jnp.exp(draws.log_weights - found.log_z)
    assert_mean_matches(ratio, 1.0)
    assert float(jnp.std(ratio)) < 0.5  # seen: 0.21 free, 0.01 fixed


def test_an_autoregressive_model_learns_weighted_draws():
    """All states once, weighted by p: the fit must follow the weights, to a small KL."""
    found = glass(2, 3, coupling=0.8)
    x = found.space.enumerate()
    draws = Draws(x, jax.vmap(found.f)(x))
    rival = Autoregressive(SwendsenWang(), hidden=(16,), head_hidden=16, learning_rate=1e-2)
    fitted = rival.fit_to(jax.random.key(0), found, draws, Budget(300))
    log_q = compiled(jax.vmap(fitted.q.log_prob))(x)
    assert exact.kl(exact.log_p(found.f, found.space), log_q) < 0.01  # seen: 0.001
    assert fitted.log_z == pytest.approx(found.log_z, abs=0.02)
    of_model = fitted.sample(jax.random.key(2), 2000)
    assert log_mean_exp(of_model.log_weights) == pytest.approx(found.log_z, abs=0.02)


def test_a_teacher_and_seconds():
    """A rival that learns from another; and a budget that ends by the clock, after one chunk."""
    found = ising(2, 2)
    small = Autoregressive(
        SwendsenWang(num_chains=8), num_draws=64, hidden=(4,), head_hidden=4, batch_size=8
    )
    fitted = small.fit(jax.random.key(0), found, Budget(10**9, seconds=0.0))
    assert np.isfinite(fitted.log_z)
