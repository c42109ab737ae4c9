"""What needs no JAX and stands below everything: errors, files, weights, locks, signals, pages."""
