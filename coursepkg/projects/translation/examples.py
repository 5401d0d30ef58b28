"""What a model trains on in each epoch: sources with tags, both directions, masked and resampled.

Both directions done right: a reversed example swaps source and target and asks for the other language. Each pair may
train in both directions, unlike in the tutorials, where odd pairs got the other tag but kept their order. Their way is
there as a negative control, see `Recipe.reverse_fault`.
"""

import hashlib
import json
import random
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

from coursepkg.data.batching import Epoch, Pair, TokenBatches
from coursepkg.projects.translation.corpus import SentencePair, to_model
from coursepkg.projects.translation.recipe import Recipe
from coursepkg.projects.translation.tokenizers import Subwords, tag_of
from coursepkg.text.vocabulary import UNK


class Lines(NamedTuple):
    """The sentences of one direction in the form that a tokenizer reads."""

    sources: list[str]
    targets: list[str]
    tag: str | None
    """In front of every source; None where each language has a vocabulary of its own."""


@dataclass(frozen=True)
class Filtered:
    """The pairs that fit the model, and the others by name."""

    pairs: list[SentencePair]
    too_long: list[SentencePair]
    """Pairs of which a side has more than `max_len` tokens, special tokens included."""

    def __str__(self) -> str:
        places = ", ".join(f"{p.file}:{p.line}" for p in self.too_long[:5] if p.line)
        named = f" ({places}{', ...' if len(self.too_long) > 5 else ''})" if places else ""
        return f"{len(self.too_long)} of {len(self.pairs) + len(self.too_long)} pairs left out as too long{named}"


def fitting(
    pairs: Sequence[SentencePair],
    subwords: Subwords,
    languages: tuple[str, str],
    most: int,
    *,
    both_ways: bool = False,
) -> Filtered:
    """Part pairs by whether tag, source and EOS, and BOS or EOS and target, have at most `most` tokens.

    With `both_ways` the reversed pair, whose source is the target with a tag, must fit, too.
    """
    fits = _fits(pairs, subwords, languages, most)
    if both_ways:
        back = _fits([p.swapped() for p in pairs], subwords, languages[::-1], most)
        fits = [a and b for a, b in zip(fits, back, strict=True)]
    kept = [p for p, good in zip(pairs, fits, strict=True) if good]
    return Filtered(kept, [p for p, good in zip(pairs, fits, strict=True) if not good])


def _fits(
    pairs: Sequence[SentencePair], subwords: Subwords, languages: Sequence[str], most: int
) -> list[bool]:
    sources = subwords.encode_sources([p.source for p in pairs], *languages)
    targets = subwords.encode_targets([p.target for p in pairs], languages[1])
    return [len(s) < most and len(t) < most for s, t in zip(sources, targets, strict=True)]


def rotating_window(total: int, epoch: int, share: float) -> list[int]:
    """Which of `total` examples epoch `epoch` (from 0) takes: a stretch of that share that moves on every epoch.

    After 1 / share epochs every example has been taken about equally often.
    """
    size = round(total * share)
    return [(epoch * size + i) % total for i in range(size)]


def mask_span(ids: Sequence[int], probability: float, draw: random.Random, *, first: int = 0) -> list[int]:
    """With this probability, replace one or two neighbouring tokens, from place `first` on, by UNK."""
    ids = list(ids)
    if len(ids) <= first or draw.random() >= probability:
        return ids
    start = draw.randrange(first, len(ids))
    for place in range(start, min(start + draw.randint(1, 2), len(ids))):
        ids[place] = UNK
    return ids


