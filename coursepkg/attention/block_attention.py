"""Exact attention over the blocks of a plan, forward and backward; a block outside the plan is never read.

For one stripe (a block of query rows, and all the keys it visits):

    s = q k^T * scale + bias        p = softmax(s)        o = p v

Because the stripe holds every key that its rows can see, one ordinary softmax does; no running maximum is needed.
The backward pass computes p again, stripe by stripe, so nothing of size T * S is ever stored:

    dv += p^T do    dp = do v^T    ds = p * (dp - sum(p * dp))    dq = ds k * scale    dk += ds^T q * scale

The whole row of p is at hand, so the sum runs over keys. FlashAttention, which has one tile at a time, needs the
equal sum(do * o) over features instead.

Query heads that share a kv head are stacked as rows of one matrix, so keys are never repeated.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable

from coursepkg.attention.block_plan import Part, Stripe, plan
from coursepkg.attention.dropout import keep_mask
from coursepkg.attention.pattern import Pattern

BLOCK = 64
"""Rows and columns of a block. Smaller blocks follow a pattern more closely, larger ones multiply faster."""

Select = Callable[[Tensor], None]
"""Hides further scores (..., keys of the stripe) in place, by writing -inf."""


@dataclass(frozen=True)
class Walk:
    """One part of a plan and what to compute along it."""

    part: Part
    pattern: Pattern
    offset: int
    """S - T, which turns a query row into a position."""
    n_keys: int
    scale: float
    dropout_p: float
    dropout_seed: int
    select: Select | None

    def weights(self, q: Tensor, k: Tensor, bias: Tensor | None, stripe: Stripe, scratch: Tensor) -> Tensor:
        """softmax(q k^T + bias) of one stripe (lanes, n_shared * rows, keys), q being scaled already.

        A row that sees nothing has weights zero. The result lives in `scratch`.
        """
        s = dot_keys(q, k, stripe, scratch)
        if bias is not None:
            for run in stripe.runs:
                self.by_head(s, stripe)[..., run.at].add_(_slice(bias, stripe.rows, run.keys))
        for run in stripe.partial:
            self.by_lane(s, stripe)[..., run.at].masked_fill_(~self.visible(stripe, run.keys), -torch.inf)
        if self.select is not None:
            self.select(s)
        if bias is None and not stripe.may_have_empty_rows:
            return torch.softmax(s, dim=-1, out=s)
        empty = s.amax(dim=-1, keepdim=True) == -torch.inf
        p = torch.softmax(s, dim=-1, out=s)
        return p.masked_fill_(empty, 0.0) if empty.any() else p

    def visible(self, stripe: Stripe, keys: slice) -> Tensor:
        """The pattern on one stretch of keys: bool, broadcastable to (n_b, n_g, n_r, n_shared, rows, keys)."""
        _, n_g, _, n_shared = self.part.shape
        b, h = self.part.batches[:, None, None, None], self.part.heads.flatten()[:, None, None]
        classes = []
        for rows, columns in zip(self.part.rows, self.part.columns, strict=True):
            i, j = rows[stripe.rows, None] + self.offset, columns[keys]
            tile = self.pattern.tile(b, h, i, j, self.n_keys)
            tile = tile[(None,) * (4 - tile.dim())]
            classes.append(tile.unflatten(1, (n_g, n_shared) if tile.shape[1] > 1 else (1, 1)))
        return torch.stack(classes, dim=2)

    def kept(self, stripe: Stripe, like: Tensor) -> Tensor:
        """Factors of dropout (lanes, n_shared * rows, keys): 0 where dropped, 1 / (1 - p) where kept."""
        part = self.part
        b, h = part.batches.view(-1, 1, 1, 1, 1, 1), part.heads[:, None, :, None, None]
        i = part.rows[:, None, stripe.rows, None]
        j = torch.cat([part.columns[:, run.keys] for run in stripe.runs], dim=1)[:, None, None, :]
        keep = keep_mask(self.dropout_p, self.dropout_seed, b, h, i, j)
        return keep.flatten(3, 4).flatten(0, 2).to(like.dtype) / (1 - self.dropout_p)

    def by_lane(self, s: Tensor, stripe: Stripe) -> Tensor:
        """Scores (lanes, n_shared * rows, keys) seen as (n_b, n_g, n_r, n_shared, rows, keys)."""
        return s.view(*self.part.shape, stripe.n_rows, stripe.n_keys)

    def by_head(self, s: Tensor, stripe: Stripe) -> Tensor:
        """Scores seen as (n_b, heads, rows, keys), where there is one residue class."""
        return s.view(len(self.part.batches), -1, stripe.n_rows, stripe.n_keys)

    def scratch(self, like: Tensor) -> Tensor:
        """Memory for the scores of the widest stripe, reused by all."""
        widest = max((stripe.n_rows * stripe.n_keys for stripe in self.part.stripes), default=0)
        return like.new_empty(like.shape[0] * like.shape[1] * widest)


class BlockAttention(torch.autograd.Function):
    """q (lanes, n_shared, T', D), k and v (lanes, S', D) -> (lanes, n_shared, T', D), a lane being one kv head."""

    @staticmethod
    def forward(ctx: Any, q: Tensor, k: Tensor, v: Tensor, bias: Tensor | None, walk: Walk) -> Tensor:
        """Save only the inputs; the weights of each stripe are overwritten by the next."""
        output, scratch = torch.zeros_like(q), walk.scratch(q)
        for stripe in walk.part.stripes:
            p = walk.weights(rows_of(q, stripe) * walk.scale, k, bias, stripe, scratch)
            if walk.dropout_p > 0:
                p.mul_(walk.kept(stripe, p))
            store(output, stripe, sum_keys(p, v, stripe))
        ctx.save_for_backward(q, k, v, bias)
        ctx.walk = walk
        return output

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, d_output: Tensor) -> tuple[Tensor | None, ...]:
        """Gradients of q, k, v and bias, one stripe at a time."""
        q, k, v, bias = ctx.saved_tensors
        walk: Walk = ctx.walk
        dq, dk, dv = torch.zeros_like(q), torch.zeros_like(k), torch.zeros_like(v)
        d_bias = torch.zeros_like(bias) if ctx.needs_input_grad[3] else None
        memory, d_memory = walk.scratch(q), walk.scratch(q)
        for stripe in walk.part.stripes:
            q_rows, do = rows_of(q, stripe) * walk.scale, rows_of(d_output, stripe)
            p = walk.weights(q_rows, k, bias, stripe, memory)
            dp = dot_keys(do, v, stripe, d_memory)
            dropped = p
            if walk.dropout_p > 0:
                kept = walk.kept(stripe, p)
                dropped, dp = p * kept, dp.mul_(kept)
            add_to_keys(dv, stripe, dropped, do)
            ds = dp.mul_(p)
            ds.addcmul_(p, ds.sum(dim=-1, keepdim=True), value=-1)  # p * dp - p * sum(p * dp)
            store(dq, stripe, sum_keys(ds, k, stripe).mul_(walk.scale))
            add_to_keys(dk, stripe, ds, q_rows)
            if d_bias is not None:
                for run in stripe.runs:
                    target = _slice(d_bias, stripe.rows, run.keys)
                    target.add_(walk.by_head(ds, stripe)[..., run.at].sum_to_size(target.shape))
        return dq, dk, dv, d_bias, None


