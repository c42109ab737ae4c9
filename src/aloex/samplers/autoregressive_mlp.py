"""An autoregressive q0 with one MLP per site: q0(x | z) = prod_i q_i(x_i | x_{<i}, z).

Each site embeds its prefix with weights of its own, and one shared head turns the embedding into
the site's distribution. All sites' weights are stacked, so scoring is a few batched products.
"""

from collections.abc import Sequence

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jax.typing import DTypeLike
from jaxtyping import Array, Bool, Float, Int, Key

from aloex.base.errors import require
from aloex.nets import Dense, Features, elu, on_cpu
from aloex.spaces import Space, require_fixed_length

Layers = tuple[tuple[Array, Array], ...]  # weight [sites, n_in, n_out] and bias [sites, n_out]


class AutoregressiveMLP(eqx.Module):
    """The paper's: prefix MLPs [i, 512, 512, 256], a shared head [256, 512, values].

    Args:
        space: `Bits` or `Categorical`.
        hidden: sizes of the MLP of each prefix; the last is that of the embedding.
        head_hidden: size of the shared head's hidden layer.
        cond_dim: size of z; 0 without conditions.
        embed_dim: size of a value's embedding where values are more than two.
        lookahead: sites drawn per round. More means more arithmetic, fewer rounds and the same
            draws; 2 suits an accelerator.
        dtype: of activations and products, bfloat16 on an accelerator, say. Parameters stay as
            they are.
        key: for the weights.

    >>> import jax
    >>> from aloex.spaces import Categorical
    >>> q0 = AutoregressiveMLP(Categorical(2, 3), hidden=(4,), head_hidden=4, key=jax.random.key(0))
    >>> x = q0.sample(jax.random.key(1))
    >>> x.shape, bool(q0.log_prob(x) < 0)
    ((2,), True)
    """

    features: Features
    weights: tuple[Float[Array, "dim n_in n_out"], ...]
    biases: tuple[Float[Array, "dim n_out"], ...]
    head: Dense
    lookahead: int = eqx.field(static=True)
    dtype: DTypeLike | None = eqx.field(static=True)

    def __init__(
        self,
        space: Space,
        *,
        hidden: tuple[int, ...] = (512, 512, 256),
        head_hidden: int = 512,
        cond_dim: int = 0,
        embed_dim: int = 8,
        lookahead: int = 1,
        dtype: DTypeLike | None = None,
        key: Key[Array, ""],
    ):
        require_fixed_length(space, "AutoregressiveMLP")
        key_features, key_head, *keys = jax.random.split(key, 2 + len(hidden))
        self.features = Features(space, cond_dim=cond_dim, embed_dim=embed_dim, key=key_features)
        require(
            lookahead >= 1 and space.dim % lookahead == 0,
            f"lookahead must divide the {space.dim} sites, got {lookahead}",
        )
        self.lookahead, self.dtype = lookahead, dtype
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
        self.head = Dense((hidden[-1], head_hidden, space.num_values), key=key_head)

    def _mask(self) -> Bool[np.ndarray, "dim size"]:
        """Which features site i may see: those of the sites before it, and z."""
        dim, cond_dim = self.features.dim, self.features.cond_dim
        width = (self.features.size - cond_dim) // dim
        prefix = np.repeat(np.tril(np.ones((dim, dim), bool), -1), width, axis=1)
        return np.concatenate([prefix, np.ones((dim, cond_dim), bool)], axis=1)

    def _log_probs(
        self, layers: Layers, features: Float[Array, "rows size"], sites: slice
    ) -> Float[Array, "rows sites values"]:
        """log q_i(v | prefix) of every row at each site of the slice."""
        layers = tuple((weight[sites], bias[sites]) for weight, bias in layers)
        logits = self._logits(layers, jnp.where(self._mask()[sites, None], features, 0))
        return jnp.swapaxes(jax.nn.log_softmax(logits), 0, 1)

    def _layers(self) -> Layers:
        """(weight, bias) of all sites per layer, in the precision of the arithmetic."""
        pairs = tuple(zip(self.weights, self.biases, strict=True))
        return jax.tree.map(lambda a: a.astype(self.dtype or a.dtype), pairs)

    def _logits(
        self, layers: Layers, h: Float[Array, "sites rows size"]
    ) -> Float[Array, "sites rows values"]:
        # Axes are [site, row, feature] throughout: batched products with nothing to transpose.
        cast = lambda a: a.astype(layers[0][0].dtype)
        h = cast(h)
        for i, (weight, bias) in enumerate(layers):
            h = (elu(h) if i else h) @ weight + bias[:, None]
        into, out = self.head.layers
        h = elu(h @ cast(into.weight.T) + cast(into.bias))
        return (h @ cast(out.weight.T)).astype(self.head.dtype) + out.bias

    def _features(
        self, x: Int[Array, "rows dim"], z: Float[Array, "rows cond"] | None
    ) -> Float[Array, "rows size"]:
        dtype = self.weights[0].dtype
        return jax.vmap(lambda x, z: self.features(x, z, dtype))(x, z)

    def log_prob(self, x: Int[Array, " dim"], z: Array | None = None) -> Float[Array, ""]:
        features = self._features(x[None], None if z is None else z[None])
        log_probs = self._log_probs(self._layers(), features, slice(None))[0]
        return jnp.sum(jnp.take_along_axis(log_probs, x[:, None], axis=1))

    def sample(self, key: Key[Array, ""], z: Array | None = None) -> Int[Array, " dim"]:
        """One draw, `lookahead` sites at a time: all prefixes that may come up are scored."""
        ahead, dim, num_values = (
            self.lookahead,
            self.features.dim,
            self.head.out_size,
        )
        dtype = self.weights[0].dtype
        noise = jax.random.gumbel(key, (dim, num_values), dtype)
        stride = num_values ** np.arange(ahead - 2, -1, -1)
        maybe = np.arange(num_values ** (ahead - 1))[:, None] // stride % num_values

        def draw(
            x: Int[Array, " dim"], block: tuple[Array, Array, Array, Layers]
        ) -> tuple[Int[Array, " dim"], None]:
            begin, mask, noise, layers = block
            xs = jnp.broadcast_to(x, (maybe.shape[0], dim))
            xs = jax.lax.dynamic_update_slice(xs, maybe.astype(x.dtype), (0, begin))
            features = jax.vmap(lambda x: self.features(x, z, dtype))(xs)
            logits = self._logits(layers, jnp.where(mask[:, None], features, 0))
            row = 0  # of `maybe`: the values chosen so far, then zeros
            for i in range(ahead):
                value = jnp.argmax(logits[i, row] + noise[i]).astype(x.dtype)  # Gumbel-max
                x = x.at[begin + i].set(value)
                row = row + value * (stride[i] if i < ahead - 1 else 0)
            return x, None

        blocks = jax.tree.map(
            lambda a: a.reshape(dim // ahead, ahead, *a.shape[1:]),
            (self._mask(), noise, self._layers()),
        )
        begins = jnp.arange(0, dim, ahead)
        x = jnp.zeros(dim, jnp.int32)
        unroll = 1 if on_cpu() else min(8, len(begins))
        return jax.lax.scan(draw, x, (begins, *blocks), unroll=unroll)[0]

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
        # Sites share a batched product, at the price of rows that only the last of them needs.
        group = 4 if on_cpu() else 16
        for begin in range(0, dim, group):
            end = min(begin + group, dim)
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
