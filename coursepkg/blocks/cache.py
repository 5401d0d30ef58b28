"""The key-value cache of decoding, and the states that decoding moves forward.

Two caches, because they live differently. Cross-attention's keys come from the source:
they never grow, and all rows (hypotheses) of a sentence share them. Self-attention's
keys grow by one token a row and step.

The hypotheses of a sentence are paths in a tree: they part and die, but what was
written at a node stays. So the keys of a sentence lie in one pool, no reordering moves
them, and a row is a mask that marks its path:

    pool     <bos>  I  We  am  was  are    slots of one sentence, as they were written
    row 0      x    x      x               "I am"
    row 1      x    x           x          "I was"
    row 2      x       x            x      "We are"

Reordering beams then reorders masks, where a cache with one copy a row has to copy its
keys and values; attention reads the pool once for all rows of a sentence, as it does
with the source.

`check_ids` and `check_padding` read the values of a tensor, for which a GPU has to be
waited for. They run only where ids come in from outside: `start`, `check_inputs`, the
first tokens of a state. A forward pass calls `check_shape`, which reads no value.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import torch
from torch import Tensor

from coursepkg.attention.pattern import Pattern, padding
from coursepkg.blocks.config import TransformerConfig
from coursepkg.text.vocabulary import PAD
from coursepkg.validation import check_counts


class SelfCache:
    """Keys and values of the tokens so far, for every layer, in one pool.

    Args:
        n_layers: layers that write.
        n_sentences: sentences (B), each with one row at the start.
        n_kv_heads: key-value heads (G).
        max_len: most tokens of a row.
        head_dim: D.
        like: tensor whose dtype and device the cache takes.
    """

    def __init__(
        self,
        n_layers: int,
        n_sentences: int,
        n_kv_heads: int,
        max_len: int,
        head_dim: int,
        like: Tensor,
    ) -> None:
        self._pool = like.new_empty(
            n_layers, 2, n_sentences, n_kv_heads, max_len, head_dim
        )
        self.n_sentences = self.n_rows = n_sentences
        self.max_len, self.length = max_len, 0
        device = like.device
        # (N, slots): whether a slot lies on a row's path.
        self._is_mine = torch.ones(n_sentences, 0, dtype=torch.bool, device=device)
        self._positions = torch.zeros(0, dtype=torch.int64, device=device)  # (slots,)
        self._shared = False

    @property
    def device(self) -> torch.device:
        """Where the cache lies."""
        return self._pool.device

    def open(self, n_tokens: int) -> "CacheUpdate":
        """Room for `n_tokens` more tokens of each row, for the layers to write into."""
        first, per_sentence = self._is_mine.shape[1], self.n_rows // self.n_sentences
        # Every row writes its own tokens, which the rows beside it do not see.
        own = torch.eye(per_sentence, dtype=torch.bool, device=self.device)
        own = own.repeat_interleave(n_tokens, dim=1)  # (rows a sentence, new slots)
        # One row a sentence sees all that is there, and needs no mask for it.
        visible = self._visible(own, n_tokens) if self._shared else None
        mine = [self._is_mine, own.repeat(self.n_sentences, 1)]
        self._is_mine = torch.cat(mine, dim=1)
        new = torch.arange(self.length, self.length + n_tokens, device=self.device)
        self._positions = torch.cat([self._positions, new.repeat(per_sentence)])
        offset, self.length = self.length, self.length + n_tokens
        slots = slice(first, self._is_mine.shape[1])
        pool = self._pool[:, :, : self.n_sentences]
        return CacheUpdate(pool, slots, offset, visible, self._positions)

    def _visible(self, own: Tensor, n_tokens: int) -> Tensor:
        """(B, 1, rows a sentence * n_tokens, slots): a row's path up to the token."""
        before = self._is_mine.unflatten(0, (self.n_sentences, -1))
        before = before.repeat_interleave(n_tokens, dim=1)
        causal = own.new_ones(n_tokens, n_tokens).tril().repeat(len(own), len(own))
        new = own.repeat_interleave(n_tokens, dim=0) & causal
        new = new.expand(self.n_sentences, -1, -1)
        return torch.cat([before, new], dim=2).unsqueeze(1)

    def select(self, rows: Tensor, sentences: Tensor | None = None) -> None:
        """Row i continues what row rows[i] was.

        Args:
            rows: (N',) old rows, sentence-major, as many for each sentence as for the
                others, each of its own.
            sentences: (B',) the sentences that stay, ascending; None keeps all. Keys
                move only where sentences are dropped or the pool grows.
        """
        slots = self._is_mine.shape[1]
        if sentences is not None:
            # Part by part, so that the copy needs the memory of one layer's keys.
            for part in self._pool.flatten(0, 1):
                part[: len(sentences), :, :slots] = part[sentences, :, :slots]
            self.n_sentences = len(sentences)
        self._is_mine = self._is_mine[rows]
        self.n_rows = len(rows)
        # Once shared, always masked: dead paths stay in the pool.
        self._shared = self._shared or self.n_rows > self.n_sentences
        per_sentence = self.n_rows // self.n_sentences
        self._make_room(slots + per_sentence * (self.max_len - self.length))

    def _make_room(self, n_slots: int) -> None:
        """Grow where there are more rows a sentence than the pool was made for."""
        n_layers, kinds, _, heads, present, width = self._pool.shape
        if n_slots > present:
            pool = self._pool.new_empty(
                n_layers, kinds, self.n_sentences, heads, n_slots, width
            )
            used = self._is_mine.shape[1]
            pool[..., :used, :] = self._pool[:, :, : self.n_sentences, :, :used]
            self._pool = pool


