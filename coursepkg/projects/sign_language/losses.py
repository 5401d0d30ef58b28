"""Compute the long-tail losses by one formula for classes and mixtures of classes.

    L = sum_v q_v w_v (1 - p_v)^gamma (-log p_v)
    p = softmax(logits + tau log(prior))

q is the target: one word, or a mixture where clips were mixed; label smoothing takes
the share a of it for all words, q <- (1 - a) q + a / V. Every loss of the Olympiad
tutorials is a choice of three numbers:

    cross-entropy           w = 1, gamma = 0, tau = 0
    weighted                w_v ~ 1 / count_v
    focal                   gamma > 0
    weighted-focal          both
    logit-adjusted          tau > 0: a rare word must win by more in training

Losses are SUMS over clips; `fit` divides by their number.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional as F

from coursepkg.blocks.norm import to_float32
from coursepkg.metrics.classification import MacroF1
from coursepkg.metrics.scoring import score
from coursepkg.projects.sign_language.inference import adjusted, log_prior
from coursepkg.training.losses import (
    check_logits,
    focal_loss,
    inverse_frequency,
    reduce,
)
from coursepkg.validation import check_choice, check_count, check_finite

LOSSES = ("cross-entropy", "weighted", "focal", "weighted-focal", "logit-adjusted")


@dataclass(frozen=True)
class ClipLoss:
    """One of `LOSSES`; call it with logits and targets.

    Example:
        >>> logits, target = torch.zeros(1, 2), torch.tensor([1])
        >>> ClipLoss("weighted", counts=(60, 4))(logits, target).item()
        1.2996...

    Raises:
        ValueError: a setting is out of range, or the loss needs counts and has none.
    """

    kind: str = "cross-entropy"
    """One of `LOSSES`."""
    counts: tuple[int, ...] = ()
    """Training clips of each word, at least 1; what weights and prior are made of."""
    label_smoothing: float = 0.0
    """Share of the target that goes to all words alike, in [0, 1)."""
    gamma: float = 2.0
    """How strongly the focal losses turn away from clips that are right already, at
    least 0."""
    tau: float = 1.0
    """How much of the prior's logarithm the adjusted loss adds, at least 0."""

    def __post_init__(self) -> None:
        check_choice("loss", self.kind, LOSSES)
        for name in ("label_smoothing", "gamma", "tau"):
            check_finite(name, getattr(self, name))
            if getattr(self, name) < 0:
                raise ValueError(
                    f"{name} must be at least 0, got {getattr(self, name)}"
                )
        if self.label_smoothing >= 1:
            raise ValueError(
                f"label_smoothing must be below 1, got {self.label_smoothing}"
            )
        for number, count in enumerate(self.counts):
            check_count(f"counts[{number}]", count)
        if self.needs_counts and not self.counts:
            raise ValueError(
                f"counts must be given for the loss {self.kind}, one number a word"
            )

    @property
    def needs_counts(self) -> bool:
        """Whether how many clips a word has makes a difference."""
        return self.kind in ("weighted", "weighted-focal", "logit-adjusted")

    def __call__(
        self, logits: Tensor, targets: Tensor, reduction: str = "sum"
    ) -> Tensor:
        """The loss of some clips.

        Args:
            logits: (B, V).
            targets: classes (B,), or shares of the classes (B, V) that add up to 1.
            reduction: "sum", "mean" over the clips, or "none" (B,).

        Raises:
            ValueError: shapes do not fit, a target is no class, or shares do not add
                up.
        """
        logits = to_float32(logits)
        shares = smoothed(shares_of(targets, logits), self.label_smoothing)
        if self.needs_counts and len(self.counts) != logits.shape[1]:
            raise ValueError(
                f"logits must have {len(self.counts)} words, as counts has, got"
                f" {logits.shape[1]}"
            )
        if self.kind == "logit-adjusted":
            logits = logits + self.tau * log_prior(self.counts).to(logits)
        weights = self._weights(logits) if self.kind.startswith("weighted") else None
        gamma = self.gamma if self.kind.endswith("focal") else 0.0
        # The loss of every word as if it were the right one (B, V); the target says how
        # much each of them counts.
        words = torch.arange(logits.shape[1], device=logits.device).expand_as(logits)
        rows = logits[:, None].expand(-1, logits.shape[1], -1)  # (B, V, V)
        each = focal_loss(rows, words, gamma, class_weights=weights, reduction="none")
        return reduce((shares * each).sum(dim=1), torch.tensor(len(logits)), reduction)

    def _weights(self, logits: Tensor) -> Tensor:
        return inverse_frequency(torch.tensor(self.counts)).to(logits)


