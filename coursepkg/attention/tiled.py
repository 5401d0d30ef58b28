"""FlashAttention in PyTorch: the score matrix is never stored, only one tile of it at a time.

Forward, for one tile of queries and each tile of keys in turn. Each row keeps its maximum m so far, the sum
l = sum exp(s - m) so far, and o, the attention over the keys seen so far:

    s = q k^T * scale         m' = max(m, max s)         p = softmax(s), within the tile
    old = exp(m - m') l       new = exp(max s - m') * sum exp(s - max s)
    l' = old + new            o' = (old o + new p v) / l'

When the last tile is done, o is the output. L = m + log l, the log-sum-exp of the row, is saved for the backward pass:

    p = exp(s - L)    dv += p^T do    dp = do v^T    ds = p * (dp - delta)    dq += ds k * scale    dk += ds^T q * scale

with delta = sum(do * o) over the features of a row.

Sources: Dao et al., FlashAttention (arXiv 2205.14135), algorithms 1 and 4; Dao, FlashAttention-2 (arXiv 2307.08691),
whose order of loops this file follows; Milakov and Gimelshein (arXiv 1805.02867) for the running softmax.
"""

from typing import Any

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable

from coursepkg.attention.pattern import Pattern
from coursepkg.attention.tiles import Tile, TileGrid

TILE_Q = 256
TILE_K = 256


def run(
    q: Tensor,
    k: Tensor,
    v: Tensor,
    pattern: Pattern | None,
    *,
    scale: float,
    bias: Tensor | None,
    dropout_p: float,
    dropout_seed: int,
    tile_q: int = TILE_Q,
    tile_k: int = TILE_K,
) -> Tensor:
    """q (B, H, T, D), k and v (B, G, S, D) -> (B, H, T, D), with tiles of tile_q queries by tile_k keys."""
    grid = TileGrid.of(q, k, pattern, tile_q, tile_k, dropout_p, dropout_seed)
    return TiledAttention.apply(q, k, v, bias, scale, grid)


class TiledAttention(torch.autograd.Function):
    """The two passes, joined for autograd: q, k, v, the output and L are saved, the scores are not."""

    @staticmethod
    def forward(
        ctx: Any, q: Tensor, k: Tensor, v: Tensor, bias: Tensor | None, scale: float, grid: TileGrid
    ) -> Tensor:
        """Run `forward_pass` and save what `backward_pass` needs."""
        output, log_sum_exp = forward_pass(q, k, v, bias, scale, grid)
        ctx.save_for_backward(q, k, v, bias, output, log_sum_exp)
        ctx.scale, ctx.grid = scale, grid
        return output

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, *grads: Tensor) -> tuple[Tensor | None, ...]:
        """Run `backward_pass`."""
        q, k, v, bias, output, log_sum_exp = ctx.saved_tensors
        found = backward_pass(grads[0], q, k, v, bias, output, log_sum_exp, ctx.scale, ctx.grid)
        return (*found, None, None)


def forward_pass(
    q: Tensor, k: Tensor, v: Tensor, bias: Tensor | None, scale: float, grid: TileGrid
) -> tuple[Tensor, Tensor]:
    """One pass over the tiles.

    Returns:
        output (B, H, T, D) in the dtype of q, and the log-sum-exp of each row (B, H, T, 1) in the accumulating
        dtype; a row that sees nothing has output 0 and log-sum-exp +inf.
    """
    output = torch.empty_like(q)
    log_sum_exp = q.new_empty((*q.shape[:3], 1), dtype=grid.dtype)
    for rows in grid.query_tiles():
        q_tile = grid.queries(q, rows) * scale
        o = torch.zeros_like(q_tile)
        m = q_tile.new_full((*q_tile.shape[:2], 1), grid.lowest)
        l = torch.zeros_like(m)
        for tile in grid.key_tiles(rows):
            s = masked_scores(q_tile, k, bias, tile, grid)
            m, l, p, keep, add = update(m, l, s)
            o.mul_(keep).add_((grid.drop(p, tile) @ grid.keys(v, tile.columns)).mul_(add))
        hidden = m == grid.lowest
        grid.store(output, rows, o.masked_fill_(hidden, 0.0))
        grid.store(log_sum_exp, rows, (m + l.log()).masked_fill_(hidden, float("inf")))
    return output, log_sum_exp


