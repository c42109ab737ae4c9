"""The demo: a two-dimensional picture in 16 bits, learned, checked exactly and drawn."""

from aloex.apps.demo.study import run

__all__ = ["run"]
