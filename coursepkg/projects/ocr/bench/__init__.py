"""Suites of `coursepkg bench` that measure the recogniser and its pages."""
