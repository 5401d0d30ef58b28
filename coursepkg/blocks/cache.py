"""The key-value cache of decoding: what earlier tokens and the source gave to attention, computed once.

Two kinds, because they live differently. Cross-attention's keys come from the source: they never grow, and all rows
(hypotheses) of a sentence share them. Self-attention's keys grow by one token a row and step.

The hypotheses of a sentence are paths in a tree: they part and die, but what was written at a node stays. So the keys
of a sentence lie in one pool, each is written once and never moved, and a row is a mask that marks its path:

    pool     <bos>  I  We  am  was  are      slots of one sentence, in the order of writing
    row 0      x    x      x                 "I am"
    row 1      x    x           x            "I was"
    row 2      x       x            x        "We are"

Reordering beams then reorders masks, where a cache with one copy a row has to copy its keys and values; attention
reads the pool once for all rows of a sentence, as it does with the source.
"""

from dataclasses import dataclass
from typing import NamedTuple

import torch
from torch import Tensor


class SelfCache:
    """Keys and values of the tokens so far, for every layer, in memory that is set aside once.

    Args:
        n_layers: layers that write.
        n_sentences: sentences (B), each with one row at the start.
        n_kv_heads: key-value heads (G).
        max_len: most tokens of a row.
        head_dim: D.
        like: tensor whose dtype and device the cache takes.
    """

    def __init__(
        self, n_layers: int, n_sentences: int, n_kv_heads: int, max_len: int, head_dim: int, like: Tensor
    ) -> None:
        self._pool = like.new_empty(n_layers, 2, n_sentences, n_kv_heads, max_len, head_dim)
        self.n_sentences = self.n_rows = n_sentences
        self.max_len, self.length = max_len, 0
        self._is_mine = torch.ones(n_sentences, 0, dtype=torch.bool, device=like.device)  # (N, slots)
        self._positions = torch.zeros(0, dtype=torch.int64, device=like.device)  # (slots,)
        self._shared = False

    @property
    def device(self) -> torch.device:
        """Where the cache lies."""
        return self._pool.device

    def open(self, n_tokens: int) -> "Step":
        """Make room for `n_tokens` more tokens in each row.

        Returns:
            what the layers need to write those tokens and to attend from them.
        """
        first, per_sentence = self._is_mine.shape[1], self.n_rows // self.n_sentences
        own = torch.eye(per_sentence, dtype=torch.bool, device=self.device).repeat_interleave(n_tokens, dim=1)
        visible = self._visible(own, n_tokens) if self._shared else None
        self._is_mine = torch.cat([self._is_mine, own.repeat(self.n_sentences, 1)], dim=1)
        new = torch.arange(self.length, self.length + n_tokens, device=self.device)
        self._positions = torch.cat([self._positions, new.repeat(per_sentence)])
        offset, self.length = self.length, self.length + n_tokens
        slots = slice(first, self._is_mine.shape[1])
        return Step(self._pool[:, :, : self.n_sentences], slots, offset, visible, self._positions)

    def _visible(self, own: Tensor, n_tokens: int) -> Tensor:
        """(B, 1, rows a sentence * n_tokens, slots): a token sees its row's path, and on it nothing behind itself."""
        before = self._is_mine.unflatten(0, (self.n_sentences, -1)).repeat_interleave(n_tokens, dim=1)
        causal = torch.ones(n_tokens, n_tokens, dtype=torch.bool, device=self.device).tril()
        new = own.repeat_interleave(n_tokens, dim=0) & causal.repeat(len(own), len(own))
        return torch.cat([before, new.expand(self.n_sentences, -1, -1)], dim=2).unsqueeze(1)

    def select(self, rows: Tensor, sentences: Tensor | None = None) -> None:
        """Row i continues what row rows[i] was.

        Args:
            rows: (N',) old rows, sentence-major, as many for each sentence as for the others, each of its own.
            sentences: (B',) the sentences that stay, ascending; None keeps all. Only dropping moves keys.
        """
        slots = self._is_mine.shape[1]
        if sentences is not None:
            for part in self._pool.flatten(0, 1):
                part[: len(sentences), :, :slots] = part[sentences, :, :slots]
            self.n_sentences = len(sentences)
        self._is_mine = self._is_mine[rows]
        self.n_rows = len(rows)
        self._shared = self._shared or self.n_rows > self.n_sentences
        self._make_room(slots + self.n_rows // self.n_sentences * (self.max_len - self.length))

    def _make_room(self, n_slots: int) -> None:
        """Grow where there are more rows a sentence than the pool was made for."""
        n_layers, kinds, _, heads, present, width = self._pool.shape
        if n_slots > present:
            pool = self._pool.new_empty(n_layers, kinds, self.n_sentences, heads, n_slots, width)
            used = self._is_mine.shape[1]
            pool[..., :used, :] = self._pool[:, :, : self.n_sentences, :, :used]
            self._pool = pool


class Step(NamedTuple):
    """Some more tokens of every row, on their way through the layers."""

    pool: Tensor
    """(layers, 2, B, G, slots set aside, D), keys and values."""
    slots: slice
    """Where the new tokens go."""
    offset: int
    """Tokens of each row before them."""
    visible: Tensor | None
    """bool (B, 1, rows a sentence * T, slots); None where each sentence has one row, which sees all before it."""
    positions: Tensor
    """(slots,), of every slot in its row."""

    def write(self, layer: int, k: Tensor, v: Tensor) -> tuple[Tensor, Tensor]:
        """Put k and v (N, G, T, D) of one layer into the pool; return all of its keys and values (B, G, slots, D)."""
        for kind, new in enumerate((k, v)):
            by_sentence = new.unflatten(0, (self.pool.shape[2], -1)).transpose(1, 2)  # (B, G, N / B, T, D)
            place = self.pool[layer, kind, :, :, self.slots]
            place.unflatten(2, by_sentence.shape[2:4]).copy_(by_sentence)
        keys, values = self.pool[layer, :, :, :, : self.slots.stop]
        return keys, values

    def spread(self, score_bias: Tensor) -> Tensor:
        """A bias over positions (1, H, T, offset + T) -> the same over slots, (1, H, rows a sentence * T, slots)."""
        n_new = self.slots.stop - self.slots.start
        over_slots = score_bias[..., self.positions]
        return over_slots.repeat(1, 1, n_new // score_bias.shape[2], 1)


class SourceKeys(NamedTuple):
    """What one layer's cross-attention reads."""

    k: Tensor
    """(B, G, S, D)."""
    v: Tensor
    """(B, G, S, D)."""
    visible: Tensor | None
    """bool (B, 1, 1, S), False at padding; None where no source has any."""


@dataclass(frozen=True)
class CrossCache:
    """Keys and values of the source, for every layer: one set a sentence, however many rows read it."""

    keys: tuple[Tensor, ...]
    """(B, G, S, D), one a layer."""
    values: tuple[Tensor, ...]
    """(B, G, S, D), one a layer."""
    is_real: Tensor | None
    """bool (B, S), False at the padding behind a source; None where no source has any."""

    def layer(self, index: int) -> SourceKeys:
        """The part of one layer."""
        visible = None if self.is_real is None else self.is_real[:, None, None]
        return SourceKeys(self.keys[index], self.values[index], visible)

    def select(self, sentences: Tensor) -> "CrossCache":
        """That of some sentences, a copy."""
        return CrossCache(
            tuple(k[sentences] for k in self.keys),
            tuple(v[sentences] for v in self.values),
            None if self.is_real is None else self.is_real[sentences],
        )