class RollingCache:
    """Keys and values of the last `window` tokens: token t takes slot t mod window.

    A layer with a causal window never reads older tokens, so a new one may take the
    slot of the oldest, and the cache stops growing. The order of the slots does not
    matter to a softmax; positions must have been put into the keys before (RoPE).

    Args:
        window: tokens that a query sees, itself included.

    Raises:
        ValueError: window is not a positive integer.

    Source: Jiang et al., "Mistral 7B", section 2 (arXiv 2310.06825).
    """

    def __init__(self, window: int) -> None:
        check_counts(window=window)
        self.window, self.length = window, 0
        self._slots: Tensor | None = None  # (2, B, G, window, D)

    def write(self, k: Tensor, v: Tensor) -> tuple[Tensor, Tensor]:
        """Put in one token's k and v (B, G, 1, D); return what its query sees.

        Returns:
            keys and values (B, G, min(tokens so far, window), D), in slot order.
        """
        new = torch.stack([k, v])
        if new.shape[-2] != 1:
            raise ValueError(
                f"k and v must hold one token, (B, G, 1, D), got {tuple(k.shape)}"
            )
        if self._slots is None:
            self._slots = new.new_zeros(*new.shape[:3], self.window, new.shape[-1])
        self._slots[..., self.length % self.window, :] = new[..., 0, :]
        self.length += 1
        keys, values = self._slots[..., : min(self.length, self.window), :]
        return keys, values


