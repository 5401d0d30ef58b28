"""Token cross-entropy, InfoNCE and focal loss against torch and the formulas written out."""

import math

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor
from torch.nn import functional as F
from torch.utils._python_dispatch import TorchDispatchMode

from coursepkg.training.losses import focal_loss, info_nce, inverse_frequency, label_smoothed_cross_entropy

B, T, V = 3, 5, 11


def case(seed: int = 0, dtype: torch.dtype = torch.float64) -> tuple[Tensor, Tensor]:
    """Logits and targets, some of which are padding."""
    generator = torch.Generator().manual_seed(seed)
    logits = torch.randn(B, T, V, dtype=dtype, generator=generator) * 3
    targets = torch.randint(0, V, (B, T), generator=generator)
    targets[0, 3:] = 0
    return logits.requires_grad_(), targets


def olympiad_loss(logits: Tensor, targets: Tensor, smoothing: float) -> Tensor:
    """The target written out as the tutorials describe it: 1 - eps, and eps / (V - 1) for each wrong token."""
    soft = torch.full_like(logits, smoothing / (logits.shape[-1] - 1))
    soft[F.one_hot(targets, logits.shape[-1]).bool()] = 1 - smoothing
    return -(soft * logits.log_softmax(dim=-1)).sum(dim=-1)[targets != 0].sum()


@settings(max_examples=50)
@given(seed=st.integers(0, 10**6), smoothing=st.floats(0.0, 0.99), reduction=st.sampled_from(["sum", "mean"]))
def test_equals_torch_in_value_and_gradient(seed: int, smoothing: float, reduction: str) -> None:
    logits, targets = case(seed)
    expected = F.cross_entropy(
        logits.flatten(0, 1),
        targets.flatten(),
        ignore_index=0,
        label_smoothing=smoothing,
        reduction=reduction,
    )
    found = label_smoothed_cross_entropy(logits, targets, smoothing, reduction=reduction)
    torch.testing.assert_close(found, expected)
    ours, theirs = (torch.autograd.grad(loss, logits)[0] for loss in (found, expected))
    torch.testing.assert_close(ours, theirs)


@settings(max_examples=50)
@given(seed=st.integers(0, 10**6), smoothing=st.floats(0.0, 0.99))
def test_equals_the_olympiad_tutorials_in_value_and_gradient(seed: int, smoothing: float) -> None:
    logits, targets = case(seed)
    found = label_smoothed_cross_entropy(logits, targets, smoothing, convention="olympiad")
    expected = olympiad_loss(logits, targets, smoothing)
    torch.testing.assert_close(found, expected)
    ours, theirs = (torch.autograd.grad(loss, logits)[0] for loss in (found, expected))
    torch.testing.assert_close(ours, theirs)


def test_the_two_conventions_differ_and_agree_without_smoothing() -> None:
    logits, targets = case()
    pytorch, olympiad = (
        [label_smoothed_cross_entropy(logits, targets, s, convention=name) for s in (0.0, 0.1)]
        for name in ("pytorch", "olympiad")
    )
    assert pytorch[0] == olympiad[0]
    assert (pytorch[1] - olympiad[1]).abs() > 1e-3
    # 0.1 spread over the V - 1 wrong ones is 0.1 V / (V - 1) spread over all.
    torch.testing.assert_close(label_smoothed_cross_entropy(logits, targets, 0.1 * V / (V - 1)), olympiad[1])


@pytest.mark.parametrize("convention", ["pytorch", "olympiad"])
def test_gradient_by_finite_differences(convention: str) -> None:
    logits, targets = case()
    assert torch.autograd.gradcheck(
        lambda x: label_smoothed_cross_entropy(x, targets, 0.2, convention=convention, reduction="none"),
        logits,
    )


def test_smoothing_is_minimal_where_the_model_says_the_smoothed_target() -> None:
    target = torch.tensor([4])
    for convention, right in (("pytorch", 0.9 + 0.1 / V), ("olympiad", 0.9)):
        p = torch.full((1, V), (1 - right) / (V - 1), dtype=torch.float64)
        p[0, 4] = right
        logits = p.log().requires_grad_()
        loss = label_smoothed_cross_entropy(logits, target, 0.1, convention=convention)
        torch.testing.assert_close(torch.autograd.grad(loss, logits)[0], torch.zeros_like(p))
        torch.testing.assert_close(loss, -(p * p.log()).sum())


def test_sums_of_pieces_are_the_sum_of_the_whole_and_padding_has_no_gradient() -> None:
    logits, targets = case()
    whole = label_smoothed_cross_entropy(logits, targets)
    pieces = sum(label_smoothed_cross_entropy(logits[i], targets[i]) for i in range(B))
    torch.testing.assert_close(whole, pieces)
    each = label_smoothed_cross_entropy(logits, targets, reduction="none")
    assert each.shape == targets.shape
    assert torch.equal(each != 0, targets != 0)
    gradient = torch.autograd.grad(whole, logits)[0]
    assert torch.equal(gradient[targets == 0], torch.zeros_like(gradient[targets == 0]))


