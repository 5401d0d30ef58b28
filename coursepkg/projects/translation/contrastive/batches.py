"""Batches for the contrastive stage: pairs to translate, views to compare.

A pair of sentences in the languages a and b gives four views, each with a tag that asks
for one language:

    a<2b> and b<2b>     meet in the space of all that shall become b
    b<2a> and a<2a>     meet in the space of all that shall become a

and each sentence alone, with the tag of the other language, gives two versions of
itself: masked in different places, read twice under dropout, or beside its round-trip
translation. Source: Olympiad tutorials, first tutorial, section V, step 8 (views), and
section VI.4 (versions).
"""

import hashlib
import json
import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial

import torch
from torch import Tensor

from coursepkg.data.batching import (
    LazyBatches,
    Pair,
    TextBatch,
    TokenBatches,
    check_pairs,
    make_batch,
    move_batch,
)
from coursepkg.text.vocabulary import EOS, UNK, pad_batch
from coursepkg.validation import check_count, check_finite

Versions = Callable[
    [int, int, Sequence[int], random.Random], tuple[Sequence[int], Sequence[int]]
]
"""(number of the pair, side 0 or 1, its ids, source of chance) -> two versions."""


def four_views(pair: Pair, tags: tuple[int, int]) -> list[list[int]]:
    """The views a<2b>, b<2b>, b<2a>, a<2a> of a pair, each with its tag in front.

    Args:
        pair: ids of the sentence in a and in b, without special tokens.
        tags: ids of <2a> and <2b>.
    """
    (a, b), (to_a, to_b) = pair, tags
    return [[to_b, *a], [to_b, *b], [to_a, *b], [to_a, *a]]


def distinct_pairs(pairs: Sequence[Pair]) -> list[int]:
    """Numbers of the pairs that share no sentence with a pair before them."""
    taken: set[tuple[int, ...]] = set()
    numbers = []
    for i, (a, b) in enumerate(pairs):
        sides = {(0, *a), (1, *b)}
        if not sides & taken:
            taken |= sides
            numbers.append(i)
    return numbers


def mask_spans(
    ids: Sequence[int], share: float, longest: int, draw: random.Random
) -> list[int]:
    """Put UNK in place of `share` of the tokens, in runs; at least one token stays."""
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
        first, second = (
            mask_spans(ids, self.share, self.longest, draw) for _ in range(2)
        )
        return first, second


def dropout_versions(
    number: int, side: int, ids: Sequence[int], draw: random.Random
) -> tuple[Sequence[int], Sequence[int]]:
    """The sentence twice; the model's dropout tells the two apart.

    Source: Gao et al., "SimCSE" (arXiv 2104.08821), section 3.
    """
    return ids, ids


@dataclass(frozen=True)
class RoundTripVersions:
    """The sentence and its round-trip translation."""

    trips: Sequence[Pair]
    """For each pair what came back for a and for b, without special tokens."""

    def __post_init__(self) -> None:
        check_pairs(self.trips)

    def __call__(
        self, number: int, side: int, ids: Sequence[int], draw: random.Random
    ) -> tuple[Sequence[int], Sequence[int]]:
        """The ids and their round trip."""
        return ids, self.trips[number][side]


Examples = Callable[[Sequence[int], int], Sequence[Pair]]
"""(numbers of pairs, epoch) -> what to translate in their batch, with tags."""


@dataclass(frozen=True)
class ContrastiveBatch:
    """Sentence pairs to translate, and views of them to compare.

    Pairs that share a sentence with an earlier pair of the batch have no views: they
    would be each other's negatives although they mean the same. (The source compares
    all.)
    """

    text: TextBatch
    """The translations; duplicates are in it."""
    views: Tensor
    """Ids (4, B, S) of the views a<2b>, b<2b>, b<2a>, a<2a> of B distinct pairs."""
    versions: Tensor | None
    """Ids (2, 2, B, S): two versions of each sentence of a and b; or None."""

    def to(
        self, device: torch.device | str, non_blocking: bool = False
    ) -> "ContrastiveBatch":
        """The same batch on a device."""
        return move_batch(self, device, non_blocking)