class CacheUpdate(NamedTuple):
    """Where the new tokens of every row go in the pool, and what they see there."""

    pool: Tensor
    """(layers, 2, B, G, slots set aside, D), keys and values."""
    slots: slice
    """Where the new tokens go."""
    offset: int
    """Tokens of each row before them."""
    visible: Tensor | None
    """bool (B, 1, rows a sentence * T, slots); None: one row a sentence sees all."""
    positions: Tensor
    """(slots,), of every slot in its row."""

    def write(self, layer: int, k: Tensor, v: Tensor) -> tuple[Tensor, Tensor]:
        """Put in k and v (N, G, T, D) of a layer; return all of it (B, G, slots, D)."""
        for kind, new in enumerate((k, v)):
            # (N, G, T, D) -> (B, G, N / B, T, D)
            by_sentence = new.unflatten(0, (self.pool.shape[2], -1)).transpose(1, 2)
            place = self.pool[layer, kind, :, :, self.slots]
            place.unflatten(2, by_sentence.shape[2:4]).copy_(by_sentence)
        keys, values = self.pool[layer, :, :, :, : self.slots.stop]
        return keys, values

    def spread(self, score_bias: Tensor) -> Tensor:
        """A bias (1, H, T, offset + T) as (1, H, rows a sentence * T, slots)."""
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
    """Keys and values of the source, for every layer; all rows of a sentence share."""

    keys: tuple[Tensor, ...]
    """(B, G, S, D), one a layer."""
    values: tuple[Tensor, ...]
    """(B, G, S, D), one a layer."""
    is_real: Tensor | None
    """bool (B, S), False at padding; None where no source has any."""

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


@dataclass(frozen=True)
class Memory:
    """What the decoder may look at: the encoded source."""

    outputs: Tensor
    """Encoder outputs (B, S, E). What stands at padding is never looked at."""
    is_real: Tensor
    """bool (B, S), False at padding."""


def trimmed(memory: Memory, first: int, last: int) -> Memory:
    """Rows `first` .. `last` - 1 without columns that are padding in all of them."""
    is_real = memory.is_real[first:last]
    longest = int(is_real.sum(dim=1).max())
    return Memory(memory.outputs[first:last, :longest], is_real[:, :longest])


def check_shape(name: str, ids: Tensor, max_len: int) -> None:
    """Raises a ValueError unless `ids` is an integer matrix of at most max_len columns.

    It reads no value, so it costs no wait in a forward pass.
    """
    is_tensor = isinstance(ids, Tensor)
    is_integer = is_tensor and ids.dtype in (torch.int64, torch.int32)
    if not is_integer or ids.dim() != 2 or not ids.numel():
        what = f"{ids.dtype} {tuple(ids.shape)}" if is_tensor else type(ids).__name__
        raise ValueError(f"{name} must be integer ids (B, length), got {what}")
    if ids.shape[1] > max_len:
        raise ValueError(
            f"{name} must have at most max_len = {max_len} tokens a row, got"
            f" {ids.shape[1]}"
        )


def check_ids(name: str, ids: Tensor, vocab_size: int, max_len: int) -> None:
    """Raises a ValueError unless `ids` (B, length) are those of a vocabulary."""
    check_shape(name, ids, max_len)
    low, high = (int(end) for end in ids.aminmax())
    if low < 0 or high >= vocab_size:
        raise ValueError(
            f"{name} must hold ids in 0..{vocab_size - 1}, got {low}..{high}"
        )


def check_padding(name: str, ids: Tensor) -> None:
    """Raises a ValueError unless each row is real tokens, then PAD (B, length)."""
    is_real, lengths = real_tokens(ids)
    if bool((lengths == 0).any()):
        raise ValueError(
            f"{name} must have a token in every row, got only padding in row"
            f" {int((lengths == 0).nonzero()[0])}"
        )
    has_gap = (is_real.long().diff(dim=1) > 0).any(dim=1)
    if bool(has_gap.any()):
        raise ValueError(
            f"{name} must be padded behind its last token only, got padding before it"
            f" in row {int(has_gap.nonzero()[0])}"
        )


def real_tokens(ids: Tensor) -> tuple[Tensor, Tensor]:
    """is_real, bool (B, length), and lengths (B,) of ids with PAD behind their ends."""
    is_real = ids != PAD
    return is_real, is_real.sum(dim=1)


def is_whole(is_real: Tensor) -> bool:
    """Whether nothing is padding, as far as can be told without waiting.

    Kernels without a mask are faster on a CPU, and there the answer is at hand. A GPU
    would have to be asked in every forward pass, so there the mask stays.
    """
    return is_real.device.type == "cpu" and bool(is_real.all())


