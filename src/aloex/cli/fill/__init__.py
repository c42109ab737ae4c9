"""`aloex fill` and `aloex fill apply`."""
