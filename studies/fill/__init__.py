"""The column filler on tasks as people have them: how often it is right, and how often it knows."""