def shares_of(targets: Tensor, logits: Tensor) -> Tensor:
    """Targets as shares of the classes, like the logits (B, V).

    Raises:
        ValueError: they are neither classes below V nor shares of V classes that add up
            to 1.
    """
    if logits.dim() != 2 or not logits.is_floating_point():
        raise ValueError(
            f"logits must be floats (B, V), got {logits.dtype} {tuple(logits.shape)}"
        )
    if targets.is_floating_point():
        if targets.shape != logits.shape:
            raise ValueError(
                f"targets must be classes (B,) or shares {tuple(logits.shape)}, got"
                f" {tuple(targets.shape)}"
            )
        if targets.device.type == "cpu":
            _check_shares(targets)
        return targets.to(logits)
    check_logits(logits, targets)
    n_classes = logits.shape[1]
    wrong = (
        targets[(targets < 0) | (targets >= n_classes)]
        if targets.device.type == "cpu"
        else targets[:0]
    )
    if wrong.numel():
        raise ValueError(f"targets must lie in 0..{n_classes - 1}, got {int(wrong[0])}")
    return F.one_hot(targets, n_classes).to(logits)


def smoothed(shares: Tensor, smoothing: float) -> Tensor:
    """Return (1 - smoothing) q + smoothing / V for the shares q (B, V).

    Source: Szegedy et al. (arXiv 1512.00567), section 7.
    """
    return (
        shares
        if not smoothing
        else (1 - smoothing) * shares + smoothing / shares.shape[1]
    )


def best_tau(
    logits: Tensor, truths: Tensor, counts: Sequence[int], taus: Sequence[float]
) -> tuple[float, float]:
    """Return the post-hoc tau with the highest dev macro-F1, and that macro-F1.

    Of equal ones the weakest counts. Choose on a dev part, never on the test part.

    Args:
        logits: (N, V) of the dev part.
        truths: its classes (N,).
        counts: training clips of each word, at least 1.
        taus: what to try, each at least 0.

    Raises:
        ValueError: there is nothing to try, or an argument does not fit.
    """
    if not len(taus):
        raise ValueError("taus must hold at least one strength, got none")
    metric = MacroF1(tuple(range(logits.shape[-1])))
    scores = {}
    for tau in sorted(taus):
        said = adjusted(logits, counts, tau).argmax(dim=-1).tolist()
        scores[tau] = score(metric, said, truths.tolist()).value
    return max(scores.items(), key=lambda found: found[1])


def loss_shares(counts: Sequence[int], *, sampler: bool, weights: bool) -> np.ndarray:
    """Return each word's share of an epoch's loss at equal clip losses, float64 (V,).

        neither: count / sum(counts)            either: 1 / V
        both: (1 / count) / sum(1 / counts)

    Both together correct twice: the rarest word then has as much too large a share as
    the most frequent one had before.
    """
    power = 1.0 - float(sampler) - float(weights)
    parts = np.asarray(counts, dtype=np.float64) ** power
    shares: np.ndarray = parts / parts.sum()
    return shares


def _check_shares(shares: Tensor) -> None:
    total = shares.sum(dim=1)
    if not bool((shares >= 0).all()) or not bool((total - 1).abs().max() < 1e-3):
        raise ValueError(
            "targets must be shares of at least 0 that add up to 1 in each row, got"
            f" sums {total.tolist()}"
        )
