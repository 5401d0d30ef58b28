"""Translation before neural networks: rules, and statistics of words and phrases."""
