"""Losses for classes of unequal size: weighted cross-entropy and focal loss, with and without class weights.

Like those of losses.py they take logits first and targets second and return the SUM unless told otherwise. Use one
correction for the imbalance: class weights together with a sampler that evens out the classes correct it twice.
"""

import torch
from torch import Tensor

from coursepkg.training.losses import check_targets, reduce, to_float32

NO_CLASS = -100
"""The target that marks a sample without a label; torch's own number for it."""


def inverse_frequency(counts: Tensor) -> Tensor:
    """Class weights w_c proportional to 1 / counts_c, with a mean of 1 over the classes, float32 (V,).

    Source: Olympiad tutorials, section on the long tail of the sign-language data.

    Args:
        counts: training samples of each class (V,).

    Raises:
        ValueError: a class has no sample; its number is named.
    """
    if counts.dim() != 1 or not counts.numel():
        raise ValueError(f"counts must be one number a class, got shape {tuple(counts.shape)}")
    if int(counts.min()) < 1:
        raise ValueError(
            f"counts must be at least 1 for every class, got {counts.min()} for class {int(counts.argmin())}"
        )
    weights = 1.0 / counts.double()
    return (weights / weights.mean()).float()


def weighted_cross_entropy(
    logits: Tensor,
    targets: Tensor,
    class_weights: Tensor,
    *,
    smoothing: float = 0.0,
    ignore_index: int = NO_CLASS,
    reduction: str = "sum",
) -> Tensor:
    """Cross-entropy in which every class counts by its weight, as `torch.nn.functional.cross_entropy` has it.

        loss = -(1 - smoothing) w_t log p_t - smoothing / V sum_v w_v log p_v

    Args:
        logits: (..., V).
        targets: classes (...).
        class_weights: (V,), at least 0.
        smoothing: share of the target that is spread over all classes.
        ignore_index: samples with this target count for nothing.
        reduction: "sum", "mean" (over the sum of the targets' weights, not over the samples), or "none".

    Raises:
        ValueError: shapes do not fit, a target is no class, or an option is out of range.
    """
    if not 0.0 <= smoothing < 1.0:
        raise ValueError(f"smoothing must be at least 0 and below 1, got {smoothing}")
    log_p, right, counts = _log_probabilities(logits, targets, ignore_index)
    weights = _checked_weights(class_weights, log_p)
    weight = weights[targets.masked_fill(~counts, 0)] * counts
    loss = -(1 - smoothing) * weight * right
    if smoothing:
        loss = loss - smoothing / len(weights) * (log_p @ weights) * counts
    if reduction == "mean":
        return loss.sum() / weight.sum()
    return reduce(loss, counts.sum(), reduction)


def focal_loss(
    logits: Tensor,
    targets: Tensor,
    gamma: int | float = 2.0,
    *,
    class_weights: Tensor | None = None,
    ignore_index: int = NO_CLASS,
    reduction: str = "sum",
) -> Tensor:
    """Cross-entropy that turns away from samples which are already right; weighted focal loss with class weights.

        loss = -w_t (1 - p_t)^gamma log p_t

    At p_t = 0.9 and gamma = 2 a sample weighs 100 times less than in cross-entropy; gamma = 0 is cross-entropy.
    Source: Lin et al. (arXiv 1708.02002), section 3, equations 4 and 5, here over V classes by softmax.

    Args:
        logits: (..., V).
        targets: classes (...).
        gamma: at least 0; how strongly easy samples are turned down.
        class_weights: (V,), the alpha of the paper; None for 1.
        ignore_index: samples with this target count for nothing.
        reduction: "sum", "mean" over the samples that count, or "none" (shape of targets).

    Raises:
        ValueError: shapes do not fit, a target is no class, or an option is out of range.
    """
    if not 0 <= gamma < float("inf"):
        raise ValueError(f"gamma must be at least 0 and finite, got {gamma}")
    log_p, right, counts = _log_probabilities(logits, targets, ignore_index)
    # 1 - p without cancellation; never 0, where the slope of a power below 1 is infinite.
    missing = (-torch.expm1(right)).clamp_min(torch.finfo(right.dtype).tiny)
    loss = (-(missing**gamma) * right).masked_fill(~counts, 0.0)
    if class_weights is not None:
        loss = loss * _checked_weights(class_weights, log_p)[targets.masked_fill(~counts, 0)]
    return reduce(loss, counts.sum(), reduction)


def _log_probabilities(logits: Tensor, targets: Tensor, ignore_index: int) -> tuple[Tensor, Tensor, Tensor]:
    """log p of all classes (..., V), of the right one (...), and which samples count (...)."""
    check_targets(logits, targets, ignore_index)
    counts = targets != ignore_index
    log_p = to_float32(logits).log_softmax(dim=-1)
    return log_p, log_p.gather(-1, targets.masked_fill(~counts, 0)[..., None])[..., 0], counts


def _checked_weights(class_weights: Tensor, log_p: Tensor) -> Tensor:
    if class_weights.shape != log_p.shape[-1:]:
        raise ValueError(
            f"class_weights must be one number a class ({log_p.shape[-1]},), got {tuple(class_weights.shape)}"
        )
    if not bool((class_weights >= 0).all()) or not bool(class_weights.isfinite().all()):
        raise ValueError(f"class_weights must be finite and at least 0, got {class_weights.tolist()}")
    return class_weights.to(log_p)
