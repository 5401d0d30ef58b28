"""The unigram model's choice among segmentations: the most probable one, or a random one.

A segmentation x = (x_1, ..., x_n) of a text has probability P(x) = p(x_1) ... p(x_n); log p of each piece is given.
Kudo 2018, Subword Regularization, arXiv 1804.10959. Both functions walk over the text once, from left to right,
keeping one number for each place where a piece may end: n L steps for n characters and pieces of L at most.
"""

import math
from collections.abc import Callable, Iterator, Mapping
from itertools import pairwise


def best_segmentation(
    text: str, log_probs: Mapping[str, float], *, longest: int, unknown: float
) -> tuple[list[str], float]:
    """The segmentation of largest P(x), found by the Viterbi algorithm, and its log P(x).

    best(0) = 0 and best(j) = max over pieces text[i:j] of best(i) + log p(text[i:j]).

    Args:
        text: what to cut; SentencePiece marks the start of each word in it.
        log_probs: log-probability of each piece.
        longest: length of the longest piece, in characters.
        unknown: what a character costs that is no piece by itself.
    """
    best = [0.0] + [-math.inf] * len(text)
    start = [0] * (len(text) + 1)
    for j in range(1, len(text) + 1):
        for i, log_prob in _pieces_ending_at(j, text, log_probs, longest, unknown):
            if best[i] + log_prob > best[j]:
                best[j], start[j] = best[i] + log_prob, i
    starts = []
    j = len(text)
    while j:
        j = start[j]
        starts.append(j)
    return _cut(text, starts[::-1]), best[-1]


def sample_segmentation(
    text: str,
    log_probs: Mapping[str, float],
    *,
    longest: int,
    unknown: float,
    alpha: int | float,
    draw: Callable[[], float],
) -> list[str]:
    """A segmentation drawn with probability P(x)^alpha / sum of P(x')^alpha over all segmentations x'.

    total(j) = log of the sum over pieces text[i:j] of exp(total(i) + alpha log p(text[i:j])); then, from the end
    to the front, the last piece is drawn in proportion to its share of the total.

    Args:
        text: what to cut.
        log_probs: log-probability of each piece.
        longest: length of the longest piece, in characters.
        unknown: what a character costs that is no piece by itself.
        alpha: 0 draws uniformly from all segmentations, a large value almost always the best.
        draw: gives a number in [0, 1).
    """
    endings = [list(_pieces_ending_at(j, text, log_probs, longest, unknown)) for j in range(len(text) + 1)]
    total = [0.0] + [-math.inf] * len(text)
    for j in range(1, len(text) + 1):
        weights = [total[i] + alpha * log_prob for i, log_prob in endings[j]]
        largest = max(weights)
        total[j] = largest + math.log(sum(math.exp(weight - largest) for weight in weights))

    starts = []
    j = len(text)
    while j:
        left = draw()
        for i, log_prob in endings[j]:
            left -= math.exp(total[i] + alpha * log_prob - total[j])
            if left < 0:
                break
        starts.append(i)
        j = i
    return _cut(text, starts[::-1])


def _pieces_ending_at(
    j: int, text: str, log_probs: Mapping[str, float], longest: int, unknown: float
) -> Iterator[tuple[int, float]]:
    """Where each piece that ends at j may start, and its log-probability."""
    for i in range(j - 1, max(0, j - longest) - 1, -1):
        log_prob = log_probs.get(text[i:j], unknown if i == j - 1 else None)
        if log_prob is not None:
            yield i, log_prob


def _cut(text: str, starts: list[int]) -> list[str]:
    """The pieces of a text, given where each of them starts."""
    return [text[i:j] for i, j in pairwise([*starts, len(text)])]
