"""Shape checks on every function of the library, for all tests."""

import jaxtyping

# Stays installed: every module of the package is checked, whenever it is imported.
jaxtyping.install_import_hook("aloex", "beartype.beartype")
