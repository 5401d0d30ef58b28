"""Which sentences go wrong, how, and repairs: groups of errors, a dictionary, numbers, terms."""
