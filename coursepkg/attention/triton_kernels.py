"""The Triton kernels of FlashAttention-2, forward and backward (arXiv 2307.08691).

Forward (algorithm 1): one program holds one tile of queries and walks over the keys it
may see. It keeps, for each query, the largest score so far (`peak`), the sum of
exponentials below it (`total`) and the weighted sum of values (`acc`). Scores are
multiplied by log2(e) beforehand, because the GPU has an instruction for 2^x and none
for e^x.

The walk has three stages: the key blocks before those that every query of the tile
sees, those blocks themselves, and the blocks after them. Only the first and the last
need a mask. A stage that cannot happen is not compiled.

Backward (algorithm 2): the weights are computed again from the saved log-sum-exp: P =
2^(S - lse). With dP = dO V^T and delta = rowsum(dO * O), the gradient of the scores is
dS = P * (dP - delta); then dQ = dS K, dK = dS^T Q and dV = P^T dO. One kernel walks
over keys for a tile of dQ, another over queries for a tile of dK and dV. The scores are
thus computed twice, and in return no two programs add to the same number: results
repeat bit for bit.

Every function here runs inside a kernel. `no_type_check` keeps run-time shape checkers
away from code that Triton compiles from its source. A "row" is one position of a
(length, D) matrix, whether queries or keys.
"""

from typing import no_type_check

import triton
import triton.language as tl


@triton.jit
@no_type_check
def head_start(base, strides, batch, head):
    """Address of the first row of a head, for strides (batch, head, row)."""
    return (
        base
        + tl.cast(batch, tl.int64) * strides[0]
        + tl.cast(head, tl.int64) * strides[1]
    )


@triton.jit
@no_type_check
def load_tile(
    start,
    first,
    stride,
    length,
    D: tl.constexpr,
    BLOCK: tl.constexpr,
    BLOCK_D: tl.constexpr,
    CHECKED: tl.constexpr,
):
    """Rows first .. first + BLOCK of a (length, D) matrix, zero outside.

    CHECKED=False promises that all rows exist, and saves the comparison.
    """
    rows, columns = tl.arange(0, BLOCK), tl.arange(0, BLOCK_D)
    # The tile's start is a 64-bit number: row * stride passes 2^31 in long sequences of
    # (B, T, H, D) layout.
    tile = (
        start
        + tl.cast(first, tl.int64) * stride
        + rows[:, None] * stride
        + columns[None, :]
    )
    if CHECKED:
        inside = (first + rows < length)[:, None] & (columns < D)[None, :]
        return tl.load(tile, mask=inside, other=0.0)
    if D != BLOCK_D:
        return tl.load(tile, mask=(columns < D)[None, :], other=0.0)
    return tl.load(tile)


@triton.jit
@no_type_check
def store_tile(
    start,
    first,
    stride,
    length,
    value,
    D: tl.constexpr,
    BLOCK: tl.constexpr,
    BLOCK_D: tl.constexpr,
):
    """Write a (BLOCK, BLOCK_D) tile to rows first .. of a (length, D) matrix."""
    rows, columns = tl.arange(0, BLOCK), tl.arange(0, BLOCK_D)
    tile = (
        start
        + tl.cast(first, tl.int64) * stride
        + rows[:, None] * stride
        + columns[None, :]
    )
    inside = (first + rows < length)[:, None] & (columns < D)[None, :]
    tl.store(tile, value.to(start.dtype.element_ty), mask=inside)


@triton.jit
@no_type_check
def load_rows(start, first, length, BLOCK: tl.constexpr, CHECKED: tl.constexpr):
    """One number for each of the rows first .. first + BLOCK, zero beyond `length`."""
    rows = tl.arange(0, BLOCK)
    if CHECKED:
        return tl.load(start + first + rows, mask=first + rows < length, other=0.0)
    return tl.load(start + first + rows)


@triton.jit
@no_type_check
def span(low, high, back, ahead, length, BLOCK: tl.constexpr):
    """Where positions low .. high, which reach `back` and `ahead`, meet blocks.

    Returns begin <= full_begin <= full_end <= end, the last one exclusive. The blocks
    of [full_begin, full_end) are seen whole by every position. Those of [begin,
    full_begin) and [full_end, end) need a mask; no other is met.
    """
    begin = tl.maximum(low - back, 0) // BLOCK * BLOCK
    end = tl.maximum(tl.minimum(high + ahead + 1, length), begin)
    full_begin = tl.minimum(tl.cdiv(tl.maximum(high - back, 0), BLOCK) * BLOCK, end)
    full_end = tl.maximum(tl.minimum(low + ahead + 1, length), 0) // BLOCK * BLOCK
    return begin, full_begin, tl.maximum(full_end, full_begin), end


