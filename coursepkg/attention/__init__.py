"""Attention in all the forms the course teaches, one mechanism a file.

`attention` is the one entry point for exact and sparse attention; the names below are
looked up on first use, so that importing the package costs nothing.
"""

from coursepkg.lazy import lazy_names

__all__, __getattr__, __dir__ = lazy_names(
    __name__,
    {
        "additive": "AdditiveAttention MultiplicativeAttention",
        "api": "attention capability_table",
        "block_sparse": "BlockAttention visited_fraction",
        "costs": (
            "AttentionShape additive_parameters flops kv_cache_bytes "
            "linear_state_bytes parameters projection_flops score_bytes visible_pairs"
        ),
        "latent": "MultiHeadLatentAttention",
        "linear": "LinearState favor_features linear_attention linear_step",
        "multihead": "MultiHeadAttention",
        "pattern": (
            "Pattern causal dilated_window from_predicate full global_tokens padding "
            "per_head random_blocks sliding_window"
        ),
        "position_bias": "RelativeBias alibi_bias alibi_slopes relative_buckets",
        "rope": (
            "LinearScaling NTKScaling RotaryEmbedding YaRNScaling convert_projection "
            "inverse_frequencies layout_permutation rotate_pairs"
        ),
        "topk": "top_scores_attention topk_mask",
    },
)