def rows_of(x: Tensor, stripe: Stripe) -> Tensor:
    """Query rows of a stripe: (lanes, n_shared, T', D) -> (lanes, n_shared * rows, D)."""
    return x[:, :, stripe.rows].flatten(1, 2)


def dot_keys(rows: Tensor, x: Tensor, stripe: Stripe, scratch: Tensor) -> Tensor:
    """rows x^T over the visited keys: (lanes, rows, D) and (lanes, S', D) -> (lanes, rows, keys), in `scratch`."""
    lanes, n_rows, _ = rows.shape
    result = scratch[: lanes * n_rows * stripe.n_keys].view(lanes, n_rows, stripe.n_keys)
    for run in stripe.runs:
        torch.bmm(rows, x[:, run.keys].transpose(1, 2), out=result[:, :, run.at])
    return result


def sum_keys(weights: Tensor, x: Tensor, stripe: Stripe) -> Tensor:
    """weights x over the visited keys: (lanes, rows, keys) and (lanes, S', D) -> (lanes, rows, D)."""
    first, *others = stripe.runs
    result = torch.bmm(weights[:, :, first.at], x[:, first.keys])
    for run in others:
        result.baddbmm_(weights[:, :, run.at], x[:, run.keys])
    return result


def store(x: Tensor, stripe: Stripe, value: Tensor) -> None:
    """The inverse of `rows_of`."""
    x[:, :, stripe.rows] = value.unflatten(1, (-1, stripe.n_rows))


