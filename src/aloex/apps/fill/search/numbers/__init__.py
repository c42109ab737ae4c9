"""Numbers that the outputs show, worked out backwards."""
