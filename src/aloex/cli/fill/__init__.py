"""`aloex fill`, and `aloex programs`: the networks and the energy behind it."""
