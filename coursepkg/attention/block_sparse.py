"""Attention under any pattern, at the cost of the blocks it touches.

A mask alone saves nothing, because hidden scores are computed and thrown away. Here the
pattern says of each block of the score matrix whether it may hold a visible pair; the
others are never computed nor read, in the forward pass and in the backward pass. The
result is exact: the numbers of the dense formula. For one block row (a block of query
rows, and all the keys it visits):

    s = q k^T * scale + bias        p = softmax(s)        o = p v

Because the block row holds every key that its rows can see, one ordinary softmax does;
no running maximum is needed. The backward pass computes p again, so nothing of size
T * S is ever stored:

    dv += p^T do    dp = do v^T    ds = p * (dp - sum(p * dp))
    dq = ds k * scale              dk += ds^T q * scale

The whole row of p is at hand, so the sum runs over keys; FlashAttention, with one tile
at a time, needs the equal sum(do * o) over features.

`plan` says what to visit. A part holds sequences and heads of equal block maps, so that
one loop serves them as one batch of matrices; query heads that share a kv head are
stacked as rows. A dilated window leaves no block empty, for every block holds some
multiple of the dilation. Sorted by residue (i mod dilation, j mod dilation) it becomes
an ordinary window inside each residue class and nothing between classes; such classes
are batched beside the sequences and the heads.

Sources: Child et al., Sparse Transformer (arXiv 1904.10509); Longformer (arXiv
2004.05150); BigBird (arXiv 2007.14062), appendix D, for visiting blocks.
"""

import itertools
import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable

from coursepkg.attention.dropout import keep_mask
from coursepkg.attention.pattern import Pattern, Span, full

MAX_SCORES = 2**23
"""Scores held at a time, in elements (32 MiB in float32); larger parts are cut."""


@dataclass(frozen=True)
class Run:
    """A contiguous stretch of keys, among all keys and among those of its block row."""

    keys: slice
    at: slice


@dataclass(frozen=True)
class BlockRow:
    """One block of query rows and all that it visits."""

    rows: slice
    runs: tuple[Run, ...]
    """The visited keys; no other key is read."""
    partial: tuple[Run, ...]
    """Stretches of the visited keys in which the pattern hides some pairs."""
    n_keys: int

    @property
    def n_rows(self) -> int:
        """Query rows."""
        return self.rows.stop - self.rows.start

    @property
    def may_have_empty_rows(self) -> bool:
        """True unless some visited block is visible throughout."""
        return sum(run.at.stop - run.at.start for run in self.partial) == self.n_keys


