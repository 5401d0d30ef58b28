"""The texts that a model has learnt, rebuilt from its card; by them a test line is known as seen or unseen."""

from collections.abc import Mapping
from typing import Any

from coursepkg.projects.ocr.corpora import CORPORA, load_corpus
from coursepkg.projects.ocr.corpora_generated import OWN_TEXTS
from coursepkg.projects.ocr.corpus import Corpus
from coursepkg.projects.ocr.data.splits import PROTOCOLS


def learnt_texts(card: Mapping[str, Any], corpus: Corpus) -> tuple[list[str] | None, list[str]]:
    """The training texts of a model.

    Args:
        card: what lies beside the weights: `data`, as `Corpus.described` gives it, and `start`.
        corpus: that is scored; where the model learnt from its training part, nothing is loaded again.

    Returns:
        the texts; or None and a note that says why they are not known.
    """
    try:
        return _rebuilt(card, corpus).texts["train"], []
    except ValueError as reason:
        return None, [f"seen and unseen texts are not told apart: {reason}"]


def _rebuilt(card: Mapping[str, Any], corpus: Corpus) -> Corpus:
    data = card.get("data")
    if not isinstance(data, dict) or not isinstance(data.get("source"), dict):
        raise ValueError("the model's card names no training data")
    if card.get("start"):
        raise ValueError(f"the model began with another one ({card['start']})")
    if data["source"] == dict(corpus.source):
        return corpus
    if data.get("name") not in CORPORA:
        raise ValueError(f"the model learnt from {data.get('name')}, which --data does not name")
    if OWN_TEXTS in data["source"]:
        raise ValueError("the model learnt from a user's own texts, too; give that file with --texts")
    protocol = data.get("protocol")
    split = protocol if protocol in PROTOCOLS else "auto"
    there = load_corpus(data["name"], split=split, generate=int(data.get("generate", 0)))
    if dict(there.source) != data["source"]:
        raise ValueError(f"the model learnt from another version of {data['name']} than is here")
    return there
