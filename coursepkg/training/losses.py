"""Cross-entropy with label smoothing over token positions, and InfoNCE over pairs of vectors.

Every loss takes logits first and targets second, and returns the SUM over what it counts unless told otherwise: a
step that is spread over micro-batches and processes adds sums and counts, and divides once. A mean of means would
weigh a short batch like a long one.
"""

import torch
from torch import Tensor

from coursepkg.text.vocabulary import PAD

CONVENTIONS = ("pytorch", "olympiad")


def label_smoothed_cross_entropy(
    logits: Tensor,
    targets: Tensor,
    smoothing: float = 0.1,
    *,
    ignore_index: int = PAD,
    convention: str = "pytorch",
    reduction: str = "sum",
) -> Tensor:
    """Cross-entropy against a target that gives the share `smoothing` to other tokens than the right one.

        loss = -(1 - a) log p_right - a mean_v(log p_v)        log p_v = logits_v - logsumexp(logits)

    with a = smoothing for convention "pytorch" (the right token keeps 1 - smoothing + smoothing / V), and
    a = smoothing V / (V - 1) for "olympiad" (the right token has 1 - smoothing, every other smoothing / (V - 1)).
    Both targets are a mixture of one token and the uniform distribution, so neither is ever built: beside the logits
    nothing of their size is stored. Logits of half precision are read in float32.
    Sources: Szegedy et al. (arXiv 1512.00567), section 7; Olympiad tutorials, section V, step 7, for the second.

    Args:
        logits: (..., V).
        targets: ids (...).
        smoothing: at least 0 and below 1; 0 is plain cross-entropy.
        ignore_index: positions with this target count for nothing.
        convention: one of `CONVENTIONS`.
        reduction: "sum", "mean" over the positions that count (0 when there are none), or "none" (shape of targets).

    Raises:
        ValueError: shapes do not fit, a target is no class, or an option is out of range.
    """
    vocab = _check_tokens(logits, targets, ignore_index)
    share = _uniform_share(smoothing, convention, vocab)
    logits = logits.float() if logits.dtype in (torch.float16, torch.bfloat16) else logits
    counts = targets != ignore_index
    right = logits.gather(-1, targets.masked_fill(~counts, 0)[..., None])[..., 0]
    kept = (1 - share) * right + (share * logits.mean(dim=-1) if share else 0.0)
    loss = (torch.logsumexp(logits, dim=-1) - kept).masked_fill(~counts, 0.0)
    return reduce(loss, counts.sum(), reduction)


def reduce(loss: Tensor, count: Tensor, reduction: str) -> Tensor:
    """The losses as they are ("none"), their sum, or their sum over `count` ("mean"), 0 where the count is 0.

    Raises:
        ValueError: the reduction is none of these.
    """
    if reduction not in ("sum", "mean", "none"):
        raise ValueError(f"reduction must be sum, mean or none, got {reduction!r}")
    if reduction == "none":
        return loss
    return loss.sum() / count.clamp_min(1) if reduction == "mean" else loss.sum()


def _uniform_share(smoothing: float, convention: str, vocab: int) -> float:
    """Share of the uniform distribution in the mixture that the target is."""
    if convention not in CONVENTIONS:
        raise ValueError(f"convention must be one of {', '.join(CONVENTIONS)}, got {convention!r}")
    if not 0.0 <= smoothing < 1.0:
        raise ValueError(f"smoothing must be at least 0 and below 1, got {smoothing}")
    if convention == "pytorch" or smoothing == 0.0:
        return smoothing
    if vocab < 2:
        raise ValueError(f"logits must have at least 2 classes for convention olympiad, got {vocab}")
    return smoothing * vocab / (vocab - 1)


def _check_tokens(logits: Tensor, targets: Tensor, ignore_index: int) -> int:
    """The number of classes V, if logits (..., V) and targets (...) fit."""
    if logits.dim() < 1 or logits.shape[:-1] != targets.shape or not logits.is_floating_point():
        raise ValueError(
            f"logits must be floats of shape {(*targets.shape, 'V')} for these targets, "
            f"got {logits.dtype} {tuple(logits.shape)}"
        )
    if targets.dtype != torch.int64:
        raise ValueError(f"targets must be int64 ids, got {targets.dtype}")
    vocab = logits.shape[-1]
    # On a GPU the check would make the host wait for every step; gather's own assertion stands there.
    if targets.device.type == "cpu":
        wrong = targets[(targets != ignore_index) & ((targets < 0) | (targets >= vocab))]
        if wrong.numel():
            raise ValueError(f"targets must lie in 0..{vocab - 1} or be {ignore_index}, got {int(wrong[0])}")
    return vocab
