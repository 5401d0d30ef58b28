"""A decoder-only Transformer, and translation by it alone.

`LanguageModel` predicts each next token from the tokens before it, without a source.
`PrefixTransformer` makes the source the beginning of a text and the target its
continuation; both pass through the same layers:

    row:       <2vi> 酒店 在 哪里 </s> <s> Khách sạn ở đâu ?
    predict:                             Khách sạn ở đâu ? </s>

Source: Radford et al. (2018), "Improving Language Understanding by Generative
Pre-Training", section 3.1; the parts of today's models (Llama, arXiv 2302.13971,
section 2.2) are choices of the configuration.
"""

from dataclasses import replace

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from coursepkg.blocks.cache import (
    CachedState,
    CrossCache,
    RecomputedState,
    SelfCache,
    check_ids,
    check_max_len,
    check_padding,
    check_shape,
    make_cache,
    real_tokens,
)
from coursepkg.blocks.config import TransformerConfig
from coursepkg.blocks.decoder import Decoder
from coursepkg.blocks.layer_parts import embed, initialise, make_output


class LanguageModel(nn.Module):
    """The decoder of a `Transformer` without cross-attention, of one configuration."""

    def __init__(self, config: TransformerConfig) -> None:
        super().__init__()
        self.config = config
        self.embedding = nn.Embedding(config.vocab_size, config.d_model)
        self.decoder = Decoder(config, cross=False)
        self.output, self.output_bias = make_output(config)
        # What stands in for the projection to the vocabulary: a packed one, kNN-MT.
        self.output_head: nn.Module | None = None
        initialise(self)

    @property
    def output_weight(self) -> Tensor:
        """The matrix (V, E) of the output projection, tied or not."""
        return self.embedding.weight if self.output is None else self.output.weight

    def forward(self, ids: Tensor) -> Tensor:
        """Token ids (B, T) -> logits (B, T, V) of what follows each ids[:, t].

        What stands behind a text's end, such as PAD, changes no earlier position.

        Raises:
            ValueError: the shape does not fit. `check_inputs` reads the values.
        """
        check_shape("ids", ids, self.config.max_len)
        return self._logits(self.decoder(self._embed(ids)))

    def check_inputs(self, ids: Tensor) -> None:
        """Raises a ValueError unless ids (B, T) are what `forward` is made for."""
        check_ids("ids", ids, self.config.vocab_size, self.config.max_len)

    @torch.no_grad()
    def start(self, n_rows: int, *, max_len: int) -> CachedState:
        """Make ready to decode `n_rows` texts step by step.

        Runs in the module's present mode: call `eval()` first, or dropout changes the
        result.

        Args:
            n_rows: texts, each a sentence of its own for `select`.
            max_len: most tokens that the state takes in, BOS and prompt included.

        Raises:
            ValueError: n_rows is below 1, or max_len is not in 1 .. config.max_len.
        """
        if n_rows < 1:
            raise ValueError(f"n_rows must be at least 1, got {n_rows}")
        check_max_len(max_len, self.config.max_len)
        cache = make_cache(self.config, n_rows, max_len, like=self.embedding.weight)
        return CachedState(self._next_logits, self.config.vocab_size, cache, None)

    def _next_logits(
        self, tokens: Tensor, cache: SelfCache, source: CrossCache | None
    ) -> Tensor:
        """Tokens (N, T) after those in the cache -> logits (N, V) of what follows."""
        return self._logits(self.decoder(self._embed(tokens), source, cache)[:, -1])

    def _embed(self, ids: Tensor) -> Tensor:
        return embed(self.config, self.embedding, ids)

    def _logits(self, x: Tensor) -> Tensor:
        if self.output_head is not None:
            logits: Tensor = self.output_head(x)
            return logits
        return F.linear(x, self.output_weight, self.output_bias)


class PrefixTransformer(nn.Module):
    """A `LanguageModel` that translates by going on; stands in for a `Transformer`.

    Args:
        config: one vocabulary for both sides; `max_len` counts for source and target
            each.
    """

    def __init__(self, config: TransformerConfig) -> None:
        super().__init__()
        if config.source_vocab_size is not None:
            raise ValueError(
                "source_vocab_size must be None in a decoder-only model, got"
                f" {config.source_vocab_size}"
            )
        self.config = config
        self.language_model = LanguageModel(replace(config, max_len=2 * config.max_len))

    def forward(self, src: Tensor, tgt_in: Tensor) -> Tensor:
        """Teacher forcing.

        Args:
            src: source ids (B, S), each row ends with EOS, PAD behind.
            tgt_in: target ids (B, T) that begin with BOS.

        Returns:
            logits (B, T, V) of what follows each target token.
        """
        for name, ids in (("src", src), ("tgt_in", tgt_in)):
            check_shape(name, ids, self.config.max_len)
        n_source, n_target = src.shape[1], tgt_in.shape[1]
        ends = real_tokens(src)[1][:, None]  # (B, 1)
        # Place of each column in its row's target (B, S + T); 0 is BOS.
        place = torch.arange(n_source + n_target, device=src.device) - ends
        from_target = tgt_in.gather(1, place.clamp(0, n_target - 1))
        from_source = src.gather(1, (place + ends).clamp(max=n_source - 1))
        logits: Tensor = self.language_model(
            torch.where(place < 0, from_source, from_target)
        )
        wanted = ends + torch.arange(n_target, device=src.device)  # (B, T)
        return logits.gather(1, wanted[..., None].expand(-1, -1, logits.shape[-1]))

    def check_inputs(self, src: Tensor, tgt_in: Tensor | None = None) -> None:
        """Raises a ValueError unless ids and padding are what `forward` is made for."""
        for name, ids in (("src", src), ("tgt_in", tgt_in)):
            if ids is not None:
                check_ids(name, ids, self.config.vocab_size, self.config.max_len)
        check_padding("src", src)

    @torch.no_grad()
    def start(self, src: Tensor, *, max_len: int) -> RecomputedState:
        """Ready to decode; as sources differ in length, every step reads all again."""
        if not 1 <= max_len <= self.config.max_len:
            raise ValueError(
                f"max_len must be in 1..{self.config.max_len}, got {max_len}"
            )
        self.check_inputs(src)

        def predict(tokens: Tensor, sentence: Tensor) -> Tensor:
            logits: Tensor = self(src[sentence], tokens)[:, -1]
            return logits

        return RecomputedState(predict, len(src), src.device)
