"""Finding programs of the table language that fit examples."""
