"""Multi-head latent attention: every head's keys and values out of one small vector.

    c_t = norm(W_down x_t)                     latent, (R,), shared by all heads
    k_t^h = [W_uk^h c_t ; rope(W_kr x_t, t)]   content (D,), and position (D_r,), shared
    v_t^h = W_uv^h c_t                         (D,)

A cache holds the row [c_t ; rope(W_kr x_t, t)], R + D_r numbers a token for all heads.
RoPE stands apart, because a rotation that depends on t between W_uk and the query would
forbid what makes the mechanism fast: a matrix can change sides in a product,

    q . (W_uk c) = (W_uk^T q) . c,     sum_t a_t W_uv c_t = W_uv sum_t a_t c_t.

So decoding need not build keys and values at all. In this *absorbed* form it is
multi-query attention, whose one key is the cached row and whose value is the latent.

Source: DeepSeek-V2, section 2.1 (arXiv 2405.04434). Its queries pass through a latent
too, which saves memory in training and none of the cache; here they do not.
"""

from typing import cast

import torch
from torch import Tensor, nn
from torch.nn.functional import pad

from coursepkg.attention.api import attention
from coursepkg.attention.multihead import Rotary
from coursepkg.attention.pattern import Pattern
from coursepkg.validation import check_counts, describe


class MultiHeadLatentAttention(nn.Module):
    """Multi-head latent attention (MLA), in the expanded and in the absorbed form.

    `forward` is the whole computation. Its parts `project_q`, `compress` and `attend`
    are public, so that a cache of compressed rows can stand between the last two.

    Args:
        d_model: width of the input and of the output (E).
        n_heads: heads (H).
        head_dim: content dimension of a head (D), of queries, keys and values.
        latent_dim: dimension of the latent (R).
        rope_dim: dimension of the part that carries the position (D_r).
        rope: rotates that part, a `RotaryEmbedding(rope_dim)`.

    Raises:
        ValueError: an argument is malformed.
    """

    def __init__(
        self,
        d_model: int,
        n_heads: int,
        *,
        head_dim: int,
        latent_dim: int,
        rope_dim: int,
        rope: Rotary,
    ) -> None:
        super().__init__()
        check_counts(
            d_model=d_model,
            n_heads=n_heads,
            head_dim=head_dim,
            latent_dim=latent_dim,
            rope_dim=rope_dim,
        )
        if isinstance(rope, type) or not isinstance(rope, Rotary):
            raise ValueError(
                f"rope must have a method rotate, as RotaryEmbedding({rope_dim}), got"
                f" {describe(rope)}"
            )
        rotated = getattr(rope, "head_dim", rope_dim)
        if rotated != rope_dim:
            raise ValueError(
                f"rope must be for rope_dim {rope_dim}, got one for {rotated}"
            )
        self.d_model, self.n_heads, self.head_dim = d_model, n_heads, head_dim
        self.latent_dim, self.rope_dim, self.rope = latent_dim, rope_dim, rope
        self.scale = (head_dim + rope_dim) ** -0.5
        self.q_proj = nn.Linear(d_model, n_heads * (head_dim + rope_dim), bias=False)
        self.down_proj = nn.Linear(d_model, latent_dim + rope_dim, bias=False)
        self.latent_norm = nn.RMSNorm(latent_dim, eps=1e-6)
        self.up_proj = nn.Linear(latent_dim, n_heads * 2 * head_dim, bias=False)
        self.o_proj = nn.Linear(n_heads * head_dim, d_model, bias=False)

    def forward(
        self, x: Tensor, *, pattern: Pattern | None = None, absorbed: bool = False
    ) -> Tensor:
        """Self-attention: x (B, T, E) -> (B, T, E), the same in both forms.

        Raises:
            ValueError: x or the pattern does not fit.
        """
        q, rows = self.project_q(x), self.compress(x)
        return self.attend(q, rows, pattern=pattern, absorbed=absorbed)

    def project_q(self, x: Tensor, offset: int = 0) -> Tensor:
        """x (B, T, E) -> queries (B, H, T, D + D_r), from position `offset` on."""
        self._check_rows(x)
        q = self.q_proj(x).unflatten(-1, (self.n_heads, -1)).transpose(1, 2)
        content, position = q.split([self.head_dim, self.rope_dim], dim=-1)
        return torch.cat([content, self.rope.rotate(position, offset)], dim=-1)

    def compress(self, x: Tensor, offset: int = 0) -> Tensor:
        """x (B, S, E) -> the rows to cache (B, 1, S, R + D_r)."""
        self._check_rows(x)
        rows = self.down_proj(x).unsqueeze(1)
        latent, position = rows.split([self.latent_dim, self.rope_dim], dim=-1)
        rotated = self.rope.rotate(position, offset)
        return torch.cat([self.latent_norm(latent), rotated], dim=-1)

    def attend(
        self,
        q: Tensor,
        rows: Tensor,
        *,
        pattern: Pattern | None = None,
        absorbed: bool = False,
    ) -> Tensor:
        """Queries (B, H, T, D + D_r), cached rows (B, 1, S, R + D_r) -> (B, T, E)."""
        form = self._absorbed if absorbed else self._expanded
        heads = form(q, rows, pattern)
        return self.o_proj(heads.transpose(1, 2).flatten(-2))

    def _expanded(self, q: Tensor, rows: Tensor, pattern: Pattern | None) -> Tensor:
        """Keys and values of every head are built, as in training."""
        latent, position = rows.split([self.latent_dim, self.rope_dim], dim=-1)
        content = self.up_proj(latent.squeeze(1)).unflatten(-1, (self.n_heads, -1))
        k, v = content.transpose(1, 2).chunk(2, dim=-1)  # (B, H, S, D) each
        k = torch.cat([k, position.expand(-1, self.n_heads, -1, -1)], dim=-1)
        # `attention` takes values as wide as keys: zeros fill them.
        wide = attention(q, k, pad(v, (0, self.rope_dim)), pattern=pattern)
        return cast(Tensor, wide)[..., : self.head_dim]

    def _absorbed(self, q: Tensor, rows: Tensor, pattern: Pattern | None) -> Tensor:
        """Multi-query attention over the cached rows, which are keys and values."""
        up = self.up_proj.weight.unflatten(0, (self.n_heads, 2, self.head_dim))
        up_k, up_v = up.unbind(1)  # (H, D, R) each
        content, position = q.split([self.head_dim, self.rope_dim], dim=-1)
        q = torch.cat([content @ up_k, position], dim=-1)  # (B, H, T, R + D_r)
        mixed = attention(q, rows, rows, pattern=pattern, scale=self.scale)
        return cast(Tensor, mixed)[..., : self.latent_dim] @ up_v.mT

    def _check_rows(self, x: Tensor) -> None:
        if not isinstance(x, Tensor) or x.dim() != 3 or x.shape[-1] != self.d_model:
            got = tuple(x.shape) if isinstance(x, Tensor) else describe(x)
            raise ValueError(f"x must be a tensor (B, T, {self.d_model}), got {got}")
