from fuzz_targets import clang, corpus, faults, heavy, libpng, quiet, secrets, stairs, tiny, wild

__all__ = [
    "clang",
    "corpus",
    "faults",
    "heavy",
    "libpng",
    "quiet",
    "secrets",
    "stairs",
    "tiny",
    "wild",
]
