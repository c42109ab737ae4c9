"""Functions and classes of ours as source that stands alone: only what is used, and in order."""

from aloex.apps.fill.export.bundle.bundle import Bundle

__all__ = ["Bundle"]
