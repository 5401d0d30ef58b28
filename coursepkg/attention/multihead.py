"""Multi-head attention: projections around `attention()`.

    q = x W_q, k = y W_k, v = y W_v      H query heads, G key-value heads, each of D
    output = concat(head_1, ..., head_H) W_o

One class is three mechanisms, by the number of key-value heads: G = H is multi-head
attention (Vaswani et al., arXiv 1706.03762, section 3.2.2), G = 1 multi-query attention
(Shazeer, arXiv 1911.02150), and anything between grouped-query attention (Ainslie et
al., arXiv 2305.13245): query head h reads key-value head h // (H / G).

    heads of q   0 1 2 3 4 5 6 7
    MHA, G = 8   0 1 2 3 4 5 6 7
    GQA, G = 2   0 0 0 0 1 1 1 1
    MQA, G = 1   0 0 0 0 0 0 0 0

`attend_cached` is the same over cached keys that several rows share, without checks.
"""

import math
from typing import Protocol, cast, runtime_checkable

import torch
from torch import Tensor, nn
from torch.nn.functional import scaled_dot_product_attention

from coursepkg.attention.api import CAPABILITIES, attention
from coursepkg.attention.pattern import Pattern, from_predicate
from coursepkg.validation import check_counts, describe, is_integer, is_number


@runtime_checkable
class Rotary(Protocol):
    """What `rope` must offer; `RotaryEmbedding` does."""

    def rotate(self, x: Tensor, offset: int = 0) -> Tensor:
        """x (B, H, T, D), its first row at position `offset` -> the same, rotated."""


