"""Shape checks on every function of the library, and the tools that tests of random code share."""

import jaxtyping

with jaxtyping.install_import_hook("aloex", "beartype.beartype"):
    import aloex  # noqa: F401
