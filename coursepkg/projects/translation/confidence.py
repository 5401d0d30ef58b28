"""How far a translation can be trusted: a probability, from what the model itself sees.

| feature | what it is |
| --- | --- |
| log_prob | mean log-probability of the tokens of the translation |
| reverse | the same of the source's tokens, read back from the translation |
| ratio | logarithm of the tokens of the translation for each token of the source |
| ratio_squared | its square: with it a length may be too small or too large |
| size | logarithm of the tokens of the source |
| tokens_per_letter | logarithm of tokens for each letter of the source's words |
| known | share of the source's tokens that are no single bytes and not unknown |

Rare words are cut into many pieces, more tokens for each letter. A logistic regression
of all features but the last, one for each direction, says how likely the translation is
usable: chrF of at least 40 against a reference, or 25 if it is Chinese. It is fitted on
a dev part and run-on sentences made of it (`coursepkg translation calibrate`) and
stored as `confidence.json` beside the model. What it says is multiplied by `known`: dev
holds nearly no text that the model cannot spell, so a fitted weight would be noise. A
translation that is more likely unusable than usable is doubtful. Estimates of this kind
are known as quality estimation; for the features see Fomicheva et al. (arXiv
2005.10608).

What is read back also chooses between the hypotheses y of a search for a source x:

    score(y) = log p(y | x) / penalty(|y|) + weight * log p(x | y) / penalty(|x|)

This is noisy-channel reranking (Yee et al., arXiv 1908.05731): given a hypothesis that
leaves something out, the source is less likely. `coursepkg.decoding.rerank` has the
mechanism for any scores; here marks go first, and an exported model takes part.
"""

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import torch
from torch import Tensor

from coursepkg.decoding.step import Hypothesis
from coursepkg.files import read_json, write_json
from coursepkg.projects.translation.placeholders import Masked, marked, n_lost
from coursepkg.text.tokenizer import BYTE_TOKENS, WORD_MARK
from coursepkg.text.vocabulary import SPECIALS, UNK

if TYPE_CHECKING:
    from coursepkg.projects.translation.predict import (
        Alternative,
        Translation,
        Translator,
    )

FILE = "confidence.json"
"""In the folder of a model."""
FEATURES = (
    "log_prob",
    "reverse",
    "ratio",
    "ratio_squared",
    "size",
    "tokens_per_letter",
    "known",
)
PSEUDO_COUNTS = 5, 20
"""Tokens and letters that are added to those of each source, since a sentence of two
short words has few letters for each token and no rare word."""
_UNREADABLE = frozenset((*BYTE_TOKENS, SPECIALS[UNK]))


@dataclass(frozen=True)
class Calibration:
    """A fitted regression for each direction of a model."""

    weights: dict[str, list[float]]
    """By direction, such as "zh-vi": the bias, then a weight for each of `FEATURES` but
    the last."""
    fitted_on: str
    """The sentences that it was fitted on, in a few words."""

    @classmethod
    def load(cls, folder: Path) -> "Calibration | None":
        """What `save` wrote into the folder of a model; None where there is none.

        Raises:
            ValueError: the file is damaged, or was fitted for other features.
        """
        path = folder / FILE
        if not path.is_file():
            return None
        needs = {"weights": dict, "fitted_on": str}
        told = read_json(path, needs=needs)
        n = len(FEATURES)

        def is_fitted(told: Any) -> bool:
            is_long = isinstance(told, list) and len(told) == n
            return is_long and all(
                isinstance(one, int | float) and math.isfinite(one) for one in told
            )

        if not all(map(is_fitted, told["weights"].values())):
            raise ValueError(
                f"{path} must hold {n} weights for each direction; remove it and run"
                " `coursepkg translation calibrate`"
            )
        return cls(**{name: told[name] for name in needs})

    def save(self, folder: Path) -> None:
        """Write it beside a model."""
        write_json(folder / FILE, asdict(self))

    def knows(self, source: str, target: str) -> bool:
        """Whether it was fitted for a direction."""
        return f"{source}-{target}" in self.weights

    def probabilities(self, features: Tensor, source: str, target: str) -> list[float]:
        """How likely translations are usable, from their features (N, 7)."""
        bias, *weights = self.weights[f"{source}-{target}"]
        judged, known = features[:, :-1], features[:, -1]
        logits = bias + judged @ torch.tensor(weights, dtype=features.dtype)
        return (torch.sigmoid(logits) * known).tolist()


def features_of(
    translator: "Translator",
    sources: Sequence[Masked],
    found: Sequence["Translation"],
    source: str,
    target: str,
) -> Tensor:
    """The features of translations, (N, 7) in the order of `FEATURES`.

    A model that does not translate back has 0 for `reverse`.
    """
    best = [one.n_best[0] for one in found]
    own = [[t for t in one.source_tokens if not t.startswith("<2")] for one in found]
    ratios = [
        math.log(max(1, len(one.tokens)) / max(1, len(tokens)))
        for one, tokens in zip(best, own, strict=True)
    ]
    rows = {
        "log_prob": [math.log(max(one.confidence, 1e-300)) for one in best],
        "reverse": _reverse(translator, sources, best, source, target),
        "ratio": ratios,
        "ratio_squared": [ratio**2 for ratio in ratios],
        "size": [math.log(max(1, len(tokens))) for tokens in own],
        "tokens_per_letter": [tokens_per_letter(tokens) for tokens in own],
        "known": [
            1.0 - sum(t in _UNREADABLE for t in tokens) / max(1, len(tokens))
            for tokens in own
        ],
    }
    return torch.tensor([rows[name] for name in FEATURES], dtype=torch.float64).T


