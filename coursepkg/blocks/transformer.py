"""The Transformer: an encoder that reads the source, a decoder that predicts the target token by token.

Source: Vaswani et al., "Attention Is All You Need" (arXiv 1706.03762), section 3.
"""

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from coursepkg.attention.patterns import padding
from coursepkg.blocks.cache import CrossCache, SelfCache
from coursepkg.blocks.config import TransformerConfig
from coursepkg.blocks.decoder import Decoder
from coursepkg.blocks.encoder import Encoder
from coursepkg.blocks.layer_parts import initialise
from coursepkg.blocks.memory import Memory, check_ids, real_tokens
from coursepkg.blocks.state import CachedState, check_max_len, make_cache


class Transformer(nn.Module):
    """Encoder-decoder Transformer. `TransformerConfig` says which one."""

    def __init__(self, config: TransformerConfig) -> None:
        super().__init__()
        self.config = config
        sizes = config.source_vocab_size, config.vocab_size
        self.source_embedding = None if sizes[0] is None else nn.Embedding(sizes[0], config.d_model)
        self.target_embedding = nn.Embedding(sizes[1], config.d_model)
        self.encoder = Encoder(config)
        self.decoder = Decoder(config)
        self.output = None if config.tie_output else nn.Linear(config.d_model, sizes[1], bias=False)
        self.output_bias = nn.Parameter(torch.zeros(sizes[1])) if config.output_bias else None
        self.output_head: nn.Module | None = None  # what stands in for the projection to the vocabulary
        initialise(self)

    @property
    def output_weight(self) -> Tensor:
        """The matrix (V, E) of the output projection; with `tie_output` that of the target embedding."""
        return self.target_embedding.weight if self.output is None else self.output.weight

    def forward(self, src: Tensor, tgt_in: Tensor) -> Tensor:
        """Teacher forcing: predict each next token from the true tokens before it.

        Args:
            src: source ids (B, S), PAD behind their ends.
            tgt_in: target ids (B, T) that begin with BOS; what stands behind their ends changes no earlier position.

        Returns:
            logits (B, T, V); position t predicts what follows tgt_in[:, t].

        Raises:
            ValueError: shapes, lengths, padding or ids do not fit.
        """
        return self.decode(tgt_in, self.encode(src))

    def encode(self, src: Tensor) -> Memory:
        """Source ids (B, S), PAD behind their ends -> what the decoder may look at."""
        embedding = self.target_embedding if self.source_embedding is None else self.source_embedding
        check_ids("src", src, embedding.num_embeddings, self.config.max_len)
        is_real, lengths = real_tokens("src", src)
        pattern = None if bool(is_real.all()) else padding(lengths)
        return Memory(self.encoder(self._embed(src, embedding), pattern), is_real)

    def decode(self, tgt_in: Tensor, memory: Memory) -> Tensor:
        """Target ids (B, T) and the encoded source -> logits (B, T, V)."""
        check_ids("tgt_in", tgt_in, self.config.vocab_size, self.config.max_len)
        if tgt_in.shape[0] != memory.outputs.shape[0]:
            raise ValueError(
                f"tgt_in must have the batch size of src, {memory.outputs.shape[0]}, got {tgt_in.shape[0]}"
            )
        x = self._embed(tgt_in, self.target_embedding)
        return self._logits(self.decoder(x, self.decoder.read(memory)))

    @torch.no_grad()
    def start(self, src: Tensor, *, max_len: int) -> CachedState:
        """Encode the source and make ready to decode it step by step, from one row a sentence.

        Runs in the module's present mode: call `eval()` first, or dropout changes the result.

        Args:
            src: source ids (B, S), PAD behind their ends.
            max_len: most target tokens that the state takes in, BOS included.

        Raises:
            ValueError: src does not fit, or max_len is not in 1 .. config.max_len.
        """
        check_max_len(max_len, self.config.max_len)
        source = self.decoder.read(self.encode(src))
        cache = make_cache(self.config, len(src), max_len, like=source.keys[0])
        return CachedState(self._next_logits, self.config.vocab_size, cache, source)

    def _next_logits(self, tokens: Tensor, cache: SelfCache, source: CrossCache | None) -> Tensor:
        """Tokens (N, T) after those in the cache -> logits (N, V) of what follows the last one."""
        x = self.decoder(self._embed(tokens, self.target_embedding), source, cache)
        return self._logits(x[:, -1])

    def _embed(self, ids: Tensor, embedding: nn.Embedding) -> Tensor:
        x = embedding(ids)
        return x * self.config.d_model**0.5 if self.config.scale_embeddings else x

    def _logits(self, x: Tensor) -> Tensor:
        if self.output_head is not None:
            logits: Tensor = self.output_head(x)
            return logits
        return F.linear(x, self.output_weight, self.output_bias)
