"""A language model of the target sentences, and the choice among the best translations by it."""
