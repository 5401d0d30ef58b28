"""What the verbs of `coursepkg translation` do."""
