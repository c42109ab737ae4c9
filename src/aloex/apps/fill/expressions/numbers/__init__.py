"""Numbers: how cells write them, what is done with them, and how they are written."""
