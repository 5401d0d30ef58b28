"""Batches for the contrastive stage: sentence pairs to translate, and views of the same pairs to compare."""

import hashlib
import json
import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import overload

import torch
from torch import Tensor

from coursepkg.arguments import check_count
from coursepkg.data.batching import Pair, TextBatch, TokenBatches, check_pairs, make_batch
from coursepkg.projects.translation.contrastive.views import (
    RoundTripVersions,
    Versions,
    distinct_pairs,
    four_views,
)
from coursepkg.text.vocabulary import EOS, UNK, pad_batch

Examples = Callable[[Sequence[int], int], Sequence[Pair]]
"""(numbers of pairs, epoch) -> what to translate in their batch, sources with their tags."""


@dataclass(frozen=True)
class ContrastiveBatch:
    """Sentence pairs to translate, and views of them to compare.

    Pairs that share a sentence with an earlier pair of the batch have no views: they would be each other's negatives
    although they mean the same. (The source compares all.)
    """

    text: TextBatch
    """The translations; duplicates are in it."""
    views: Tensor
    """Ids (4, B, S) of the views a<2b>, b<2b>, b<2a>, a<2a> of the B distinct pairs, EOS behind each, then PAD."""
    versions: Tensor | None
    """Ids (2, 2, B, S): for a and b two versions of each sentence; None where none were asked for."""

    def to(self, device: torch.device | str, non_blocking: bool = False) -> "ContrastiveBatch":
        """The same batch on a device."""
        versions = None if self.versions is None else self.versions.to(device, non_blocking=non_blocking)
        views = self.views.to(device, non_blocking=non_blocking)
        return ContrastiveBatch(self.text.to(device, non_blocking), views, versions)


class ContrastiveBatches:
    """Pairs of sentences, batched by length, to translate in both directions and to compare.

    The pairs are cut into batches as `TokenBatches` does it, so the negatives of a sentence are about as long as its
    translation. A batch holds each of its pairs in both directions (or what `examples` makes of them), and four views
    of each distinct pair. What an epoch looks like depends on (seed, number) alone, if `examples` does.

    Args:
        pairs: ids of the sentence in languages[0] and in languages[1], both in the form that the encoder reads,
            without tags and special tokens.
        max_tokens: most positions of the pairs of a batch, B * (S + T), with tag and EOS, before they are turned
            into two directions and four views.
        languages: a and b.
        tags: id of the tag that asks for each language.
        seed: of order and masks.
        versions: makes two versions of a sentence, for the monolingual loss; None makes none.
        examples: makes the translation examples of a batch, for other directions, noise or another form of the
            targets; None takes both directions of every pair as it is.

    Raises:
        ValueError: a pair is malformed or holds a tag; a language has no tag; or there is not one round trip a pair.
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
                    f"trips must hold one pair of sentences a pair, {len(pairs)}, got {len(versions.trips)}"
                )
        self._order = TokenBatches([([self.tags[1], *a], b) for a, b in pairs], max_tokens, seed)

    @cached_property
    def fingerprint(self) -> str:
        """SHA-256 of the pairs, of how they are batched, and of all that is made of them in epoch 0."""
        everything = range(len(self.pairs))
        examples = [[list(source), list(target)] for source, target in self.examples(everything, 0)]
        versions = [[list(ids) for two in self._versions_of(i, 0) for ids in two] for i in everything]
        content = [self._order.fingerprint, self.tags, examples, versions]
        return hashlib.sha256(json.dumps(content).encode()).hexdigest()

    def both_directions(self, numbers: Sequence[int], epoch: int) -> list[Pair]:
        """The pairs as translation examples: <2b> a -> b, then all <2a> b -> a."""
        chosen = [self.pairs[i] for i in numbers]
        to_a, to_b = self.tags
        return [*(([to_b, *a], b) for a, b in chosen), *(([to_a, *b], a) for a, b in chosen)]

    def epoch(self, number: int) -> "ContrastiveEpoch":
        """The batches of epoch `number`."""
        return ContrastiveEpoch(self, number, self._order.epoch(number).groups)

    def make(self, numbers: Sequence[int], epoch: int) -> ContrastiveBatch:
        """The batch of the pairs with these numbers, as it is in an epoch."""
        kept = [numbers[i] for i in distinct_pairs([self.pairs[i] for i in numbers])]
        views = [four_views(self.pairs[i], self.tags) for i in kept]
        versions = None
        if self.versions is not None:
            versions = pad_views([[ids for two in self._versions_of(i, epoch) for ids in two] for i in kept])
            versions = versions.unflatten(0, (2, 2))
        return ContrastiveBatch(make_batch(self.examples(numbers, epoch)), pad_views(views), versions)

    def _versions_of(self, number: int, epoch: int) -> Iterator[tuple[list[int], list[int]]]:
        """Two tagged versions of each side of a pair, the same whichever batch the pair lies in."""
        if self.versions is None:
            return
        draw = random.Random(f"{self.seed} {epoch} {number}")
        for side, tag in enumerate(reversed(self.tags)):
            first, second = self.versions(number, side, self.pairs[number][side], draw)
            yield [tag, *first], [tag, *second]


class ContrastiveEpoch(Sequence[ContrastiveBatch]):
    """The batches of one epoch, each built when it is asked for."""

    def __init__(self, batches: ContrastiveBatches, number: int, groups: Sequence[Sequence[int]]) -> None:
        self.batches, self.number, self.groups = batches, number, groups

    def __len__(self) -> int:
        return len(self.groups)

    @overload
    def __getitem__(self, index: int) -> ContrastiveBatch: ...

    @overload
    def __getitem__(self, index: slice) -> "ContrastiveEpoch": ...

    def __getitem__(self, index: int | slice) -> "ContrastiveBatch | ContrastiveEpoch":
        if isinstance(index, slice):
            return ContrastiveEpoch(self.batches, self.number, self.groups[index])
        return self.batches.make(self.groups[index], self.number)


def pad_views(rows: Sequence[Sequence[Sequence[int]]]) -> Tensor:
    """For each of B sentences the same number K of views -> ids (K, B, S), EOS behind each, then PAD."""
    ids, _ = pad_batch([[*view, EOS] for views in zip(*rows, strict=True) for view in views])
    return ids.unflatten(0, (-1, len(rows)))


def _pick_tags(languages: tuple[str, str], tags: Mapping[str, int]) -> tuple[int, int]:
    """The tags of both languages, which must be different tokens behind UNK."""
    for language in languages:
        if language not in tags:
            raise ValueError(
                f"languages must be among {', '.join(sorted(tags))}, which have tags, got {language!r}"
            )
    to_a, to_b = (tags[language] for language in languages)
    check_count(f"tags[{languages[0]!r}]", to_a, UNK + 1)
    check_count(f"tags[{languages[1]!r}]", to_b, UNK + 1)
    if to_a == to_b:
        raise ValueError(
            f"languages must have different tags, got {to_a} for {languages[0]} and {languages[1]}"
        )
    return to_a, to_b


def _check_content(name: str, pairs: Sequence[Pair], tags: Mapping[str, int]) -> None:
    """Raises a ValueError that names the first pair with a tag in it."""
    known = set(tags.values())
    for i, pair in enumerate(pairs):
        found = known & {*pair[0], *pair[1]}
        if found:
            raise ValueError(f"{name}[{i}] must be without tags, which are added here, got id {min(found)}")
