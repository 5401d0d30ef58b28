"""Which blocks of the score matrix to visit, and in what order: the plan that block-sparse attention follows.

A plan has parts. A part holds sequences and heads whose block maps are equal, so that one loop serves them all as
one batch of matrices. Within a part, each block of query rows makes a stripe: the keys it visits, as few
contiguous runs, and the stretches of those keys that still need the mask.

A dilated window leaves no block empty, because every block holds some multiple of the dilation. Sorted by
residue (i mod dilation, j mod dilation) it becomes an ordinary window inside each residue class and nothing
between classes. Such classes are batched beside the sequences and the heads.
"""

import itertools
from collections.abc import Iterator
from dataclasses import dataclass

import torch
from torch import Tensor

from coursepkg.attention.pattern import Pattern, Span

MAX_SCORES = 2**23
"""Scores held at a time, in elements: a part is cut into several rather than exceed it (32 MiB in float32)."""


@dataclass(frozen=True)
class Run:
    """A contiguous stretch of keys: where it lies among all keys, and where among the keys of its stripe."""

    keys: slice
    at: slice


@dataclass(frozen=True)
class Stripe:
    """One block of query rows and all that it visits."""

    rows: slice
    runs: tuple[Run, ...]
    """The visited keys; no other key is read."""
    partial: tuple[Run, ...]
    """Stretches of the visited keys in which the pattern hides some pairs."""
    n_keys: int
    n_blocks: int

    @property
    def n_rows(self) -> int:
        """Query rows of this stripe."""
        return self.rows.stop - self.rows.start

    @property
    def may_have_empty_rows(self) -> bool:
        """True unless some visited block is visible throughout."""
        return sum(run.at.stop - run.at.start for run in self.partial) == self.n_keys