@dataclass(frozen=True)
class Part:
    """Sequences, heads and residue classes that share one list of block rows."""

    batches: Tensor
    """(n_b,) sequences."""
    heads: Tensor
    """(n_g, n_shared) query heads, a row for each kv head."""
    kv_heads: Tensor
    """(n_g,) kv heads."""
    rows: Tensor
    """(n_r, T') query rows of each residue class, T' = T when there is one class."""
    columns: Tensor
    """(n_r, S') keys of each residue class."""
    block_rows: tuple[BlockRow, ...]

    @property
    def shape(self) -> tuple[int, int, int, int]:
        """(n_b, n_g, n_r, n_shared): the leading dimensions of its scores."""
        n_shared = self.heads.shape[1]
        return len(self.batches), len(self.kv_heads), len(self.rows), n_shared

    def query_index(self, n_heads: int, n_queries: int) -> Tensor:
        """Rows in q seen as (B * H * T, D), shape (n_b, n_g, n_r, n_shared, T')."""
        # (n_b, n_g, n_shared)
        lane = self.batches[:, None, None] * n_heads + self.heads
        return lane[:, :, None, :, None] * n_queries + self.rows[:, None, :]

    def key_index(self, n_kv_heads: int, n_keys: int) -> Tensor:
        """Keys in k seen as (B * G * S, D), shape (n_b, n_g, n_r, S')."""
        lane = self.batches[:, None] * n_kv_heads + self.kv_heads  # (n_b, n_g)
        return lane[:, :, None, None] * n_keys + self.columns

    def split(self) -> Iterator["Part"]:
        """Cut so that the scores of a block row stay within `MAX_SCORES`."""
        _, n_g, n_r, n_shared = self.shape
        n_lanes = max(1, MAX_SCORES // max(1, self.widest * n_r * n_shared))
        step_b, step_g = max(1, n_lanes // n_g), min(n_lanes, n_g)
        lanes = zip(self.heads.split(step_g), self.kv_heads.split(step_g), strict=True)
        batches = self.batches.split(step_b)
        for some, (heads, kv_heads) in itertools.product(batches, lanes):
            yield replace(self, batches=some, heads=heads, kv_heads=kv_heads)

    @property
    def widest(self) -> int:
        """Scores of a head in the widest block row."""
        return max((row.n_rows * row.n_keys for row in self.block_rows), default=0)


def plan(
    pattern: Pattern,
    sizes: tuple[int, int, int, int, int],
    block: int,
    *,
    sort_residues: bool = True,
    device: torch.device | str = "cpu",
) -> list[Part]:
    """The parts to visit; together they hold each query row of each head once.

    Args:
        pattern: which query sees which key.
        sizes: (B, H, G, T, S).
        block: rows and columns of a block.
        sort_residues: visit a pattern with a stride by residue classes.
        device: where the index tensors live.

    Raises:
        ValueError: the pattern does not fit these sizes.
    """
    batch, n_heads, n_kv_heads, n_queries, n_keys = sizes
    pattern.fits(batch, n_heads, n_queries, n_keys)
    stride = pattern.stride if sort_residues else 1
    # With more classes than rows or keys some classes would be empty.
    stride = stride if stride <= min(n_queries, n_keys) else 1
    parts: list[Part] = []
    for rows, columns in _residue_classes(n_queries, n_keys, stride):
        positions = rows + (n_keys - n_queries)
        may, must = _block_map(
            pattern, (batch, n_heads), positions, columns, n_keys, stride, block
        )
        index = rows.to(device), columns.to(device)
        for batches, alike in itertools.product(
            _alike(may, 0, batch), _alike(may, 1, n_heads)
        ):
            shown, full = (
                _take(_take(x, 0, batches), 1, alike).flatten(0, 1) for x in (may, must)
            )
            block_rows = _block_rows(
                shown[0], full.all(dim=0), rows.shape[1], columns.shape[1], block
            )
            for heads, kv_heads in _by_kv_head(alike, n_heads // n_kv_heads):
                lanes = batches.to(device), heads.to(device), kv_heads.to(device)
                parts.extend(Part(*lanes, *index, block_rows).split())
    return parts


def _residue_classes(
    n_queries: int, n_keys: int, stride: int
) -> list[tuple[Tensor, Tensor]]:
    """Rows (n_r, T') and columns (n_r, S') of the residue classes, equal sizes stacked.

    The last query stands beside the last key, so that this holds inside each class as
    well.
    """
    sizes: dict[tuple[int, int], list[tuple[Tensor, Tensor]]] = {}
    for residue in range(stride):
        rows = torch.arange((residue - n_keys + n_queries) % stride, n_queries, stride)
        columns = torch.arange(residue, n_keys, stride)
        sizes.setdefault((len(rows), len(columns)), []).append((rows, columns))
    stacked = (
        [torch.stack(x) for x in zip(*pairs, strict=True)] for pairs in sizes.values()
    )
    return [(rows, columns) for rows, columns in stacked]


def _block_map(
    pattern: Pattern,
    lanes: tuple[int, int],
    positions: Tensor,
    columns: Tensor,
    n_keys: int,
    stride: int,
    block: int,
) -> tuple[Tensor, Tensor]:
    """may, must (B|1, H|1, blocks of T', blocks of S') over all residue classes."""
    b = torch.arange(lanes[0])[:, None, None, None]
    h = torch.arange(lanes[1])[:, None, None]
    some, throughout = [], []
    for i, j in zip(positions, columns, strict=True):
        rows, keys = _span(i, block, stride), _span(j, block, stride)
        row_span = Span(rows.first[:, None], rows.last[:, None], stride)
        may, must = pattern.bounds(b, h, row_span, keys, n_keys)
        shape = torch.broadcast_shapes(
            may.shape, must.shape, (1, 1, len(rows.first), len(keys.first))
        )
        some.append(may.expand(shape))
        throughout.append(must.expand(shape))
    return torch.stack(some).any(dim=0), torch.stack(throughout).all(dim=0)


def _span(positions: Tensor, block: int, stride: int) -> Span:
    """First and last position of each block of entries that lie `stride` apart."""
    start = torch.arange(0, len(positions), block)
    last = (start + block).clamp(max=len(positions)) - 1
    return Span(positions[start], positions[last], stride)


def _alike(may: Tensor, dim: int, size: int) -> list[Tensor]:
    """Indices along `dim` grouped by equal slices of the block map."""
    if may.shape[dim] == 1:
        return [torch.arange(size)]
    slices = may.transpose(0, dim).flatten(1)
    _, label = torch.unique(slices, dim=0, return_inverse=True)
    values = range(int(label.max()) + 1)
    return [(label == value).nonzero().flatten() for value in values]


def _take(x: Tensor, dim: int, index: Tensor) -> Tensor:
    """Entries along a dimension; one that is broadcast stays as it is."""
    return x if x.shape[dim] == 1 else x.index_select(dim, index)


def _by_kv_head(heads: Tensor, n_shared: int) -> Iterator[tuple[Tensor, Tensor]]:
    """Query heads (n_g, count) and their kv heads (n_g,), a pair for each count."""
    kv_heads, counts = torch.unique_consecutive(heads // n_shared, return_counts=True)
    groups = heads.split(counts.tolist())
    for count in counts.unique().tolist():
        alike = torch.stack([group for group in groups if len(group) == count])
        yield alike, kv_heads[counts == count]


def _block_rows(
    may: Tensor, must: Tensor, n_rows: int, n_keys: int, block: int
) -> tuple[BlockRow, ...]:
    """Block rows of one block map; a block of rows that visits nothing has none."""
    starts = (torch.arange(may.shape[1] + 1) * block).clamp(max=n_keys)
    # Visited keys before each column.
    ahead = torch.nn.functional.pad((may * starts.diff()).cumsum(1), (1, 0))
    visited, masked = _runs(may, starts, ahead), _runs(may & ~must, starts, ahead)
    found = []
    for i, total in enumerate(ahead[:, -1].tolist()):
        rows = slice(i * block, min((i + 1) * block, n_rows))
        if total:
            found.append(BlockRow(rows, visited[i], masked[i], total))
    return tuple(found)


def _runs(blocks: Tensor, starts: Tensor, ahead: Tensor) -> list[tuple[Run, ...]]:
    """The stretches of True in each row of a block map."""
    edges = torch.nn.functional.pad(blocks.byte(), (1, 1)).diff().int()
    row, first = (edges == 1).nonzero(as_tuple=True)
    # In bytes the step from 1 to 0 wraps around to 255.
    last = (edges == 255).nonzero(as_tuple=True)[1]
    runs: list[list[Run]] = [[] for _ in range(len(blocks))]
    ends = (starts[first], starts[last], ahead[row, first], ahead[row, last])
    for index, key, key_end, at, at_end in zip(
        row.tolist(), *(x.tolist() for x in ends), strict=True
    ):
        runs[index].append(Run(slice(key, key_end), slice(at, at_end)))
    return [tuple(row_runs) for row_runs in runs]


BLOCK = 64
"""Rows and columns of a block: smaller ones follow a pattern, larger ones are fast."""

Select = Callable[[Tensor], None]
"""Hides further scores (..., keys of the block row) in place, by writing -inf."""


@dataclass(frozen=True)
class PartContext:
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

    def weights(
        self, q: Tensor, k: Tensor, bias: Tensor | None, row: BlockRow, scratch: Tensor
    ) -> Tensor:
        """softmax(q k^T + bias) of one block row (lanes, n_shared * rows, keys).

        A row that sees nothing has weights zero. The result lives in `scratch`.
        """
        s = dot_keys(q, k, row, scratch)
        if bias is not None:
            for run in row.runs:
                part = _slice(bias, row.rows, run.keys)
                self.by_head(s, row)[..., run.at].add_(part)
        for run in row.partial:
            hidden = ~self.visible(row, run.keys)
            self.by_lane(s, row)[..., run.at].masked_fill_(hidden, -torch.inf)
        if self.select is not None:
            self.select(s)
        # A row of -inf alone would become NaN. To look for one reads every score, so
        # that is left out where the pattern rules it out.
        if bias is None and not row.may_have_empty_rows:
            return torch.softmax(s, dim=-1, out=s)
        empty = s.amax(dim=-1, keepdim=True) == -torch.inf
        p = torch.softmax(s, dim=-1, out=s)
        return p.masked_fill_(empty, 0.0) if empty.any() else p

    def visible(self, row: BlockRow, keys: slice) -> Tensor:
        """The pattern on some keys: bool, broadcasts to what `by_lane` makes."""
        _, n_g, _, n_shared = self.part.shape
        b = self.part.batches[:, None, None, None]
        h = self.part.heads.flatten()[:, None, None]
        classes = []
        for rows, columns in zip(self.part.rows, self.part.columns, strict=True):
            i, j = rows[row.rows, None] + self.offset, columns[keys]
            tile = self.pattern.tile(b, h, i, j, self.n_keys)
            tile = tile[(None,) * (4 - tile.dim())]
            by_kv_head = (n_g, n_shared) if tile.shape[1] > 1 else (1, 1)
            classes.append(tile.unflatten(1, by_kv_head))
        return torch.stack(classes, dim=2)

    def kept(self, row: BlockRow, like: Tensor) -> Tensor:
        """Dropout's factors (lanes, n_shared * rows, keys): 0 or 1 / (1 - p)."""
        part = self.part
        b, h = part.batches.view(-1, 1, 1, 1, 1, 1), part.heads[:, None, :, None, None]
        i = part.rows[:, None, row.rows, None]
        j = torch.cat([part.columns[:, run.keys] for run in row.runs], dim=1)
        j = j[:, None, None, :]
        keep = keep_mask(self.dropout_p, self.dropout_seed, b, h, i, j)
        return keep.flatten(3, 4).flatten(0, 2).to(like.dtype) / (1 - self.dropout_p)

    def by_lane(self, s: Tensor, row: BlockRow) -> Tensor:
        """Scores as (n_b, n_g, n_r, n_shared, rows, keys)."""
        return s.view(*self.part.shape, row.n_rows, row.n_keys)

    def by_head(self, s: Tensor, row: BlockRow) -> Tensor:
        """Scores seen as (n_b, heads, rows, keys), where there is one residue class."""
        return s.view(len(self.part.batches), -1, row.n_rows, row.n_keys)

    def scratch(self, like: Tensor) -> Tensor:
        """Memory for the scores of the widest block row, reused by all."""
        return like.new_empty(like.shape[0] * like.shape[1] * self.part.widest)


class BlockAttention(torch.autograd.Function):
    """q (lanes, n_shared, T', D), k and v (lanes, S', D); a lane is one kv head."""

    @staticmethod
    def forward(
        ctx: Any,
        q: Tensor,
        k: Tensor,
        v: Tensor,
        bias: Tensor | None,
        context: PartContext,
    ) -> Tensor:
        """Save only the inputs; each block row overwrites the weights."""
        output, scratch = torch.zeros_like(q), context.scratch(q)
        for row in context.part.block_rows:
            p = context.weights(rows_of(q, row) * context.scale, k, bias, row, scratch)
            if context.dropout_p > 0:
                p.mul_(context.kept(row, p))
            store(output, row, sum_keys(p, v, row))
        ctx.save_for_backward(q, k, v, bias)
        ctx.context = context
        return output

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, d_output: Tensor) -> tuple[Tensor | None, ...]:
        """Gradients of q, k, v and bias, one block row at a time."""
        q, k, v, bias = ctx.saved_tensors
        context: PartContext = ctx.context
        dq, dk, dv = torch.zeros_like(q), torch.zeros_like(k), torch.zeros_like(v)
        d_bias = torch.zeros_like(bias) if ctx.needs_input_grad[3] else None
        memory, d_memory = context.scratch(q), context.scratch(q)
        for row in context.part.block_rows:
            q_rows, do = rows_of(q, row) * context.scale, rows_of(d_output, row)
            p = context.weights(q_rows, k, bias, row, memory)
            dp = dot_keys(do, v, row, d_memory)
            dropped = p
            if context.dropout_p > 0:
                kept = context.kept(row, p)
                dropped, dp = p * kept, dp.mul_(kept)
            add_to_keys(dv, row, dropped, do)
            ds = dp.mul_(p)
            # p * dp - p * sum(p * dp)
            ds.addcmul_(p, ds.sum(dim=-1, keepdim=True), value=-1)
            store(dq, row, sum_keys(ds, k, row).mul_(context.scale))
            add_to_keys(dk, row, ds, q_rows)
            if d_bias is not None:
                for run in row.runs:
                    target = _slice(d_bias, row.rows, run.keys)
                    found = context.by_head(ds, row)[..., run.at]
                    target.add_(found.sum_to_size(target.shape))
        return dq, dk, dv, d_bias, None


def rows_of(x: Tensor, row: BlockRow) -> Tensor:
    """Query rows: (lanes, n_shared, T', D) -> (lanes, n_shared * rows, D)."""
    return x[:, :, row.rows].flatten(1, 2)


def dot_keys(rows: Tensor, x: Tensor, row: BlockRow, scratch: Tensor) -> Tensor:
    """rows (lanes, rows, D) times visited keys of x (lanes, S', D), in `scratch`."""
    lanes, n_rows, _ = rows.shape
    shape = (lanes, n_rows, row.n_keys)
    result = scratch[: math.prod(shape)].view(shape)
    for run in row.runs:
        torch.bmm(rows, x[:, run.keys].transpose(1, 2), out=result[:, :, run.at])
    return result


def sum_keys(weights: Tensor, x: Tensor, row: BlockRow) -> Tensor:
    """weights (lanes, rows, keys) times visited keys of x -> (lanes, rows, D)."""
    first, *others = row.runs
    result = torch.bmm(weights[:, :, first.at], x[:, first.keys])
    for run in others:
        result.baddbmm_(weights[:, :, run.at], x[:, run.keys])
    return result


def store(x: Tensor, row: BlockRow, value: Tensor) -> None:
    """The inverse of `rows_of`."""
    x[:, :, row.rows] = value.unflatten(1, (-1, row.n_rows))


def add_to_keys(x: Tensor, row: BlockRow, weights: Tensor, value: Tensor) -> None:
    """x[visited keys] += weights^T value, run by run."""
    for run in row.runs:
        x[:, run.keys].baddbmm_(weights[:, :, run.at].transpose(1, 2), value)


def _slice(bias: Tensor, rows: slice, keys: slice) -> Tensor:
    """The view of a (n_b|1, heads|1, T|1, S|1) bias that covers some rows and keys."""
    rows = rows if bias.shape[2] > 1 else slice(None)
    keys = keys if bias.shape[3] > 1 else slice(None)
    return bias[:, :, rows, keys]


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

    Half-precision inputs are computed in float32. A bias keeps positions in their
    order, because it is cut by slices; a pattern with a stride then visits all blocks
    within its reach.

    Returns:
        (B, H, T, D) in the dtype of q.
    """
    batch, n_heads, n_queries, _ = q.shape
    n_kv_heads, n_keys = k.shape[1], k.shape[2]
    sizes = (batch, n_heads, n_kv_heads, n_queries, n_keys)
    dtype = torch.float32 if q.dtype in (torch.float16, torch.bfloat16) else q.dtype
    wide_q, wide_k, wide_v = q.to(dtype), k.to(dtype), v.to(dtype)
    outputs, places = [], []
    in_order = bias is not None
    for part in plan(
        pattern, sizes, block, sort_residues=not in_order, device=q.device
    ):
        queries = part.query_index(n_heads, n_queries)
        keys = part.key_index(n_kv_heads, n_keys)
        context = PartContext(
            part,
            pattern,
            n_keys - n_queries,
            n_keys,
            scale,
            dropout_p,
            dropout_seed,
            select,
        )
        pairs = ((wide_q, queries), (wide_k, keys), (wide_v, keys))
        lanes = [_gather(x, index).flatten(0, 2) for x, index in pairs]
        own_bias = _bias_of(part, bias, sizes, dtype)
        output = BlockAttention.apply(*lanes, own_bias, context)
        outputs.append(output.flatten(0, -2))
        places.append(queries.flatten())
    output = outputs[0] if len(outputs) == 1 else torch.cat(outputs)
    # Parts come in an order of their own: back to that of the queries.
    return _gather(output, torch.cat(places).argsort()).view(q.shape).to(q.dtype)


def _gather(x: Tensor, index: Tensor) -> Tensor:
    """Rows of x (..., D) by `index`; a view when they are all rows in order."""
    rows = x.reshape(-1, x.shape[-1])
    in_order = index.numel() == len(rows) and bool((index.flatten().diff() == 1).all())
    chosen = rows if in_order else rows.index_select(0, index.flatten())
    return chosen.view(*index.shape, x.shape[-1])


def _bias_of(
    part: Part,
    bias: Tensor | None,
    sizes: tuple[int, int, int, int, int],
    dtype: torch.dtype,
) -> Tensor | None:
    """The bias of the sequences and heads of a part."""
    if bias is None:
        return None
    bias = bias[(None,) * (4 - bias.dim())].to(dtype)
    for dim, index in ((0, part.batches), (1, part.heads.flatten())):
        if bias.shape[dim] > 1 and len(index) < sizes[dim]:
            bias = bias.index_select(dim, index)
    return bias


def run(
    q: Tensor, k: Tensor, v: Tensor, pattern: Pattern | None, **options: Any
) -> Tensor:
    """(B, H, T, D); options are those of `block_attention`."""
    return block_attention(q, k, v, full() if pattern is None else pattern, **options)


def visited_fraction(
    pattern: Pattern,
    n_queries: int,
    n_keys: int,
    *,
    block: int = BLOCK,
    batch: int = 1,
    heads: int = 1,
) -> float:
    """Computed pairs over all pairs: the bound on the time against full attention.

    >>> visited_fraction(causal(), 256, 256, block=64)  # 4 + 3 + 2 + 1 of 16 blocks
    0.625
    """
    parts = plan(pattern, (batch, heads, heads, n_queries, n_keys), block)
    pairs = sum(
        math.prod(part.shape) * sum(row.n_rows * row.n_keys for row in part.block_rows)
        for part in parts
    )
    return pairs / (batch * heads * n_queries * n_keys)
