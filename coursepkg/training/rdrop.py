"""R-Drop: two passes with different dropout masks shall predict the same distribution.

    loss = (CE_1 + CE_2) / 2 + alpha / 2 * (KL(p_1 || p_2) + KL(p_2 || p_1)) / 2

p_1 and p_2 come from one forward pass over the batch put twice below itself, whose halves draw different masks. This
is half of the paper's loss, so that alpha = 0 leaves a cross-entropy of the usual size and alpha means what it means
there. Source: Liang et al. (arXiv 2106.14448), section 2.
"""

import torch
from torch import Tensor

from coursepkg.text.vocabulary import PAD
from coursepkg.training.losses import check_logits, label_smoothed_cross_entropy, reduce, to_float32


def twice(ids: Tensor) -> Tensor:
    """A batch (B, ...) put twice below itself (2 B, ...)."""
    return torch.cat([ids, ids])


def r_drop_loss(
    logits: Tensor,
    targets: Tensor,
    alpha: int | float,
    *,
    smoothing: float = 0.0,
    ignore_index: int = PAD,
    convention: str = "pytorch",
    reduction: str = "sum",
) -> Tensor:
    """The loss of R-Drop from the logits of both passes.

    Args:
        logits: (2 B, ..., V), for the batch that `twice` makes.
        targets: ids (B, ...), once.
        alpha: weight of the divergence.
        smoothing: as in `label_smoothed_cross_entropy`.
        ignore_index: positions with this target count for nothing.
        convention: as in `label_smoothed_cross_entropy`.
        reduction: "sum" over the positions of `targets` that count, "mean" over them, or "none" (shape of targets).

    Raises:
        ValueError: the logits are not for twice the targets, or an option is out of range.
    """
    if not 0 <= alpha < float("inf"):
        raise ValueError(f"alpha must be at least 0 and finite, got {alpha}")
    both = label_smoothed_cross_entropy(
        logits,
        twice(targets),
        smoothing,
        ignore_index=ignore_index,
        convention=convention,
        reduction="none",
    )
    loss = both.view(2, *targets.shape).mean(dim=0)
    if alpha:
        first, second = logits.chunk(2)
        divergence = symmetric_kl(first, second, targets, ignore_index=ignore_index, reduction="none")
        loss = loss + alpha / 2 * divergence
    return reduce(loss, (targets != ignore_index).sum(), reduction)


def symmetric_kl(
    logits: Tensor, others: Tensor, targets: Tensor, *, ignore_index: int = PAD, reduction: str = "sum"
) -> Tensor:
    """(KL(p || q) + KL(q || p)) / 2 at every position that counts.

    The two directions share their logarithms: together they are sum_v (p_v - q_v) (log p_v - log q_v).

    Args:
        logits: of p (..., V).
        others: logits of q (..., V).
        targets: ids (...); only where they say `ignore_index` matters.
        ignore_index: positions with this target count for nothing.
        reduction: "sum", "mean" over the positions that count, or "none" (shape of targets).

    Raises:
        ValueError: shapes do not fit, or the reduction is unknown.
    """
    check_logits(logits, targets)
    check_logits(others, targets)
    counts = targets != ignore_index
    log_p, log_q = (to_float32(rows[counts]).log_softmax(dim=-1) for rows in (logits, others))  # (N, V)
    divergence = ((log_p.exp() - log_q.exp()) * (log_p - log_q)).sum(dim=-1) / 2
    everywhere = divergence.new_zeros(targets.shape).masked_scatter(counts, divergence)
    return reduce(everywhere, counts.sum(), reduction)
