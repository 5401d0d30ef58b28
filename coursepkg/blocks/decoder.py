"""The decoder: attention to the past, attention to the source, feed-forward network."""

from typing import cast

from torch import Tensor, nn

from coursepkg.attention.multihead import attend_cached
from coursepkg.attention.pattern import causal
from coursepkg.attention.rope import RotaryEmbedding
from coursepkg.blocks.cache import (
    CacheUpdate,
    CrossCache,
    Memory,
    SelfCache,
    SourceKeys,
    is_whole,
)
from coursepkg.blocks.config import TransformerConfig
from coursepkg.blocks.layer_parts import (
    Residual,
    make_attention,
    make_feed_forward,
    make_norm,
    make_position,
    make_relative_bias,
    make_rope,
)


class CrossAttention(nn.Module):
    """Queries from the target, keys and values from the encoder, inside a residual.

    Keys and values are projected from that output by this layer's own matrices. They do
    not depend on the target, so decoding computes them once a sentence.

    Args:
        config: of the model.
        rope: rotates queries and keys; None turns nothing.

    Source: Vaswani et al. (arXiv 1706.03762), section 3.2.3.
    """

    def __init__(
        self, config: TransformerConfig, rope: RotaryEmbedding | None = None
    ) -> None:
        super().__init__()
        self.attention = make_attention(config, rope)
        self.residual = Residual(config)

    def project_source(self, outputs: Tensor) -> tuple[Tensor, Tensor]:
        """Encoder outputs (B, S, E) -> keys and values (B, G, S, D)."""
        return self.attention.project_kv(outputs)

    def forward(self, x: Tensor, source: SourceKeys, offset: int = 0) -> Tensor:
        """x (N, T, E), the rows of one sentence side by side -> (N, T, E).

        Args:
            x: N rows, a whole multiple of the B source sentences.
            source: keys and values of those sentences.
            offset: position of the first token of x, for `rope`.
        """
        return self.residual(x, lambda y: self._attend(y, source, offset))

    def _attend(self, x: Tensor, source: SourceKeys, offset: int) -> Tensor:
        q = self.attention.project_q(x, offset)
        return attend_cached(
            self.attention, q, source.k, source.v, visible=source.visible
        )


class DecoderLayer(nn.Module):
    """Self-attention to the past, cross-attention, feed-forward, each in a residual.

    Args:
        config: of the model.
        rope: rotates queries and keys of self-attention, and those of cross-attention
            if `rope_cross` is set.
        cross: False leaves out the cross-attention; that is the layer of a decoder-only
            model.
    """

    def __init__(
        self,
        config: TransformerConfig,
        rope: RotaryEmbedding | None = None,
        *,
        cross: bool = True,
    ) -> None:
        super().__init__()
        self.self_attention = make_attention(config, rope)
        self.self_residual = Residual(config)
        self.cross: CrossAttention | None = None
        if cross:
            self.cross = CrossAttention(config, rope if config.rope_cross else None)
        self.feed_forward = make_feed_forward(config)
        self.feed_forward_residual = Residual(config)

    def forward(
        self,
        x: Tensor,
        source: SourceKeys | None = None,
        *,
        score_bias: Tensor | None = None,
        update: CacheUpdate | None = None,
        index: int = 0,
    ) -> Tensor:
        """x (N, T, E) -> (N, T, E).

        Args:
            x: the residual stream of N rows, a whole multiple of the B source
                sentences; the rows of one sentence stand side by side.
            source: this layer's keys and values of the source; None for a layer without
                cross-attention.
            score_bias: broadcastable to (N, H, T, T), added to the scores of
                self-attention; with an update as `CacheUpdate.spread` makes it.
            update: where the cache takes keys and values in; None: x begins at the
                first token, and nothing is kept.
            index: number of this layer in the cache.
        """
        offset = 0 if update is None else update.offset
        x = self.self_residual(
            x, lambda y: self._attend_to_past(y, score_bias, update, index)
        )
        if self.cross is not None and source is not None:
            x = self.cross(x, source, offset)
        return self.feed_forward_residual(x, self.feed_forward)

    def _attend_to_past(
        self,
        x: Tensor,
        score_bias: Tensor | None,
        update: CacheUpdate | None,
        index: int,
    ) -> Tensor:
        attention, offset = self.self_attention, 0 if update is None else update.offset
        q, (k, v) = attention.project_q(x, offset), attention.project_kv(x, offset)
        if update is not None:
            k, v = update.write(index, k, v)
            # One token behind all others sees them all.
            if update.visible is not None or x.shape[1] == 1:
                return attend_cached(
                    attention, q, k, v, visible=update.visible, score_bias=score_bias
                )
        attended = attention.attend(q, k, v, pattern=causal(), score_bias=score_bias)
        return cast(Tensor, attended)


class Decoder(nn.Module):
    """A stack of decoder layers over embedded tokens.

    Args:
        config: of the model.
        cross: False for a decoder-only model.
    """

    def __init__(self, config: TransformerConfig, *, cross: bool = True) -> None:
        super().__init__()
        self.position = make_position(config)
        self.relative_bias = make_relative_bias(config, bidirectional=False)
        self.dropout = nn.Dropout(config.dropout_p)
        rope = make_rope(config)
        self.layers = nn.ModuleList(
            DecoderLayer(config, rope, cross=cross)
            for _ in range(config.n_decoder_layers)
        )
        self.final_norm = make_norm(config) if config.final_norm else nn.Identity()

    def forward(
        self,
        x: Tensor,
        source: CrossCache | None = None,
        cache: SelfCache | None = None,
    ) -> Tensor:
        """Some more steps of the decoder.

        Args:
            x: embedded tokens (N, T, E), without positions.
            source: keys and values of the source, from `read`; None in a decoder-only
                model.
            cache: of the tokens before x, which takes in those of x; None: x begins at
                the first token.

        Returns:
            (N, T, E).
        """
        update = None if cache is None else cache.open(x.shape[1])
        offset = 0 if update is None else update.offset
        x = self.dropout(x if self.position is None else self.position(x, offset))
        options = {"score_bias": self._score_bias(x.shape[1], update), "update": update}
        for i, layer in enumerate(self.layers):
            keys = None if source is None else source.layer(i)
            x = layer(x, keys, index=i, **options)
        return self.final_norm(x)

    def _score_bias(self, n_tokens: int, update: CacheUpdate | None) -> Tensor | None:
        if self.relative_bias is None:
            return None
        if update is None:
            return self.relative_bias(n_tokens, n_tokens)
        return update.spread(self.relative_bias(n_tokens, update.offset + n_tokens))

    def read(self, memory: Memory) -> CrossCache:
        """Each layer's keys and values of the encoded source."""
        bridges = [cast(CrossAttention, layer.cross) for layer in self.layers]
        pairs = [bridge.project_source(memory.outputs) for bridge in bridges]
        keys, values = zip(*pairs, strict=True)
        is_real = None if is_whole(memory.is_real) else memory.is_real
        return CrossCache(keys, values, is_real)
