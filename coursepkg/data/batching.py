"""Batches of sentence pairs: bucketed by length and filled up to a number of tokens.

A pair (source ids, target ids) has no special tokens in it. A batch adds them: the
source ends with EOS, the decoder reads BOS + target and is to say target + EOS.

    source  4 9 7     ->  src      4 9 7 2
    target  5 6       ->  tgt_in   1 5 6        tgt_out  5 6 2

with BOS 1, EOS 2, and PAD 0 behind shorter sentences.
"""

import dataclasses
import hashlib
import json
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TypeVar, overload

import torch
from torch import Tensor

from coursepkg.text.vocabulary import BOS, EOS, PAD

B = TypeVar("B")
Pair = tuple[Sequence[int], Sequence[int]]
"""Source ids and target ids of one example, without special tokens."""


@dataclass(frozen=True)
class TextBatch:
    """Sentence pairs side by side, padded behind their ends with PAD."""

    src: Tensor
    """Source ids (B, S), each row ends with EOS."""
    tgt_in: Tensor
    """What the decoder reads (B, T), each row begins with BOS."""
    tgt_out: Tensor
    """What it is to say (B, T), each row ends with EOS."""
    n_tokens: int
    """Positions of `tgt_out` that are no padding: what a loss sums over."""

    @property
    def src_lengths(self) -> Tensor:
        """Tokens of each source, EOS included (B,)."""
        return (self.src != PAD).sum(dim=1)

    def to(self, device: torch.device | str, non_blocking: bool = False) -> "TextBatch":
        """The same batch on a device."""
        src, tgt_in, tgt_out = (
            ids.to(device, non_blocking=non_blocking)
            for ids in (self.src, self.tgt_in, self.tgt_out)
        )
        return TextBatch(src, tgt_in, tgt_out, self.n_tokens)


def move_batch(batch: B, device: torch.device | str, non_blocking: bool = False) -> B:
    """A batch of any dataclass with its tensors, and batches in it, on a device."""
    moved = {
        name: value.to(device, non_blocking=non_blocking)
        for name, value in vars(batch).items()
        if hasattr(value, "to")
    }
    return dataclasses.replace(batch, **moved)  # type: ignore[type-var]


def make_batch(pairs: Sequence[Pair]) -> TextBatch:
    """Pad some pairs into one batch, with BOS and EOS where they belong."""
    return TextBatch(
        src=_pad([[*source, EOS] for source, _ in pairs]),
        tgt_in=_pad([[BOS, *target] for _, target in pairs]),
        tgt_out=_pad([[*target, EOS] for _, target in pairs]),
        n_tokens=sum(len(target) + 1 for _, target in pairs),
    )


class LazyBatches(Sequence[B]):
    """The batches of an epoch of any kind, each built when it is asked for.

    Args:
        groups: for each batch the numbers of its examples.
        make: builds the batch of a group.
    """

    def __init__(
        self, groups: Sequence[Sequence[int]], make: Callable[[Sequence[int]], B]
    ) -> None:
        self.groups, self.make = groups, make

    def __len__(self) -> int:
        return len(self.groups)

    @overload
    def __getitem__(self, index: int) -> B: ...

    @overload
    def __getitem__(self, index: slice) -> "LazyBatches[B]": ...

    def __getitem__(self, index: int | slice) -> "B | LazyBatches[B]":
        if isinstance(index, slice):
            return LazyBatches(self.groups[index], self.make)
        return self.make(self.groups[index])


class Epoch(Sequence[TextBatch]):
    """The batches of one epoch, each built when it is asked for."""

    def __init__(self, pairs: Sequence[Pair], groups: Sequence[Sequence[int]]) -> None:
        self.pairs, self.groups = pairs, groups

    def __len__(self) -> int:
        return len(self.groups)

    @overload
    def __getitem__(self, index: int) -> TextBatch: ...

    @overload
    def __getitem__(self, index: slice) -> "Epoch": ...

    def __getitem__(self, index: int | slice) -> "TextBatch | Epoch":
        if isinstance(index, slice):
            return Epoch(self.pairs, self.groups[index])
        return make_batch([self.pairs[i] for i in self.groups[index]])

    @property
    def padding_share(self) -> float:
        """Share of padding in all positions of source and target of the epoch."""
        sizes = [[_lengths(self.pairs[i]) for i in group] for group in self.groups]
        cells = sum(len(group) * _padded_size(group) for group in sizes)
        return (
            1.0
            - sum(source + target for group in sizes for source, target in group)
            / cells
        )


def check_vocabulary(epoch: Epoch, source_vocab: int, target_vocab: int) -> None:
    """Check that a network has an embedding for every id of an epoch.

    Raises:
        ValueError: a source or target id is outside its vocabulary.
    """
    sides = (("src", source_vocab), ("tgt_in", target_vocab))
    for side, (name, size) in enumerate(sides):
        low = min(min(pair[side], default=EOS) for pair in epoch.pairs)
        high = max(max(pair[side], default=EOS) for pair in epoch.pairs)
        if low < 0 or high >= size:
            raise ValueError(
                f"{name} must hold ids in 0..{size - 1}, got {low}..{high}"
            )


