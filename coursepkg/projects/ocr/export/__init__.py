"""A trained recogniser as a program for other runtimes."""
