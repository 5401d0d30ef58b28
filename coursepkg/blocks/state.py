"""The state of a cached decoding: what `coursepkg.decoding` steps forward and reorders."""

from collections.abc import Callable

import torch
from torch import Tensor

from coursepkg.blocks.cache import CrossCache, SelfCache
from coursepkg.blocks.config import TransformerConfig
from coursepkg.blocks.memory import check_ids

NextLogits = Callable[[Tensor, SelfCache, CrossCache | None], Tensor]
"""(tokens (N, T), cache, source) -> logits (N, V) of what follows the last token; the cache moves on."""


class CachedState:
    """Rows (hypotheses) of a batch of sentences in the midst of decoding; `Transformer.start` makes one.

    Rows are sentence-major: first those of sentence 0, then those of sentence 1, each sentence with as many as the
    others. In a decoder-only model each row of the start is a sentence of its own.
    """

    def __init__(
        self, next_logits: NextLogits, vocab_size: int, cache: SelfCache, source: CrossCache | None
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
        """Take in tokens (N, T), T at least 1, and return the logits (N, V) of what follows the last one.

        Raises:
            ValueError: the tokens are not one row each, too many, or outside the vocabulary.
        """
        room = self.cache.max_len - self.cache.length
        check_tokens(tokens, self.n_rows, room)
        if self.cache.length == 0 or tokens.shape[1] > 1:
            # What a caller begins with is checked; later tokens are places in the logits of the step before.
            check_ids("tokens", tokens, self._vocab_size, room)
        return self._next_logits(tokens, self.cache, self.source)

    @torch.no_grad()
    def select(self, rows: Tensor, sentences: Tensor | None = None) -> None:
        """Row i continues what row rows[i] was.

        Args:
            rows: (N',) old rows, sentence-major: as many for each sentence as for the others, each of its own
                sentence. There may be more or fewer of them than before.
            sentences: (B',) the sentences that stay, in their order, where some are dropped; None keeps all.
                The keys of the source are copied only when sentences are dropped.

        Raises:
            ValueError: rows do not fit the sentences.
        """
        check_rows(rows, sentences, self.n_rows, self.n_sentences)
        kept = sentences if sentences is not None and len(sentences) < self.n_sentences else None
        self.cache.select(rows, kept)
        if kept is not None and self.source is not None:
            self.source = self.source.select(kept)


def check_tokens(tokens: Tensor, n_rows: int, room: int) -> None:
    """Raises a ValueError unless tokens are (n_rows, T), T in 1 .. room."""
    if room < 1:
        raise ValueError(
            "the state has no room for another token; start it with a larger max_len, or decode fewer tokens"
        )
    if tokens.dim() != 2 or tokens.shape[0] != n_rows or not 1 <= tokens.shape[1] <= room:
        raise ValueError(
            f"tokens must be ({n_rows}, T), one row alive each, with T in 1..{room}, the room that max_len leaves; "
            f"got {tuple(tokens.shape)}"
        )


def check_rows(rows: Tensor, sentences: Tensor | None, n_rows: int, n_sentences: int) -> int:
    """How many sentences `select` keeps.

    Raises:
        ValueError: rows or sentences are out of range, or a row would continue one of another sentence.
    """
    kept = torch.arange(n_sentences, device=rows.device) if sentences is None else sentences
    ascending = kept.dim() == 1 and len(kept) > 0 and bool((kept[1:] > kept[:-1]).all())
    if not ascending or int(kept[0]) < 0 or int(kept[-1]) >= n_sentences:
        raise ValueError(f"sentences must be ascending places in 0..{n_sentences - 1}, got {kept.tolist()}")
    if rows.dim() != 1 or not len(rows) or len(rows) % len(kept):
        raise ValueError(
            f"rows must be (N,), equally many for each of {len(kept)} sentences, got {tuple(rows.shape)}"
        )
    if not torch.equal(rows // (n_rows // n_sentences), kept.repeat_interleave(len(rows) // len(kept))):
        raise ValueError(f"rows must each continue a row of the same sentence, got {rows.tolist()}")
    return len(kept)


def make_cache(config: TransformerConfig, n_rows: int, max_len: int, like: Tensor) -> SelfCache:
    """An empty cache for the decoder of a model."""
    return SelfCache(config.n_decoder_layers, n_rows, config.kv_heads, max_len, config.d_head, like)


def check_max_len(max_len: int, longest: int) -> None:
    """Raises a ValueError unless a state for `max_len` tokens fits a model for `longest`."""
    if not 1 <= max_len <= longest:
        raise ValueError(f"max_len must be in 1..{longest}, the max_len of the model, got {max_len}")