class ContrastiveBatches:
    """Pairs of sentences, batched by length, to translate both ways and to compare.

    The pairs are cut into batches as `TokenBatches` does it, so the negatives of a
    sentence are about as long as its translation. A batch holds each of its pairs in
    both directions (or what `examples` makes of them), and four views of each distinct
    pair. What an epoch looks like depends on (seed, number) alone, if `examples` does.

    Args:
        pairs: ids of the sentence in languages[0] and in languages[1], both in the form
            that the encoder reads, without tags and special tokens.
        max_tokens: most positions of the pairs of a batch, B * (S + T), with tag and
            EOS, before they are turned into two directions and four views.
        tags: id of the tag that asks for each language.
        versions: makes two versions of a sentence, for the monolingual loss; None makes
            none.
        examples: makes the translation examples of a batch, for other directions, noise
            or another form of the targets; None takes both directions of every pair as
            it is.

    Raises:
        ValueError: a pair is malformed or holds a tag; a language has no tag; or there
            is not one round trip a pair.
    """

    def __init__(
        self,
        pairs: Sequence[Pair],
        max_tokens: int,
        *,
        languages: tuple[str, str],
        tags: Mapping[str, int],
        seed: int = 0,
        versions: Versions | None = None,
        examples: Examples | None = None,
    ) -> None:
        check_pairs(pairs)
        self.tags = _pick_tags(languages, tags)
        self.pairs, self.seed, self.versions = pairs, seed, versions
        self.examples = self.both_directions if examples is None else examples
        _check_content("pairs", pairs, tags)
        if isinstance(versions, RoundTripVersions):
            _check_content("trips", versions.trips, tags)
            if len(versions.trips) != len(pairs):
                raise ValueError(
                    f"trips must hold one pair of sentences a pair, {len(pairs)}, got"
                    f" {len(versions.trips)}"
                )
        self._order = TokenBatches(
            [([self.tags[1], *a], b) for a, b in pairs], max_tokens, seed
        )

    @cached_property
    def fingerprint(self) -> str:
        """SHA-256 of the pairs, their batching, and what is made of them in epoch 0."""
        everything = range(len(self.pairs))
        examples = [[list(a), list(b)] for a, b in self.examples(everything, 0)]
        versions = [[list(ids) for ids in self._versions_of(i, 0)] for i in everything]
        content = [self._order.fingerprint, self.tags, examples, versions]
        return hashlib.sha256(json.dumps(content).encode()).hexdigest()

    def both_directions(self, numbers: Sequence[int], epoch: int) -> list[Pair]:
        """The pairs as translation examples: <2b> a -> b, then all <2a> b -> a."""
        chosen = [self.pairs[i] for i in numbers]
        to_a, to_b = self.tags
        return [
            *(([to_b, *a], b) for a, b in chosen),
            *(([to_a, *b], a) for a, b in chosen),
        ]

    def epoch(self, number: int) -> LazyBatches[ContrastiveBatch]:
        """The batches of epoch `number`."""
        groups = self._order.epoch(number).groups
        return LazyBatches(groups, partial(self.make, epoch=number))

    def make(self, numbers: Sequence[int], epoch: int) -> ContrastiveBatch:
        """The batch of the pairs with these numbers, as it is in an epoch."""
        kept = [numbers[i] for i in distinct_pairs([self.pairs[i] for i in numbers])]
        views = [four_views(self.pairs[i], self.tags) for i in kept]
        versions = None
        if self.versions is not None:
            versions = pad_views([list(self._versions_of(i, epoch)) for i in kept])
            versions = versions.unflatten(0, (2, 2))
        return ContrastiveBatch(
            make_batch(self.examples(numbers, epoch)), pad_views(views), versions
        )

    def _versions_of(self, number: int, epoch: int) -> Iterator[list[int]]:
        """Two tagged versions of each side of a pair, the same in every batch."""
        if self.versions is None:
            return
        draw = random.Random(f"{self.seed} {epoch} {number}")
        for side, tag in enumerate(reversed(self.tags)):
            ids = self.pairs[number][side]
            for version in self.versions(number, side, ids, draw):
                yield [tag, *version]


def pad_views(rows: Sequence[Sequence[Sequence[int]]]) -> Tensor:
    """B sentences with K views each -> ids (K, B, S), EOS behind each, then PAD."""
    ids, _ = pad_batch(
        [[*view, EOS] for views in zip(*rows, strict=True) for view in views]
    )
    return ids.unflatten(0, (-1, len(rows)))


def _pick_tags(languages: tuple[str, str], tags: Mapping[str, int]) -> tuple[int, int]:
    """The tags of both languages, which must be different tokens behind UNK."""
    for language in languages:
        if language not in tags:
            raise ValueError(
                f"languages must be among {', '.join(sorted(tags))}, which have tags,"
                f" got {language!r}"
            )
    to_a, to_b = (tags[language] for language in languages)
    check_count(f"tags[{languages[0]!r}]", to_a, UNK + 1)
    check_count(f"tags[{languages[1]!r}]", to_b, UNK + 1)
    if to_a == to_b:
        raise ValueError(
            f"languages must have different tags, got {to_a} for {languages[0]} and"
            f" {languages[1]}"
        )
    return to_a, to_b


def _check_content(name: str, pairs: Sequence[Pair], tags: Mapping[str, int]) -> None:
    """Raises a ValueError that names the first pair with a tag in it."""
    known = set(tags.values())
    for i, pair in enumerate(pairs):
        found = known & {*pair[0], *pair[1]}
        if found:
            raise ValueError(
                f"{name}[{i}] must be without tags, which are added here, got id"
                f" {min(found)}"
            )