class MultiHeadAttention(nn.Module):
    """Multi-head, grouped-query or multi-query attention, self or cross.

    `forward` is the whole computation. Its parts `project_q`, `project_kv` and `attend`
    are public, so that a cache of keys and values can stand between the last two.

    Args:
        d_model: width of the input and of the output (E).
        n_heads: query heads (H).
        n_kv_heads: key-value heads (G), a divisor of n_heads; None takes n_heads.
        head_dim: dimension of a head (D); None takes d_model / n_heads.
        bias: whether the four projections have a bias.
        rope: rotates queries and keys by their position. It rotates those of
            cross-attention as well, where the angle is a distance between two different
            sequences; pass None there unless that is wanted.
        scale: factor on the dot products; None is 1 / sqrt(D). T5 takes 1.0.
        dropout_p: probability of dropping an attention weight, in training mode only.
        impl: implementation that `attention()` runs.

    Raises:
        ValueError: an argument is malformed, or does not fit the others.
    """

    def __init__(
        self,
        d_model: int,
        n_heads: int,
        *,
        n_kv_heads: int | None = None,
        head_dim: int | None = None,
        bias: bool = False,
        rope: Rotary | None = None,
        scale: float | None = None,
        dropout_p: float = 0.0,
        impl: str = "auto",
    ) -> None:
        super().__init__()
        n_kv_heads = n_heads if n_kv_heads is None else n_kv_heads
        _check_sizes(d_model, n_heads, n_kv_heads, head_dim)
        self.d_model, self.n_heads, self.n_kv_heads = d_model, n_heads, n_kv_heads
        self.head_dim = d_model // n_heads if head_dim is None else head_dim
        _check_options(self.head_dim, rope, scale, dropout_p, impl)
        self.rope, self.scale, self.dropout_p, self.impl = rope, scale, dropout_p, impl
        self.q_proj = nn.Linear(d_model, n_heads * self.head_dim, bias=bias)
        self.k_proj = nn.Linear(d_model, n_kv_heads * self.head_dim, bias=bias)
        self.v_proj = nn.Linear(d_model, n_kv_heads * self.head_dim, bias=bias)
        self.o_proj = nn.Linear(n_heads * self.head_dim, d_model, bias=bias)

    def forward(
        self,
        x: Tensor,
        context: Tensor | None = None,
        *,
        pattern: Pattern | None = None,
        score_bias: Tensor | None = None,
        offset: int = 0,
        return_weights: bool = False,
    ) -> Tensor | tuple[Tensor, Tensor]:
        """Let every row of x attend to x itself, or to `context`.

        Args:
            x: (B, T, E).
            context: (B, S, E), the sequence that gives keys and values
                (cross-attention); None takes x.
            pattern: which query sees which key; None shows everything.
            score_bias: broadcastable to (B, H, T, S), added to the scaled scores.
            offset: position of the first row of x, for `rope`. A context starts at
                position 0.
            return_weights: also return the weights (B, H, T, S).

        Returns:
            (B, T, E), and the weights if asked for.

        Raises:
            ValueError: shapes, dtypes or devices that do not fit.
        """
        q = self.project_q(x, offset)
        k, v = (
            self.project_kv(x, offset) if context is None else self.project_kv(context)
        )
        _check_batch(k, q)
        return self.attend(
            q,
            k,
            v,
            pattern=pattern,
            score_bias=score_bias,
            return_weights=return_weights,
        )

    def project_q(self, x: Tensor, offset: int = 0) -> Tensor:
        """x (B, T, E) -> queries (B, H, T, D), rotated from position `offset` on."""
        self._check_rows("x", x)
        q = self._split_heads(self.q_proj(x), self.n_heads)
        return q if self.rope is None else self.rope.rotate(q, offset)

    def project_kv(self, x: Tensor, offset: int = 0) -> tuple[Tensor, Tensor]:
        """x (B, S, E) -> keys and values (B, G, S, D); only keys are rotated."""
        self._check_rows("context", x)
        k, v = (
            self._split_heads(proj(x), self.n_kv_heads)
            for proj in (self.k_proj, self.v_proj)
        )
        return (k if self.rope is None else self.rope.rotate(k, offset)), v

    def attend(
        self,
        q: Tensor,
        k: Tensor,
        v: Tensor,
        *,
        pattern: Pattern | None = None,
        score_bias: Tensor | None = None,
        return_weights: bool = False,
    ) -> Tensor | tuple[Tensor, Tensor]:
        """Projected q, k, v -> (B, T, E), and weights (B, H, T, S) if asked for."""
        result = attention(
            q,
            k,
            v,
            pattern=pattern,
            impl=self.impl,
            scale=self.scale,
            bias=score_bias,
            dropout_p=self.dropout_p if self.training else 0.0,
            return_weights=return_weights,
        )
        if isinstance(result, tuple):
            heads, weights = result
            return self._merge_heads(heads), weights
        return self._merge_heads(result)

    @classmethod
    def from_mha(
        cls, mha: "MultiHeadAttention", n_kv_heads: int
    ) -> "MultiHeadAttention":
        """A copy with fewer key-value heads, each the mean of those it replaces.

        This is the first half of uptraining; the second is to train on for a few
        percent of the original steps. Source: Ainslie et al. (arXiv 2305.13245),
        section 2.1.

        Args:
            mha: module with a multiple of `n_kv_heads` key-value heads.
            n_kv_heads: key-value heads of the result (G).

        Raises:
            ValueError: mha is no MultiHeadAttention, or n_kv_heads does not divide the
                key-value heads of `mha`.
        """
        _check_pooling(mha, n_kv_heads)
        pooled = cls(
            mha.d_model,
            mha.n_heads,
            n_kv_heads=n_kv_heads,
            head_dim=mha.head_dim,
            bias=mha.q_proj.bias is not None,
            rope=mha.rope,
            scale=mha.scale,
            dropout_p=mha.dropout_p,
            impl=mha.impl,
        ).to(mha.q_proj.weight)
        weights = mha.state_dict()
        for name in weights:
            if name.startswith(("k_", "v_")):
                weights[name] = _mean_heads(weights[name], mha.head_dim, n_kv_heads)
        pooled.load_state_dict(weights)
        return pooled.train(mha.training)

    def _split_heads(self, x: Tensor, n_heads: int) -> Tensor:
        """(B, T, heads * D) -> (B, heads, T, D)."""
        return x.unflatten(-1, (n_heads, self.head_dim)).transpose(1, 2)

    def _merge_heads(self, x: Tensor) -> Tensor:
        """(B, H, T, D) -> (B, T, E)."""
        return self.o_proj(x.transpose(1, 2).flatten(-2))

    def _check_rows(self, name: str, x: Tensor) -> None:
        """Raises a ValueError unless x is (B, T, E) and fits the projections.

        Autocast casts both, so the dtypes may then differ. A layer in the projection's
        place may keep no float matrix; it is left to that layer then.
        """
        if not isinstance(x, Tensor):
            raise ValueError(
                f"{name} must be a tensor (B, T, {self.d_model}), got {describe(x)}"
            )
        if x.dim() != 3 or x.shape[-1] != self.d_model:
            raise ValueError(
                f"{name} must be (B, T, {self.d_model}), got shape {tuple(x.shape)}"
            )
        weight = getattr(self.q_proj, "weight", None)
        if not isinstance(weight, Tensor) or not weight.is_floating_point():
            return
        if x.device != weight.device:
            raise ValueError(
                f"{name} must be on the device of the weights ({weight.device}), got"
                f" {x.device}"
            )
        autocast = x.is_floating_point() and torch.is_autocast_enabled(x.device.type)
        if x.dtype != weight.dtype and not autocast:
            raise ValueError(
                f"{name} must have the dtype of the weights ({weight.dtype}), got"
                f" {x.dtype}"
            )


