"""A network that predicts a byte: p(byte | position, visible neighbours).

It is learned with a random fraction of the context masked. So it answers for the whole context, for
the position alone, and for all that lies between.
"""

import equinox as eqx
import jax
from jaxtyping import Array, Float, Int, Key

from aloex.apps.fuzz.model.byte_model import ByteModel, ModelSettings
from aloex.apps.fuzz.model.contexts import MASKED, POSITION_DIM, WINDOW, position_features
from aloex.nets import Dense, Features
from aloex.spaces import Categorical


class BytePredictor(ByteModel):
    """log p(byte | context, position), by a network with one hidden layer."""

    features: Features
    net: Dense
    settings: ModelSettings = eqx.field(static=True)

    def __init__(self, settings: ModelSettings | None = None, *, key: Key[Array, ""]):
        self.settings = settings = settings or ModelSettings()
        key_features, key_net = jax.random.split(key)
        symbols = Categorical(WINDOW, MASKED + 1)
        self.features = Features(
            symbols, cond_dim=POSITION_DIM, embed_dim=settings.embed_dim, key=key_features
        )
        self.net = Dense((self.features.size, settings.hidden, 256), key=key_net)

    def __call__(
        self, x: Int[Array, " window"], offset: Int[Array, ""], after: Int[Array, ""]
    ) -> Float[Array, " values"]:
        position = position_features(offset, after)
        return jax.nn.log_softmax(self.net(self.features(x, position, self.net.dtype)))
