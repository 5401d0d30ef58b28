"""The decoder: self-attention to the past, attention to the source, feed-forward network."""

from typing import cast

from torch import Tensor, nn

from coursepkg.attention.patterns import causal
from coursepkg.attention.rope import RotaryEmbedding
from coursepkg.blocks.cache import CrossCache, LayerCache, SelfCache, SourceKeys
from coursepkg.blocks.config import TransformerConfig
from coursepkg.blocks.cross_attention import CrossAttention
from coursepkg.blocks.layer_parts import (
    Residual,
    make_attention,
    make_feed_forward,
    make_norm,
    make_position,
    make_relative_bias,
    make_rope,
)
from coursepkg.blocks.memory import Memory


class DecoderLayer(nn.Module):
    """Causal self-attention, cross-attention to the source, feed-forward network, each inside a residual.

    Args:
        config: of the model.
        rope: rotates queries and keys of self-attention, and those of cross-attention if `rope_cross` is set.
        cross: False leaves out the cross-attention; that is the layer of a decoder-only model.
    """

    def __init__(
        self, config: TransformerConfig, rope: RotaryEmbedding | None = None, *, cross: bool = True
    ) -> None:
        super().__init__()
        self.self_attention = make_attention(config, rope)
        self.self_residual = Residual(config)
        self.cross = CrossAttention(config, rope if config.rope_cross else None) if cross else None
        self.feed_forward = make_feed_forward(config)
        self.feed_forward_residual = Residual(config)

    def forward(
        self,
        x: Tensor,
        source: SourceKeys | None = None,
        *,
        score_bias: Tensor | None = None,
        cache: LayerCache | None = None,
    ) -> Tensor:
        """x (N, T, E) -> (N, T, E).

        Args:
            x: the residual stream of N rows, a whole multiple of the B source sentences; the rows of one sentence
                stand side by side.
            source: this layer's keys and values of the source; None for a layer without cross-attention.
            score_bias: broadcastable to (N, H, T, past + T), added to the scores of self-attention.
            cache: keys and values of the tokens before x; None: x begins at the first token.
        """
        offset = 0 if cache is None else cache.length
        x = self.self_residual(x, lambda y: self._attend_to_past(y, offset, score_bias, cache))
        if self.cross is not None and source is not None:
            x = self.cross(x, source, offset)
        return self.feed_forward_residual(x, self.feed_forward)

    def _attend_to_past(
        self, x: Tensor, offset: int, score_bias: Tensor | None, cache: LayerCache | None
    ) -> Tensor:
        q = self.self_attention.project_q(x, offset)
        k, v = self.self_attention.project_kv(x, offset)
        if cache is not None:
            k, v = cache.append(k, v)
        attended = self.self_attention.attend(q, k, v, pattern=causal(), score_bias=score_bias)
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
            DecoderLayer(config, rope, cross=cross) for _ in range(config.n_decoder_layers)
        )
        self.final_norm = make_norm(config) if config.final_norm else nn.Identity()

    def forward(self, x: Tensor, source: CrossCache | None = None, cache: SelfCache | None = None) -> Tensor:
        """Some more steps of the decoder.

        Args:
            x: embedded tokens (N, T, E), without positions.
            source: keys and values of the source, from `read`; None in a decoder-only model.
            cache: of the tokens before x, which takes in those of x; None: x begins at the first token.

        Returns:
            (N, T, E).
        """
        offset, length = (0 if cache is None else cache.length), x.shape[1]
        x = self.dropout(x if self.position is None else self.position(x, offset))
        score_bias = None if self.relative_bias is None else self.relative_bias(length, offset + length)
        for i, layer in enumerate(self.layers):
            x = layer(
                x,
                None if source is None else source.layer(i),
                score_bias=score_bias,
                cache=None if cache is None else cache.layer(i),
            )
        if cache is not None:
            cache.advance(length)
        return self.final_norm(x)

    def read(self, memory: Memory) -> CrossCache:
        """Each layer's keys and values of the encoded source."""
        bridges = [cast(CrossAttention, layer.cross) for layer in self.layers]
        keys, values = zip(*(bridge.project_source(memory.outputs) for bridge in bridges), strict=True)
        return CrossCache(keys, values, None if memory.is_real.all() else memory.is_real.sum(dim=1))
