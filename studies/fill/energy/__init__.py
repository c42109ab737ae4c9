"""A learned energy of programs, given the table: the challenger of the linear costs."""
