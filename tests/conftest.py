"""Shape checks on every function of the library; compiled programs, kept and shared."""

import os
from pathlib import Path

# Tests compile the same programs again and again: in both workers, in processes that they start,
# in the next run. A folder shared by all keeps what took long. The bound on its size is there for
# its lock: without a bound JAX takes none, and one worker could read what another has half written.
KEPT = {
    "JAX_COMPILATION_CACHE_DIR": str(Path(__file__).parents[1] / "build" / "compiled"),
    "JAX_COMPILATION_CACHE_MAX_SIZE": str(2 * 2**30),
    "JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS": "0.3",
}
if "JAX_COMPILATION_CACHE_DIR" not in os.environ:  # another folder has its own rules
    os.environ.update(KEPT)

import jax  # noqa: E402
import jaxtyping  # noqa: E402
import pytest  # noqa: E402

# Stays installed: every module of the package is checked, whenever it is imported.
jaxtyping.install_import_hook("aloex", "beartype.beartype")


# Tests of algorithms compile many small programs and run each once: haste pays there.
IN_HASTE = ("kernels", "learning", "log_z", "mcmc", "proposals")


@pytest.fixture(autouse=True, scope="module")
def compiled_programs(request):
    """They are dropped with their module, and compiled without optimizations in some folders.

    A process may map some 65,000 pieces of memory; with all programs of all tests it has more.
    Then the compiler crashes.
    """
    in_haste = request.path.parent.name in IN_HASTE
    jax.config.update("jax_disable_most_optimizations", in_haste)
    os.environ["JAX_DISABLE_MOST_OPTIMIZATIONS"] = str(int(in_haste))  # of processes tests start
    yield
    jax.config.update("jax_disable_most_optimizations", False)
    os.environ["JAX_DISABLE_MOST_OPTIMIZATIONS"] = "0"
    jax.clear_caches()
