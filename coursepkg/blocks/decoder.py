"""The decoder: self-attention to the past, attention to the source, feed-forward network."""

from typing import cast

from torch import Tensor, nn

from coursepkg.attention.cached import attend_cached
from coursepkg.attention.patterns import causal
from coursepkg.attention.rope import RotaryEmbedding
from coursepkg.blocks.cache import CrossCache, SelfCache, SourceKeys, Step
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
        step: Step | None = None,
        index: int = 0,
    ) -> Tensor:
        """x (N, T, E) -> (N, T, E).

        Args:
            x: the residual stream of N rows, a whole multiple of the B source sentences; the rows of one sentence
                stand side by side.
            source: this layer's keys and values of the source; None for a layer without cross-attention.
            score_bias: broadcastable to (N, H, T, T), added to the scores of self-attention; with a step as
                `Step.spread` makes it.
            step: where the cache has its keys and values; None: x begins at the first token, and nothing is kept.
            index: number of this layer in the cache.
        """
        x = self.self_residual(x, lambda y: self._attend_to_past(y, score_bias, step, index))
        if self.cross is not None and source is not None:
            x = self.cross(x, source, 0 if step is None else step.offset)
        return self.feed_forward_residual(x, self.feed_forward)

    def _attend_to_past(self, x: Tensor, score_bias: Tensor | None, step: Step | None, index: int) -> Tensor:
        attention, offset = self.self_attention, 0 if step is None else step.offset
        q, (k, v) = attention.project_q(x, offset), attention.project_kv(x, offset)
        if step is not None:
            k, v = step.write(index, k, v)
            if step.visible is not None or x.shape[1] == 1:  # one token behind all others sees them all
                return attend_cached(attention, q, k, v, visible=step.visible, score_bias=score_bias)
        return cast(Tensor, attention.attend(q, k, v, pattern=causal(), score_bias=score_bias))


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
        step = None if cache is None else cache.open(x.shape[1])
        offset = 0 if step is None else step.offset
        x = self.dropout(x if self.position is None else self.position(x, offset))
        score_bias = self._score_bias(x.shape[1], step)
        for i, layer in enumerate(self.layers):
            x = layer(
                x, None if source is None else source.layer(i), score_bias=score_bias, step=step, index=i
            )
        return self.final_norm(x)

    def _score_bias(self, n_tokens: int, step: Step | None) -> Tensor | None:
        if self.relative_bias is None:
            return None
        if step is None:
            return self.relative_bias(n_tokens, n_tokens)
        return step.spread(self.relative_bias(n_tokens, step.offset + n_tokens))

    def read(self, memory: Memory) -> CrossCache:
        """Each layer's keys and values of the encoded source."""
        bridges = [cast(CrossAttention, layer.cross) for layer in self.layers]
        keys, values = zip(*(bridge.project_source(memory.outputs) for bridge in bridges), strict=True)
        return CrossCache(keys, values, None if memory.is_real.all() else memory.is_real)
