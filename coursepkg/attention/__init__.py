"""Attention in all the forms the course teaches, one mechanism a file.

`attention` is the one entry point for exact and sparse attention; the names below are looked up on first use,
so that importing the package costs nothing.
"""

from coursepkg.lazy import lazy_names

_HOME = {
    "attention": "api",
    "MultiHeadAttention": "multihead",
    "AdditiveAttention": "additive",
    "MultiplicativeAttention": "additive",
    "RotaryEmbedding": "rope",
    "linear_attention": "linear",
    "LinearState": "linear",
    "top_scores_attention": "topk",
    "Pattern": "patterns",
    "full": "patterns",
    "causal": "patterns",
    "sliding_window": "patterns",
    "dilated_window": "patterns",
    "global_tokens": "patterns",
    "random_blocks": "patterns",
    "padding": "patterns",
    "per_head": "patterns",
}

__all__ = list(_HOME)

__getattr__, __dir__ = lazy_names(__name__, _HOME)