def test_a_batch_of_padding_only_is_zero_not_nan() -> None:
    logits, targets = case()
    for reduction in ("sum", "mean"):
        loss = label_smoothed_cross_entropy(logits, torch.zeros_like(targets), reduction=reduction)
        assert loss.item() == 0.0
        assert not torch.autograd.grad(loss, logits)[0].any()


def test_another_ignored_class() -> None:
    logits, targets = case()
    expected = F.cross_entropy(logits.flatten(0, 1), targets.flatten(), ignore_index=7, reduction="sum")
    torch.testing.assert_close(label_smoothed_cross_entropy(logits, targets, 0.0, ignore_index=7), expected)


def test_large_logits_neither_overflow_nor_lose_the_loss() -> None:
    logits = torch.tensor([[3e4, 0.0, -3e4]], requires_grad=True)
    assert label_smoothed_cross_entropy(logits, torch.tensor([1]), 0.0).item() == 3e4
    assert label_smoothed_cross_entropy(logits, torch.tensor([0]), 0.0, ignore_index=-1).item() == 0.0
    forbidden = torch.tensor([[0.0, -math.inf, 0.0]])
    assert float(label_smoothed_cross_entropy(forbidden, torch.tensor([2]), 0.0)) == pytest.approx(
        math.log(2)
    )


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
def test_half_precision_is_summed_in_float32(dtype: torch.dtype) -> None:
    logits, targets = case(dtype=torch.float32)
    low = logits.detach().to(dtype).requires_grad_()
    found = label_smoothed_cross_entropy(low, targets)
    assert found.dtype == torch.float32
    torch.testing.assert_close(found, label_smoothed_cross_entropy(low.detach().float(), targets))
    found.backward()
    assert low.grad is not None
    assert low.grad.dtype == dtype


class LargeTensors(TorchDispatchMode):
    """Counts the operators whose result holds at least `size` elements."""

    def __init__(self, size: int) -> None:
        super().__init__()
        self.size, self.operators = size, []

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        result = func(*args, **(kwargs or {}))
        if isinstance(result, Tensor) and result.numel() >= self.size and not result._is_view():
            self.operators.append(func.overloadpacket.__name__)
        return result


@pytest.mark.parametrize("convention", ["pytorch", "olympiad"])
def test_no_target_distribution_is_built(convention: str) -> None:
    logits = torch.randn(64, 500, requires_grad=True)
    targets = torch.randint(1, 500, (64,))
    with LargeTensors(logits.numel()) as forward:
        loss = label_smoothed_cross_entropy(logits, targets, 0.1, convention=convention)
    assert forward.operators == []
    with LargeTensors(logits.numel()) as backward:
        loss.backward()
    # One buffer, the gradient, filled in place; `detach` is how autograd hands it over.
    made = [name for name in backward.operators if not name.endswith("_") and name != "detach"]
    assert made == ["sub"]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"logits": torch.zeros(2, 4, V)}, r"logits must be floats \(3, 5, V\) for these targets, got"),
        ({"logits": torch.zeros(B, T, V, dtype=torch.int64)}, r"logits must be floats \(3, 5, V\)"),
        ({"targets": torch.full((B, T), V)}, "targets must lie in 0..10 or be 0, got 11"),
        ({"targets": torch.full((B, T), -1)}, "targets must lie in 0..10 or be 0, got -1"),
        ({"targets": torch.zeros(B, T)}, "targets must be int64 ids, got torch.float32"),
        ({"smoothing": 1.0}, "smoothing must be at least 0 and below 1, got 1.0"),
        ({"smoothing": math.nan}, "smoothing must be at least 0 and below 1, got nan"),
        ({"convention": "paper"}, "convention must be one of pytorch, olympiad, got 'paper'"),
        ({"reduction": "avg"}, "reduction must be sum, mean or none, got 'avg'"),
    ],
)
def test_bad_input_is_named(change: dict, message: str) -> None:
    logits, targets = case()
    with pytest.raises(ValueError, match=f"^{message}"):
        label_smoothed_cross_entropy(**({"logits": logits, "targets": targets} | change))


def written_out_info_nce(a: Tensor, b: Tensor, temperature: float) -> Tensor:
    """The mean, pair by pair, from the formula."""
    n = len(a)
    s = [[float(F.cosine_similarity(a[i], b[j], dim=0)) / temperature for j in range(n)] for i in range(n)]
    rows = [s[i][i] - math.log(sum(math.exp(s[i][j]) for j in range(n))) for i in range(n)]
    columns = [s[i][i] - math.log(sum(math.exp(s[j][i]) for j in range(n))) for i in range(n)]
    return -(sum(rows) + sum(columns)) / (2 * n)


@given(seed=st.integers(0, 10**6), n=st.integers(2, 6), temperature=st.floats(0.05, 2.0))
def test_info_nce_equals_the_formula_and_torch(seed: int, n: int, temperature: float) -> None:
    generator = torch.Generator().manual_seed(seed)
    a, b = torch.randn(2, n, 4, dtype=torch.float64, generator=generator).unbind()
    a.requires_grad_()
    found = info_nce(a, b, temperature, reduction="mean")
    assert found.item() == pytest.approx(written_out_info_nce(a.detach(), b, temperature))
    scores = F.normalize(a, dim=-1) @ F.normalize(b, dim=-1).T / temperature
    labels = torch.arange(n)
    expected = (F.cross_entropy(scores, labels) + F.cross_entropy(scores.T, labels)) / 2
    torch.testing.assert_close(torch.autograd.grad(found, a)[0], torch.autograd.grad(expected, a)[0])
    torch.testing.assert_close(info_nce(a, b, temperature), n * found)


