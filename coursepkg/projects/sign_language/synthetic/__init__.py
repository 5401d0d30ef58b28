"""Generated figures sign Vietnamese words in videos laid out like the contest's."""