class TokenBatches:
    """Batches of pairs of about equal length, of up to `max_tokens` positions.

        B * (S + T) <= max_tokens

    with S and T the longest source and target of the batch, EOS included.

    Pairs are sorted by length, equally long ones in random order, and cut into batches,
    the first of random size, so that the same pairs seldom meet again; then the batches
    are shuffled. Every pair is in exactly one batch of an epoch. What an epoch looks
    like depends on (seed, number) alone.

    Args:
        pairs: source and target ids without special tokens.
        max_tokens: most positions of a batch.
        seed: of the order.
        shuffle: False keeps one order for all epochs, short batches first, as
            validation wants it.

    Raises:
        ValueError: there is no pair, one is empty, longer than `max_tokens`, or holds
            PAD, BOS or EOS; it is named.
    """

    def __init__(
        self,
        pairs: Sequence[Pair],
        max_tokens: int,
        seed: int = 0,
        *,
        shuffle: bool = True,
    ) -> None:
        check_pairs(pairs, max_tokens)
        self.pairs, self.max_tokens, self.seed, self.shuffle = (
            pairs,
            max_tokens,
            seed,
            shuffle,
        )

    @cached_property
    def fingerprint(self) -> str:
        """SHA-256 of the pairs and their batching: equal ones give equal epochs."""
        pairs = [[list(source), list(target)] for source, target in self.pairs]
        content = [pairs, self.max_tokens, self.seed, self.shuffle]
        return hashlib.sha256(json.dumps(content).encode()).hexdigest()

    def epoch(self, number: int) -> Epoch:
        """The batches of epoch `number`."""
        order = list(range(len(self.pairs)))
        first = self.max_tokens
        draw = random.Random(f"{self.seed} {number}")
        if self.shuffle:
            draw.shuffle(order)
            first = draw.randint(1, self.max_tokens)
        order.sort(key=lambda i: _snake(self.pairs[i]))
        groups = self._cut(order, first)
        if self.shuffle:
            draw.shuffle(groups)
        return Epoch(self.pairs, groups)

    def _cut(self, order: list[int], limit: int) -> list[list[int]]:
        """Runs of `order` within `max_tokens` positions, the first within `limit`."""
        groups: list[list[int]] = []
        source = target = 0
        for i in order:
            n_source, n_target = _lengths(self.pairs[i])
            source, target = max(source, n_source), max(target, n_target)
            if not groups or (len(groups[-1]) + 1) * (source + target) > limit:
                limit = self.max_tokens if groups else limit
                groups.append([])
                source, target = n_source, n_target
            groups[-1].append(i)
        return groups


def padded_random_batches(
    pairs: Sequence[Pair], batch_size: int, *, seed: int = 0, epoch: int = 0
) -> Epoch:
    """Batches of a fixed number of pairs in random order, the plain way.

    Args:
        pairs: source and target ids without special tokens.
        batch_size: pairs in a batch; the last may have fewer.
        seed: of the order.
        epoch: number of the epoch; each has its own order.

    Raises:
        ValueError: batch_size is below 1, or the pairs are malformed.
    """
    if batch_size < 1:
        raise ValueError(f"batch_size must be at least 1, got {batch_size}")
    check_pairs(pairs)
    order = list(range(len(pairs)))
    random.Random(f"{seed} {epoch}").shuffle(order)
    return Epoch(
        pairs, [order[i : i + batch_size] for i in range(0, len(order), batch_size)]
    )


def check_pairs(pairs: Sequence[Pair], max_tokens: int | None = None) -> None:
    """Raises a ValueError that names the first empty, special or too long pair."""
    if not pairs:
        raise ValueError("pairs must hold at least one pair, got none")
    for i, pair in enumerate(pairs):
        for side, ids in zip(("source", "target"), pair, strict=True):
            if not ids:
                raise ValueError(
                    f"pairs[{i}] must have a {side} of at least one token, got none"
                )
            if min(ids) <= EOS:
                raise ValueError(
                    f"pairs[{i}] must have {side} ids above {EOS}, as special tokens"
                    f" are added here, got {min(ids)}"
                )
        source, target = _lengths(pair)
        if max_tokens is not None and source + target > max_tokens:
            raise ValueError(
                f"pairs[{i}] must fit into max_tokens ({max_tokens}), got {source}"
                f" source and {target} target tokens with EOS; raise max_tokens or"
                " filter long pairs out"
            )


def _lengths(pair: Pair) -> tuple[int, int]:
    """Source and target length with EOS."""
    return len(pair[0]) + 1, len(pair[1]) + 1


def _snake(pair: Pair) -> tuple[int, int]:
    """Sorts by target, then by source length, up and down in turn."""
    source, target = _lengths(pair)
    return target, source if target % 2 else -source


def _padded_size(lengths: Sequence[tuple[int, int]]) -> int:
    """Positions that one pair takes in a batch of pairs of these lengths."""
    return max(source for source, _ in lengths) + max(target for _, target in lengths)


def _pad(rows: Sequence[Sequence[int]]) -> Tensor:
    longest = max(len(row) for row in rows)
    return torch.tensor([[*row, *[PAD] * (longest - len(row))] for row in rows])
