"""Text-to-text translation with T5 through Hugging Face, and readings of Nom."""
