"""The uniform law: its draws follow its probabilities."""

import jax
import numpy as np
import pytest

from aloex.samplers import Uniform
from aloex.spaces import Categorical, Mixed, Sequences
from stats import assert_draws_match, count_draws

SPACES = [Categorical(2, 3), Mixed((2, 3)), Sequences(2, 2)]


@pytest.mark.parametrize("space", SPACES, ids=repr)
def test_uniform(space):
    q = Uniform(space)
    log_probs = jax.vmap(q.log_prob)(space.enumerate())
    np.testing.assert_allclose(np.exp(log_probs), 1 / space.size, rtol=1e-6)
    assert_draws_match(count_draws(space, q.sample), np.exp(log_probs))
