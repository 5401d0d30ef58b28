"""Corpora read from their files: the open corpus, and a user's own sentence pairs."""
