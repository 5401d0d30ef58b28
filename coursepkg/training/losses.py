"""Cross-entropy with label smoothing, InfoNCE, focal loss.

Every loss takes logits first and targets second, and returns the SUM over what it
counts unless told otherwise: a step that is spread over micro-batches and processes
adds sums and counts, and divides once. A mean of means would weigh a short batch like a
long one.

Use one correction for classes of unequal size: class weights together with a sampler
that evens out the classes correct it twice.
"""

from typing import Any

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable
from torch.nn import functional as F

from coursepkg.blocks.norm import to_float32
from coursepkg.text.vocabulary import PAD

CONVENTIONS = ("pytorch", "olympiad")
"""How label smoothing shares out what it takes from the right token: see
`label_smoothed_cross_entropy`."""


def label_smoothed_cross_entropy(
    logits: Tensor,
    targets: Tensor,
    smoothing: float = 0.1,
    *,
    ignore_index: int = PAD,
    convention: str = "pytorch",
    reduction: str = "sum",
) -> Tensor:
    """Cross-entropy against a target that gives others the share `smoothing`.

        loss = -(1 - a) log p_right - a mean_v(log p_v)
        log p_v = logits_v - logsumexp(logits)

    with a = smoothing for convention "pytorch" (the right token gets 1 - smoothing +
    smoothing / V), and a = smoothing V / (V - 1) for "olympiad" (the right token gets 1
    - smoothing, every other smoothing / (V - 1)). Both targets are a mixture of one
    token and the uniform distribution, so neither is ever built, and the forward pass
    keeps nothing as large as the logits beside them. Logits of half precision are read
    in float32. Sources: Szegedy et al. (arXiv 1512.00567), section 7; for the second
    the Olympiad tutorials, section V, step 7.

    Args:
        logits: (..., V).
        targets: ids (...).
        smoothing: at least 0 and below 1; 0 is plain cross-entropy.
        ignore_index: positions with this target count for nothing.
        convention: one of `CONVENTIONS`.
        reduction: "sum", "mean" over the positions that count (0 when there are none),
            or "none" (shape of targets).

    Raises:
        ValueError: shapes do not fit, a target is no class, or an option is out of
            range.
    """
    check_targets(logits, targets, ignore_index)
    share = _uniform_share(smoothing, convention, logits.shape[-1])
    counts = targets != ignore_index
    loss = _MixtureCrossEntropy.apply(
        to_float32(logits), targets.masked_fill(~counts, 0), share
    )
    loss = loss.masked_fill(~counts, 0.0)
    return reduce(loss, counts.sum(), reduction)


def info_nce(
    a: Tensor, b: Tensor, temperature: float = 0.07, *, reduction: str = "sum"
) -> Tensor:
    """Contrastive loss in both directions: each vector must find its partner.

        s_ij = cos(a_i, b_j) / temperature
        loss_i = -(log softmax_j(s_ij)[i] + log softmax_j(s_ji)[i]) / 2

    The other pairs of the batch are the negatives, so the loss depends on what is
    batched together: over micro-batches it adds up, but is not that of the whole batch.
    Its mean at chance is log B. Sources: van den Oord et al. (arXiv 1807.03748),
    section 2.3; both directions as in Radford et al. (arXiv
    2103.00020), figure 3, and in the Olympiad tutorials, section V, step 8.

    Args:
        a: vectors (B, E) of any length; they are normalised here.
        b: their partners (B, E), row by row.
        temperature: above 0; the smaller, the more the nearest negatives weigh.
        reduction: "sum", "mean" over the pairs, or "none" (B,).

    Raises:
        ValueError: shapes do not fit, there are fewer than 2 pairs, or the temperature
            is not positive.
    """
    if a.dim() != 2 or a.shape != b.shape or not a.is_floating_point():
        raise ValueError(
            f"a and b must be floats of one shape (B, E), got {a.dtype}"
            f" {tuple(a.shape)} and {tuple(b.shape)}"
        )
    if len(a) < 2:
        raise ValueError(
            "a must have at least 2 rows, as the others are the negatives, got"
            f" {len(a)}"
        )
    if not 0 < temperature < float("inf"):
        raise ValueError(f"temperature must be positive and finite, got {temperature}")
    unit_a, unit_b = (F.normalize(to_float32(x), dim=-1) for x in (a, b))
    scores = unit_a @ unit_b.T / temperature
    both = torch.logsumexp(scores, dim=1) + torch.logsumexp(scores, dim=0)
    return reduce(both / 2 - scores.diagonal(), torch.tensor(len(a)), reduction)


