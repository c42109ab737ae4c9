"""The likelihood of data, given log Z: by enumeration, and its error."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from aloex import exact
from aloex.base.errors import InputError
from aloex.energies import MLP
from aloex.log_z import LogZ
from aloex.metrics import nll
from aloex.spaces import Bits
from stats import compiled, condition, randomised

BITS = Bits(4)
mean_nll = compiled(nll)
mlp = lambda space, **kwargs: randomised(MLP, space, hidden=(4,), embed_dim=2, scale=0.7, **kwargs)


@pytest.mark.parametrize("estimated", [False, True])
@pytest.mark.parametrize("cond_dim", [0, 2])
def test_nll(estimated, cond_dim):
    x, z = BITS.enumerate()[jnp.array([3, 7, 7, 12, 0])], condition(cond_dim)
    error = 0.4 if estimated else 0.0
    with exact.float64():
        f = exact.to_float64(mlp(BITS, cond_dim=cond_dim))
        log_z = exact.log_z(f, BITS, z)
        given = log_z
        if estimated:
            numbers = log_z, jnp.asarray(error), jnp.asarray(9.0)
            given = LogZ(*numbers, num_weights=10, bound="lower", method="a guess")
        found = mean_nll(f, x, given, z, batch_size=2)
        log_p = np.asarray(exact.log_p(f, BITS, z))[np.asarray(jax.vmap(BITS.index)(x))]
    np.testing.assert_allclose(found.mean, -log_p.mean(), rtol=1e-12)
    of_rows = log_p.std(ddof=1) / np.sqrt(len(log_p))
    np.testing.assert_allclose(found.standard_error, np.hypot(of_rows, error), rtol=1e-12)
    assert of_rows > 0.1


def test_nll_takes_a_plain_number():
    x = BITS.enumerate()
    f = lambda x, z=None: jnp.sum(x) * 1.0
    np.testing.assert_allclose(mean_nll(f, x, 5.0).mean, 3, rtol=1e-6)


def test_nll_needs_two_rows():
    with pytest.raises(InputError, match="two rows or more for an error, got 1"):
        nll(mlp(BITS), BITS.enumerate()[:1], 0.0)
