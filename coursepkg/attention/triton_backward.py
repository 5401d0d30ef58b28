"""The backward kernels of FlashAttention-2 (Dao, arXiv 2307.08691, algorithm 2) in Triton.

The weights are computed again from the saved log-sum-exp: P = 2^(S - lse). With dP = dO V^T and
delta = rowsum(dO * O), the gradient of the scores is dS = P * (dP - delta); then dQ = dS K, dK = dS^T Q and
dV = P^T dO. One kernel walks over keys for a tile of dQ, another over queries for a tile of dK and dV. The scores
are thus computed twice, and in return no two programs add to the same number: results repeat bit for bit.
Stages are those of `triton_forward`.
"""

from typing import no_type_check

import triton
import triton.language as tl

from coursepkg.attention.triton_tiles import head_start, load_rows, load_tile, span, store_tile, visible


@triton.jit
@no_type_check
def delta_kernel(
    out,
    grad_out,
    delta,
    out_strides,
    grad_out_strides,
    n_queries,
    n_heads,
    HEAD_DIM: tl.constexpr,
    BLOCK_D: tl.constexpr,
    BLOCK_Q: tl.constexpr,
):
    """delta (B, H, T) = rowsum(dO * O), for one query tile."""
    n_tiles = tl.cdiv(n_queries, BLOCK_Q)
    first_row = tl.program_id(0) % n_tiles * BLOCK_Q
    head = tl.program_id(0) // n_tiles
    b, h = head // n_heads, head % n_heads
    out_start = head_start(out, out_strides, b, h)
    grad_start = head_start(grad_out, grad_out_strides, b, h)
    out_tile = load_tile(out_start, first_row, out_strides[2], n_queries, HEAD_DIM, BLOCK_Q, BLOCK_D, True)
    grad_tile = load_tile(
        grad_start, first_row, grad_out_strides[2], n_queries, HEAD_DIM, BLOCK_Q, BLOCK_D, True
    )
    rows = first_row + tl.arange(0, BLOCK_Q)
    products = tl.sum(out_tile.to(tl.float32) * grad_tile.to(tl.float32), 1)
    tl.store(delta + tl.cast(head, tl.int64) * n_queries + rows, products, mask=rows < n_queries)