def reduce(loss: Tensor, count: Tensor, reduction: str) -> Tensor:
    """The losses as they are ("none"), their sum, or their sum over `count` ("mean").

    Raises:
        ValueError: the reduction is none of these.
    """
    if reduction not in ("sum", "mean", "none"):
        raise ValueError(f"reduction must be sum, mean or none, got {reduction!r}")
    if reduction == "none":
        return loss
    return loss.sum() / count.clamp_min(1) if reduction == "mean" else loss.sum()


def check_logits(logits: Tensor, targets: Tensor) -> None:
    """Raises a ValueError unless logits are floats (..., V) for int64 targets (...)."""
    if targets.dtype != torch.int64:
        raise ValueError(f"targets must be int64 ids, got {targets.dtype}")
    if (
        not logits.dim()
        or logits.shape[:-1] != targets.shape
        or not logits.is_floating_point()
    ):
        shape = ", ".join([*map(str, targets.shape), "V"])
        raise ValueError(
            f"logits must be floats ({shape}) for these targets, got {logits.dtype}"
            f" {tuple(logits.shape)}"
        )


def check_targets(logits: Tensor, targets: Tensor, ignore_index: int) -> None:
    """Raises a ValueError unless logits are (..., V) and targets (...) fit them."""
    check_logits(logits, targets)
    n_classes = logits.shape[-1]
    # On a GPU this check would make the host wait at every step; gather's own assertion
    # stands there.
    if targets.device.type == "cpu":
        wrong = targets[
            (targets != ignore_index) & ((targets < 0) | (targets >= n_classes))
        ]
        if wrong.numel():
            raise ValueError(
                f"targets must lie in 0..{n_classes - 1} or be {ignore_index}, got"
                f" {int(wrong[0])}"
            )


class _MixtureCrossEntropy(torch.autograd.Function):
    """Cross-entropy against (1 - a) one_hot(target) + a / V; gradient p - that."""

    @staticmethod
    def forward(ctx: Any, logits: Tensor, targets: Tensor, share: float) -> Tensor:
        log_total = logits.logsumexp(dim=-1)
        ctx.save_for_backward(logits, targets, log_total)
        ctx.share = share
        expected = logits.gather(-1, targets[..., None])[..., 0]
        if share:  # without smoothing a logit of minus infinity is no fault
            expected = expected.lerp(logits.mean(dim=-1), share)
        return log_total - expected

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor, None, None]:
        logits, targets, log_total = ctx.saved_tensors
        slope = (
            (logits - log_total[..., None]).exp_().sub_(ctx.share / logits.shape[-1])
        )
        slope.scatter_add_(
            -1, targets[..., None], slope.new_full((*targets.shape, 1), ctx.share - 1)
        )
        return slope.mul_(grad[..., None]), None, None


def _uniform_share(smoothing: float, convention: str, n_classes: int) -> float:
    """Share of the uniform distribution in the mixture that the target is."""
    if convention not in CONVENTIONS:
        raise ValueError(
            f"convention must be one of {', '.join(CONVENTIONS)}, got {convention!r}"
        )
    if not 0.0 <= smoothing < 1.0:
        raise ValueError(f"smoothing must be at least 0 and below 1, got {smoothing}")
    if convention == "pytorch" or smoothing == 0.0:
        return smoothing
    if n_classes < 2:
        raise ValueError(
            "logits must have at least 2 classes for convention olympiad, got"
            f" {n_classes}"
        )
    return smoothing * n_classes / (n_classes - 1)


