"""The losses: torch's own and the formulas of the papers, mixtures of words, logit adjustment, two corrections."""

import math

import numpy as np
import pytest
import torch
from torch import Tensor
from torch.nn import functional as F

from coursepkg.metrics.classification import MacroF1
from coursepkg.metrics.scoring import score
from coursepkg.projects.sign_language.inference import adjusted
from coursepkg.projects.sign_language.losses import (
    LOSSES,
    ClipLoss,
    best_tau,
    log_prior,
    loss_shares,
    shares_of,
)
from coursepkg.training.losses import focal_loss, inverse_frequency

COUNTS = (60, 30, 12, 4)


def case(seed: int = 0) -> tuple[Tensor, Tensor, Tensor]:
    """Logits, words, and mixtures of two words."""
    generator = torch.Generator().manual_seed(seed)
    logits = 2 * torch.randn(6, 4, dtype=torch.float64, generator=generator)
    targets = torch.tensor([0, 1, 2, 3, 3, 1])
    one = F.one_hot(targets, 4).double()
    return logits.requires_grad_(), targets, 0.7 * one + 0.3 * one.roll(1, dims=0)


def same(found: Tensor, expected: Tensor, logits: Tensor) -> None:
    """Equal, and their gradients with them."""
    torch.testing.assert_close(found, expected)
    grads = (torch.autograd.grad(loss, logits, retain_graph=True)[0] for loss in (found, expected))
    torch.testing.assert_close(*grads)


@pytest.mark.parametrize("smoothing", [0.0, 0.1])
def test_cross_entropy_is_torchs_for_words_and_for_mixtures(smoothing: float) -> None:
    logits, targets, mixtures = case()
    for given in (targets, mixtures):
        expected = F.cross_entropy(logits, given, label_smoothing=smoothing, reduction="sum")
        same(ClipLoss(label_smoothing=smoothing)(logits, given), expected, logits)


@pytest.mark.parametrize("smoothing", [0.0, 0.1])
def test_weighted_is_torchs_for_words_and_for_mixtures(smoothing: float) -> None:
    logits, targets, mixtures = case()
    weights = inverse_frequency(torch.tensor(COUNTS)).double()
    assert weights.mean().item() == pytest.approx(1.0)
    assert (weights[3] / weights[0]).item() == pytest.approx(15.0)
    loss = ClipLoss("weighted", COUNTS, label_smoothing=smoothing)
    for given in (targets, mixtures):
        expected = F.cross_entropy(logits, given, weights, label_smoothing=smoothing, reduction="sum")
        same(loss(logits, given), expected, logits)


def test_focal_is_the_papers_and_weighted_focal_has_its_alpha() -> None:
    logits, targets, _ = case()
    same(ClipLoss("focal", gamma=1.5)(logits, targets), focal_loss(logits, targets, 1.5), logits)
    weights = inverse_frequency(torch.tensor(COUNTS)).double()
    p = logits.softmax(dim=1).gather(1, targets[:, None])[:, 0]
    expected = -(weights[targets] * (1 - p) ** 2 * p.log()).sum()
    same(ClipLoss("weighted-focal", COUNTS)(logits, targets), expected, logits)


@pytest.mark.parametrize("kind", LOSSES)
def test_the_loss_of_a_mixture_is_the_mixture_of_the_losses(kind: str) -> None:
    logits, targets, mixtures = case()
    loss = ClipLoss(kind, COUNTS, label_smoothing=0.1)
    parts = 0.7 * loss(logits, targets) + 0.3 * loss(logits, targets.roll(1))
    same(loss(logits, mixtures), parts, logits)
    torch.testing.assert_close(loss(logits, mixtures, "mean"), parts / 6)
    torch.testing.assert_close(loss(logits, mixtures, "none").sum(), parts)
    assert torch.autograd.gradcheck(lambda x: loss(x, mixtures), (logits,))


def test_the_adjusted_loss_adds_the_prior_to_the_logits() -> None:
    logits, targets, _ = case()
    prior = torch.tensor(COUNTS, dtype=torch.float64) / sum(COUNTS)
    for tau in (0.0, 0.5, 1.0):
        expected = F.cross_entropy(logits + tau * prior.log(), targets, reduction="sum")
        found = ClipLoss("logit-adjusted", COUNTS, tau=tau)(logits, targets)
        torch.testing.assert_close(found, expected, rtol=1e-6, atol=1e-6)


