"""Atoms of texts: parts of cells, and cells rewritten."""
