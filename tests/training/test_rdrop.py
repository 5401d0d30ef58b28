"""R-Drop against torch's KL divergence, and that its two passes draw different masks."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor, nn
from torch.nn import functional as F

from coursepkg.training.losses import label_smoothed_cross_entropy
from coursepkg.training.rdrop import r_drop_loss, symmetric_kl, twice

B, T, V = 2, 4, 9


def case(seed: int = 0) -> tuple[Tensor, Tensor]:
    generator = torch.Generator().manual_seed(seed)
    logits = torch.randn(2 * B, T, V, dtype=torch.float64, generator=generator)
    targets = torch.randint(1, V, (B, T), generator=generator)
    targets[1, 2:] = 0
    return logits.requires_grad_(), targets


def papers_loss(logits: Tensor, targets: Tensor, alpha: float, smoothing: float) -> Tensor:
    """Both negative log-likelihoods plus alpha times the mean of both divergences, of real tokens only."""
    real = targets != 0
    p, q = (half[real].log_softmax(dim=-1) for half in logits.chunk(2))
    nll = sum(
        F.cross_entropy(half[real], targets[real], label_smoothing=smoothing, reduction="sum")
        for half in logits.chunk(2)
    )
    kl = [F.kl_div(b, a, reduction="sum", log_target=True) for a, b in ((p, q), (q, p))]
    return nll + alpha * (kl[0] + kl[1]) / 2


@given(seed=st.integers(0, 10**6), alpha=st.floats(0, 10), smoothing=st.floats(0, 0.9))
def test_is_half_of_the_papers_loss(seed: int, alpha: float, smoothing: float) -> None:
    logits, targets = case(seed)
    found = r_drop_loss(logits, targets, alpha, smoothing=smoothing)
    expected = papers_loss(logits, targets, alpha, smoothing) / 2
    torch.testing.assert_close(found, expected)
    ours, theirs = (torch.autograd.grad(loss, logits)[0] for loss in (found, expected))
    torch.testing.assert_close(ours, theirs)


def test_alpha_0_is_the_mean_cross_entropy_of_both_passes() -> None:
    logits, targets = case()
    both = label_smoothed_cross_entropy(logits, twice(targets), 0.1)
    torch.testing.assert_close(r_drop_loss(logits, targets, 0.0, smoothing=0.1), both / 2)


def test_equal_passes_have_no_divergence() -> None:
    logits, targets = case()
    same = twice(logits[:B])
    for alpha in (0.0, 5.0):
        torch.testing.assert_close(
            r_drop_loss(same, targets, alpha), label_smoothed_cross_entropy(logits[:B], targets, 0.0)
        )


def test_divergence_is_symmetric_positive_and_blind_to_padding() -> None:
    logits, targets = case()
    p, q = logits.detach().chunk(2)
    there, back = (symmetric_kl(a, b, targets, reduction="none") for a, b in ((p, q), (q, p)))
    torch.testing.assert_close(there, back)
    assert bool((there[targets != 0] > 0).all())
    assert not there[targets == 0].any()
    changed = torch.where((targets == 0)[..., None], 100.0, p)
    torch.testing.assert_close(symmetric_kl(changed, q, targets), there.sum())


def test_mean_is_over_the_targets_once() -> None:
    logits, targets = case()
    total = r_drop_loss(logits, targets, 2.0)
    torch.testing.assert_close(r_drop_loss(logits, targets, 2.0, reduction="mean"), total / 6)
    torch.testing.assert_close(r_drop_loss(logits, targets, 2.0, reduction="none").sum(), total)


def test_gradient_by_finite_differences() -> None:
    logits, targets = case()
    assert torch.autograd.gradcheck(lambda x: r_drop_loss(x, targets, 3.0, reduction="none"), logits)


def test_both_halves_of_one_pass_draw_masks_of_their_own() -> None:
    torch.manual_seed(0)
    first, second = nn.Dropout(0.5)(twice(torch.ones(3, 100))).chunk(2)
    assert not torch.equal(first, second)


@pytest.mark.parametrize(
    ("n_rows", "alpha", "message"),
    [
        (2 * B, -1.0, "alpha must be at least 0 and finite, got -1.0"),
        (B, 1.0, r"logits must be floats \(4, 4, V\) for these targets, got torch.float64 \(2, 4, 9\)"),
    ],
)
def test_bad_input_is_named(n_rows: int, alpha: float, message: str) -> None:
    logits, targets = case()
    with pytest.raises(ValueError, match=f"^{message}"):
        r_drop_loss(logits[:n_rows], targets, alpha)