@dataclass(frozen=True)
class Part:
    """Sequences, heads and residue classes that share one list of stripes."""

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
    stripes: tuple[Stripe, ...]

    @property
    def shape(self) -> tuple[int, int, int, int]:
        """(n_b, n_g, n_r, n_shared): the leading dimensions of a stripe of scores."""
        return len(self.batches), len(self.kv_heads), len(self.rows), self.heads.shape[1]

    def query_index(self, n_heads: int, n_queries: int) -> Tensor:
        """Places of this part's rows in q seen as (B * H * T, D), shape (n_b, n_g, n_r, n_shared, T')."""
        lane = self.batches[:, None, None] * n_heads + self.heads  # (n_b, n_g, n_shared)
        return lane[:, :, None, :, None] * n_queries + self.rows[:, None, :]

    def key_index(self, n_kv_heads: int, n_keys: int) -> Tensor:
        """Places of this part's keys in k seen as (B * G * S, D), shape (n_b, n_g, n_r, S')."""
        lane = self.batches[:, None] * n_kv_heads + self.kv_heads  # (n_b, n_g)
        return lane[:, :, None, None] * n_keys + self.columns

    def split(self) -> Iterator["Part"]:
        """Cut along sequences, then kv heads, so that the scores of a stripe stay within `MAX_SCORES`."""
        _, n_g, n_r, n_shared = self.shape
        widest = max((stripe.n_rows * stripe.n_keys for stripe in self.stripes), default=0)
        lanes = max(1, MAX_SCORES // max(1, widest * n_r * n_shared))
        step_b, step_g = max(1, lanes // n_g), min(lanes, n_g)
        for batches in self.batches.split(step_b):
            for heads, kv_heads in zip(self.heads.split(step_g), self.kv_heads.split(step_g), strict=True):
                yield Part(batches, heads, kv_heads, self.rows, self.columns, self.stripes)


def plan(
    pattern: Pattern,
    sizes: tuple[int, int, int, int, int],
    block: int,
    *,
    sort_residues: bool = True,
    device: torch.device | str = "cpu",
) -> list[Part]:
    """The parts to visit; together they hold every query row of every head exactly once.

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
    stride = stride if stride <= min(n_queries, n_keys) else 1
    parts: list[Part] = []
    for rows, columns in _residue_classes(n_queries, n_keys, stride):
        positions = rows + (n_keys - n_queries)
        may, must = _block_map(pattern, (batch, n_heads), positions, columns, n_keys, stride, block)
        index = rows.to(device), columns.to(device)
        for batches, alike in itertools.product(_alike(may, 0, batch), _alike(may, 1, n_heads)):
            shown, full = (_take(_take(x, 0, batches), 1, alike).flatten(0, 1) for x in (may, must))
            stripes = _stripes(shown[0], full.all(dim=0), rows.shape[1], columns.shape[1], block)
            for heads, kv_heads in _by_kv_head(alike, n_heads // n_kv_heads):
                lanes = batches.to(device), heads.to(device), kv_heads.to(device)
                parts.extend(Part(*lanes, *index, stripes).split())
    return parts


def _residue_classes(n_queries: int, n_keys: int, stride: int) -> list[tuple[Tensor, Tensor]]:
    """Rows (n_r, T') and columns (n_r, S') of the residue classes, those of equal size stacked.

    The last query stands beside the last key, so that this holds inside each class as well.
    """
    sizes: dict[tuple[int, int], list[tuple[Tensor, Tensor]]] = {}
    for residue in range(stride):
        rows = torch.arange((residue - n_keys + n_queries) % stride, n_queries, stride)
        columns = torch.arange(residue, n_keys, stride)
        sizes.setdefault((len(rows), len(columns)), []).append((rows, columns))
    return [
        (torch.stack([rows for rows, _ in pairs]), torch.stack([columns for _, columns in pairs]))
        for pairs in sizes.values()
    ]


def _block_map(
    pattern: Pattern,
    lanes: tuple[int, int],
    positions: Tensor,
    columns: Tensor,
    n_keys: int,
    stride: int,
    block: int,
) -> tuple[Tensor, Tensor]:
    """may, must (B|1, H|1, blocks of T', blocks of S') for all residue classes at once; `lanes` is (B, H)."""
    b, h = torch.arange(lanes[0])[:, None, None, None], torch.arange(lanes[1])[:, None, None]
    some, throughout = [], []
    for i, j in zip(positions, columns, strict=True):
        rows, keys = _span(i, block, stride), _span(j, block, stride)
        row_span = Span(rows.first[:, None], rows.last[:, None], stride)
        may, must = pattern.bounds(b, h, row_span, keys, n_keys)
        shape = torch.broadcast_shapes(may.shape, must.shape, (1, 1, len(rows.first), len(keys.first)))
        some.append(may.expand(shape))
        throughout.append(must.expand(shape))
    return torch.stack(some).any(dim=0), torch.stack(throughout).all(dim=0)


def _span(positions: Tensor, block: int, stride: int) -> Span:
    """First and last position of each block of consecutive entries, which lie `stride` apart."""
    start = torch.arange(0, len(positions), block)
    return Span(positions[start], positions[(start + block).clamp(max=len(positions)) - 1], stride)


def _alike(may: Tensor, dim: int, size: int) -> list[Tensor]:
    """Indices along `dim` grouped by equal slices of the block map, whose dimension is 1 when all are equal."""
    if may.shape[dim] == 1:
        return [torch.arange(size)]
    _, label = torch.unique(may.transpose(0, dim).flatten(1), dim=0, return_inverse=True)
    return [(label == value).nonzero().flatten() for value in range(int(label.max()) + 1)]


def _take(x: Tensor, dim: int, index: Tensor) -> Tensor:
    """Entries along a dimension; one that is broadcast stays as it is."""
    return x if x.shape[dim] == 1 else x.index_select(dim, index)


def _by_kv_head(heads: Tensor, n_shared: int) -> Iterator[tuple[Tensor, Tensor]]:
    """Query heads as (n_g, count) beside their kv heads (n_g,), one pair for each count of heads that share one."""
    kv_heads, counts = torch.unique_consecutive(heads // n_shared, return_counts=True)
    groups = heads.split(counts.tolist())
    for count in counts.unique().tolist():
        yield torch.stack([group for group in groups if len(group) == count]), kv_heads[counts == count]


def _stripes(may: Tensor, must: Tensor, n_rows: int, n_keys: int, block: int) -> tuple[Stripe, ...]:
    """Stripes of one block map (row blocks, column blocks); a row block that visits nothing has none."""
    starts = (torch.arange(may.shape[1] + 1) * block).clamp(max=n_keys)
    ahead = torch.nn.functional.pad(
        (may * starts.diff()).cumsum(1), (1, 0)
    )  # visited keys before each column
    visited, masked = _runs(may, starts, ahead), _runs(may & ~must, starts, ahead)
    return tuple(
        Stripe(
            slice(row * block, min((row + 1) * block, n_rows)),
            visited[row],
            masked[row],
            int(total),
            int(count),
        )
        for row, (total, count) in enumerate(zip(ahead[:, -1].tolist(), may.sum(1).tolist(), strict=True))
        if count
    )


def _runs(blocks: Tensor, starts: Tensor, ahead: Tensor) -> list[tuple[Run, ...]]:
    """The stretches of True in each row of a block map."""
    edges = torch.nn.functional.pad(blocks.byte(), (1, 1)).diff().int()
    row, first = (edges == 1).nonzero(as_tuple=True)
    last = (edges == 255).nonzero(as_tuple=True)[1]
    runs: list[list[Run]] = [[] for _ in range(len(blocks))]
    ends = (starts[first], starts[last], ahead[row, first], ahead[row, last])
    for index, key, key_end, at, at_end in zip(row.tolist(), *(x.tolist() for x in ends), strict=True):
        runs[index].append(Run(slice(key, key_end), slice(at, at_end)))
    return [tuple(row_runs) for row_runs in runs]
