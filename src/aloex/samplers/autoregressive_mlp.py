"""An autoregressive q0 with one MLP per site: q0(x | z) = prod_i q_i(x_i | x_{<i}, z).

Each site embeds its prefix with weights of its own, and one shared head turns the embedding into
the site's distribution. All sites' weights are stacked, so scoring is a few batched products.
"""

from collections.abc import Sequence

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Int, Key

from aloex.nets import Features, elu, mlp
from aloex.spaces import Space

GROUP = 4  # sites scored in one batched product when the number of rows differs between sites


class AutoregressiveMLP(eqx.Module):
    """The paper's: prefix MLPs [i, 512, 512, 256], a shared head [256, 512, values]."""

    features: Features
    weights: tuple[Float[Array, "dim n_in n_out"], ...]
    biases: tuple[Float[Array, "dim n_out"], ...]
    head: eqx.nn.Sequential

    def __init__(
        self,
        space: Space,
        *,
        hidden: tuple[int, ...] = (512, 512, 256),
        head_hidden: int = 512,
        cond_dim: int = 0,
        embed_dim: int = 8,
        key: Key[Array, ""],
    ):
        key_features, key_head, *keys = jax.random.split(key, 2 + len(hidden))
        self.features = Features(space, cond_dim=cond_dim, embed_dim=embed_dim, key=key_features)
        sizes = (self.features.size, *hidden)
        weights, biases = [], []
        for layer, (key_layer, n_in, n_out) in enumerate(
            zip(keys, sizes[:-1], sizes[1:], strict=True)
        ):
            # The first layer of site i sees only its prefix: scale by what it sees.
            seen = self._mask().sum(axis=1) if layer == 0 else np.full(space.dim, n_in)
            bound = 1 / np.sqrt(np.maximum(seen, 1))[:, None]
            key_weight, key_bias = jax.random.split(key_layer)
            shape = (space.dim, n_in, n_out)
            weights.append(jax.random.uniform(key_weight, shape, minval=-1) * bound[:, :, None])
            biases.append(jax.random.uniform(key_bias, (space.dim, n_out), minval=-1) * bound)
        self.weights, self.biases = tuple(weights), tuple(biases)
        self.head = mlp((hidden[-1], head_hidden, space.num_values), key=key_head)

    def _mask(self) -> Bool[np.ndarray, "dim size"]:
        """Which features site i may see: those of the sites before it, and z."""
        dim, cond_dim = self.features.dim, self.features.cond_dim
        width = (self.features.size - cond_dim) // dim
        prefix = np.repeat(np.tril(np.ones((dim, dim), bool), -1), width, axis=1)
        return np.concatenate([prefix, np.ones((dim, cond_dim), bool)], axis=1)

    def _layers(self) -> list[tuple[Array, Array]]:
        """(weight, bias) per layer, the first with the unseen features' weights at zero."""
        first = jnp.where(self._mask()[:, :, None], self.weights[0], 0)
        return list(zip((first, *self.weights[1:]), self.biases, strict=True))

    def _log_probs(
        self, layers, features: Float[Array, "rows size"], sites: slice
    ) -> Float[Array, "rows sites values"]:
        """log q_i(v | prefix) of every row at each site of the slice."""
        (weight, bias), *rest = layers
        h = jnp.einsum("sfh,rf->srh", weight[sites], features) + bias[sites, None]
        for weight, bias in rest:
            h = jnp.einsum("sfh,srf->srh", weight[sites], elu(h)) + bias[sites, None]
        logits = jax.vmap(jax.vmap(self.head))(h)
        return jnp.swapaxes(jax.nn.log_softmax(logits), 0, 1)

    def _features(self, x: Int[Array, "rows dim"], z: Float[Array, "rows cond"] | None):
        dtype = self.weights[0].dtype
        return jax.vmap(lambda x, z: self.features(x, z, dtype))(x, z)

    def log_prob(self, x: Int[Array, " dim"], z: Array | None = None) -> Float[Array, ""]:
        features = self._features(x[None], None if z is None else z[None])
        log_probs = self._log_probs(self._layers(), features, slice(None))[0]
        return jnp.sum(jnp.take_along_axis(log_probs, x[:, None], axis=1))

    def sample(self, key: Key[Array, ""], z: Array | None = None) -> Int[Array, " dim"]:
        layers = self._layers()
        dim = self.features.dim

        def draw(x, per_site):
            site, noise, layers = per_site
            h = self.features(x, z, self.weights[0].dtype)
            for i, (weight, bias) in enumerate(layers):
                h = (elu(h) if i else h) @ weight + bias
            value = jnp.argmax(self.head(h) + noise).astype(x.dtype)  # Gumbel-max
            return x.at[site].set(value), None

        dtype = self.weights[0].dtype
        noise = jax.random.gumbel(key, (dim, self.head[-1].out_features), dtype)
        x = jnp.zeros(dim, jnp.int32)
        return jax.lax.scan(draw, x, (jnp.arange(dim), noise, layers))[0]

    def log_prob_near(
        self,
        x: Int[Array, "targets dim"],
        variants: Int[Array, "rows dim"],
        owner: Int[Array, " rows"],
        z: Float[Array, "targets cond"] | None,
        max_changed_before: Sequence[int],
    ) -> tuple[Float[Array, " targets"], Float[Array, " rows"], Bool[Array, " rows"]]:
        """log q0 of targets and of variants of them, each variant knowing its `owner`.

        A variant shares its target's conditionals up to the first site where it differs, so site i
        is scored only for the variants that changed before it: the first `max_changed_before[i]`
        of them in order of that site. The last result says which variants found room.
        """
        num_targets, dim = x.shape
        rows = jnp.arange(variants.shape[0])
        differs = variants != x[owner]
        first = jnp.where(differs.any(axis=1), jnp.argmax(differs, axis=1), dim)
        order = jnp.argsort(first)
        rank = jnp.zeros_like(order).at[order].set(rows.astype(order.dtype))

        everyone = jnp.concatenate([x, variants[order]])
        z_all = None if z is None else jnp.concatenate([z, z[owner[order]]])
        features, layers = self._features(everyone, z_all), self._layers()
        fits = jnp.ones(rows.shape, bool)
        of_targets, of_variants = [], []
        for begin in range(0, dim, GROUP):
            end = min(begin + GROUP, dim)
            room = min(max_changed_before[end - 1], rows.shape[0])
            sites = slice(begin, end)
            log_probs = self._log_probs(layers, features[: num_targets + room], sites)
            values = everyone[num_targets : num_targets + room, sites, None]
            own = jnp.take_along_axis(log_probs[num_targets:], values, axis=2)[..., 0]
            of_targets.append(log_probs[:num_targets])
            of_variants.append(jnp.pad(own, ((0, rows.shape[0] - room), (0, 0))))
            fits = fits & ((rank < room) | (first >= end - 1))

        by_target = jnp.concatenate(of_targets, axis=1)
        own = jnp.concatenate(of_variants, axis=1)[rank]
        shared = by_target[owner[:, None], jnp.arange(dim), variants]
        log_q = jnp.where(jnp.arange(dim) > first[:, None], own, shared).sum(axis=1)
        log_q_x = jnp.take_along_axis(by_target, x[..., None], axis=2)[..., 0].sum(axis=1)
        return log_q_x, log_q, fits
