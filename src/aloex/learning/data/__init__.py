"""Data for training: tables in memory and on the disk, DataFrames, functions, iterators."""
