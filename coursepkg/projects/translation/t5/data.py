"""Sentence pairs as T5 takes them: a prefix in front of the source, EOS behind both sides, -100 where no loss counts.

"translate Nom to Vietnamese: 碎𠫾"  ->  src     13 5 9 41 77 1       (EOS 1)
"tôi đi"                             ->  labels  8 30 1 -100          the target; -100 fills up behind it
                                         tgt_in  0 8 30 1             the same, one later: PAD 0 starts a T5
"""

import hashlib
import json
import random
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import overload

import torch
from torch import Tensor

from coursepkg.arguments import check_count
from coursepkg.projects.translation.corpus import SentencePair
from coursepkg.projects.translation.t5.model import T5

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
        src, src_mask, tgt_in, labels = (
            t.to(device, non_blocking=non_blocking)
            for t in (self.src, self.src_mask, self.tgt_in, self.labels)
        )
        return T5Batch(src, src_mask, tgt_in, labels, self.n_tokens)


def encode_text(t5: T5, text: str) -> list[int]:
    """Ids of a text with EOS behind them.

    Raises:
        ValueError: an id lies outside the model's vocabulary: model and tokenizer do not belong together.
    """
    ids = list(t5.tokenizer.encode(text))
    ids = ids if ids[-1:] == [t5.tokenizer.eos_token_id] else [*ids, t5.tokenizer.eos_token_id]
    if max(ids) >= t5.network.config.vocab_size:
        raise ValueError(
            f"{t5.name}: the tokenizer gives id {max(ids)} for {text[:40]!r}, but the model has "
            f"{t5.network.config.vocab_size} pieces; use the tokenizer that the model was trained with"
        )
    return ids


def encode_pairs(
    t5: T5, pairs: Sequence[SentencePair], prefix: str, max_tokens: int
) -> tuple[list[Ids], list[SentencePair]]:
    """Examples of all pairs that are short enough, and the pairs that are not.

    Args:
        t5: its tokenizer cuts the text.
        pairs: sentences as a reader sees them.
        prefix: what stands in front of each source.
        max_tokens: most tokens of either side, prefix and EOS included.

    Raises:
        ValueError: a side is empty; file and line are named.
    """
    kept: list[Ids] = []
    left_out = []
    for pair in pairs:
        for side in ("source", "target"):
            if not getattr(pair, side).strip():
                raise ValueError(f"{pair.file}, line {pair.line}: the {side} is empty; remove the pair")
        ids = encode_text(t5, prefix + pair.source), encode_text(t5, pair.target)
        if max(map(len, ids)) <= max_tokens:
            kept.append(ids)
        else:
            left_out.append(pair)
    return kept, left_out


def make_t5_batch(examples: Sequence[Ids], *, pad_id: int, start_id: int) -> T5Batch:
    """Pad some examples into one batch.

    Args:
        examples: source and target ids with EOS.
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


class T5Epoch(Sequence[T5Batch]):
    """The batches of one epoch, each built when it is asked for."""

    def __init__(self, batches: "T5Batches", groups: Sequence[Sequence[int]]) -> None:
        self.batches, self.groups = batches, groups

    def __len__(self) -> int:
        return len(self.groups)

    @overload
    def __getitem__(self, index: int) -> T5Batch: ...

    @overload
    def __getitem__(self, index: slice) -> "T5Epoch": ...

    def __getitem__(self, index: int | slice) -> "T5Batch | T5Epoch":
        if isinstance(index, slice):
            return T5Epoch(self.batches, self.groups[index])
        chosen = [self.batches.examples[i] for i in self.groups[index]]
        return make_t5_batch(chosen, pad_id=self.batches.pad_id, start_id=self.batches.start_id)


class T5Batches:
    """Batches of a fixed number of examples, in an order that depends on (seed, epoch) alone.

    Args:
        examples: source and target ids with EOS.
        batch_size: examples of a batch; the last may have fewer.
        pad_id: of the model.
        start_id: what its decoder reads first.
        seed: of the order.
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
            raise ValueError("examples must hold at least one, got none; raise max_tokens or give more pairs")
        self.examples, self.batch_size = list(examples), batch_size
        self.pad_id, self.start_id, self.seed, self.shuffle = pad_id, start_id, seed, shuffle

    @cached_property
    def fingerprint(self) -> str:
        """SHA-256 of the examples and of how they are batched."""
        content = [self.examples, self.batch_size, self.pad_id, self.start_id, self.seed, self.shuffle]
        return hashlib.sha256(json.dumps(content).encode()).hexdigest()

    def epoch(self, number: int) -> T5Epoch:
        """The batches of epoch `number`."""
        order = list(range(len(self.examples)))
        if self.shuffle:
            random.Random(f"{self.seed} {number}").shuffle(order)
        groups = [order[i : i + self.batch_size] for i in range(0, len(order), self.batch_size)]
        return T5Epoch(self, groups)


def _pad(rows: Sequence[Sequence[int]], filler: int) -> Tensor:
    longest = max(map(len, rows))
    return torch.tensor([[*row, *[filler] * (longest - len(row))] for row in rows])