def test_info_nce_knows_partners_from_strangers() -> None:
    vectors = torch.eye(8, dtype=torch.float64)
    assert float(info_nce(vectors, vectors, 0.05, reduction="mean")) < 1e-6
    same = torch.ones(8, 8, dtype=torch.float64)
    assert float(info_nce(same, same, reduction="mean")) == pytest.approx(math.log(8))
    shuffled = vectors.roll(1, dims=0)
    assert float(info_nce(vectors, shuffled, reduction="mean")) > math.log(8)
    torch.testing.assert_close(info_nce(3 * vectors, vectors), info_nce(vectors, vectors))


def test_info_nce_gradient_by_finite_differences() -> None:
    a, b = torch.randn(2, 4, 3, dtype=torch.float64).unbind()
    assert torch.autograd.gradcheck(
        lambda a, b: info_nce(a, b, 0.5, reduction="none"), (a.requires_grad_(), b.requires_grad_())
    )


@pytest.mark.parametrize(
    ("a", "b", "temperature", "message"),
    [
        (torch.ones(3, 2), torch.ones(3, 4), 0.1, r"a and b must be floats of one shape \(B, E\), got"),
        (torch.ones(3), torch.ones(3), 0.1, r"a and b must be floats of one shape \(B, E\), got"),
        (torch.ones(1, 2), torch.ones(1, 2), 0.1, "a must have at least 2 rows"),
        (torch.ones(2, 2), torch.ones(2, 2), 0.0, "temperature must be positive and finite, got 0.0"),
    ],
)
def test_info_nce_names_bad_input(a: Tensor, b: Tensor, temperature: float, message: str) -> None:
    with pytest.raises(ValueError, match=f"^{message}"):
        info_nce(a, b, temperature)


N, C = 7, 5
WEIGHTS = torch.tensor([0.5, 2.0, 0.1, 0.0, 3.0], dtype=torch.float64)


def class_case(seed: int = 0) -> tuple[Tensor, Tensor]:
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


@given(seed=st.integers(0, 10**6), gamma=st.sampled_from([0.0, 0.5, 1.0, 2.0, 5.0]))
def test_focal_equals_the_formula(seed: int, gamma: float) -> None:
    logits, targets = class_case(seed)
    ones = torch.ones(C, dtype=torch.float64)
    for weights in (None, WEIGHTS):
        found = focal_loss(logits, targets, gamma, class_weights=weights)
        expected = written_out_focal(logits, targets, gamma, ones if weights is None else weights)
        torch.testing.assert_close(found, expected)
        torch.testing.assert_close(gradient(found, logits), gradient(expected, logits))


def test_gamma_0_is_cross_entropy_with_and_without_weights() -> None:
    logits, targets = class_case()
    torch.testing.assert_close(
        focal_loss(logits, targets, 0.0, reduction="mean"),
        F.cross_entropy(logits, targets, ignore_index=-100),
    )
    torch.testing.assert_close(
        focal_loss(logits, targets, 0.0, class_weights=WEIGHTS),
        F.cross_entropy(logits, targets, WEIGHTS, ignore_index=-100, reduction="sum"),
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
    logits, targets = class_case()
    assert torch.autograd.gradcheck(lambda x: focal_loss(x, targets, gamma, reduction="none"), logits)


@pytest.mark.parametrize("gamma", [0.0, 0.5, 1.0, 2.0])
def test_a_sample_that_is_certainly_right_gives_zeros_not_nan(gamma: float) -> None:
    logits = torch.tensor([[1e4, 0.0]], requires_grad=True)
    loss = focal_loss(logits, torch.tensor([0]), gamma)
    assert loss.item() == 0.0
    assert torch.equal(gradient(loss, logits), torch.zeros(1, 2))


def test_samples_without_label_count_for_nothing() -> None:
    logits, targets = class_case()
    labelled = targets != -100
    for loss in (
        lambda x, y, how: focal_loss(x, y, class_weights=WEIGHTS, reduction=how),
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
        (lambda x, y: focal_loss(x, y, reduction="all"), "reduction must be sum, mean or none, got 'all'"),
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
def test_bad_classes_are_named(call, message: str) -> None:
    logits, targets = class_case()
    with pytest.raises(ValueError, match=f"^{message}"):
        call(logits, targets)


@pytest.mark.parametrize("bad", [-1.0, float("nan"), float("inf")])
def test_weights_that_are_no_weights_are_refused(bad: float) -> None:
    with pytest.raises(ValueError, match="class_weights must be finite and at least 0"):
        focal_loss(torch.zeros(2, 3), torch.tensor([0, 1]), class_weights=torch.tensor([1.0, bad, 1.0]))
