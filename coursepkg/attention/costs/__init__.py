"""What attention costs, counted before it runs: parameters, memory, floating-point operations, bytes moved.

    shape = AttentionShape(batch=1, n_queries=4096, n_keys=4096, n_heads=32, n_kv_heads=8, head_dim=128, n_layers=32)
    kv_cache_bytes(shape)                                  memory that a conversation of 4,096 tokens holds
    flops(shape, "tiled", pattern=causal())                work of a forward pass that skips empty tiles
    arithmetic_intensity(shape, "reference")               operations for each byte that moves

The formulas hold for any hardware; the tests compare them with modules, caches, counted operations and measured
allocations.
"""

from coursepkg.attention.costs.compute import benchmark_flops, flops, projection_flops, rope_flops
from coursepkg.attention.costs.memory import (
    additive_parameters,
    kv_cache_bytes,
    kv_copies,
    linear_state_bytes,
    longest_length,
    parameters,
    score_bytes,
)
from coursepkg.attention.costs.shape import (
    VARIANTS,
    AttentionShape,
    Method,
    visible_pairs,
    visited_keys,
    visited_pairs,
)
from coursepkg.attention.costs.traffic import arithmetic_intensity, bytes_moved, decode_bytes, sram_tile

__all__ = [
    "VARIANTS",
    "AttentionShape",
    "Method",
    "additive_parameters",
    "arithmetic_intensity",
    "benchmark_flops",
    "bytes_moved",
    "decode_bytes",
    "flops",
    "kv_cache_bytes",
    "kv_copies",
    "linear_state_bytes",
    "longest_length",
    "parameters",
    "projection_flops",
    "rope_flops",
    "score_bytes",
    "sram_tile",
    "visible_pairs",
    "visited_keys",
    "visited_pairs",
]
