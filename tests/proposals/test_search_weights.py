"""Weights of draws of a search: their mean is Z for every number of trajectories."""

from itertools import product

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from aloex import exact
from aloex.base.errors import InputError
from aloex.energies import Tabular
from aloex.importance_weights import effective_sample_size, log_mean_exp
from aloex.proposals import Inverse, LearnedInverse, weigh
from aloex.proposals.weights import weight_from
from aloex.samplers import Factorized, Flip, LocalSearch, Stop
from aloex.spaces import Bits
from stats import assert_mean_matches, compiled, randomised, tiny_editor, tiny_search

SPACE, MAX_EDITS = Bits(2), 2


def energy(scale=1.5):
    return Tabular(SPACE, scale=scale, key=jax.random.key(0))


def backward_laws():
    fixed = Inverse(space=SPACE, max_edits=MAX_EDITS)
    stop = randomised(Stop, SPACE, hidden=(4,), scale=0.5)
    return {"fixed": fixed, "learned": LearnedInverse(tiny_editor(Flip, SPACE), stop, fixed)}


@pytest.mark.parametrize("kind", ["fixed", "learned"])
def test_the_mean_weight_is_z_for_every_number_of_trajectories(kind):
    """Summed over all x, all drawn trajectories and all that may come up beside them."""
    with exact.float64():
        f, q, s = energy(), tiny_search(SPACE, max_edits=MAX_EDITS), backward_laws()[kind]

        def terms(drawn, others):
            """What these trajectories add to E[w], and to E[log q_K] with and without the drawn."""
            found = weight_from(f, q, s, drawn, others)
            log_probs = q.log_prob(drawn) + jax.vmap(s.log_prob)(others).sum()
            return jnp.exp(log_probs) * jnp.stack([jnp.exp(found.log_w), *found[1:]])

        every_term = compiled(jax.vmap(terms))
        log_z, log_q = exact.log_z(f, SPACE), exact.log_marginal(q, SPACE)
        mean_log_q = float(jnp.sum(jnp.exp(log_q) * log_q))
        gaps = []
        for k in (1, 2, 3):
            totals = np.zeros(3)
            for x in SPACE.enumerate():
                paths = exact.trajectories(SPACE, x, MAX_EDITS)
                number = np.array(list(product(range(len(paths.num_edits)), repeat=k)))
                pick = lambda i, paths=paths: jax.tree.map(lambda a: a[i], paths)
                totals += np.asarray(every_term(pick(number[:, 0]), pick(number[:, 1:]))).sum(
                    axis=0
                )
            np.testing.assert_allclose(np.log(totals[0]), log_z, atol=1e-12)
            if k > 1:  # log q(x) lies between the two, which come nearer
                assert totals[2] < mean_log_q < totals[1]
                gaps.append(totals[1] - totals[2])
        assert gaps[1] < gaps[0]


@compiled
def weights(f, q, s, keys, num_trajectories):
    def one(key):
        key_draw, key_weigh = jax.random.split(key)
        return weigh(key_weigh, f, q, s, q.sample(key_draw), num_trajectories=num_trajectories)

    return jax.vmap(one)(keys)


def test_draws_have_that_mean():
    f, q, s = energy(), tiny_search(SPACE, max_edits=MAX_EDITS), backward_laws()["learned"]
    found = weights(f, q, s, jax.random.split(jax.random.key(0), 20_000), 3)
    assert_mean_matches(np.exp(found.log_w), np.exp(exact.log_z(f, SPACE)))


def test_the_gap_shows_what_the_effective_sample_size_does_not():
    """q stops at once, a fixed s expects it half of the time: all weights are alike, and wrong."""
    f = energy(scale=0.0)
    stops = lambda x, z=None: jnp.array(30.0)
    q = LocalSearch(Factorized(SPACE), tiny_editor(Flip, SPACE), stops, max_edits=8)
    s = Inverse(space=SPACE, max_edits=8)
    share = float(np.exp(s.log_prob(q.sample(jax.random.key(1)))))  # of what q does draw
    keys = jax.random.split(jax.random.key(0), 500)
    alone, among_four = (weights(f, q, s, keys, k) for k in (1, 4))
    off = [float(log_mean_exp(w.log_w) - np.log(4)) for w in (alone, among_four)]
    np.testing.assert_allclose(off[0], np.log(share), atol=1e-3)  # log 1/2, as s stops
    assert float(effective_sample_size(alone.log_w)) > 499
    assert off[1] > np.log(1 - 0.6**4)  # log (1 - m^K) with m = 1/2, and room for chance
    gap = np.mean(among_four.log_q - np.maximum(among_four.log_q_of_others, -50))
    assert gap > 1, f"log q(x) is told apart by {gap} only with and without the draw"


def test_one_trajectory_has_no_others_to_compare_with():
    q, s = tiny_search(SPACE, max_edits=MAX_EDITS), backward_laws()["fixed"]
    found = weights(energy(), q, s, jax.random.split(jax.random.key(0), 2), 1)
    assert np.isnan(found.log_q_of_others).all()
    with pytest.raises(InputError, match="num_trajectories must be at least 1, got 0"):
        weigh(jax.random.key(0), energy(), q, s, q.sample(jax.random.key(0)), num_trajectories=0)
