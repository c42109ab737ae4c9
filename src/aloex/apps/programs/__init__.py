"""The paper's string programs: language, version spaces, tasks, and networks that write them."""
