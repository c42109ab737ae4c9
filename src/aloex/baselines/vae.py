"""A variational autoencoder: a Gaussian latent u, and sites that are independent given u.

    p(x) = E_{u ~ N(0, I)}[prod_i p(x_i | u)]

Training raises a lower bound on log p(x), the ELBO (Kingma & Welling 2014), with an encoder r that
is a Gaussian of independent coordinates:

    E_{u ~ r(. | x)}[log p(x | u)] - KL(r(. | x) || N(0, I)) <= log p(x)
"""

import equinox as eqx
import jax
import jax.numpy as jnp
from jax.scipy.stats import norm
from jaxtyping import Array, Float, Int, Key

from aloex.base.errors import require
from aloex.importance_weights import log_mean_exp
from aloex.nets import Dense
from aloex.spaces import Space, require_fixed_length


class VAE(eqx.Module):
    """Encoder x -> (mean, log variance) of u, decoder u -> a distribution for every site.

    Args:
        space: `Bits` or `Categorical`.
        latent_dim: size of u.
        hidden: sizes of the encoder's hidden layers; the decoder has them in reverse.
        key: for the weights.

    >>> import jax
    >>> from aloex.spaces import Bits
    >>> vae = VAE(Bits(3), latent_dim=2, hidden=(4,), key=jax.random.key(0))
    >>> x = vae.sample(jax.random.key(1))
    >>> x.shape, bool(vae.elbo(jax.random.key(2), x) < 0)
    ((3,), True)
    """

    encoder: Dense
    decoder: Dense
    space: Space = eqx.field(static=True)

    def __init__(
        self,
        space: Space,
        *,
        latent_dim: int = 16,
        hidden: tuple[int, ...] = (256, 256),
        key: Key[Array, ""],
    ):
        require_fixed_length(space, "VAE")
        require(latent_dim >= 1, f"latent_dim must be at least 1, got {latent_dim}")
        self.space = space
        size = space.dim * (space.num_values - 1)
        key_encoder, key_decoder = jax.random.split(key)
        self.encoder = Dense((size, *hidden, 2 * latent_dim), key=key_encoder)
        self.decoder = Dense((latent_dim, *hidden[::-1], size), key=key_decoder)

    def encode(
        self, x: Int[Array, " dim"]
    ) -> tuple[Float[Array, " latent"], Float[Array, " latent"]]:
        """Mean and log variance of r(u | x)."""
        # Indicators of all values but 0: bits as they are.
        ones = jax.nn.one_hot(x, self.space.num_values, dtype=self.encoder.dtype)[:, 1:]
        mean, log_var = jnp.split(self.encoder(ones.reshape(-1)), 2)
        return mean, log_var

    def decode(self, u: Float[Array, " latent"]) -> Float[Array, "dim values"]:
        """log p(x_i = v | u); the logit of value 0 is fixed at 0."""
        logits = self.decoder(u).reshape(self.space.dim, -1)
        return jax.nn.log_softmax(jnp.pad(logits, ((0, 0), (1, 0))))

    def sample(self, key: Key[Array, ""]) -> Int[Array, " dim"]:
        """One draw."""
        key_u, key_x = jax.random.split(key)
        u = jax.random.normal(key_u, (self.decoder.layers[0].weight.shape[1],), self.decoder.dtype)
        return jax.random.categorical(key_x, self.decode(u)).astype(jnp.int32)

    def elbo(
        self, key: Key[Array, ""], x: Int[Array, " dim"], z: Array | None = None
    ) -> Float[Array, ""]:
        """An unbiased estimate of the bound from one draw of u; it can be differentiated."""
        require(z is None, "a VAE models x alone, but got a condition z; leave it out")
        mean, log_var = self.encode(x)
        u = self._draw(key, mean, log_var)
        divergence = 0.5 * jnp.sum(jnp.exp(log_var) + mean**2 - 1 - log_var)
        return self._log_likelihood(x, u) - divergence

    def log_prob(
        self, key: Key[Array, ""], x: Int[Array, " dim"], num_draws: int = 1000
    ) -> Float[Array, ""]:
        """An estimate of log p(x) by importance sampling from the encoder (IWAE).

        On average it is too low, by less and less as `num_draws` grows: log of the mean of
        p(x | u) N(u; 0, I) / r(u | x).
        """
        require(num_draws >= 1, f"num_draws must be at least 1, got {num_draws}")
        mean, log_var = self.encode(x)

        def log_weight(key: Key[Array, ""]) -> Float[Array, ""]:
            u = self._draw(key, mean, log_var)
            log_prior = jnp.sum(norm.logpdf(u))
            log_r = jnp.sum(norm.logpdf(u, mean, jnp.exp(0.5 * log_var)))
            return self._log_likelihood(x, u) + log_prior - log_r

        log_weights = jax.vmap(log_weight)(jax.random.split(key, num_draws))
        return log_mean_exp(log_weights)

    def _draw(
        self,
        key: Key[Array, ""],
        mean: Float[Array, " latent"],
        log_var: Float[Array, " latent"],
    ) -> Float[Array, " latent"]:
        """u ~ r(. | x), a smooth function of the encoder's outputs."""
        return mean + jnp.exp(0.5 * log_var) * jax.random.normal(key, mean.shape, mean.dtype)

    def _log_likelihood(
        self, x: Int[Array, " dim"], u: Float[Array, " latent"]
    ) -> Float[Array, ""]:
        return jnp.sum(jnp.take_along_axis(self.decode(u), x[:, None], axis=1))
