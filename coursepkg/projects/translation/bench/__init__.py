"""Suites of `coursepkg bench` that measure this project."""
