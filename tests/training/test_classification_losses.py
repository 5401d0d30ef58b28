"""Weighted cross-entropy and focal loss against torch and against the formulas written out."""

import math

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor
from torch.nn import functional as F

from coursepkg.training.classification_losses import focal_loss, inverse_frequency, weighted_cross_entropy

N, C = 7, 5
WEIGHTS = torch.tensor([0.5, 2.0, 0.1, 0.0, 3.0], dtype=torch.float64)


def case(seed: int = 0) -> tuple[Tensor, Tensor]:
    """Logits and classes, one sample of which has no label."""
    generator = torch.Generator().manual_seed(seed)
    logits = torch.randn(N, C, dtype=torch.float64, generator=generator) * 2
    targets = torch.randint(0, C, (N,), generator=generator)
    targets[2], targets[4] = -100, 1
    return logits.requires_grad_(), targets


def gradient(loss: Tensor, logits: Tensor) -> Tensor:
    return torch.autograd.grad(loss, logits)[0]


def written_out_focal(logits: Tensor, targets: Tensor, gamma: float, weights: Tensor) -> Tensor:
    """Sample by sample, as the papers print it."""
    total = torch.zeros((), dtype=torch.float64)
    for row, target in zip(logits, targets.tolist(), strict=True):
        if target != -100:
            p = row.softmax(dim=0)[target]
            total = total - weights[target] * (1 - p) ** gamma * p.log()
    return total


@given(
    seed=st.integers(0, 10**6),
    smoothing=st.floats(0.0, 0.9),
    reduction=st.sampled_from(["sum", "mean"]),
)
def test_weighted_equals_torch(seed: int, smoothing: float, reduction: str) -> None:
    logits, targets = case(seed)
    options = {"smoothing": smoothing, "reduction": reduction}
    found = weighted_cross_entropy(logits, targets, WEIGHTS, **options)
    expected = F.cross_entropy(
        logits, targets, weight=WEIGHTS, label_smoothing=smoothing, reduction=reduction, ignore_index=-100
    )
    torch.testing.assert_close(found, expected)
    torch.testing.assert_close(gradient(found, logits), gradient(expected, logits))


@given(seed=st.integers(0, 10**6), gamma=st.sampled_from([0.0, 0.5, 1.0, 2.0, 5.0]))
def test_focal_equals_the_formula(seed: int, gamma: float) -> None:
    logits, targets = case(seed)
    ones = torch.ones(C, dtype=torch.float64)
    for weights in (None, WEIGHTS):
        found = focal_loss(logits, targets, gamma, class_weights=weights)
        expected = written_out_focal(logits, targets, gamma, ones if weights is None else weights)
        torch.testing.assert_close(found, expected)
        torch.testing.assert_close(gradient(found, logits), gradient(expected, logits))


def test_gamma_0_is_cross_entropy_with_and_without_weights() -> None:
    logits, targets = case()
    torch.testing.assert_close(
        focal_loss(logits, targets, 0.0, reduction="mean"),
        F.cross_entropy(logits, targets, ignore_index=-100),
    )
    torch.testing.assert_close(
        focal_loss(logits, targets, 0.0, class_weights=WEIGHTS),
        weighted_cross_entropy(logits, targets, WEIGHTS),
    )


def test_focal_turns_easy_samples_down_by_the_factors_of_the_paper() -> None:
    # Lin et al., section 3.2: with gamma 2 p = 0.9 weighs 100 times less than in cross-entropy, 0.968 about 1000 times.
    for p, factor in ((0.9, 100.0), (0.968, 976.6)):
        logits = torch.tensor([[p, 1 - p]], dtype=torch.float64).log()
        target = torch.tensor([0])
        assert float(F.cross_entropy(logits, target) / focal_loss(logits, target, 2.0)) == pytest.approx(
            factor, 1e-4
        )


@pytest.mark.parametrize("gamma", [0.5, 2.0])
def test_gradients_by_finite_differences(gamma: float) -> None:
    logits, targets = case()
    assert torch.autograd.gradcheck(lambda x: focal_loss(x, targets, gamma, reduction="none"), logits)
    assert torch.autograd.gradcheck(
        lambda x: weighted_cross_entropy(x, targets, WEIGHTS, smoothing=0.1, reduction="none"), logits
    )


@pytest.mark.parametrize("gamma", [0.0, 0.5, 1.0, 2.0])
def test_a_sample_that_is_certainly_right_gives_zeros_not_nan(gamma: float) -> None:
    logits = torch.tensor([[1e4, 0.0]], requires_grad=True)
    loss = focal_loss(logits, torch.tensor([0]), gamma)
    assert loss.item() == 0.0
    assert torch.equal(gradient(loss, logits), torch.zeros(1, 2))


def test_samples_without_label_count_for_nothing() -> None:
    logits, targets = case()
    labelled = targets != -100
    for loss in (
        lambda x, y, how: weighted_cross_entropy(x, y, WEIGHTS, smoothing=0.1, reduction=how),
        lambda x, y, how: focal_loss(x, y, reduction=how),
    ):
        for how in ("sum", "mean"):
            torch.testing.assert_close(
                loss(logits, targets, how), loss(logits[labelled], targets[labelled], how)
            )
        assert not gradient(loss(logits, targets, "sum"), logits)[2].any()


def test_inverse_frequency_gives_what_the_tutorials_compute() -> None:
    counts = torch.tensor([60, 4, 30, 1])
    plain = 1.0 / (counts.double() + 1e-6)
    torch.testing.assert_close(inverse_frequency(counts), (plain / plain.mean()).float(), rtol=1e-5, atol=0)
    assert inverse_frequency(counts).sum().item() == pytest.approx(4)
    assert torch.equal(inverse_frequency(torch.tensor([7, 7])), torch.ones(2))


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda x, y: focal_loss(x, y, -1.0), "gamma must be at least 0 and finite, got -1.0"),
        (lambda x, y: focal_loss(x, y, math.inf), "gamma must be at least 0 and finite, got inf"),
        (lambda x, y: focal_loss(x, y + C), "targets must lie in 0..4 or be -100, got"),
        (
            lambda x, y: focal_loss(x, y, class_weights=WEIGHTS[1:]),
            r"class_weights must be one number a class \(5,\), got \(4,\)",
        ),
        (
            lambda x, y: weighted_cross_entropy(x, y, WEIGHTS, smoothing=1.0),
            "smoothing must be at least 0 and below 1, got 1.0",
        ),
        (
            lambda x, y: weighted_cross_entropy(x, y, WEIGHTS, reduction="all"),
            "reduction must be sum, mean or none, got 'all'",
        ),
        (
            lambda x, y: inverse_frequency(torch.tensor([3, 0, 2])),
            "counts must be at least 1 for every class, got 0 for class 1",
        ),
        (
            lambda x, y: inverse_frequency(torch.ones(2, 2)),
            r"counts must be one number a class, got shape \(2, 2\)",
        ),
    ],
)
def test_bad_input_is_named(call, message: str) -> None:
    logits, targets = case()
    with pytest.raises(ValueError, match=f"^{message}"):
        call(logits, targets)


@pytest.mark.parametrize("bad", [-1.0, float("nan"), float("inf")])
def test_weights_that_are_no_weights_are_refused(bad: float) -> None:
    with pytest.raises(ValueError, match="class_weights must be finite and at least 0"):
        weighted_cross_entropy(torch.zeros(2, 3), torch.tensor([0, 1]), torch.tensor([1.0, bad, 1.0]))
