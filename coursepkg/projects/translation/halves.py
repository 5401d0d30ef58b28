"""The dev part in two halves: settings chosen on one are judged on the other."""

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

from coursepkg.data.split import grouped_split
from coursepkg.metrics.scoring import score
from coursepkg.projects.translation.corpora import Parts
from coursepkg.projects.translation.corpus import SentencePair, pair_keys, to_scorer
from coursepkg.projects.translation.evaluate import bleu_of

HALVES_SEED = 1
"""Another one than that of any corpus: the hash that put a pair into dev would put all of dev into one half."""


def dev_halves(parts: Parts) -> tuple[list[SentencePair], list[SentencePair]]:
    """The dev part in two: one half to choose with, one half to score on; no sentence is in both.

    Raises:
        ValueError: the dev part is too small to be halved.
    """
    choose, judge = ([parts.dev[i] for i in places] for places in _places(parts))
    return choose, judge


def cross_chosen(
    candidates: Mapping[float, Sequence[str]], parts: Parts
) -> tuple[list[str], tuple[float, float]]:
    """Translations of dev, each half by the weight that scores best on the other half; and the two weights.

    Args:
        candidates: for each weight translations of the whole dev part.
        parts: the corpus.

    Raises:
        ValueError: the dev part is too small to be halved.
    """
    halves = _places(parts)

    def bleu(places: Sequence[int], weight: float) -> float:
        said = [to_scorer(candidates[weight][i], parts.target) for i in places]
        true = [to_scorer(parts.dev[i].target, parts.target) for i in places]
        return float(score(bleu_of(parts.target), said, true).value)

    best = [max(candidates, key=partial(bleu, other)) for other in reversed(halves)]
    chosen = {i: candidates[weight][i] for weight, own in zip(best, halves, strict=True) for i in own}
    return [chosen[i] for i in range(len(parts.dev))], (best[0], best[1])


def at_edge(chosen: Any, tried: Sequence[Any], names: Sequence[str]) -> list[str]:
    """Settings of which the largest or smallest of several was chosen; 0 is no edge, it leaves a part out.

    Args:
        chosen: a point of a grid.
        tried: all points of the grid.
        names: their attributes to look at.
    """
    values = {name: {getattr(point, name) for point in tried} for name in names}
    edges = {name: (min(found), max(found)) for name, found in values.items() if len(found) > 1}
    return [name for name, edge in edges.items() if (own := getattr(chosen, name)) and own in edge]


def _places(parts: Parts) -> tuple[list[int], list[int]]:
    """Numbers of the pairs of either half."""
    keys = [pair_keys(pair, parts.source, parts.target) for pair in parts.dev]
    shares = {"choose": 0.5, "judge": 0.5}
    halves = grouped_split(keys, shares, seed=HALVES_SEED) if keys else {name: [] for name in shares}
    if not all(halves.values()):
        raise ValueError(f"the dev part of {parts.corpus} has {len(parts.dev)} pairs, too few for two halves")
    return halves["choose"], halves["judge"]
