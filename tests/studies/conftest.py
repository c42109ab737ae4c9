from fuzz_targets import clang, corpus, libpng, stairs, tiny

__all__ = ["clang", "corpus", "libpng", "stairs", "tiny"]
