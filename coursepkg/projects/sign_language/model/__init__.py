"""Classify signed words by frame vectors, layers over time and one vector per clip."""