def _mean_heads(weight: Tensor, head_dim: int, n_kv_heads: int) -> Tensor:
    """Mean over each group of heads of a weight (old G * D, E) or bias (old G * D,)."""
    groups = weight.unflatten(0, (n_kv_heads, -1, head_dim))  # (G, old / G, D, ...)
    return groups.mean(dim=1).flatten(0, 1)


def _check_sizes(
    d_model: int, n_heads: int, n_kv_heads: int, head_dim: int | None
) -> None:
    check_counts(d_model=d_model, n_heads=n_heads, n_kv_heads=n_kv_heads)
    if head_dim is not None:
        check_counts(head_dim=head_dim)
    if n_heads % n_kv_heads:
        raise ValueError(
            f"n_heads must be a multiple of n_kv_heads, got {n_heads} and {n_kv_heads}"
        )
    if head_dim is None and d_model % n_heads:
        raise ValueError(
            f"d_model must be a multiple of n_heads ({n_heads}) unless head_dim is"
            f" given, got {d_model}"
        )


def _check_options(
    head_dim: int, rope: Rotary | None, scale: float | None, dropout_p: float, impl: str
) -> None:
    if scale is not None and not (is_number(scale) and 0 < scale < math.inf):
        raise ValueError(
            f"scale must be a positive number or None, got {describe(scale)}"
        )
    if not is_number(dropout_p) or not 0.0 <= dropout_p < 1.0:
        raise ValueError(
            f"dropout_p must be at least 0 and below 1, got {describe(dropout_p)}"
        )
    names = (*CAPABILITIES, "auto")
    if not isinstance(impl, str) or impl not in names:
        raise ValueError(
            f"impl must be one of {', '.join(names)}, got {describe(impl)}"
        )
    if rope is None:
        return
    if not isinstance(rope, Rotary) or isinstance(rope, type):
        raise ValueError(
            f"rope must have a method rotate, as RotaryEmbedding({head_dim}), got"
            f" {describe(rope)}"
        )
    rotated = getattr(rope, "head_dim", head_dim)
    if rotated != head_dim:
        raise ValueError(
            f"rope must be for heads of dimension {head_dim}, got one for {rotated}"
        )


def _check_batch(k: Tensor, q: Tensor) -> None:
    if k.shape[0] != q.shape[0]:
        raise ValueError(
            f"context must have the batch size of x, {q.shape[0]}, got {k.shape[0]}"
        )


