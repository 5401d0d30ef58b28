"""The three applications of the course, each built from the shared parts of the package."""
