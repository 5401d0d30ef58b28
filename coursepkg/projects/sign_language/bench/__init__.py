"""Suites of `coursepkg bench` on clips of signs."""
