"""Parts of dates and times that the outputs show."""
