"""The contrastive stage: versions of a sentence, batches, losses, and what they did to the encoder."""
