"""`aloex synth`."""
