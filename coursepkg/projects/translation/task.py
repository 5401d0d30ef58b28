"""What a translation model learns from: batches of sentence pairs, and the loss.

Sources get tags, and epochs may turn, mask and resample them. A reversed example swaps
source and target and asks for the other language; each pair may train both ways. In the
tutorials odd pairs got the other tag but kept their order: `Recipe.reverse_fault`.
"""

import hashlib
import json
import random
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn

from coursepkg.blocks.config import TransformerConfig
from coursepkg.blocks.seq2seq import GRUSeq2Seq, Seq2SeqConfig
from coursepkg.data.batching import (
    Epoch,
    Pair,
    TextBatch,
    TokenBatches,
    check_vocabulary,
)
from coursepkg.projects.translation.corpus import SentencePair, to_model
from coursepkg.projects.translation.models import (
    Subwords,
    predict,
    tag_of,
    unwrapped,
)
from coursepkg.projects.translation.recipe import Recipe
from coursepkg.text.vocabulary import UNK
from coursepkg.training import task as training_task
from coursepkg.training.losses import CONVENTIONS, label_smoothed_cross_entropy
from coursepkg.training.regularisers import duplicate_batch, r_drop_loss
from coursepkg.training.scheduled_sampling import mix_in_parallel, mix_step_by_step
from coursepkg.training.schedules import Schedule


class Lines(NamedTuple):
    """The sentences of one direction in the form that a tokenizer reads."""

    sources: list[str]
    targets: list[str]
    tag: str | None
    """In front of every source; None where each language has a vocabulary of its own.
    """


@dataclass(frozen=True)
class Filtered:
    """The pairs that fit the model, and the others by name."""

    pairs: list[SentencePair]
    too_long: list[SentencePair]
    """Pairs of which a side has more than `max_len` tokens, special tokens included."""

    def __str__(self) -> str:
        n, total = len(self.too_long), len(self.pairs) + len(self.too_long)
        places = ", ".join(f"{p.file}:{p.line}" for p in self.too_long[:5] if p.line)
        named = f" ({places}{', ...' if n > 5 else ''})" if places else ""
        return f"{n} of {total} pairs left out as too long{named}"


def fitting(
    pairs: Sequence[SentencePair],
    subwords: Subwords,
    languages: tuple[str, str],
    most: int,
    *,
    both_ways: bool = False,
) -> Filtered:
    """Part pairs by whether both sides fit into `most` tokens.

    Tag, source and EOS count, and BOS or EOS and target. With `both_ways` the reversed
    pair, whose source is the target with a tag, must fit, too.
    """
    fits = _fits(pairs, subwords, languages, most)
    if both_ways:
        back = _fits([p.swapped() for p in pairs], subwords, languages[::-1], most)
        fits = [a and b for a, b in zip(fits, back, strict=True)]
    found = Filtered([], [])
    for pair, good in zip(pairs, fits, strict=True):
        (found.pairs if good else found.too_long).append(pair)
    return found


def _fits(
    pairs: Sequence[SentencePair],
    subwords: Subwords,
    languages: Sequence[str],
    most: int,
) -> list[bool]:
    sources = subwords.encode_sources([p.source for p in pairs], *languages)
    targets = subwords.encode_targets([p.target for p in pairs], languages[1])
    return [
        len(s) < most and len(t) < most for s, t in zip(sources, targets, strict=True)
    ]


def rotating_window(total: int, epoch: int, share: float) -> list[int]:
    """The examples that an epoch takes: a stretch of that share that moves on.

    After 1 / share epochs every example has been taken about equally often.
    """
    size = round(total * share)
    return [(epoch * size + i) % total for i in range(size)]