@triton.jit
@no_type_check
def visible(i, j, left, right):
    """The band -right <= i - j <= left, for broadcastable positions."""
    distance = i - j
    return (distance <= left) & (distance >= -right)


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
    T,
    S,
    n_kv_heads,
    n_shared,
    left,
    right,
    scale_log2,
    D: tl.constexpr,
    BLOCK_D: tl.constexpr,
    BLOCK_Q: tl.constexpr,
    BLOCK_K: tl.constexpr,
    FIRST_STAGE: tl.constexpr,
    END_STAGE: tl.constexpr,
):
    """Attention of one query tile: out (B, H, T, D), and lse (B, H, T) in base 2.

    Strides are (batch, head, row) in elements; `n_shared` query heads use one kv head.
    """
    n_tiles = tl.cdiv(T, BLOCK_Q)
    # Under a causal mask the last tile has the most keys: it starts first, so that no
    # long one is left at the end.
    first_row = (n_tiles - 1 - tl.program_id(0) % n_tiles) * BLOCK_Q
    head = tl.program_id(0) // n_tiles  # 0 .. B * H
    n_heads = n_kv_heads * n_shared
    b, h = head // n_heads, head % n_heads
    q_start = head_start(q, q_strides, b, h)
    k_start = head_start(k, k_strides, b, h // n_shared)
    v_start = head_start(v, v_strides, b, h // n_shared)
    q_tile = load_tile(q_start, first_row, q_strides[2], T, D, BLOCK_Q, BLOCK_D, True)

    # The last query stands beside the last key.
    position = first_row + S - T
    last_position = tl.minimum(position + BLOCK_Q, S) - 1
    bounds = span(position, last_position, left, right, S, BLOCK_K)
    i = position + tl.arange(0, BLOCK_Q)

    acc = tl.zeros([BLOCK_Q, BLOCK_D], tl.float32)
    total = tl.zeros([BLOCK_Q], tl.float32)
    peak = tl.full([BLOCK_Q], float("-inf"), tl.float32)
    for stage in tl.static_range(FIRST_STAGE, END_STAGE):
        for first in tl.range(bounds[stage], bounds[stage + 1], BLOCK_K):
            k_tile = load_tile(
                k_start, first, k_strides[2], S, D, BLOCK_K, BLOCK_D, stage != 1
            )
            # (BLOCK_Q, BLOCK_K)
            scores = tl.dot(q_tile, tl.trans(k_tile), input_precision="ieee")
            if stage != 1:
                j = first + tl.arange(0, BLOCK_K)
                seen = visible(i[:, None], j[None, :], left, right) & (j < S)[None, :]
                scores = tl.where(seen, scores, float("-inf"))
            new_peak = tl.maximum(peak, tl.max(scores, 1) * scale_log2)
            shift = new_peak
            if stage != 1:
                # A row that has seen nothing yet has a peak of -inf, and -inf - -inf is
                # NaN.
                shift = tl.where(new_peak == float("-inf"), 0.0, new_peak)
            weights = tl.exp2(scores * scale_log2 - shift[:, None])
            decay = tl.exp2(peak - shift)
            peak = new_peak
            total = total * decay + tl.sum(weights, 1)
            v_tile = load_tile(
                v_start, first, v_strides[2], S, D, BLOCK_K, BLOCK_D, stage != 1
            )
            acc = tl.dot(
                weights.to(v_tile.dtype),
                v_tile,
                acc * decay[:, None],
                input_precision="ieee",
            )

    # A row that sees nothing: out = 0 / 1, lse = -inf.
    total = tl.where(total == 0.0, 1.0, total)
    out_start = head_start(out, out_strides, b, h)
    store_tile(
        out_start,
        first_row,
        out_strides[2],
        T,
        acc / total[:, None],
        D,
        BLOCK_Q,
        BLOCK_D,
    )
    rows = first_row + tl.arange(0, BLOCK_Q)
    tl.store(
        lse + tl.cast(head, tl.int64) * T + rows, peak + tl.log2(total), mask=rows < T
    )


@triton.jit
@no_type_check
def delta_kernel(
    out,
    grad_out,
    delta,
    out_strides,
    grad_out_strides,
    T,
    n_heads,
    D: tl.constexpr,
    BLOCK_D: tl.constexpr,
    BLOCK_Q: tl.constexpr,
):
    """delta (B, H, T) = rowsum(dO * O), for one query tile."""
    n_tiles = tl.cdiv(T, BLOCK_Q)
    first_row = tl.program_id(0) % n_tiles * BLOCK_Q
    head = tl.program_id(0) // n_tiles
    b, h = head // n_heads, head % n_heads
    out_start = head_start(out, out_strides, b, h)
    grad_start = head_start(grad_out, grad_out_strides, b, h)
    out_tile = load_tile(
        out_start, first_row, out_strides[2], T, D, BLOCK_Q, BLOCK_D, True
    )
    grad_tile = load_tile(
        grad_start, first_row, grad_out_strides[2], T, D, BLOCK_Q, BLOCK_D, True
    )
    rows = first_row + tl.arange(0, BLOCK_Q)
    products = tl.sum(out_tile.to(tl.float32) * grad_tile.to(tl.float32), 1)
    tl.store(delta + tl.cast(head, tl.int64) * T + rows, products, mask=rows < T)


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
    T,
    S,
    n_kv_heads,
    n_shared,
    left,
    right,
    scale,
    scale_log2,
    D: tl.constexpr,
    BLOCK_D: tl.constexpr,
    BLOCK_Q: tl.constexpr,
    BLOCK_K: tl.constexpr,
    FIRST_STAGE: tl.constexpr,
    END_STAGE: tl.constexpr,
):
    """DQ of one query tile."""
    n_tiles = tl.cdiv(T, BLOCK_Q)
    first_row = (n_tiles - 1 - tl.program_id(0) % n_tiles) * BLOCK_Q
    head = tl.program_id(0) // n_tiles
    n_heads = n_kv_heads * n_shared
    b, h = head // n_heads, head % n_heads
    q_start = head_start(q, q_strides, b, h)
    k_start = head_start(k, k_strides, b, h // n_shared)
    v_start = head_start(v, v_strides, b, h // n_shared)
    grad_start = head_start(grad_out, grad_out_strides, b, h)
    q_tile = load_tile(q_start, first_row, q_strides[2], T, D, BLOCK_Q, BLOCK_D, True)
    grad_tile = load_tile(
        grad_start, first_row, grad_out_strides[2], T, D, BLOCK_Q, BLOCK_D, True
    )
    lse_rows = load_rows(lse + tl.cast(head, tl.int64) * T, first_row, T, BLOCK_Q, True)
    delta_rows = load_rows(
        delta + tl.cast(head, tl.int64) * T, first_row, T, BLOCK_Q, True
    )

    position = first_row + S - T
    last_position = tl.minimum(position + BLOCK_Q, S) - 1
    bounds = span(position, last_position, left, right, S, BLOCK_K)
    i = position + tl.arange(0, BLOCK_Q)

    acc = tl.zeros([BLOCK_Q, BLOCK_D], tl.float32)
    for stage in tl.static_range(FIRST_STAGE, END_STAGE):
        for first in tl.range(bounds[stage], bounds[stage + 1], BLOCK_K):
            k_tile = load_tile(
                k_start, first, k_strides[2], S, D, BLOCK_K, BLOCK_D, stage != 1
            )
            v_tile = load_tile(
                v_start, first, v_strides[2], S, D, BLOCK_K, BLOCK_D, stage != 1
            )
            # (BLOCK_Q, BLOCK_K)
            scores = tl.dot(q_tile, tl.trans(k_tile), input_precision="ieee")
            exponents = scores * scale_log2 - lse_rows[:, None]
            if stage != 1:
                j = first + tl.arange(0, BLOCK_K)
                seen = visible(i[:, None], j[None, :], left, right) & (j < S)[None, :]
                exponents = tl.where(seen, exponents, float("-inf"))
            weights = tl.exp2(exponents)
            grad_weights = tl.dot(grad_tile, tl.trans(v_tile), input_precision="ieee")
            grad_scores = weights * (grad_weights - delta_rows[:, None])
            acc = tl.dot(
                grad_scores.to(k_tile.dtype), k_tile, acc, input_precision="ieee"
            )

    grad_q_start = head_start(grad_q, grad_q_strides, b, h)
    store_tile(
        grad_q_start, first_row, grad_q_strides[2], T, acc * scale, D, BLOCK_Q, BLOCK_D
    )


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
    T,
    S,
    n_kv_heads,
    n_shared,
    left,
    right,
    scale,
    scale_log2,
    D: tl.constexpr,
    BLOCK_D: tl.constexpr,
    BLOCK_Q: tl.constexpr,
    BLOCK_K: tl.constexpr,
    FIRST_STAGE: tl.constexpr,
    END_STAGE: tl.constexpr,
):
    """DK and dV of one key tile, summed over the query heads that use its kv head.

    Scores are held transposed, keys down and queries across, so that both products
    contract over queries.
    """
    n_tiles = tl.cdiv(S, BLOCK_K)
    # Under a causal mask the first tile has the most queries.
    first_key = tl.program_id(0) % n_tiles * BLOCK_K
    kv_head = tl.program_id(0) // n_tiles  # 0 .. B * G
    b, g = kv_head // n_kv_heads, kv_head % n_kv_heads
    k_start = head_start(k, k_strides, b, g)
    v_start = head_start(v, v_strides, b, g)
    k_tile = load_tile(k_start, first_key, k_strides[2], S, D, BLOCK_K, BLOCK_D, True)
    v_tile = load_tile(v_start, first_key, v_strides[2], S, D, BLOCK_K, BLOCK_D, True)

    # In rows of q, key j stands at j - offset; what a query sees behind it, a key is
    # seen by ahead of it.
    offset = S - T
    last_key = tl.minimum(first_key + BLOCK_K, S) - 1
    bounds = span(first_key - offset, last_key - offset, right, left, T, BLOCK_Q)
    j = first_key - offset + tl.arange(0, BLOCK_K)

    acc_k = tl.zeros([BLOCK_K, BLOCK_D], tl.float32)
    acc_v = tl.zeros([BLOCK_K, BLOCK_D], tl.float32)
    for shared in tl.range(0, n_shared):
        h = g * n_shared + shared
        q_start = head_start(q, q_strides, b, h)
        grad_start = head_start(grad_out, grad_out_strides, b, h)
        row_start = tl.cast(b * n_kv_heads * n_shared + h, tl.int64) * T
        for stage in tl.static_range(FIRST_STAGE, END_STAGE):
            for first in tl.range(bounds[stage], bounds[stage + 1], BLOCK_Q):
                q_tile = load_tile(
                    q_start, first, q_strides[2], T, D, BLOCK_Q, BLOCK_D, stage != 1
                )
                grad_tile = load_tile(
                    grad_start,
                    first,
                    grad_out_strides[2],
                    T,
                    D,
                    BLOCK_Q,
                    BLOCK_D,
                    stage != 1,
                )
                lse_rows = load_rows(lse + row_start, first, T, BLOCK_Q, stage != 1)
                delta_rows = load_rows(delta + row_start, first, T, BLOCK_Q, stage != 1)
                # (BLOCK_K, BLOCK_Q)
                scores = tl.dot(k_tile, tl.trans(q_tile), input_precision="ieee")
                exponents = scores * scale_log2 - lse_rows[None, :]
                if stage != 1:
                    i = first + tl.arange(0, BLOCK_Q)
                    exponents = tl.where(
                        visible(i[None, :], j[:, None], left, right),
                        exponents,
                        float("-inf"),
                    )
                # Rows beyond T load zeros, in dO as in delta: they add 2^0 * 0.
                weights = tl.exp2(exponents)
                acc_v = tl.dot(
                    weights.to(grad_tile.dtype),
                    grad_tile,
                    acc_v,
                    input_precision="ieee",
                )
                grad_weights = tl.dot(
                    v_tile, tl.trans(grad_tile), input_precision="ieee"
                )
                grad_scores = weights * (grad_weights - delta_rows[None, :])
                acc_k = tl.dot(
                    grad_scores.to(q_tile.dtype), q_tile, acc_k, input_precision="ieee"
                )

    grad_k_start = head_start(grad_k, grad_k_strides, b, g)
    grad_v_start = head_start(grad_v, grad_v_strides, b, g)
    store_tile(
        grad_k_start,
        first_key,
        grad_k_strides[2],
        S,
        acc_k * scale,
        D,
        BLOCK_K,
        BLOCK_D,
    )
    store_tile(
        grad_v_start, first_key, grad_v_strides[2], S, acc_v, D, BLOCK_K, BLOCK_D
    )
