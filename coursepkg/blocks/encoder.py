"""The encoder: self-attention and feed-forward network over the whole source."""

from torch import Tensor, nn

from coursepkg.attention.pattern import Pattern
from coursepkg.attention.rope import RotaryEmbedding
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


class EncoderLayer(nn.Module):
    """Self-attention, then a feed-forward network, each inside a residual."""

    def __init__(
        self, config: TransformerConfig, rope: RotaryEmbedding | None = None
    ) -> None:
        super().__init__()
        self.self_attention = make_attention(config, rope)
        self.self_residual = Residual(config)
        self.feed_forward = make_feed_forward(config)
        self.feed_forward_residual = Residual(config)

    def forward(
        self,
        x: Tensor,
        *,
        pattern: Pattern | None = None,
        score_bias: Tensor | None = None,
    ) -> Tensor:
        """x (B, S, E) -> (B, S, E).

        Args:
            x: the residual stream.
            pattern: hides padding; None shows every position to every position.
            score_bias: broadcastable to (B, H, S, S), added to the scores.
        """
        x = self.self_residual(
            x, lambda y: self.self_attention(y, pattern=pattern, score_bias=score_bias)
        )
        return self.feed_forward_residual(x, self.feed_forward)


class Encoder(nn.Module):
    """A stack of encoder layers over embedded tokens or any other vectors."""

    def __init__(self, config: TransformerConfig) -> None:
        super().__init__()
        self.position = make_position(config)
        self.relative_bias = make_relative_bias(config, bidirectional=True)
        self.dropout = nn.Dropout(config.dropout_p)
        rope = make_rope(config)
        self.layers = nn.ModuleList(
            EncoderLayer(config, rope) for _ in range(config.n_encoder_layers)
        )
        self.final_norm = make_norm(config) if config.final_norm else nn.Identity()

    def forward(self, x: Tensor, pattern: Pattern | None = None) -> Tensor:
        """x (B, S, E), without positions -> (B, S, E); `pattern` hides padding."""
        length = x.shape[1]
        x = self.dropout(x if self.position is None else self.position(x))
        score_bias = None
        if self.relative_bias is not None:
            score_bias = self.relative_bias(length, length)
        for layer in self.layers:
            x = layer(x, pattern=pattern, score_bias=score_bias)
        return self.final_norm(x)
