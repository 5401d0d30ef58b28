"""Sentence pairs as T5 takes them, and the corpora that they come from.

    "translate Nom to Vietnamese: 碎𠫾"  ->  src     13 5 9 41 77 1       (EOS 1)
    "tôi đi"                             ->  labels  8 30 1 -100
                                             tgt_in  0 8 30 1

A prefix in front of the source says the direction; EOS stands behind both sides; -100
fills up the labels where no loss counts; PAD 0 starts the decoder. The text is natural,
as a reader writes it.
"""

import hashlib
import json
import random
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import torch
from torch import Tensor

from coursepkg.app.jobs import chunks
from coursepkg.data.batching import LazyBatches, move_batch
from coursepkg.projects.translation.corpora import Parts, load_parts
from coursepkg.projects.translation.corpus import SentencePair, to_reader, to_scorer
from coursepkg.projects.translation.t5.model import T5
from coursepkg.projects.translation.t5.nom import load_nom
from coursepkg.projects.translation.t5.text import prefix_of
from coursepkg.validation import check_count

NOM_CORPORA = ("nom-vi", "nom-lesson")
"""Corpora of Nom that `--data` takes: the real texts, and generated sentences."""


@dataclass(frozen=True)
class Direction:
    """Sentences of one direction as a T5 sees them."""

    parts: Parts
    """As they stand in their files, split."""
    prefix: str
    """What stands in front of each source."""

    @property
    def name(self) -> str:
        """Such as nom-vi."""
        return f"{self.parts.source}-{self.parts.target}"

    def natural(self, part: Sequence[SentencePair]) -> list[SentencePair]:
        """Pairs as a reader writes them: what a pretrained model knows."""
        return [
            p._replace(
                source=natural(p.source, self.parts.source),
                target=natural(p.target, self.parts.target),
            )
            for p in part
        ]


def directions_of(
    source: str,
    target: str,
    *,
    corpus: str = "auto",
    both: bool = False,
    folder: Path | None = None,
) -> list[Direction]:
    """The corpus of a language pair, in one direction or both; a stand-in is noted.

    Args:
        corpus: auto takes the corpus of the pair; else one of `NOM_CORPORA` or of
            `corpora.CORPORA`.
        folder: of the data sets; None is `data_folder()`.

    Raises:
        ValueError: there is no such direction or corpus, or a file is malformed.
    """
    prefix = prefix_of(source, target)
    if "nom" in (source, target):
        if corpus not in ("auto", *NOM_CORPORA):
            raise ValueError(
                f"--data must be auto or one of {', '.join(NOM_CORPORA)} for nom, got"
                f" {corpus}"
            )
        parts = load_nom(
            source, target, folder=folder, generated=corpus == "nom-lesson"
        )
    else:
        parts = load_parts(corpus, source, target, folder=folder)
    back = [Direction(parts.swapped(), prefix_of(target, source))] if both else []
    return [Direction(parts, prefix), *back]


def natural(text: str, language: str) -> str:
    """A line of a corpus as a reader writes it: unsegmented, without underscores."""
    if language == "nom":
        return " ".join(text.split())
    return to_reader(to_scorer(text, language), language)


IGNORED = -100
"""Label of a position that no loss counts; Hugging Face and PyTorch agree on it."""

Ids = tuple[list[int], list[int]]
"""Source ids and target ids of one example, both with EOS."""


@dataclass(frozen=True)
class T5Batch:
    """Examples side by side, padded behind their ends."""

    src: Tensor
    """Source ids (B, S)."""
    src_mask: Tensor
    """1 at a token of the source, 0 at padding (B, S)."""
    tgt_in: Tensor
    """What the decoder reads (B, T)."""
    labels: Tensor
    """What it is to say (B, T), `IGNORED` behind EOS."""
    n_tokens: int
    """Positions that the loss sums over."""

    def to(self, device: torch.device | str, non_blocking: bool = False) -> "T5Batch":
        """The same batch on a device."""
        return move_batch(self, device, non_blocking)


