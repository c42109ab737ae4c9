"""Which couplings does an Ising model have, from samples of it? A study of its own."""
