"""A decoder-only Transformer: it predicts each next token from the tokens before it, without a source.

Source: Radford et al. (2018), "Improving Language Understanding by Generative Pre-Training", section 3.1; the parts
of today's models (Llama, arXiv 2302.13971, section 2.2) are choices of the configuration.
"""

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from coursepkg.blocks.cache import CrossCache, SelfCache
from coursepkg.blocks.config import TransformerConfig
from coursepkg.blocks.decoder import Decoder
from coursepkg.blocks.layer_parts import initialise
from coursepkg.blocks.memory import check_ids
from coursepkg.blocks.state import CachedState, check_max_len, make_cache


class LanguageModel(nn.Module):
    """The decoder of a `Transformer` without cross-attention; the same configuration, its encoder left out."""

    def __init__(self, config: TransformerConfig) -> None:
        super().__init__()
        self.config = config
        self.embedding = nn.Embedding(config.vocab_size, config.d_model)
        self.decoder = Decoder(config, cross=False)
        self.output = None if config.tie_output else nn.Linear(config.d_model, config.vocab_size, bias=False)
        self.output_bias = nn.Parameter(torch.zeros(config.vocab_size)) if config.output_bias else None
        self.output_head: nn.Module | None = None  # what stands in for the projection to the vocabulary
        initialise(self)

    @property
    def output_weight(self) -> Tensor:
        """The matrix (V, E) of the output projection; with `tie_output` that of the embedding."""
        return self.embedding.weight if self.output is None else self.output.weight

    def forward(self, ids: Tensor) -> Tensor:
        """Token ids (B, T) -> logits (B, T, V); position t predicts what follows ids[:, t].

        What stands behind a text's end, such as PAD, changes no earlier position.

        Raises:
            ValueError: ids do not fit.
        """
        check_ids("ids", ids, self.config.vocab_size, self.config.max_len)
        return self._logits(self.decoder(self._embed(ids)))

    @torch.no_grad()
    def start(self, n_rows: int, *, max_len: int) -> CachedState:
        """Make ready to decode `n_rows` texts step by step.

        Runs in the module's present mode: call `eval()` first, or dropout changes the result.

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

    def _next_logits(self, tokens: Tensor, cache: SelfCache, source: CrossCache | None) -> Tensor:
        """Tokens (N, T) after those in the cache -> logits (N, V) of what follows the last one."""
        return self._logits(self.decoder(self._embed(tokens), source, cache)[:, -1])

    def _embed(self, ids: Tensor) -> Tensor:
        x = self.embedding(ids)
        return x * self.config.d_model**0.5 if self.config.scale_embeddings else x

    def _logits(self, x: Tensor) -> Tensor:
        if self.output_head is not None:
            logits: Tensor = self.output_head(x)
            return logits
        return F.linear(x, self.output_weight, self.output_bias)
