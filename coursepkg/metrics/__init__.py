"""Scores of translations, transcriptions and classifiers, each with a signature.

A metric is a small frozen object: `BLEU(tokenize="zh")`. `score` applies it to a test
set, `sentence_scores` to every sentence, `compare` to two systems.
"""

from coursepkg.lazy import lazy_names

__all__, __getattr__, __dir__ = lazy_names(
    __name__,
    {
        "bleu": "BLEU brevity_penalty",
        "chrf": "CHRF",
        "classification": "Accuracy MacroF1 confusion_matrix wilson_interval",
        "edit": "CER WER align edit_distance",
        "meteor": "METEOR count_chunks match_words",
        "ngrams": "most n_matches tokenize",
        "rouge": "ROUGE lcs_length",
        "scoring": (
            "Comparison Interval Metric Score compare interval_of resampled_values "
            "score sentence_scores"
        ),
        "ter": "TER count_edits",
    },
)
