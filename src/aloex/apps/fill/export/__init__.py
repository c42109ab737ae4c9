"""Programs as Python code that needs no Aloex."""

from aloex.apps.fill.export.identifiers import identifier
from aloex.apps.fill.export.module import to_python

__all__ = ["identifier", "to_python"]