def test_adjusting_afterwards_is_bayes_rule_for_words_alike_frequent() -> None:
    prior = torch.tensor(COUNTS, dtype=torch.float64) / sum(COUNTS)
    likelihood = torch.tensor([[0.2, 0.1, 0.3, 0.4], [0.5, 0.2, 0.2, 0.1]], dtype=torch.float64)
    logits = (likelihood * prior).log() + 3.0
    balanced = likelihood / likelihood.sum(dim=1, keepdim=True)
    torch.testing.assert_close(adjusted(logits, COUNTS).softmax(dim=1), balanced, rtol=1e-6, atol=1e-6)
    assert adjusted(logits, COUNTS, 0.0).equal(logits)
    assert log_prior(COUNTS).exp().sum().item() == pytest.approx(1.0)


def test_tau_is_chosen_by_macro_f1_and_the_weakest_of_equals() -> None:
    # The rare word 1 is right in row 2 only once the prior of 9 : 1 is out.
    logits, truths = torch.tensor([[2.0, 0.0], [3.0, 0.0], [1.0, 0.0]]), torch.tensor([0, 0, 1])
    assert best_tau(logits, truths, (9, 1), [0.0, 0.5, 0.6, 2.0]) == (0.5, 1.0)
    plain = score(MacroF1((0, 1)), [0, 0, 0], [0, 0, 1]).value
    assert best_tau(logits, truths, (9, 1), [0.0, 0.1]) == (0.0, plain)
    with pytest.raises(ValueError, match="taus must hold at least one"):
        best_tau(logits, truths, (9, 1), [])


def test_sampler_and_weights_together_correct_twice() -> None:
    shares = {
        (sampler, weights): loss_shares(COUNTS, sampler=sampler, weights=weights)
        for sampler in (False, True)
        for weights in (False, True)
    }
    np.testing.assert_allclose(shares[False, False], np.array(COUNTS) / sum(COUNTS))
    np.testing.assert_allclose(shares[True, False], 0.25)
    np.testing.assert_allclose(shares[False, True], 0.25)
    twice = shares[True, True]
    assert twice[3] / twice[0] == pytest.approx(15.0)
    assert twice.sum() == pytest.approx(1.0)
    # What the weighted loss itself gives, all clips alike: 60 clips of word 0 weigh as much as 4 of word 3.
    words = torch.arange(4).repeat_interleave(torch.tensor(COUNTS))
    each = ClipLoss("weighted", COUNTS)(torch.zeros(len(words), 4), words, "none")
    sums = torch.zeros(4).index_add(0, words, each)
    np.testing.assert_allclose(sums / sums.sum(), shares[False, True], rtol=1e-5)


def test_half_precision_is_read_in_float32() -> None:
    logits, targets, mixtures = case()
    half = logits.detach().to(torch.bfloat16)
    found = ClipLoss("focal")(half, mixtures)
    assert found.dtype == torch.float32
    torch.testing.assert_close(found, ClipLoss("focal")(half.float(), mixtures))
    assert shares_of(targets, logits).equal(F.one_hot(targets, 4).double())


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"kind": "dice"}, "loss must be one of cross-entropy, weighted, focal"),
        ({"kind": "weighted"}, "counts must be given for the loss weighted"),
        ({"counts": (3, 0)}, r"counts\[1\] must be an integer of at least 1, got 0"),
        ({"label_smoothing": 1.0}, "label_smoothing must be below 1"),
        ({"gamma": -1.0}, "gamma must be at least 0"),
        ({"tau": math.inf}, "tau must be a finite number"),
    ],
)
def test_a_bad_setting_is_named(settings: dict[str, object], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        ClipLoss(**settings)


def test_bad_targets_are_named() -> None:
    logits, targets, mixtures = case()
    for wrong, message in (
        (targets + 1, r"targets must lie in 0\.\.3, got 4"),
        (mixtures[:, :3], r"targets must be classes \(B,\) or shares \(6, 4\), got \(6, 3\)"),
        (2 * mixtures, "add up to 1 in each row"),
        (targets.int(), "targets must be int64"),
    ):
        with pytest.raises(ValueError, match=message):
            ClipLoss()(logits, wrong)
    with pytest.raises(ValueError, match="logits must have 3 words, as counts has, got 4"):
        ClipLoss("weighted", (1, 2, 3))(logits, targets)
    with pytest.raises(ValueError, match="counts must be 4 numbers of at least 1"):
        adjusted(logits, (1, 2, 3))
