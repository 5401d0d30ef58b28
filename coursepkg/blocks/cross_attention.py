"""Cross-attention: the bridge over which a decoder looks at the encoded source."""

from torch import Tensor, nn

from coursepkg.attention.cached import attend_cached
from coursepkg.attention.rope import RotaryEmbedding
from coursepkg.blocks.cache import SourceKeys
from coursepkg.blocks.config import TransformerConfig
from coursepkg.blocks.layer_parts import Residual, make_attention


class CrossAttention(nn.Module):
    """Queries from the target, keys and values from the encoder's final output, inside a residual.

    Keys and values are projected from that output by this layer's own matrices. They do not depend on the target, so
    decoding computes them once a sentence.

    Args:
        config: of the model.
        rope: rotates queries and keys; None turns nothing.

    Source: Vaswani et al. (arXiv 1706.03762), section 3.2.3.
    """

    def __init__(self, config: TransformerConfig, rope: RotaryEmbedding | None = None) -> None:
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
        return attend_cached(self.attention, q, source.k, source.v, visible=source.visible)