def hide_padding(is_real: Tensor) -> Pattern | None:
    """The pattern for is_real (B, S); None where nothing is padding, see `is_whole`."""
    return None if is_whole(is_real) else padding(is_real.sum(dim=1))


NextLogits = Callable[[Tensor, SelfCache, CrossCache | None], Tensor]
"""(tokens (N, T), cache, source) -> logits (N, V) of what follows the last token; the
cache moves on.
"""


class CachedState:
    """Rows (hypotheses) of a batch in the midst of decoding, from `Transformer.start`.

    Rows are sentence-major: first those of sentence 0, then those of sentence 1, each
    sentence with as many as the others. In a decoder-only model each row of the start
    is a sentence of its own.
    """

    def __init__(
        self,
        next_logits: NextLogits,
        vocab_size: int,
        cache: SelfCache,
        source: CrossCache | None,
    ) -> None:
        self._next_logits, self._vocab_size = next_logits, vocab_size
        self.cache, self.source = cache, source

    @property
    def n_rows(self) -> int:
        """Rows now alive (N)."""
        return self.cache.n_rows

    @property
    def n_sentences(self) -> int:
        """Sentences that the rows belong to (B)."""
        return self.cache.n_sentences

    @property
    def n_taken(self) -> int:
        """Tokens of each row so far."""
        return self.cache.length

    @property
    def device(self) -> torch.device:
        """Where tokens and rows must be."""
        return self.cache.device

    @torch.no_grad()
    def step(self, tokens: Tensor) -> Tensor:
        """Take in tokens (N, T), T >= 1 -> logits (N, V) of what follows the last one.

        Raises:
            ValueError: the tokens are not one row each, too many, or outside the
                vocabulary.
        """
        room = self.cache.max_len - self.cache.length
        check_tokens(tokens, self.n_rows, room)
        if self.cache.length == 0 or tokens.shape[1] > 1:
            # What a caller begins with is checked; later tokens are places in the
            # logits of the step before.
            check_ids("tokens", tokens, self._vocab_size, room)
        return self._next_logits(tokens, self.cache, self.source)

    @torch.no_grad()
    def select(self, rows: Tensor, sentences: Tensor | None = None) -> None:
        """Row i continues what row rows[i] was.

        Args:
            rows: (N',) old rows, sentence-major: as many for each sentence as for the
                others, each of its own sentence. There may be more or fewer of them
                than before.
            sentences: (B',) the sentences that stay, in their order, where some are
                dropped; None keeps all. The keys of the source are copied only when
                sentences are dropped.

        Raises:
            ValueError: rows do not fit the sentences.
        """
        n_kept = check_rows(rows, sentences, self.n_rows, self.n_sentences)
        kept = sentences if n_kept < self.n_sentences else None
        self.cache.select(rows, kept)
        if kept is not None and self.source is not None:
            self.source = self.source.select(kept)


