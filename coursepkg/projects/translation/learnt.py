"""What a model has learnt from, rebuilt from its card; by it a test sentence is known as seen or unseen."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from coursepkg.projects.translation.corpora import CORPORA, Parts, load_parts, random_split
from coursepkg.projects.translation.corpus import SentencePair

RANDOM = "-random"
"""Ends the name of a corpus that `random_split` cut."""


def seen_by(cards: Sequence[Mapping[str, Any]], language: str) -> tuple[list[SentencePair] | None, list[str]]:
    """The training sentences of a system in a language.

    Args:
        cards: for each of its models what lies beside the weights: `corpora`, `directions`, `n_train`, `n_extra`,
            `start`; and `neighbours_of`, see `ensemble.cards_of`.
        language: of the sources that are to be known as seen or unseen.

    Returns:
        pairs whose sources are the sentences, of either side of the training; or None and a note that says why the
        training cannot be rebuilt.
    """
    try:
        corpora = [parts for card in _distinct(cards) for parts in _rebuilt(card)]
    except ValueError as reason:
        return None, [f"seen and unseen sources are not told apart: {reason}"]
    pairs: list[SentencePair] = []
    for parts in corpora:
        pairs += parts.train if parts.source == language else ()
        pairs += (p.swapped() for p in parts.train) if parts.target == language else ()
    return pairs, []


def _distinct(cards: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """One card of those that tell the same of their training."""
    names = ("corpora", "directions", "n_train", "n_extra", "start", "neighbours_of")
    return list({json.dumps([card.get(name) for name in names]): card for card in cards}.values())


def _rebuilt(card: Mapping[str, Any]) -> Sequence[Parts]:
    """The corpora of a card, in the directions that were trained."""
    names = card.get("corpora")
    if not names:
        raise ValueError("the model's card names no training data")
    if card.get("start"):
        raise ValueError(f"the model began with another one ({card['start']})")
    if card.get("n_extra"):
        raise ValueError(f"the model learnt {card['n_extra']} further pairs, which its folder does not hold")
    if card.get("neighbours_of") not in (None, *names):
        raise ValueError(
            f"its neighbours come from {card['neighbours_of']}, which the model did not learn from"
        )
    # The directions begin with one for each corpus; the turned ones stand behind.
    corpora = [_corpus(name, *way) for name, way in zip(names, card["directions"], strict=False)]
    n_here, n_then = sum(len(parts.train) for parts in corpora), card.get("n_train")
    if n_here != n_then:
        raise ValueError(
            f"the training parts of {', '.join(names)} have {n_here} pairs here and had {n_then}"
        )
    return corpora


def _corpus(name: str, source: str, target: str) -> Parts:
    plain = name.removesuffix(RANDOM)
    if plain not in CORPORA:
        raise ValueError(f"the model learnt from {name}, which is none of the corpora {', '.join(CORPORA)}")
    parts = load_parts(plain, source, target)
    if parts.corpus != plain:
        raise ValueError(f"the model learnt from {name}, which is not here")
    return parts if name == plain else random_split(parts)