def add_to_keys(x: Tensor, stripe: Stripe, weights: Tensor, value: Tensor) -> None:
    """x[visited keys] += weights^T value, run by run."""
    for run in stripe.runs:
        x[:, run.keys].baddbmm_(weights[:, :, run.at].transpose(1, 2), value)


def _slice(bias: Tensor, rows: slice, keys: slice) -> Tensor:
    """The view of a (n_b|1, heads|1, T|1, S|1) bias that covers some rows and keys."""
    return bias[:, :, rows if bias.shape[2] > 1 else slice(None), keys if bias.shape[3] > 1 else slice(None)]


def block_attention(
    q: Tensor,
    k: Tensor,
    v: Tensor,
    pattern: Pattern,
    *,
    scale: float,
    bias: Tensor | None = None,
    dropout_p: float = 0.0,
    dropout_seed: int = 0,
    block: int = BLOCK,
    select: Select | None = None,
) -> Tensor:
    """Attention under `pattern`, visiting only the blocks that may hold something.

    Half-precision inputs are computed in float32. A bias keeps positions in their order, because it is cut by
    slices; a pattern with a stride then visits all blocks within its reach.

    Returns:
        (B, H, T, D) in the dtype of q.
    """
    batch, n_heads, n_queries, _ = q.shape
    n_kv_heads, n_keys = k.shape[1], k.shape[2]
    sizes = (batch, n_heads, n_kv_heads, n_queries, n_keys)
    dtype = torch.float32 if q.dtype in (torch.float16, torch.bfloat16) else q.dtype
    wide_q, wide_k, wide_v = q.to(dtype), k.to(dtype), v.to(dtype)
    outputs, places = [], []
    for part in plan(pattern, sizes, block, sort_residues=bias is None, device=q.device):
        queries, keys = part.query_index(n_heads, n_queries), part.key_index(n_kv_heads, n_keys)
        walk = Walk(part, pattern, n_keys - n_queries, n_keys, scale, dropout_p, dropout_seed, select)
        lanes = [
            _gather(x, index).flatten(0, 2)
            for x, index in ((wide_q, queries), (wide_k, keys), (wide_v, keys))
        ]
        output = BlockAttention.apply(*lanes, _bias_of(part, bias, sizes, dtype), walk)
        outputs.append(output.flatten(0, -2))
        places.append(queries.flatten())
    output = outputs[0] if len(outputs) == 1 else torch.cat(outputs)
    return _gather(output, torch.cat(places).argsort()).view(q.shape).to(q.dtype)


def _gather(x: Tensor, index: Tensor) -> Tensor:
    """Rows of x seen as (..., D) -> (rows, D), in the shape of `index`: a view when they are all rows in order."""
    rows = x.reshape(-1, x.shape[-1])
    in_order = index.numel() == len(rows) and bool((index.flatten().diff() == 1).all())
    chosen = rows if in_order else rows.index_select(0, index.flatten())
    return chosen.view(*index.shape, x.shape[-1])


def _bias_of(
    part: Part, bias: Tensor | None, sizes: tuple[int, int, int, int, int], dtype: torch.dtype
) -> Tensor | None:
    """The bias of the sequences and heads of a part, its broadcast dimensions kept at 1."""
    if bias is None:
        return None
    bias = bias[(None,) * (4 - bias.dim())].to(dtype)
    for dim, index in ((0, part.batches), (1, part.heads.flatten())):
        if bias.shape[dim] > 1 and len(index) < sizes[dim]:
            bias = bias.index_select(dim, index)
    return bias