@triton.jit
@no_type_check
def query_gradient_kernel(
    q,
    k,
    v,
    grad_out,
    lse,
    delta,
    grad_q,
    q_strides,
    k_strides,
    v_strides,
    grad_out_strides,
    grad_q_strides,
    n_queries,
    n_keys,
    n_kv_heads,
    n_shared,
    left,
    right,
    scale,
    scale_log2,
    HEAD_DIM: tl.constexpr,
    BLOCK_D: tl.constexpr,
    BLOCK_Q: tl.constexpr,
    BLOCK_K: tl.constexpr,
    FIRST_STAGE: tl.constexpr,
    END_STAGE: tl.constexpr,
):
    """DQ of one query tile."""
    n_tiles = tl.cdiv(n_queries, BLOCK_Q)
    first_row = (n_tiles - 1 - tl.program_id(0) % n_tiles) * BLOCK_Q
    head = tl.program_id(0) // n_tiles
    n_heads = n_kv_heads * n_shared
    b, h = head // n_heads, head % n_heads
    q_start = head_start(q, q_strides, b, h)
    k_start = head_start(k, k_strides, b, h // n_shared)
    v_start = head_start(v, v_strides, b, h // n_shared)
    grad_start = head_start(grad_out, grad_out_strides, b, h)
    q_tile = load_tile(q_start, first_row, q_strides[2], n_queries, HEAD_DIM, BLOCK_Q, BLOCK_D, True)
    grad_tile = load_tile(
        grad_start, first_row, grad_out_strides[2], n_queries, HEAD_DIM, BLOCK_Q, BLOCK_D, True
    )
    lse_rows = load_rows(lse + tl.cast(head, tl.int64) * n_queries, first_row, n_queries, BLOCK_Q, True)
    delta_rows = load_rows(delta + tl.cast(head, tl.int64) * n_queries, first_row, n_queries, BLOCK_Q, True)

    position = first_row + n_keys - n_queries
    last_position = tl.minimum(position + BLOCK_Q, n_keys) - 1
    bounds = span(position, last_position, left, right, n_keys, BLOCK_K)
    i = position + tl.arange(0, BLOCK_Q)

    acc = tl.zeros([BLOCK_Q, BLOCK_D], tl.float32)
    for stage in tl.static_range(FIRST_STAGE, END_STAGE):
        for first in tl.range(bounds[stage], bounds[stage + 1], BLOCK_K):
            k_tile = load_tile(k_start, first, k_strides[2], n_keys, HEAD_DIM, BLOCK_K, BLOCK_D, stage != 1)
            v_tile = load_tile(v_start, first, v_strides[2], n_keys, HEAD_DIM, BLOCK_K, BLOCK_D, stage != 1)
            scores = tl.dot(q_tile, tl.trans(k_tile), input_precision="ieee")  # (BLOCK_Q, BLOCK_K)
            exponents = scores * scale_log2 - lse_rows[:, None]
            if stage != 1:
                j = first + tl.arange(0, BLOCK_K)
                seen = visible(i[:, None], j[None, :], left, right) & (j < n_keys)[None, :]
                exponents = tl.where(seen, exponents, float("-inf"))
            weights = tl.exp2(exponents)
            grad_weights = tl.dot(grad_tile, tl.trans(v_tile), input_precision="ieee")
            grad_scores = weights * (grad_weights - delta_rows[:, None])
            acc = tl.dot(grad_scores.to(k_tile.dtype), k_tile, acc, input_precision="ieee")

    grad_q_start = head_start(grad_q, grad_q_strides, b, h)
    store_tile(grad_q_start, first_row, grad_q_strides[2], n_queries, acc * scale, HEAD_DIM, BLOCK_Q, BLOCK_D)


@triton.jit
@no_type_check
def key_value_gradient_kernel(
    q,
    k,
    v,
    grad_out,
    lse,
    delta,
    grad_k,
    grad_v,
    q_strides,
    k_strides,
    v_strides,
    grad_out_strides,
    grad_k_strides,
    grad_v_strides,
    n_queries,
    n_keys,
    n_kv_heads,
    n_shared,
    left,
    right,
    scale,
    scale_log2,
    HEAD_DIM: tl.constexpr,
    BLOCK_D: tl.constexpr,
    BLOCK_Q: tl.constexpr,
    BLOCK_K: tl.constexpr,
    FIRST_STAGE: tl.constexpr,
    END_STAGE: tl.constexpr,
):
    """DK and dV of one key tile, summed over the `n_shared` query heads that use its kv head.

    Scores are held transposed, keys down and queries across, so that both products contract over queries.
    """
    n_tiles = tl.cdiv(n_keys, BLOCK_K)
    first_key = (
        tl.program_id(0) % n_tiles * BLOCK_K
    )  # under a causal mask the first tile has the most queries
    kv_head = tl.program_id(0) // n_tiles  # 0 .. B * G
    b, g = kv_head // n_kv_heads, kv_head % n_kv_heads
    k_start = head_start(k, k_strides, b, g)
    v_start = head_start(v, v_strides, b, g)
    k_tile = load_tile(k_start, first_key, k_strides[2], n_keys, HEAD_DIM, BLOCK_K, BLOCK_D, True)
    v_tile = load_tile(v_start, first_key, v_strides[2], n_keys, HEAD_DIM, BLOCK_K, BLOCK_D, True)

    # In rows of q, key j stands at j - offset; what a query sees behind it, a key is seen by ahead of it.
    offset = n_keys - n_queries
    last_key = tl.minimum(first_key + BLOCK_K, n_keys) - 1
    bounds = span(first_key - offset, last_key - offset, right, left, n_queries, BLOCK_Q)
    j = first_key - offset + tl.arange(0, BLOCK_K)

    acc_k = tl.zeros([BLOCK_K, BLOCK_D], tl.float32)
    acc_v = tl.zeros([BLOCK_K, BLOCK_D], tl.float32)
    for shared in tl.range(0, n_shared):
        h = g * n_shared + shared
        q_start = head_start(q, q_strides, b, h)
        grad_start = head_start(grad_out, grad_out_strides, b, h)
        row_start = tl.cast(b * n_kv_heads * n_shared + h, tl.int64) * n_queries
        for stage in tl.static_range(FIRST_STAGE, END_STAGE):
            for first in tl.range(bounds[stage], bounds[stage + 1], BLOCK_Q):
                q_tile = load_tile(
                    q_start, first, q_strides[2], n_queries, HEAD_DIM, BLOCK_Q, BLOCK_D, stage != 1
                )
                grad_tile = load_tile(
                    grad_start, first, grad_out_strides[2], n_queries, HEAD_DIM, BLOCK_Q, BLOCK_D, stage != 1
                )
                lse_rows = load_rows(lse + row_start, first, n_queries, BLOCK_Q, stage != 1)
                delta_rows = load_rows(delta + row_start, first, n_queries, BLOCK_Q, stage != 1)
                scores = tl.dot(k_tile, tl.trans(q_tile), input_precision="ieee")  # (BLOCK_K, BLOCK_Q)
                exponents = scores * scale_log2 - lse_rows[None, :]
                if stage != 1:
                    i = first + tl.arange(0, BLOCK_Q)
                    exponents = tl.where(
                        visible(i[None, :], j[:, None], left, right), exponents, float("-inf")
                    )
                # Rows beyond T load zeros, in dO as in delta: they add 2^0 * 0.
                weights = tl.exp2(exponents)
                acc_v = tl.dot(weights.to(grad_tile.dtype), grad_tile, acc_v, input_precision="ieee")
                grad_weights = tl.dot(v_tile, tl.trans(grad_tile), input_precision="ieee")
                grad_scores = weights * (grad_weights - delta_rows[None, :])
                acc_k = tl.dot(grad_scores.to(q_tile.dtype), q_tile, acc_k, input_precision="ieee")

    grad_k_start = head_start(grad_k, grad_k_strides, b, g)
    grad_v_start = head_start(grad_v, grad_v_strides, b, g)
    store_tile(grad_k_start, first_key, grad_k_strides[2], n_keys, acc_k * scale, HEAD_DIM, BLOCK_K, BLOCK_D)
    store_tile(grad_v_start, first_key, grad_v_strides[2], n_keys, acc_v, HEAD_DIM, BLOCK_K, BLOCK_D)
