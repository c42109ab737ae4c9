"""`aloex fuzz`."""
