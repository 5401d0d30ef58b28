"""The Transformer: an encoder reads the source, a decoder predicts the target.

`attention_maps` shows where it looks: the weights of every layer and head.

Source: Vaswani et al., "Attention Is All You Need" (arXiv 1706.03762), section 3.
"""

from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from coursepkg.attention.pattern import Pattern, causal
from coursepkg.blocks.cache import (
    CachedState,
    CrossCache,
    Memory,
    SelfCache,
    check_ids,
    check_max_len,
    check_padding,
    check_shape,
    hide_padding,
    make_cache,
    real_tokens,
)
from coursepkg.blocks.config import TransformerConfig
from coursepkg.blocks.decoder import Decoder
from coursepkg.blocks.encoder import Encoder
from coursepkg.blocks.layer_parts import embed, initialise, make_output


class Transformer(nn.Module):
    """Encoder-decoder Transformer. `TransformerConfig` says which one."""

    def __init__(self, config: TransformerConfig) -> None:
        super().__init__()
        self.config = config
        width, n_source = config.d_model, config.source_vocab_size
        self.source_embedding = nn.Embedding(n_source, width) if n_source else None
        self.target_embedding = nn.Embedding(config.vocab_size, width)
        self.encoder = Encoder(config)
        self.decoder = Decoder(config)
        self.output, self.output_bias = make_output(config)
        # What stands in for the projection to the vocabulary: a packed one, kNN-MT.
        self.output_head: nn.Module | None = None
        initialise(self)

    @property
    def output_weight(self) -> Tensor:
        """The matrix (V, E) of the output projection, tied or not."""
        tied = self.target_embedding.weight
        return tied if self.output is None else self.output.weight

    def forward(self, src: Tensor, tgt_in: Tensor) -> Tensor:
        """Teacher forcing: predict each next token from the true tokens before it.

        Args:
            src: source ids (B, S), PAD behind their ends.
            tgt_in: target ids (B, T) that begin with BOS; what stands behind their ends
                changes no earlier position.

        Returns:
            logits (B, T, V); position t predicts what follows tgt_in[:, t].

        Raises:
            ValueError: shapes do not fit. No value is read: `check_inputs` does that.
        """
        return self.decode(tgt_in, self.encode(src))

    def check_inputs(self, src: Tensor, tgt_in: Tensor | None = None) -> None:
        """Raises a ValueError unless ids and padding are what `forward` is made for.

        A door for ids from outside; `start` passes through it.
        """
        embedding, longest = self._source_embedding, self.config.max_len
        check_ids("src", src, embedding.num_embeddings, longest)
        check_padding("src", src)
        if tgt_in is not None:
            check_ids("tgt_in", tgt_in, self.config.vocab_size, longest)

    @property
    def _source_embedding(self) -> nn.Embedding:
        own = self.source_embedding
        return self.target_embedding if own is None else own

    def encode(self, src: Tensor) -> Memory:
        """Source ids (B, S), PAD behind their ends -> what the decoder may look at."""
        check_shape("src", src, self.config.max_len)
        is_real, _ = real_tokens(src)
        embedded = self._embed(src, self._source_embedding)
        return Memory(self.encoder(embedded, hide_padding(is_real)), is_real)

    def decode(self, tgt_in: Tensor, memory: Memory) -> Tensor:
        """Target ids (B, T) and the encoded source -> logits (B, T, V)."""
        check_shape("tgt_in", tgt_in, self.config.max_len)
        if tgt_in.shape[0] != memory.outputs.shape[0]:
            raise ValueError(
                f"tgt_in must have the batch size of src, {memory.outputs.shape[0]},"
                f" got {tgt_in.shape[0]}"
            )
        x = self._embed(tgt_in, self.target_embedding)
        return self._logits(self.decoder(x, self.decoder.read(memory)))

    @torch.no_grad()
    def start(self, src: Tensor, *, max_len: int) -> CachedState:
        """Encode the source, ready to be decoded step by step: one row a sentence.

        Runs in the module's present mode: call `eval()` first, or dropout changes the
        result.

        Args:
            src: source ids (B, S), PAD behind their ends.
            max_len: most target tokens that the state takes in, BOS included.

        Raises:
            ValueError: src does not fit, or max_len is not in 1 .. config.max_len.
        """
        check_max_len(max_len, self.config.max_len)
        self.check_inputs(src)
        source = self.decoder.read(self.encode(src))
        cache = make_cache(self.config, len(src), max_len, like=source.keys[0])
        return CachedState(self._next_logits, self.config.vocab_size, cache, source)

    def _next_logits(
        self, tokens: Tensor, cache: SelfCache, source: CrossCache | None
    ) -> Tensor:
        """Tokens (N, T) after those in the cache -> logits (N, V) of what follows."""
        x = self.decoder(self._embed(tokens, self.target_embedding), source, cache)
        return self._logits(x[:, -1])

    def _embed(self, ids: Tensor, embedding: nn.Embedding) -> Tensor:
        return embed(self.config, embedding, ids)

    def _logits(self, x: Tensor) -> Tensor:
        if self.output_head is not None:
            logits: Tensor = self.output_head(x)
            return logits
        return F.linear(x, self.output_weight, self.output_bias)


@dataclass(frozen=True)
class AttentionMaps:
    """Attention weights; each row sums to 1."""

    encoder: Tensor
    """Self-attention of the encoder (layers, B, H, S, S)."""
    decoder: Tensor
    """Self-attention of the decoder (layers, B, H, T, T)."""
    cross: Tensor
    """Cross-attention (layers, B, H, T, S)."""


@torch.no_grad()
def attention_maps(model: Transformer, src: Tensor, tgt_in: Tensor) -> AttentionMaps:
    """The weights with which `model(src, tgt_in)` mixes values.

    Fused attention never stores its weights. So the inputs of every attention are
    caught by hooks, and its weights are computed once more from them.

    Args:
        model: in eval mode, or dropout changes what is seen.
        src: source ids (B, S), PAD behind their ends.
        tgt_in: target ids (B, T).

    Raises:
        ValueError: ids do not fit, or the model's `impl` cannot return weights.
    """
    model.check_inputs(src, tgt_in)
    caught: dict[nn.Module, Tensor] = {}

    def catch(module: nn.Module, inputs: tuple[Tensor, ...]) -> None:
        caught[module] = inputs[0]

    hooks = [
        module.register_forward_pre_hook(catch)
        for module in model.modules()
        if hasattr(module, "in_features")  # `nn.Linear`, packed or not
    ]
    try:
        model(src, tgt_in)
    finally:
        for hook in hooks:
            hook.remove()
    real = hide_padding(real_tokens(src)[0])

    def weights(attention: Any, pattern: Pattern | None, stack: Any) -> Tensor:
        q = attention.project_q(caught[attention.q_proj])
        k, v = attention.project_kv(caught[attention.k_proj])
        bias = None
        if stack is not None and stack.relative_bias is not None:
            bias = stack.relative_bias(q.shape[2], k.shape[2])
        options = {"pattern": pattern, "score_bias": bias, "return_weights": True}
        return attention.attend(q, k, v, **options)[1]

    def stacked(
        layers: nn.ModuleList, name: str, pattern: Pattern | None, stack: Any = None
    ) -> Tensor:
        return torch.stack(
            [weights(layer.get_submodule(name), pattern, stack) for layer in layers]
        )

    return AttentionMaps(
        stacked(model.encoder.layers, "self_attention", real, model.encoder),
        stacked(model.decoder.layers, "self_attention", causal(), model.decoder),
        stacked(model.decoder.layers, "cross.attention", real),
    )