def encode_text(t5: T5, text: str) -> list[int]:
    """Ids of a text with EOS behind them.

    Raises:
        ValueError: an id lies outside the model's vocabulary: model and tokenizer do
            not belong together.
    """
    ids, eos = list(t5.tokenizer.encode(text)), t5.tokenizer.eos_token_id
    ids += [] if ids[-1:] == [eos] else [eos]
    if max(ids) >= t5.network.config.vocab_size:
        raise ValueError(
            f"{t5.name}: the tokenizer gives id {max(ids)} for {text[:40]!r}, but the"
            f" model has {t5.network.config.vocab_size} pieces; use the tokenizer that"
            " the model was trained with"
        )
    return ids


def encode_pairs(
    t5: T5, pairs: Sequence[SentencePair], prefix: str, max_tokens: int
) -> tuple[list[Ids], list[SentencePair]]:
    """Examples of all pairs that are short enough, and the pairs that are not.

    Args:
        max_tokens: most tokens of either side, prefix and EOS included.

    Raises:
        ValueError: a side is empty; file and line are named.
    """
    kept: list[Ids] = []
    left_out = []
    for pair in pairs:
        for side in ("source", "target"):
            if not getattr(pair, side).strip():
                raise ValueError(
                    f"{pair.file}, line {pair.line}: the {side} is empty; remove the"
                    " pair"
                )
        ids = encode_text(t5, prefix + pair.source), encode_text(t5, pair.target)
        if max(map(len, ids)) <= max_tokens:
            kept.append(ids)
        else:
            left_out.append(pair)
    return kept, left_out


def make_t5_batch(examples: Sequence[Ids], *, pad_id: int, start_id: int) -> T5Batch:
    """Pad some examples into one batch.

    Args:
        pad_id: fills up sources and decoder inputs.
        start_id: what the decoder reads first.
    """
    targets = [target for _, target in examples]
    src = _pad([source for source, _ in examples], pad_id)
    lengths = torch.tensor([len(source) for source, _ in examples])
    return T5Batch(
        src=src,
        # By length, not by id: a tokenizer may give PAD's id to a text.
        src_mask=(torch.arange(src.shape[1]) < lengths[:, None]).long(),
        tgt_in=_pad([[start_id, *target[:-1]] for target in targets], pad_id),
        labels=_pad(targets, IGNORED),
        n_tokens=sum(map(len, targets)),
    )


class T5Batches:
    """Batches of a fixed number of examples, ordered by (seed, epoch) alone.

    Args:
        shuffle: False keeps the order of the examples, as validation wants it.

    Raises:
        ValueError: there is no example, or batch_size is below 1.
    """

    def __init__(
        self,
        examples: Sequence[Ids],
        batch_size: int,
        *,
        pad_id: int,
        start_id: int,
        seed: int = 0,
        shuffle: bool = True,
    ) -> None:
        check_count("batch_size", batch_size)
        if not examples:
            raise ValueError(
                "examples must hold at least one, got none; raise max_tokens or give"
                " more pairs"
            )
        self.examples, self.batch_size = list(examples), batch_size
        self.pad_id, self.start_id = pad_id, start_id
        self.seed, self.shuffle = seed, shuffle

    @cached_property
    def fingerprint(self) -> str:
        """SHA-256 of the examples and of how they are batched."""
        ids = self.pad_id, self.start_id
        content = [self.examples, self.batch_size, *ids, self.seed, self.shuffle]
        return hashlib.sha256(json.dumps(content).encode()).hexdigest()

    def epoch(self, number: int) -> LazyBatches[T5Batch]:
        """The batches of epoch `number`."""
        order = list(range(len(self.examples)))
        if self.shuffle:
            random.Random(f"{self.seed} {number}").shuffle(order)
        return LazyBatches(list(chunks(order, self.batch_size)), self._make)

    def _make(self, group: Sequence[int]) -> T5Batch:
        chosen = [self.examples[i] for i in group]
        return make_t5_batch(chosen, pad_id=self.pad_id, start_id=self.start_id)


def _pad(rows: Sequence[Sequence[int]], filler: int) -> Tensor:
    longest = max(map(len, rows))
    return torch.tensor([[*row, *[filler] * (longest - len(row))] for row in rows])
