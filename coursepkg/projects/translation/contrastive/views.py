"""Views of sentence pairs for the contrastive stage: what shall come to lie together.

A pair of sentences in the languages a and b gives four views, each with a tag that asks for one language:

    a<2b> and b<2b>     meet in the space of all that shall become b
    b<2a> and a<2a>     meet in the space of all that shall become a

and each sentence alone, with the tag of the other language, gives two versions of itself: masked in different places,
read twice under dropout, or beside its round-trip translation.
Source: Olympiad tutorials, first tutorial, section V, step 8 (views), and section VI.4 (versions).
"""

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from coursepkg.arguments import check_count, check_finite
from coursepkg.data.batching import Pair, check_pairs
from coursepkg.text.vocabulary import UNK

Versions = Callable[[int, int, Sequence[int], random.Random], tuple[Sequence[int], Sequence[int]]]
"""(number of the pair, side 0 or 1, its ids, source of chance) -> two versions of that sentence."""


def four_views(pair: Pair, tags: tuple[int, int]) -> list[list[int]]:
    """The views a<2b>, b<2b>, b<2a>, a<2a> of a pair, each with its tag in front.

    Args:
        pair: ids of the sentence in a and in b, without special tokens.
        tags: ids of <2a> and <2b>.
    """
    (a, b), (to_a, to_b) = pair, tags
    return [[to_b, *a], [to_b, *b], [to_a, *b], [to_a, *a]]


def distinct_pairs(pairs: Sequence[Pair]) -> list[int]:
    """Numbers of the pairs that share no sentence, on either side, with one that was taken before them."""
    taken: set[tuple[int, ...]] = set()
    numbers = []
    for i, (a, b) in enumerate(pairs):
        sides = {(0, *a), (1, *b)}
        if not sides & taken:
            taken |= sides
            numbers.append(i)
    return numbers


def mask_spans(ids: Sequence[int], share: float, longest: int, draw: random.Random) -> list[int]:
    """Put UNK in the place of `share` of the tokens, in runs of 1 to `longest`; at least one token stays."""
    wanted = min(round(share * len(ids)), len(ids) - 1)
    hidden: set[int] = set()
    while len(hidden) < wanted:
        start = draw.randrange(len(ids))
        run = range(start, min(start + draw.randint(1, longest), len(ids)))
        hidden.update([i for i in run if i not in hidden][: wanted - len(hidden)])
    return [UNK if i in hidden else token for i, token in enumerate(ids)]


@dataclass(frozen=True)
class MaskedVersions:
    """Two maskings of a sentence, drawn apart."""

    share: float = 0.3
    """Share of the tokens that are hidden, at least 0 and below 1."""
    longest: int = 3
    """Most tokens of a hidden run."""

    def __post_init__(self) -> None:
        check_finite("share", self.share)
        if not 0.0 <= self.share < 1.0:
            raise ValueError(f"share must be at least 0 and below 1, got {self.share}")
        check_count("longest", self.longest)

    def __call__(
        self, number: int, side: int, ids: Sequence[int], draw: random.Random
    ) -> tuple[Sequence[int], Sequence[int]]:
        """Two maskings of the ids."""
        first, second = (mask_spans(ids, self.share, self.longest, draw) for _ in range(2))
        return first, second


def dropout_versions(
    number: int, side: int, ids: Sequence[int], draw: random.Random
) -> tuple[Sequence[int], Sequence[int]]:
    """The sentence twice; the model's dropout tells the two apart, so it must have some.

    Source: Gao et al., "SimCSE" (arXiv 2104.08821), section 3.
    """
    return ids, ids


@dataclass(frozen=True)
class RoundTripVersions:
    """The sentence, and what came back when it was translated to the other language and home again."""

    trips: Sequence[Pair]
    """For each pair what came back for a and for b, without special tokens."""

    def __post_init__(self) -> None:
        check_pairs(self.trips)

    def __call__(
        self, number: int, side: int, ids: Sequence[int], draw: random.Random
    ) -> tuple[Sequence[int], Sequence[int]]:
        """The ids and their round trip."""
        return ids, self.trips[number][side]
