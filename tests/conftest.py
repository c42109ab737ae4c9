"""Shape checks on every function of the library, for all tests; a bound on compiled programs."""

import jax
import jaxtyping
import pytest

# Stays installed: every module of the package is checked, whenever it is imported.
jaxtyping.install_import_hook("aloex", "beartype.beartype")


@pytest.fixture(autouse=True, scope="module")
def compiled_programs_are_dropped():
    """A process may map some 65,000 pieces of memory; with all programs of all tests it has more.

    Then the compiler crashes.
    """
    yield
    jax.clear_caches()
