"""From a model to sentences: greedy, sampling, beam search, reranking. Token ids in, token ids out."""
