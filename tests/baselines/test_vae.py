"""The VAE: its probabilities by quadrature over a one-dimensional latent, then its estimates."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy.stats import norm

from aloex import exact
from aloex.base.errors import InputError
from aloex.baselines import VAE
from aloex.spaces import Bits, Categorical, Sequences
from stats import (
    ALPHA,
    assert_draws_match,
    assert_mean_matches,
    compiled,
    count_draws,
    randomised,
)

SPACES = [Bits(3), Categorical(2, 3)]
GRID = np.linspace(-9, 9, 2001)[:, None]  # smooth integrands that vanish at the ends
WIDTH = float(GRID[1, 0] - GRID[0, 0])


def tiny(space, latent_dim=1):
    return randomised(VAE, space, latent_dim=latent_dim, hidden=(4,), scale=0.8)


def log_normal(u, mean=0.0, log_var=0.0):
    return -0.5 * ((u - mean) ** 2 / jnp.exp(log_var) + log_var + np.log(2 * np.pi)).sum(axis=-1)


def quadrature(vae, space):
    """log p(x) and the ELBO of every state, from `encode` and `decode` alone."""
    grid, states = jnp.asarray(GRID, vae.decoder.dtype), space.enumerate()
    log_sites = jax.vmap(vae.decode)(grid)

    def one(x):
        log_x = log_sites[:, jnp.arange(space.dim), x].sum(axis=1)
        mean, log_var = vae.encode(x)
        log_r = log_normal(grid, mean, log_var)
        log_joint = log_x + log_normal(grid)
        elbo = WIDTH * jnp.sum(jnp.exp(log_r) * (log_joint - log_r))
        return jax.nn.logsumexp(log_joint) + jnp.log(WIDTH), elbo

    return jax.vmap(one)(states)


@pytest.mark.parametrize("space", SPACES, ids=str)
def test_probabilities_add_up_and_the_bound_is_one(space):
    with exact.float64():
        log_p, elbo = compiled(quadrature)(exact.to_float64(tiny(space)), space)
        np.testing.assert_allclose(np.exp(log_p).sum(), 1, rtol=1e-9)
        assert (elbo < log_p).all() and np.ptp(log_p) > 0.5


@pytest.mark.parametrize("space", SPACES, ids=str)
def test_draws_match_the_probabilities(space):
    vae = tiny(space)
    log_p, _ = compiled(quadrature)(vae, space)
    assert_draws_match(count_draws(space, vae.sample), np.exp(log_p))


@pytest.mark.parametrize("space", SPACES, ids=str)
def test_estimates(space):
    """E elbo is the ELBO, so is E log_prob of one draw, and E exp(log_prob) is p(x).

    More draws give a better bound: ELBO < E log_prob of 5 draws < log p(x), averaged over x.
    """
    vae, num_repeats = tiny(space), 20_000

    @compiled
    def estimate(vae):
        def each(draw):
            keys = jax.random.split(jax.random.key(0), (num_repeats, space.size))
            return jax.vmap(lambda keys: jax.vmap(draw)(keys, space.enumerate()))(keys)

        bounds = [each(lambda k, x, n=n: vae.log_prob(k, x, n)) for n in (1, 5)]
        return each(vae.elbo), *bounds, *quadrature(vae, space)

    bound, one, five, log_p, elbo = (np.asarray(a, np.float64) for a in estimate(vae))
    assert_mean_matches(bound, elbo)
    assert_mean_matches(one, elbo)
    assert_mean_matches(np.exp(five), np.exp(log_p))
    mean_five = five.mean(axis=1)  # over x
    error = norm.isf(ALPHA) * mean_five.std() / np.sqrt(num_repeats)
    assert elbo.mean() + error < mean_five.mean() < log_p.mean() - error


def test_latents_of_more_dimensions():
    """With 2 latents, E exp(log_prob) adds up to 1 over the space, as probabilities do."""
    space = Bits(3)
    vae = tiny(space, latent_dim=2)

    @compiled
    def total(vae):
        of_key = lambda key: jnp.exp(
            jax.vmap(lambda x: vae.log_prob(key, x, 20))(space.enumerate())
        ).sum()
        return jax.vmap(of_key)(jax.random.split(jax.random.key(0), 2000))

    assert_mean_matches(total(vae), [1.0])


def test_the_decoder_has_the_layers_of_the_encoder_in_reverse():
    vae = randomised(VAE, Bits(5), latent_dim=2, hidden=(4, 3))
    sizes = lambda net: [layer.weight.shape[::-1] for layer in net.layers]
    assert sizes(vae.encoder) == [(5, 4), (4, 3), (3, 2 * 2)]
    assert sizes(vae.decoder) == [(2, 3), (3, 4), (4, 5)]


def test_bad_arguments():
    with pytest.raises(InputError, match="latent_dim must be at least 1, got 0"):
        VAE(Bits(3), latent_dim=0, key=jax.random.key(0))
    with pytest.raises(InputError, match="VAE needs Bits or Categorical, got Sequences"):
        VAE(Sequences(3, 2), key=jax.random.key(0))
    vae, x = tiny(Bits(3)), jnp.zeros(3, jnp.int32)
    with pytest.raises(InputError, match="num_draws must be at least 1, got 0"):
        vae.log_prob(jax.random.key(0), x, 0)
    with pytest.raises(InputError, match="a VAE models x alone, but got a condition"):
        vae.elbo(jax.random.key(0), x, jnp.zeros(2))
