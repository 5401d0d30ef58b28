"""What a model trains on in each epoch: sources with tags, both directions, masked and resampled.

Both directions done right: a reversed example swaps source and target and asks for the other language. Each pair may
train in both directions, unlike in the tutorials, where odd pairs got the other tag but kept their order.
"""

import hashlib
import json
import random
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from coursepkg.data.batching import Epoch, Pair, TokenBatches
from coursepkg.projects.translation.corpus import SentencePair, to_model
from coursepkg.projects.translation.recipe import Recipe
from coursepkg.projects.translation.tokenizers import Subwords, tag_of
from coursepkg.text.subword import SentencePiece
from coursepkg.text.vocabulary import UNK


class Lines(NamedTuple):
    """A pair in the form that a tokenizer reads."""

    source: str
    target: str


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
    pairs: Sequence[SentencePair], subwords: Subwords, languages: tuple[str, str], most: int
) -> Filtered:
    """Part pairs by whether tag, source and EOS, and BOS or EOS and target, have at most `most` tokens."""
    sources = subwords.encode_sources([p.source for p in pairs], *languages)
    targets = subwords.encode_targets([p.target for p in pairs], languages[1])
    fits = [len(s) < most and len(t) < most for s, t in zip(sources, targets, strict=True)]
    kept = [p for p, good in zip(pairs, fits, strict=True) if good]
    return Filtered(kept, [p for p, good in zip(pairs, fits, strict=True) if not good])


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
        pairs: training pairs that fit the model.
        subwords: the vocabulary.
        languages: of sources and targets.
        recipe: `reverse`, `span_mask`, `subword_noise` and `batch_tokens` of it.
        seed: of order, masks and segmentations.
    """

    def __init__(
        self,
        pairs: Sequence[SentencePair],
        subwords: Subwords,
        languages: tuple[str, str],
        recipe: Recipe,
        seed: int = 0,
    ) -> None:
        self.subwords, self.languages, self.recipe, self.seed = subwords, languages, recipe, seed
        source, target = languages
        self._forward = [
            Lines(to_model(p.source, source), to_model(p.target, target, underscores=subwords.underscores))
            for p in pairs
        ]
        self._backward = (
            [
                Lines(
                    to_model(p.target, target), to_model(p.source, source, underscores=subwords.underscores)
                )
                for p in pairs
            ]
            if recipe.reverse
            else []
        )
        self._plain: dict[str, list[Pair]] = {}

    @cached_property
    def fingerprint(self) -> str:
        """SHA-256 of the sentences, the vocabulary and the options."""
        options = [getattr(self.recipe, n) for n in ("reverse", "span_mask", "subword_noise", "batch_tokens")]
        content = [self._forward, self.subwords.fingerprints, list(self.languages), options, self.seed]
        return hashlib.sha256(json.dumps(content).encode()).hexdigest()

    def epoch(self, number: int) -> Epoch:
        """The batches of epoch `number`."""
        source, target = self.languages
        chosen = self._encoded("forward", self._forward, target, number)
        if self.recipe.reverse:
            back = self._encoded("backward", self._backward, source, number)
            chosen = chosen + [back[i] for i in rotating_window(len(back), number, self.recipe.reverse)]
        if self.recipe.span_mask:
            draw, n_tags = random.Random(f"mask {self.seed} {number}"), int(self.subwords.joint)
            chosen = [(mask_span(s, self.recipe.span_mask, draw, first=n_tags), t) for s, t in chosen]
        return TokenBatches(chosen, self.recipe.batch_tokens, self.seed).epoch(number)

    def _encoded(self, name: str, lines: Sequence[Lines], into: str, number: int) -> list[Pair]:
        """Ids of examples; those without noise are kept from epoch to epoch."""
        noise = self.recipe.subword_noise
        if noise:
            return self._resampled(lines, into, number)
        if name not in self._plain:
            tag = tag_of(into) if self.subwords.joint else None
            sources = self.subwords.source.encode_batch([line.source for line in lines], tag=tag)
            targets = self.subwords.target.encode_batch([line.target for line in lines])
            self._plain[name] = list(zip(sources, targets, strict=True))
        return self._plain[name]

    def _resampled(self, lines: Sequence[Lines], into: str, number: int) -> list[Pair]:
        most, tag = self.recipe.max_len - 1, tag_of(into) if self.subwords.joint else None
        pairs: list[Pair] = []
        for i, line in enumerate(lines):
            seed = hash((self.seed, number, i))  # of integers, thus the same in every process
            ids = [
                _noisy(pieces, text, self.recipe.subword_noise, seed, mark)
                for pieces, text, mark in (
                    (self.subwords.source, line.source, tag),
                    (self.subwords.target, line.target, None),
                )
            ]
            if max(map(len, ids)) > most:  # a segmentation may be longer than the model takes
                ids = [
                    self.subwords.source.encode(line.source, tag=tag),
                    self.subwords.target.encode(line.target),
                ]
            pairs.append((ids[0], ids[1]))
        return pairs


def _noisy(pieces: SentencePiece, text: str, noise: float, seed: int, tag: str | None) -> list[int]:
    if pieces.model_type == "bpe":
        return pieces.encode(text, dropout_p=noise, seed=seed, tag=tag)
    return pieces.encode(text, alpha=1.0 - noise, seed=seed, tag=tag)