def update(m: Tensor, l: Tensor, s: Tensor) -> tuple[Tensor, Tensor, Tensor, Tensor, Tensor]:
    """One step of the running softmax, for the scores of one more tile.

    Args:
        m, l: running maximum and running sum of each row, (B * G, rows, 1).
        s: scores of the tile, (B * G, rows, columns); overwritten.

    Returns:
        the new m and l; p, the softmax within the tile; and the shares of the sum that belong to the keys seen
        before (keep) and to the tile (add), so that o = keep * o + add * p v.
    """
    m_tile = s.amax(dim=-1, keepdim=True)
    p = torch.softmax(s, dim=-1, out=s)
    l_tile = 1 / p.amax(dim=-1, keepdim=True)  # the largest entry of p is exp(0) / l_tile
    m_new = torch.maximum(m, m_tile)
    old, new = (m - m_new).exp() * l, (m_tile - m_new).exp() * l_tile
    l_new = old + new
    return m_new, l_new, p, old / l_new, new / l_new


def masked_scores(q_tile: Tensor, k: Tensor, bias: Tensor | None, tile: Tile, grid: TileGrid) -> Tensor:
    """s = q k^T + bias on one tile, in the grid's scratch; the lowest number where hidden. q_tile is scaled already."""
    s = torch.bmm(q_tile, grid.keys(k, tile.columns).transpose(1, 2), out=grid.scratch(tile))
    grid.add_bias(s, bias, tile)
    grid.hide(s, tile)
    return s


def backward_pass(
    d_output: Tensor,
    q: Tensor,
    k: Tensor,
    v: Tensor,
    bias: Tensor | None,
    output: Tensor,
    log_sum_exp: Tensor,
    scale: float,
    grid: TileGrid,
) -> tuple[Tensor, Tensor, Tensor, Tensor | None]:
    """Gradients of q, k, v and bias: every tile's probabilities are computed again from L."""
    delta = (d_output.to(grid.dtype) * output.to(grid.dtype)).sum(dim=-1, keepdim=True)  # (B, H, T, 1)
    dq = torch.empty_like(q)
    dk, dv = (torch.zeros(x.shape, dtype=grid.dtype, device=x.device) for x in (k, v))
    d_bias = None if bias is None else torch.zeros(bias.shape, dtype=grid.dtype, device=bias.device)
    for rows in grid.query_tiles():
        q_tile = grid.queries(q, rows) * scale
        do, row_delta, row_lse = (grid.queries(x, rows) for x in (d_output, delta, log_sum_exp))
        dq_tile = torch.zeros_like(q_tile)
        for tile in grid.key_tiles(rows):
            p = masked_scores(q_tile, k, bias, tile, grid).sub_(row_lse).exp_()
            dp = grid.drop(do @ grid.keys(v, tile.columns).transpose(1, 2), tile)
            ds = p * dp.sub_(row_delta)
            grid.keys(dv, tile.columns).baddbmm_(grid.drop(p, tile).transpose(1, 2), do)
            dq_tile.baddbmm_(ds, grid.keys(k, tile.columns))
            grid.keys(dk, tile.columns).baddbmm_(ds.transpose(1, 2), q_tile)
            grid.add_bias_gradient(d_bias, ds, tile)
        grid.store(dq, rows, dq_tile * scale)
    return (
        dq,
        dk.to(k.dtype),
        dv.to(v.dtype),
        None if d_bias is None or bias is None else d_bias.to(bias.dtype),
    )
