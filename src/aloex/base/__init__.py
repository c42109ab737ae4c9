"""What needs no JAX and stands below everything: errors, files, signals, progress, pages."""
