"""Program synthesis: string programs from examples, for filling the columns of tables."""
