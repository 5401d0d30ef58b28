"""The forward kernel of FlashAttention-2 (Dao, arXiv 2307.08691, algorithm 1) in Triton.

One program holds one tile of queries and walks over the keys it may see. It keeps, for each query, the largest
score so far (`peak`), the sum of exponentials below it (`total`) and the weighted sum of values (`acc`). Scores
are multiplied by log2(e) beforehand, because the GPU has an instruction for 2^x and none for e^x.

The walk has three stages: the key blocks before those that every query of the tile sees, those blocks themselves,
and the blocks after them. Only the first and the last need a mask. A stage that cannot happen is not compiled.
"""

from typing import no_type_check

import triton
import triton.language as tl

from coursepkg.attention.triton_tiles import head_start, load_tile, span, store_tile, visible


@triton.jit
@no_type_check
def forward_kernel(
    q,
    k,
    v,
    out,
    lse,
    q_strides,
    k_strides,
    v_strides,
    out_strides,
    n_queries,
    n_keys,
    n_kv_heads,
    n_shared,
    left,
    right,
    scale_log2,
    HEAD_DIM: tl.constexpr,
    BLOCK_D: tl.constexpr,
    BLOCK_Q: tl.constexpr,
    BLOCK_K: tl.constexpr,
    FIRST_STAGE: tl.constexpr,
    END_STAGE: tl.constexpr,
):
    """Attention of one query tile: out (B, H, T, D), and lse (B, H, T) in base 2 for the backward pass.

    Strides are (batch, head, row) in elements; `n_shared` query heads use one kv head.
    """
    n_tiles = tl.cdiv(n_queries, BLOCK_Q)
    # Under a causal mask the last tile has the most keys: it starts first, so that no long one is left at the end.
    first_row = (n_tiles - 1 - tl.program_id(0) % n_tiles) * BLOCK_Q
    head = tl.program_id(0) // n_tiles  # 0 .. B * H
    n_heads = n_kv_heads * n_shared
    b, h = head // n_heads, head % n_heads
    q_start = head_start(q, q_strides, b, h)
    k_start = head_start(k, k_strides, b, h // n_shared)
    v_start = head_start(v, v_strides, b, h // n_shared)
    q_tile = load_tile(q_start, first_row, q_strides[2], n_queries, HEAD_DIM, BLOCK_Q, BLOCK_D, True)

    # The last query stands beside the last key.
    position = first_row + n_keys - n_queries
    last_position = tl.minimum(position + BLOCK_Q, n_keys) - 1
    bounds = span(position, last_position, left, right, n_keys, BLOCK_K)
    i = position + tl.arange(0, BLOCK_Q)

    acc = tl.zeros([BLOCK_Q, BLOCK_D], tl.float32)
    total = tl.zeros([BLOCK_Q], tl.float32)
    peak = tl.full([BLOCK_Q], float("-inf"), tl.float32)
    for stage in tl.static_range(FIRST_STAGE, END_STAGE):
        for first in tl.range(bounds[stage], bounds[stage + 1], BLOCK_K):
            k_tile = load_tile(k_start, first, k_strides[2], n_keys, HEAD_DIM, BLOCK_K, BLOCK_D, stage != 1)
            scores = tl.dot(q_tile, tl.trans(k_tile), input_precision="ieee")  # (BLOCK_Q, BLOCK_K)
            if stage != 1:
                j = first + tl.arange(0, BLOCK_K)
                seen = visible(i[:, None], j[None, :], left, right) & (j < n_keys)[None, :]
                scores = tl.where(seen, scores, float("-inf"))
            new_peak = tl.maximum(peak, tl.max(scores, 1) * scale_log2)
            shift = new_peak
            if stage != 1:
                # A row that has seen nothing yet has a peak of -inf, and -inf - -inf is NaN.
                shift = tl.where(new_peak == float("-inf"), 0.0, new_peak)
            weights = tl.exp2(scores * scale_log2 - shift[:, None])
            decay = tl.exp2(peak - shift)
            peak = new_peak
            total = total * decay + tl.sum(weights, 1)
            v_tile = load_tile(v_start, first, v_strides[2], n_keys, HEAD_DIM, BLOCK_K, BLOCK_D, stage != 1)
            acc = tl.dot(weights.to(v_tile.dtype), v_tile, acc * decay[:, None], input_precision="ieee")

    total = tl.where(total == 0.0, 1.0, total)  # a row that sees nothing: out = 0 / 1, lse = -inf
    out_start = head_start(out, out_strides, b, h)
    store_tile(
        out_start, first_row, out_strides[2], n_queries, acc / total[:, None], HEAD_DIM, BLOCK_Q, BLOCK_D
    )
    rows = first_row + tl.arange(0, BLOCK_Q)
    tl.store(lse + tl.cast(head, tl.int64) * n_queries + rows, peak + tl.log2(total), mask=rows < n_queries)
