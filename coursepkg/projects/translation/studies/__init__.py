"""Searches over settings and over ways of decoding, each with a table of results."""
