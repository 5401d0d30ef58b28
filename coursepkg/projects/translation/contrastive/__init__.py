"""The contrastive stage: versions of a sentence, batches, losses and measures."""
