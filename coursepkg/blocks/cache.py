"""The key-value cache of decoding: what earlier tokens and the source gave to attention, computed once.

Two kinds, because they live differently. Self-attention's keys grow by one token a step and belong to one row
(hypothesis). Cross-attention's keys come from the source: they never grow, and all rows of a sentence share them.
"""

from dataclasses import dataclass, field
from typing import NamedTuple

import torch
from torch import Tensor

from coursepkg.attention.patterns import Pattern, padding


class SelfCache:
    """Keys and values of the tokens so far, for every layer, in memory that is set aside once.

    `select` gathers rows into a second buffer and swaps the two, so that decoding allocates nothing per step.

    Args:
        n_layers: layers that write.
        n_rows: rows (hypotheses) at the start.
        n_kv_heads: key-value heads (G).
        max_len: most tokens.
        head_dim: D.
        like: tensor whose dtype and device the cache takes.
    """

    def __init__(
        self, n_layers: int, n_rows: int, n_kv_heads: int, max_len: int, head_dim: int, like: Tensor
    ) -> None:
        self._buffer = like.new_empty(n_layers, 2, n_rows, n_kv_heads, max_len, head_dim)
        self._spare: Tensor | None = None
        self.n_rows = n_rows
        self.max_len = max_len
        self.length = 0
        """Tokens that all layers have written."""

    @property
    def device(self) -> torch.device:
        """Where the cache lies."""
        return self._buffer.device

    def layer(self, index: int) -> "LayerCache":
        """The part of one layer."""
        return LayerCache(self, index)

    def write(self, layer: int, k: Tensor, v: Tensor) -> tuple[Tensor, Tensor]:
        """Append k and v (N, G, T, D) of one layer and return all of its keys and values (N, G, length + T, D)."""
        end = self.length + k.shape[2]
        keys, values = self._buffer[layer, :, : self.n_rows].unbind(0)
        keys[:, :, self.length : end] = k
        values[:, :, self.length : end] = v
        return keys[:, :, :end], values[:, :, :end]

    def advance(self, n_tokens: int) -> None:
        """Say that every layer has written `n_tokens` tokens."""
        self.length += n_tokens

    def select(self, rows: Tensor) -> None:
        """Row i becomes a copy of what row rows[i] was."""
        n_layers, _, capacity, *sizes = self._buffer.shape
        if self._spare is None or self._spare.shape[2] < len(rows):
            self._spare = self._buffer.new_empty(n_layers, 2, max(len(rows), capacity), *sizes)
        for old, new in zip(self._buffer.flatten(0, 1), self._spare.flatten(0, 1), strict=True):
            # Only what was written: at the first steps that is a small part of the buffer.
            target = new[: len(rows), :, : self.length]
            torch.index_select(old[: self.n_rows, :, : self.length], 0, rows, out=target)
        self._buffer, self._spare = self._spare, self._buffer
        self.n_rows = len(rows)


@dataclass(frozen=True)
class LayerCache:
    """One layer's view of a `SelfCache`."""

    cache: SelfCache
    index: int

    @property
    def length(self) -> int:
        """Tokens before the ones that are being computed."""
        return self.cache.length

    def append(self, k: Tensor, v: Tensor) -> tuple[Tensor, Tensor]:
        """Keep k and v (N, G, T, D) and return those of all tokens so far."""
        return self.cache.write(self.index, k, v)


class SourceKeys(NamedTuple):
    """What one layer's cross-attention reads."""

    k: Tensor
    """(B, G, S, D)."""
    v: Tensor
    """(B, G, S, D)."""
    pattern: Pattern | None
    """Hides padding; None where no source has any."""


@dataclass(frozen=True)
class CrossCache:
    """Keys and values of the source, for every layer: one set a sentence, however many rows read it."""

    keys: tuple[Tensor, ...]
    """(B, G, S, D), one a layer."""
    values: tuple[Tensor, ...]
    """(B, G, S, D), one a layer."""
    lengths: Tensor | None
    """(B,) real tokens of each source; None where no source has padding."""
    pattern: Pattern | None = field(init=False)
    """Hides the padding."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "pattern", None if self.lengths is None else padding(self.lengths))

    def layer(self, index: int) -> SourceKeys:
        """The part of one layer."""
        return SourceKeys(self.keys[index], self.values[index], self.pattern)

    def select(self, sentences: Tensor) -> "CrossCache":
        """That of some sentences, a copy."""
        return CrossCache(
            tuple(k[sentences] for k in self.keys),
            tuple(v[sentences] for v in self.values),
            None if self.lengths is None else self.lengths[sentences],
        )