def judged(
    translator: "Translator",
    sources: Sequence[Masked],
    made: Sequence["Translation"],
    source: str,
    target: str,
) -> Sequence["Translation"]:
    """Translations with the probability that they are usable, where it is known."""
    fitted = translator.calibration
    if fitted is None or not fitted.knows(source, target):
        return made
    features = features_of(translator, sources, made, source, target)
    known = fitted.probabilities(features, source, target)
    return [replace(one, usable=p) for one, p in zip(made, known, strict=True)]


def tokens_per_letter(tokens: Sequence[str]) -> float:
    """Logarithm of tokens for each letter, over the pieces that hold letters.

    Marks and punctuation are no words and do not count.

    Example:
        >>> round(tokens_per_letter(["▁vegetables"]), 2)
        -1.61
        >>> round(tokens_per_letter(["▁z", "uc", "ch", "ini"]), 2)
        -1.13
    """
    pieces = [token for token in tokens if any(map(str.isalpha, token))]
    n_letters = sum(
        1 if one in _UNREADABLE else len(one.replace(WORD_MARK, "")) for one in pieces
    )
    return math.log((len(pieces) + PSEUDO_COUNTS[0]) / (n_letters + PSEUDO_COUNTS[1]))


def _reverse(
    translator: "Translator",
    sources: Sequence[Masked],
    best: Sequence["Alternative"],
    source: str,
    target: str,
) -> list[float]:
    """Mean log-probability of each source's tokens, read back from its translation."""
    known = [one.reverse for one in best if one.reverse is not None]
    if len(known) == len(best):
        return known
    if not translator.reads_back(source, target):
        return [0.0] * len(best)
    pairs = [
        (masked.text, marked(one.line, masked.values))
        for one, masked in zip(best, sources, strict=True)
    ]
    return [total / n for total, n in read_back(translator, pairs, source, target)]


def read_back(
    translator: "Translator",
    pairs: Sequence[tuple[str, str]],
    source: str,
    target: str,
) -> list[tuple[float, int]]:
    """log p of sources given translations, and each one's number of tokens with EOS.

    What is longer than the model takes is cut.

    Args:
        translator: that translates `target` into `source`, too.
        pairs: a source and a translation, both with marks.
    """
    if not pairs:
        return []
    texts, lines = [text for text, _ in pairs], [line for _, line in pairs]
    most, subwords = translator.longest, translator.subwords
    wanted = [ids[:most] for ids in subwords.encode_targets(texts, source)]
    read = [ids[:most] for ids in subwords.encode_sources(lines, target, source)]
    sums = translator.log_probs(read, wanted)
    return [(total, len(ids) + 1) for total, ids in zip(sums, wanted, strict=True)]


class Ranked(NamedTuple):
    """A hypothesis in its place."""

    hypothesis: Hypothesis
    line: str
    """What it says, in the form of the training data, with marks."""
    score: float
    """What ranks it among those that keep as many marks and ended."""
    reverse: float | None = None
    """Mean log-probability of the source's tokens, read back; None where it was not."""


def rank(
    translator: "Translator",
    parts: Sequence[Masked],
    found: Sequence[Sequence[Hypothesis]],
    source: str,
    target: str,
    reverse_weight: float,
    length_penalty: float,
) -> list[list[Ranked]]:
    """Hypotheses of each source, best first.

    Args:
        parts: the sources, masked.
        reverse_weight: of the formula above; 0 keeps the order of the search.
        length_penalty: exponent of the search's length penalty.
    """
    rows = [
        [Ranked(one, translator.line_of(one, part), one.score) for one in own]
        for part, own in zip(parts, found, strict=True)
    ]
    if reverse_weight:
        pairs = [
            (part.text, row.line)
            for part, own in zip(parts, rows, strict=True)
            for row in own
        ]
        known = iter(read_back(translator, pairs, source, target))
        rows = [
            [
                row._replace(
                    score=row.score
                    + reverse_weight * translator.penalised(*back, length_penalty),
                    reverse=back[0] / back[1],
                )
                for row, back in zip(own, islice(known, len(own)), strict=True)
            ]
            for own in rows
        ]
    is_masked = translator.recipe.placeholders == "mask"
    for part, own in zip(parts, rows, strict=True):
        if reverse_weight:
            own.sort(key=lambda row: (not row.hypothesis.finished, -row.score))
        if is_masked:
            # Sorting is stable: among those that keep as much the score decides.
            own.sort(key=lambda row: n_lost(row.line, part))
    return rows
