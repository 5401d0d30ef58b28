"""What the Triton kernels share: loading and storing one tile, and which tiles a band leaves to visit.

Every function here runs inside a kernel. `no_type_check` keeps run-time shape checkers away from code that Triton
compiles from its source. A "row" is one position of a (length, D) matrix, whether queries or keys.
"""

from typing import no_type_check

import triton
import triton.language as tl


@triton.jit
@no_type_check
def head_start(base, strides, batch, head):
    """Address of the first row of one head, for strides (batch, head, row) in elements."""
    return base + tl.cast(batch, tl.int64) * strides[0] + tl.cast(head, tl.int64) * strides[1]


@triton.jit
@no_type_check
def load_tile(
    start,
    first,
    stride,
    length,
    HEAD_DIM: tl.constexpr,
    BLOCK: tl.constexpr,
    BLOCK_D: tl.constexpr,
    CHECKED: tl.constexpr,
):
    """Rows first .. first + BLOCK of a (length, HEAD_DIM) matrix as a (BLOCK, BLOCK_D) tile, zero outside.

    CHECKED=False promises that all rows exist, and saves the comparison.
    """
    rows, columns = tl.arange(0, BLOCK), tl.arange(0, BLOCK_D)
    # The tile's start is a 64-bit number: row * stride passes 2^31 in long sequences of (B, T, H, D) layout.
    tile = start + tl.cast(first, tl.int64) * stride + rows[:, None] * stride + columns[None, :]
    if CHECKED:
        inside = (first + rows < length)[:, None] & (columns < HEAD_DIM)[None, :]
        return tl.load(tile, mask=inside, other=0.0)
    if HEAD_DIM != BLOCK_D:
        return tl.load(tile, mask=(columns < HEAD_DIM)[None, :], other=0.0)
    return tl.load(tile)


@triton.jit
@no_type_check
def store_tile(
    start,
    first,
    stride,
    length,
    value,
    HEAD_DIM: tl.constexpr,
    BLOCK: tl.constexpr,
    BLOCK_D: tl.constexpr,
):
    """Write a (BLOCK, BLOCK_D) tile to rows first .. of a (length, HEAD_DIM) matrix, in the matrix's dtype."""
    rows, columns = tl.arange(0, BLOCK), tl.arange(0, BLOCK_D)
    tile = start + tl.cast(first, tl.int64) * stride + rows[:, None] * stride + columns[None, :]
    inside = (first + rows < length)[:, None] & (columns < HEAD_DIM)[None, :]
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
    """Where the positions low .. high, each reaching `back` and `ahead`, meet a sequence cut into blocks.

    Returns begin <= full_begin <= full_end <= end, the last one exclusive. The blocks of [full_begin, full_end) are
    seen whole by every position. Those of [begin, full_begin) and [full_end, end) need a mask; no other is met.
    """
    begin = tl.maximum(low - back, 0) // BLOCK * BLOCK
    end = tl.maximum(tl.minimum(high + ahead + 1, length), begin)
    full_begin = tl.minimum(tl.cdiv(tl.maximum(high - back, 0), BLOCK) * BLOCK, end)
    full_end = tl.maximum(tl.minimum(low + ahead + 1, length), 0) // BLOCK * BLOCK
    return begin, full_begin, tl.maximum(full_end, full_begin), end


@triton.jit
@no_type_check
def visible(i, j, left, right):
    """The band -right <= i - j <= left, for broadcastable positions of queries and keys."""
    distance = i - j
    return (distance <= left) & (distance >= -right)
