"""Scores of translations, transcriptions and classifiers, each with the signature that makes it comparable.

A metric is a small frozen object: `BLEU(tokenize="zh")`. `score` applies it to a test set, `sentence_scores` to every
sentence, `compare` to two systems. The names below are looked up on first use, so that importing the package costs
nothing.
"""

from coursepkg.lazy import lazy_names

_HOME = {
    "BLEU": "bleu",
    "CHRF": "chrf",
    "TER": "ter",
    "ROUGE": "rouge",
    "METEOR": "meteor",
    "CER": "edit",
    "WER": "edit",
    "align": "alignment",
    "edit_distance": "alignment",
    "Accuracy": "classification",
    "MacroF1": "classification",
    "confusion_matrix": "classification",
    "tokenize": "tokenizers",
    "score": "scoring",
    "sentence_scores": "scoring",
    "Score": "signature",
    "Metric": "signature",
    "compare": "bootstrap",
    "Comparison": "bootstrap",
    "Interval": "signature",
}

__all__ = list(_HOME)

__getattr__, __dir__ = lazy_names(__name__, _HOME)
