"""Back-translation, round trips, and the files that hold what they made."""
