"""The three applications of the course, built from the parts of the package."""