class TranslationBatches:
    """The training data of `fit`: epoch by epoch, a function of (seed, number) alone.

    Args:
        corpora: for each pair of languages, of sources and targets, the training pairs that fit the model.
        subwords: the vocabulary.
        recipe: `reverse`, `reverse_fault`, `span_mask`, `subword_noise`, `batch_tokens` and `max_len` of it.
        seed: of order, masks and segmentations.
    """

    def __init__(
        self,
        corpora: Sequence[tuple[tuple[str, str], Sequence[SentencePair]]],
        subwords: Subwords,
        recipe: Recipe,
        seed: int = 0,
    ) -> None:
        self.subwords, self.recipe, self.seed = subwords, recipe, seed
        ways = [_ways(pairs, languages, subwords, recipe) for languages, pairs in corpora]
        self._forward = [forward for forward, _ in ways]
        self._backward = [backward for _, backward in ways if backward is not None]
        self._plain: dict[int, list[Pair]] = {}
        self._latest: tuple[int, dict[tuple[bool, int], Pair]] | None = None

    @cached_property
    def fingerprint(self) -> str:
        """SHA-256 of the sentences, the vocabulary and the options."""
        names = ("reverse", "span_mask", "subword_noise", "batch_tokens", "max_len")
        options = [getattr(self.recipe, name) for name in names]
        options += [self.recipe.reverse_fault] * (self.recipe.reverse_fault != "none")
        content = [self._forward, self.subwords.fingerprints, options, self.seed]
        return hashlib.sha256(json.dumps(content).encode()).hexdigest()

    def epoch(self, number: int) -> Epoch:
        """The batches of epoch `number`."""
        chosen = [pair for _, _, pair in self._chosen(number)]
        return TokenBatches(chosen, self.recipe.batch_tokens, self.seed).epoch(number)

    def of_pairs(self, numbers: Sequence[int], epoch: int) -> list[Pair]:
        """The examples that an epoch makes of some pairs of the one corpus: all forward ones, then the turned ones.

        For batches that are cut in another way, as those of the contrastive stage.
        """
        if self._latest is None or self._latest[0] != epoch:
            chosen = {(is_back, place): pair for is_back, place, pair in self._chosen(epoch)}
            self._latest = epoch, chosen
        there = self._latest[1]
        ways = [(is_back, place) for is_back in (False, True) for place in numbers]
        return [there[way] for way in ways if way in there]

    def _chosen(self, number: int) -> list[tuple[bool, int, Pair]]:
        """The examples of an epoch: whether each is turned, the number of its pair in its corpus, and its ids."""
        chosen: list[tuple[bool, int, Pair]] = []
        for lines in self._forward:
            chosen += ((False, i, pair) for i, pair in enumerate(self._encoded(lines, number)))
        for lines in self._backward:
            back = self._encoded(lines, number)
            chosen += ((True, i, back[i]) for i in rotating_window(len(back), number, self.recipe.reverse))
        if not self.recipe.span_mask:
            return chosen
        draw, n_tags = random.Random(f"mask {self.seed} {number}"), int(self.subwords.joint)
        return [
            (is_back, i, (mask_span(source, self.recipe.span_mask, draw, first=n_tags), target))
            for is_back, i, (source, target) in chosen
        ]

    def _encoded(self, lines: Lines, number: int) -> list[Pair]:
        """Ids of examples; those without noise are kept from epoch to epoch."""
        if self.recipe.subword_noise:
            return [self._noisy(lines, i, number) for i in range(len(lines.sources))]
        if id(lines) not in self._plain:
            sources = self.subwords.source.encode_batch(lines.sources, tag=lines.tag)
            targets = self.subwords.target.encode_batch(lines.targets)
            self._plain[id(lines)] = list(zip(sources, targets, strict=True))
        return self._plain[id(lines)]

    def _noisy(self, lines: Lines, i: int, number: int) -> Pair:
        """An example cut in another way in every epoch; as usual where that would be too long for the model."""
        noise = self.recipe.subword_noise
        draw: dict[str, Any] = {
            "seed": hash((self.seed, number, i))
        }  # of integers: the same in every process
        draw |= {"dropout_p": noise} if self.recipe.subword == "bpe" else {"alpha": 1.0 - noise}
        source, target = lines.sources[i], lines.targets[i]
        ids = (
            self.subwords.source.encode(source, tag=lines.tag, **draw),
            self.subwords.target.encode(target, **draw),
        )
        if max(map(len, ids)) < self.recipe.max_len:
            return ids
        return self.subwords.source.encode(source, tag=lines.tag), self.subwords.target.encode(target)


def _ways(
    pairs: Sequence[SentencePair], languages: tuple[str, str], subwords: Subwords, recipe: Recipe
) -> tuple[Lines, Lines | None]:
    """The examples of both directions of a corpus; None for the second one if it is not asked for."""
    source, target = languages
    if recipe.reverse_fault == "unswapped":
        # Every pair is in one direction only, and the second direction is the first under another tag.
        spoilt = _lines(pairs[1::2], source, target, subwords)._replace(tag=tag_of(source))
        return _lines(pairs[::2], source, target, subwords), spoilt
    forward = _lines(pairs, source, target, subwords)
    if not recipe.reverse:
        return forward, None
    return forward, _lines([p.swapped() for p in pairs], target, source, subwords)


def _lines(pairs: Sequence[SentencePair], source: str, target: str, subwords: Subwords) -> Lines:
    return Lines(
        [to_model(p.source, source) for p in pairs],
        [to_model(p.target, target, underscores=subwords.underscores) for p in pairs],
        tag_of(target) if subwords.joint else None,
    )
