"""The largest few of very many numbers, without sorting through all of them."""

import torch
from torch import Tensor

BLOCK = 64
"""Neighbouring tokens that are compared by their maximum first."""


def top_continuations(log_probs: Tensor, totals: Tensor, count: int) -> tuple[Tensor, Tensor, Tensor]:
    """The most probable continuations of each sentence's rows.

    Equal to `(totals[..., None] + log_probs).flatten(1).topk(count)`, in two passes: the maxima of blocks of tokens,
    then the tokens of the best `count` blocks. A number among the best `count` lies in one of these blocks, or as
    many numbers at least as large do. The maxima are one vectorised pass; `topk` itself, which on a CPU moves every
    number that it looks at, sees few.

    Args:
        log_probs: (B * R, V).
        totals: (B, R), added to the rows.
        count: continuations of a sentence; fewer come back where fewer exist.

    Returns:
        Their sums (B, C) in falling order, NaN first; their rows (B, C) in 0..R-1; their tokens (B, C). A place that
        exists only to fill up has the sum -inf and a token beyond the vocabulary.
    """
    (n_sentences, n_rows), n_tokens = totals.shape, log_probs.shape[1]
    maxima = _block_maxima(log_probs)
    n_blocks = maxima.shape[1]
    sums = (maxima + totals.reshape(-1, 1)).view(n_sentences, n_rows * n_blocks)
    best = sums.topk(min(count, sums.shape[1]), dim=1).indices
    row, block = best // n_blocks, best % n_blocks
    token = block[..., None] * BLOCK + torch.arange(BLOCK, device=best.device)  # (B, C, BLOCK)
    place = row[..., None] * n_tokens + token.clamp(max=n_tokens - 1)
    found = log_probs.view(n_sentences, -1).gather(1, place.flatten(1)).view_as(place)
    found = (found + totals.gather(1, row)[..., None]).masked_fill(token >= n_tokens, -torch.inf).flatten(1)
    total, at = found.topk(min(count, n_rows * n_tokens), dim=1)
    return total, row.gather(1, at // BLOCK), token.flatten(1).gather(1, at)


def _block_maxima(log_probs: Tensor) -> Tensor:
    """(N, V) -> (N, blocks); the last block may be short."""
    whole = log_probs.shape[1] // BLOCK * BLOCK
    parts = []
    if whole:
        parts.append(log_probs[:, :whole].unflatten(1, (-1, BLOCK)).amax(dim=-1))
    if whole < log_probs.shape[1]:
        parts.append(log_probs[:, whole:].amax(dim=-1, keepdim=True))
    return torch.cat(parts, dim=1) if len(parts) > 1 else parts[0]
