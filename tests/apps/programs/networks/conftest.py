"""Networks here are tiny and run a few times: compile them in haste."""

import jax
import pytest


@pytest.fixture(autouse=True, scope="module")
def quick():
    jax.config.update("jax_disable_most_optimizations", True)
    yield
    jax.config.update("jax_disable_most_optimizations", False)