NO_CLASS = -100
"""The target that marks a sample without a label; torch's own number for it."""


def inverse_frequency(counts: Tensor) -> Tensor:
    """Class weights w_c proportional to 1 / counts_c, of mean 1, float32 (V,).

    Source: Olympiad tutorials, section on the long tail of the sign-language data.

    Raises:
        ValueError: a class has no sample; its number is named.
    """
    if counts.dim() != 1 or not counts.numel():
        raise ValueError(
            f"counts must be one number a class, got shape {tuple(counts.shape)}"
        )
    if int(counts.min()) < 1:
        raise ValueError(
            f"counts must be at least 1 for every class, got {counts.min()} for class"
            f" {int(counts.argmin())}"
        )
    weights = 1.0 / counts.double()
    return (weights / weights.mean()).float()


def focal_loss(
    logits: Tensor,
    targets: Tensor,
    gamma: int | float = 2.0,
    *,
    class_weights: Tensor | None = None,
    ignore_index: int = NO_CLASS,
    reduction: str = "sum",
) -> Tensor:
    """Cross-entropy that weighs down samples that are already right.

        loss = -w_t (1 - p_t)^gamma log p_t

    At p_t = 0.9 and gamma = 2 a sample weighs 100 times less than in cross-entropy;
    gamma = 0 is cross-entropy. Source: Lin et al. (arXiv 1708.02002), section 3,
    equations 4 and 5, here over V classes by softmax.

    Args:
        logits: (..., V).
        targets: classes (...).
        gamma: at least 0; how strongly easy samples are turned down.
        class_weights: (V,), the alpha of the paper; None for 1.
        ignore_index: samples with this target count for nothing.
        reduction: "sum", "mean" over the samples that count, or "none" (shape of
            targets).

    Raises:
        ValueError: shapes do not fit, a target is no class, or an option is out of
            range.
    """
    if not 0 <= gamma < float("inf"):
        raise ValueError(f"gamma must be at least 0 and finite, got {gamma}")
    log_p, right, counts = _log_probabilities(logits, targets, ignore_index)
    # 1 - p without cancellation; never 0, where the slope of a power below 1 is
    # infinite.
    missing = (-torch.expm1(right)).clamp_min(torch.finfo(right.dtype).tiny)
    loss = (-(missing**gamma) * right).masked_fill(~counts, 0.0)
    if class_weights is not None:
        loss = (
            loss
            * _checked_weights(class_weights, log_p)[targets.masked_fill(~counts, 0)]
        )
    return reduce(loss, counts.sum(), reduction)


def _log_probabilities(
    logits: Tensor, targets: Tensor, ignore_index: int
) -> tuple[Tensor, Tensor, Tensor]:
    """log p of all classes (..., V), of the right one (...), what counts (...)."""
    check_targets(logits, targets, ignore_index)
    counts = targets != ignore_index
    log_p = to_float32(logits).log_softmax(dim=-1)
    return (
        log_p,
        log_p.gather(-1, targets.masked_fill(~counts, 0)[..., None])[..., 0],
        counts,
    )


def _checked_weights(class_weights: Tensor, log_p: Tensor) -> Tensor:
    if class_weights.shape != log_p.shape[-1:]:
        raise ValueError(
            f"class_weights must be one number a class ({log_p.shape[-1]},), got"
            f" {tuple(class_weights.shape)}"
        )
    if not bool((class_weights >= 0).all()) or not bool(class_weights.isfinite().all()):
        raise ValueError(
            f"class_weights must be finite and at least 0, got {class_weights.tolist()}"
        )
    return class_weights.to(log_p)