def _check_pooling(mha: MultiHeadAttention, n_kv_heads: int) -> None:
    if not isinstance(mha, MultiHeadAttention):
        raise ValueError(f"mha must be a MultiHeadAttention, got {describe(mha)}")
    if not is_integer(n_kv_heads) or n_kv_heads < 1 or mha.n_kv_heads % n_kv_heads:
        raise ValueError(
            f"n_kv_heads must divide the {mha.n_kv_heads} of mha, got"
            f" {describe(n_kv_heads)}"
        )


def attend_cached(
    layer: MultiHeadAttention,
    q: Tensor,
    k: Tensor,
    v: Tensor,
    *,
    visible: Tensor | None = None,
    score_bias: Tensor | None = None,
) -> Tensor:
    """Attention of N rows to the keys of B sentences, each sentence's rows as queries.

    It is made for the steps of a decoder. With one new token a row, attention takes
    microseconds, and so do the checks of `attention()` and the drawing of a pattern's
    mask: a model with small layers spent a fifth of its step on them. Here nothing is
    checked and the mask comes ready-made, so the caller answers for both. Where
    PyTorch's fused kernel would not do (another `impl`, dropout that acts, autocast),
    `layer.attend` computes the same.

    Args:
        layer: module whose projections made q, k and v.
        q: (N, H, T, D), the N / B rows of a sentence side by side.
        k: (B, G, S, D).
        v: (B, G, S, D).
        visible: bool (B, 1, 1 or N / B * T, S), True where a query sees a key, of which
            it sees at least one; None shows everything.
        score_bias: (1, H, N / B * T, S), added to the scaled scores.

    Returns:
        (N, T, E).
    """
    n_rows, n_heads, n_tokens, head_dim = q.shape
    # Not len(k): an export would take it for a constant.
    n_sentences, n_kv_heads = k.shape[:2]
    if n_rows != n_sentences:
        # (N, H, T, D) -> (B, H, N / B * T, D)
        q = q.unflatten(0, (n_sentences, -1)).transpose(1, 2).flatten(2, 3)
    if _is_plain(layer, q):
        # The heads of a group, too, become rows: (B, G, H / G * N / B * T, D).
        grouped = q.reshape(n_sentences, n_kv_heads, -1, head_dim)
        mask = _fold_mask(
            visible, score_bias, n_heads // n_kv_heads, n_kv_heads, q.dtype
        )
        heads = scaled_dot_product_attention(grouped, k, v, mask, scale=layer.scale)
        heads = heads.reshape(q.shape).transpose(1, 2)  # (B, N / B * T, H, D)
        attended = layer.o_proj(heads.flatten(-2))  # (B, N / B * T, E)
    else:
        pattern = None
        if visible is not None:
            pattern = _as_pattern(visible.expand(-1, -1, q.shape[2], -1))
        found = layer.attend(q, k, v, pattern=pattern, score_bias=score_bias)
        attended = cast(Tensor, found)
    return attended.reshape(n_rows, n_tokens, -1)


def _is_plain(layer: MultiHeadAttention, q: Tensor) -> bool:
    drops = layer.training and layer.dropout_p > 0
    return (
        layer.impl in ("auto", "sdpa")
        and not drops
        and not torch.is_autocast_enabled(q.device.type)
    )


def _fold_mask(
    visible: Tensor | None,
    score_bias: Tensor | None,
    n_shared: int,
    n_kv_heads: int,
    dtype: torch.dtype,
) -> Tensor | None:
    """Both as one mask for queries whose grouped heads are rows."""
    if score_bias is None:
        if visible is None or visible.shape[2] == 1:
            return visible
        return visible.repeat(1, 1, n_shared, 1)
    bias = score_bias.to(dtype)
    if visible is not None:
        bias = bias.masked_fill(~visible, float("-inf"))  # (B, H, N / B * T, S)
    return bias.reshape(bias.shape[0], n_kv_heads, -1, bias.shape[-1])


def _as_pattern(visible: Tensor) -> Pattern:
    """visible (B, 1, T, S) as a pattern, whose queries align with the last key."""
    first = visible.shape[3] - visible.shape[2]
    return from_predicate(lambda b, h, i, j: visible[b, 0, i - first, j], "visible")