def mask_span(
    ids: Sequence[int], probability: float, draw: random.Random, *, first: int = 0
) -> list[int]:
    """With a probability, replace one or two neighbouring tokens by UNK."""
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
        corpora: for each pair of languages, of sources and targets, the training pairs
            that fit the model.
        subwords: the vocabulary.
        recipe: `reverse`, `reverse_fault`, `span_mask`, `subword_noise`, `batch_tokens`
            and `max_len` of it.
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
        ways = [_ways(pairs, way, subwords, recipe) for way, pairs in corpora]
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
        """An epoch's examples of pairs of the one corpus: forward, then turned.

        For batches that are cut in another way, as those of the contrastive stage.
        """
        if self._latest is None or self._latest[0] != epoch:
            chosen = {
                (is_back, place): pair for is_back, place, pair in self._chosen(epoch)
            }
            self._latest = epoch, chosen
        there = self._latest[1]
        ways = [(is_back, place) for is_back in (False, True) for place in numbers]
        return [there[way] for way in ways if way in there]

    def _chosen(self, number: int) -> list[tuple[bool, int, Pair]]:
        """The examples of an epoch: turned or not, number of the pair, ids."""
        chosen: list[tuple[bool, int, Pair]] = []
        for lines in self._forward:
            chosen += (
                (False, i, pair) for i, pair in enumerate(self._encoded(lines, number))
            )
        for lines in self._backward:
            back = self._encoded(lines, number)
            chosen += (
                (True, i, back[i])
                for i in rotating_window(len(back), number, self.recipe.reverse)
            )
        share, n_tags = self.recipe.span_mask, int(self.subwords.joint)
        if not share:
            return chosen
        draw = random.Random(f"mask {self.seed} {number}")
        return [
            (is_back, i, (mask_span(source, share, draw, first=n_tags), target))
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
        """An example cut in another way in every epoch, where that is not too long."""
        noise, is_bpe = self.recipe.subword_noise, self.recipe.subword == "bpe"
        # The hash of integers is the same in every process.
        draw: dict[str, Any] = {"seed": hash((self.seed, number, i))}
        draw |= {"dropout_p": noise} if is_bpe else {"alpha": 1.0 - noise}
        ids = self._one_pair(lines, i, draw)
        fits = max(map(len, ids)) < self.recipe.max_len
        return ids if fits else self._one_pair(lines, i, {})

    def _one_pair(self, lines: Lines, i: int, draw: dict[str, Any]) -> Pair:
        source, target = lines.sources[i], lines.targets[i]
        return (
            self.subwords.source.encode(source, tag=lines.tag, **draw),
            self.subwords.target.encode(target, **draw),
        )


def _ways(
    pairs: Sequence[SentencePair],
    languages: tuple[str, str],
    subwords: Subwords,
    recipe: Recipe,
) -> tuple[Lines, Lines | None]:
    """Examples of both directions of a corpus; None for the second if unused."""
    source, target = languages
    if recipe.reverse_fault == "unswapped":
        # Every pair is in one direction only, and the second direction is the first
        # under another tag.
        even, odd = (_lines(pairs[i::2], source, target, subwords) for i in (0, 1))
        return even, odd._replace(tag=tag_of(source))
    forward = _lines(pairs, source, target, subwords)
    if not recipe.reverse:
        return forward, None
    return forward, _lines([p.swapped() for p in pairs], target, source, subwords)


def _lines(
    pairs: Sequence[SentencePair], source: str, target: str, subwords: Subwords
) -> Lines:
    return Lines(
        [to_model(p.source, source) for p in pairs],
        [to_model(p.target, target, underscores=subwords.underscores) for p in pairs],
        tag_of(target) if subwords.joint else None,
    )


@dataclass
class TranslationTask:
    """Predict every target token from the source and the target before it.

    Losses are sums over the target tokens of a batch, EOS included. In evaluation mode
    the decoder reads the true tokens in one pass, whatever the settings.
    """

    label_smoothing: float = 0.1
    """Share of the target distribution that goes to other tokens, at least 0 and below
    1."""
    convention: str = "pytorch"
    """How it is shared out, one of `losses.CONVENTIONS`."""
    r_drop_alpha: int | float = 0.0
    """Weight of R-Drop's divergence, at least 0; 0 makes one pass instead of two."""
    scheduled_sampling: Schedule | None = None
    """Probability of a true token in the decoder's input, by step; None is teacher
    forcing."""
    _step: int | None = field(default=None, init=False, repr=False)

    def __post_init__(self) -> None:
        if not 0.0 <= self.label_smoothing < 1.0:
            raise ValueError(
                "label_smoothing must be at least 0 and below 1, got"
                f" {self.label_smoothing}"
            )
        if self.convention not in CONVENTIONS:
            raise ValueError(
                f"convention must be one of {', '.join(CONVENTIONS)}, got"
                f" {self.convention!r}"
            )
        if not 0 <= self.r_drop_alpha < float("inf"):
            raise ValueError(
                f"r_drop_alpha must be at least 0 and finite, got {self.r_drop_alpha}"
            )

    def start_step(self, step: int) -> None:
        """Say which step, from 1, the coming batches belong to."""
        self._step = step

    def count(self, batch: TextBatch) -> int:
        """Target tokens of the batch, EOS included."""
        return batch.n_tokens

    def check_inputs(self, model: nn.Module, epoch: Sequence[TextBatch]) -> None:
        """Raises a ValueError unless the model has an embedding for every id."""
        config = getattr(model, "config", None)
        if not isinstance(epoch, Epoch):
            return
        if isinstance(config, Seq2SeqConfig):
            check_vocabulary(epoch, config.source_vocab, config.target_vocab)
        elif isinstance(config, TransformerConfig):
            source = config.source_vocab_size or config.vocab_size
            check_vocabulary(epoch, source, config.vocab_size)

    def loss(self, model: Any, batch: TextBatch) -> Tensor:
        """Summed loss of a batch.

        Args:
            model: `Transformer` or `GRUSeq2Seq`, bare or wrapped by Fabric.
            batch: on the device of the model.

        Raises:
            ValueError: scheduled sampling is on, but no step was started.
        """
        tgt_in = self._mixed(model, batch) if model.training else batch.tgt_in
        if self.r_drop_alpha and model.training:
            return r_drop_loss(
                predict(model, duplicate_batch(batch.src), duplicate_batch(tgt_in)),
                batch.tgt_out,
                self.r_drop_alpha,
                smoothing=self.label_smoothing,
                convention=self.convention,
            )
        logits = predict(model, batch.src, tgt_in)
        return label_smoothed_cross_entropy(
            logits, batch.tgt_out, self.label_smoothing, convention=self.convention
        )

    def _mixed(self, model: Any, batch: TextBatch) -> Tensor:
        """The decoder's input: true tokens, or a mixture with predicted ones."""
        if self.scheduled_sampling is None:
            return batch.tgt_in
        if self._step is None:
            raise ValueError(
                "start_step must be called before loss where scheduled_sampling is"
                " given"
            )
        p = 1.0 - self.scheduled_sampling(self._step)
        if p == 0.0:
            return batch.tgt_in
        inner = unwrapped(model)
        if isinstance(inner, GRUSeq2Seq):
            state = inner.start(batch.src, max_len=batch.tgt_in.shape[1])
            return mix_step_by_step(state.step, batch.tgt_in, p)
        with torch.no_grad():
            logits = predict(model, batch.src, batch.tgt_in)
        return mix_in_parallel(logits, batch.tgt_in, p)


def mean_loss(model: nn.Module, batches: Iterable[TextBatch]) -> float:
    """Cross-entropy a target token in nats, without smoothing and dropout.

    Its exponential is the perplexity. The model is left in the mode that it came in.

    Raises:
        ValueError: there is no batch.
    """
    return training_task.mean_loss(model, TranslationTask(label_smoothing=0.0), batches)
