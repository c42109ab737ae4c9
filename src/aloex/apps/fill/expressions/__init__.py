"""The table language: expressions that make a text from a row of cells."""
