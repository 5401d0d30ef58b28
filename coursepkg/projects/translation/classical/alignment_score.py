"""How right a word alignment is: links taken from weights, and the alignment error rate against a hand-made one.

    AER = 1 - ( |A and S| + |A and P| ) / ( |A| + |S| )          A: found links, S: sure ones, P: possible ones, S in P

A sure link that was not found costs; so does a found link that is not even possible. Where all true links are sure,
S = P, it is 1 - F1.
Source: Och and Ney, Computational Linguistics 29(1), 2003, section 6.
"""

from collections.abc import Iterable, Sequence
from collections.abc import Set as AbstractSet
from typing import NamedTuple

import numpy as np

Links = AbstractSet[tuple[int, int]]
"""Pairs (source position, target position), from 0."""


class AlignmentScore(NamedTuple):
    """What of the links is right."""

    precision: float
    """Share of the found links that are possible; 1 where none was found."""
    recall: float
    """Share of the sure links that were found; 1 where there is none."""
    error_rate: float
    """AER, 0 is perfect."""


def score_alignments(
    found: Sequence[Links], sure: Sequence[Links], possible: Sequence[Links] | None = None
) -> AlignmentScore:
    """Score the links of some sentence pairs, counted over all of them together.

    Args:
        found: the links of each pair.
        sure: those that must be there.
        possible: those that may be there, the sure ones among them; None takes the sure ones alone.

    Raises:
        ValueError: the lists differ in length, a sure link is not possible, or there is no link at all.
    """
    allowed = sure if possible is None else possible
    if not len(found) == len(sure) == len(allowed):
        raise ValueError(
            f"found, sure and possible must have an entry a pair, got {len(found)}, {len(sure)} and {len(allowed)}"
        )
    for i, (must, may) in enumerate(zip(sure, allowed, strict=True)):
        if not must <= may:
            raise ValueError(f"possible must hold every sure link; pair {i} lacks {sorted(must - may)[0]}")
    n_found, n_sure = sum(map(len, found)), sum(map(len, sure))
    if n_found + n_sure == 0:
        raise ValueError("found and sure must hold at least one link, got none")
    right = sum(len(links & may) for links, may in zip(found, allowed, strict=True))
    hit = sum(len(links & must) for links, must in zip(found, sure, strict=True))
    return AlignmentScore(
        right / n_found if n_found else 1.0,
        hit / n_sure if n_sure else 1.0,
        1.0 - (hit + right) / (n_found + n_sure),
    )


def alignment_error_rate(
    found: Iterable[tuple[int, int]],
    sure: Iterable[tuple[int, int]],
    possible: Iterable[tuple[int, int]] | None = None,
) -> float:
    """AER of one sentence pair.

    Example:
        >>> alignment_error_rate({(0, 0), (1, 2)}, {(0, 0), (1, 1)})
        0.5

    Raises:
        ValueError: a sure link is not possible, or there is no link at all.
    """
    sure = set(sure)
    allowed = sure if possible is None else set(possible)
    return score_alignments([set(found)], [sure], [allowed]).error_rate


def best_links(weights: np.ndarray, *, least: float | np.ndarray = 0.0) -> set[tuple[int, int]]:
    """Each target token with the source token of its largest weight.

    Args:
        weights: (T, S), a row a target token.
        least: a row whose largest weight is not above it gets no link: it belongs to no source token. One number,
            or one a row (T,), such as the share of NULL.

    Raises:
        ValueError: weights are not a table, or have no column.
    """
    if weights.ndim != 2 or weights.shape[1] == 0:
        raise ValueError(f"weights must be (T, S) with at least one source token, got shape {weights.shape}")
    best = weights.argmax(axis=1)
    is_link = weights.max(axis=1) > least
    return {(int(s), t) for t, s in enumerate(best) if is_link[t]}


def flipped(links: Links) -> set[tuple[int, int]]:
    """The same links with source and target swapped, as a model of the other direction names them."""
    return {(t, s) for s, t in links}
