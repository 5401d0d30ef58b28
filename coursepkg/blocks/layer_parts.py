"""The parts of a layer, made from one configuration."""

from collections.abc import Callable

import torch
from torch import Tensor, nn

from coursepkg.attention.multihead import MultiHeadAttention
from coursepkg.attention.position_bias import RelativeBias
from coursepkg.attention.rope import RotaryEmbedding
from coursepkg.blocks.config import TransformerConfig
from coursepkg.blocks.feedforward import FeedForward
from coursepkg.blocks.norm import LayerNorm, RMSNorm
from coursepkg.blocks.position import LearnedPosition, SinusoidalPosition


class Residual(nn.Module):
    """x + f(x), with a norm before the sublayer f or behind the sum.

        post-norm  y = norm(x + dropout(f(x)))
        pre-norm   y = x + dropout(f(norm(x)))

    With pre-norm gradients reach every layer through the sum alone.

    Sources: Vaswani et al. (arXiv 1706.03762), section 5.4; Xiong et al. (arXiv
    2002.04745).
    """

    def __init__(self, config: TransformerConfig) -> None:
        super().__init__()
        self.norm = make_norm(config)
        self.norm_first = config.norm_first
        self.dropout = nn.Dropout(config.dropout_p)

    def forward(self, x: Tensor, sublayer: Callable[[Tensor], Tensor]) -> Tensor:
        """x (B, T, E) -> (B, T, E)."""
        if self.norm_first:
            return x + self.dropout(sublayer(self.norm(x)))
        return self.norm(x + self.dropout(sublayer(x)))


def make_norm(config: TransformerConfig) -> LayerNorm | RMSNorm:
    """LayerNorm or RMSNorm over the residual stream."""
    kind = LayerNorm if config.norm == "layer" else RMSNorm
    return kind(config.d_model, eps=config.norm_eps)


def make_attention(
    config: TransformerConfig, rope: RotaryEmbedding | None
) -> MultiHeadAttention:
    """Multi-head attention; `rope` rotates its queries and keys."""
    return MultiHeadAttention(
        config.d_model,
        config.n_heads,
        n_kv_heads=config.n_kv_heads,
        head_dim=config.head_dim,
        bias=config.bias,
        rope=rope,
        scale=config.attention_scale,
        dropout_p=config.attention_dropout_p,
        impl=config.impl,
    )


def make_feed_forward(config: TransformerConfig) -> FeedForward:
    """The feed-forward network."""
    return FeedForward(
        config.d_model,
        config.d_ff,
        config.activation,
        config.bias,
        config.activation_dropout_p,
    )


def make_rope(config: TransformerConfig) -> RotaryEmbedding | None:
    """Rotary positions, one table for all layers of a stack; None for other kinds."""
    if config.position != "rotary":
        return None
    return RotaryEmbedding(
        config.d_head, base=config.rope_base, layout=config.rope_layout
    )


def make_position(
    config: TransformerConfig,
) -> SinusoidalPosition | LearnedPosition | None:
    """Positions that are added to the embeddings; None for the other kinds."""
    if config.position == "sinusoidal":
        return SinusoidalPosition(config.max_len, config.d_model)
    if config.position == "learned":
        return LearnedPosition(config.max_len, config.d_model)
    return None


def make_relative_bias(
    config: TransformerConfig, bidirectional: bool
) -> RelativeBias | None:
    """T5's relative bias, one for all layers of a stack; None for other kinds."""
    if config.position != "relative":
        return None
    return RelativeBias(config.n_heads, bidirectional=bidirectional)


def make_output(
    config: TransformerConfig,
) -> tuple[nn.Linear | None, nn.Parameter | None]:
    """Projection to the vocabulary, None where an embedding serves; and its bias."""
    output = None
    if not config.tie_output:
        output = nn.Linear(config.d_model, config.vocab_size, bias=False)
    bias = nn.Parameter(torch.zeros(config.vocab_size)) if config.output_bias else None
    return output, bias


def embed(config: TransformerConfig, embedding: nn.Embedding, ids: Tensor) -> Tensor:
    """Ids (B, T) -> vectors (B, T, E), times sqrt(E) if the configuration says so."""
    x: Tensor = embedding(ids)
    return x * config.d_model**0.5 if config.scale_embeddings else x


@torch.no_grad()
def initialise(model: nn.Module) -> None:
    """Set the starting weights of every linear layer and embedding inside `model`.

    Linear layers: Xavier uniform, bound sqrt(6 / (inputs + outputs)), which keeps the
    variance of activations and of gradients about the same from layer to layer; biases
    zero. The code of 2017 and `torch.nn.Transformer` do so. Embeddings: normal with
    deviation d_model^-0.5. Times sqrt(d_model) that is a vector of unit variance, the
    size of the position vectors beside it; and as the matrix of the output layer the
    same weights turn a normalised vector into logits of unit variance, so that training
    starts within about one nat of a uniform guess.
    """
    for module in model.modules():
        if isinstance(module, nn.Linear):
            nn.init.xavier_uniform_(module.weight)
            if module.bias is not None:
                nn.init.zeros_(module.bias)
        elif isinstance(module, nn.Embedding):
            nn.init.normal_(module.weight, std=module.embedding_dim**-0.5)