class RecomputedState:
    """A state without a cache: every step runs the model over all tokens again.

    T steps of a Transformer cost O(T^2) token positions instead of T. It is the
    specification that cached states are tested against, and the slow side of their
    benchmark.

    Args:
        predict: (tokens (N, T), sentence (N,)) -> logits (N, V) of the token that
            follows; sentence[i] is the number of the sentence, in the batch at the
            start, that row i belongs to.
        n_sentences: sentences at the start (B).
        device: where the model computes.
    """

    def __init__(
        self,
        predict: Callable[[Tensor, Tensor], Tensor],
        n_sentences: int,
        device: torch.device | str = "cpu",
    ) -> None:
        self.predict = predict
        self.device = torch.device(device)
        self.n_rows = n_sentences
        self.sentence = torch.arange(n_sentences, device=self.device)
        self.tokens = torch.empty(n_sentences, 0, dtype=torch.int64, device=self.device)

    @property
    def n_taken(self) -> int:
        """Tokens of each row so far."""
        return self.tokens.shape[1]

    @classmethod
    def of(cls, model: Any, src: Tensor) -> "RecomputedState":
        """Of a model with `encode(src)` and `decode(tokens, memory) -> logits`.

        The source is encoded once; the decoder, cross-attention keys included, runs
        again at every step.
        """
        memory = model.encode(src)

        def predict(tokens: Tensor, sentence: Tensor) -> Tensor:
            outputs, is_real = memory.outputs[sentence], memory.is_real[sentence]
            seen = replace(memory, outputs=outputs, is_real=is_real)
            return model.decode(tokens, seen)[:, -1]

        return cls(predict, src.shape[0], src.device)

    def step(self, tokens: Tensor) -> Tensor:
        """Append tokens (N, T) -> logits (N, V) of what follows the last one."""
        if tokens.dim() != 2 or tokens.shape[0] != self.n_rows or not tokens.shape[1]:
            raise ValueError(
                f"tokens must be ({self.n_rows}, T >= 1), got {tuple(tokens.shape)}"
            )
        self.tokens = torch.cat([self.tokens, tokens], dim=1)
        return self.predict(self.tokens, self.sentence)

    def select(self, rows: Tensor, sentences: Tensor | None = None) -> None:
        """Row i continues what row rows[i] was; each row knows its own sentence."""
        self.tokens, self.sentence = self.tokens[rows], self.sentence[rows]
        self.n_rows = rows.shape[0]


def check_tokens(tokens: Tensor, n_rows: int, room: int) -> None:
    """Raises a ValueError unless tokens are (n_rows, T), T in 1 .. room."""
    if room < 1:
        raise ValueError(
            "the state has no room for another token; start it with a larger max_len,"
            " or decode fewer tokens"
        )
    if (
        tokens.dim() != 2
        or tokens.shape[0] != n_rows
        or not 1 <= tokens.shape[1] <= room
    ):
        raise ValueError(
            f"tokens must be ({n_rows}, T), one row alive each, with T in 1..{room},"
            f" the room that max_len leaves; got {tuple(tokens.shape)}"
        )


def check_rows(
    rows: Tensor, sentences: Tensor | None, n_rows: int, n_sentences: int
) -> int:
    """How many sentences `select` keeps; a ValueError names rows that do not fit."""
    kept = sentences
    if kept is None:
        kept = torch.arange(n_sentences, device=rows.device)
    ascending = kept.dim() == 1 and len(kept) > 0 and bool((kept[1:] > kept[:-1]).all())
    if not ascending or int(kept[0]) < 0 or int(kept[-1]) >= n_sentences:
        raise ValueError(
            f"sentences must be ascending places in 0..{n_sentences - 1}, got"
            f" {kept.tolist()}"
        )
    if rows.dim() != 1 or not len(rows) or len(rows) % len(kept):
        raise ValueError(
            f"rows must be (N,), equally many for each of {len(kept)} sentences, got"
            f" {tuple(rows.shape)}"
        )
    if not torch.equal(
        rows // (n_rows // n_sentences), kept.repeat_interleave(len(rows) // len(kept))
    ):
        raise ValueError(
            f"rows must each continue a row of the same sentence, got {rows.tolist()}"
        )
    return len(kept)


def make_cache(
    config: TransformerConfig, n_rows: int, max_len: int, like: Tensor
) -> SelfCache:
    """An empty cache for the decoder of a model."""
    return SelfCache(
        config.n_decoder_layers, n_rows, config.kv_heads, max_len, config.d_head, like
    )


def check_max_len(max_len: int, longest: int) -> None:
    """Raises a ValueError unless a state for max_len tokens fits the model."""
    if not 1 <= max_len <= longest:
        raise ValueError(
            f"max_len must be in 1..{longest}, the max_len of the model, got {max_len}"
        )
