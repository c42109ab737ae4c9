"""Dates and times: the layouts that are read, rounding, and the parts that are written."""
