"""SAM against its formula, its dropout masks, what it leaves behind, and what it refuses."""

import pytest
import torch
from torch import Tensor, nn

from coursepkg.training.sam import SAM, climb, refuse_sam

needs_gpu = pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a GPU")


def network(dropout_p: float = 0.5) -> nn.Sequential:
    torch.manual_seed(0)
    return nn.Sequential(nn.Linear(5, 16), nn.Tanh(), nn.Dropout(dropout_p), nn.Linear(16, 2)).double()


def passes(model: nn.Module, x: Tensor):
    """One forward and one backward pass over x, as a loop would make them."""

    def backward() -> Tensor:
        loss = model(x).square().sum()
        loss.backward()
        return loss

    return backward


def test_gradient_is_that_at_the_worst_point_nearby() -> None:
    # f(w) = w' A w / 2: gradient A w, worst point w + rho A w / |A w|, gradient there A (w + rho A w / |A w|).
    a = torch.tensor([[3.0, 1.0], [1.0, 2.0]], dtype=torch.float64)
    model = nn.Linear(2, 1, bias=False).double()
    w = model.weight

    def backward() -> Tensor:
        loss = (w @ a @ w.T).sum() / 2
        loss.backward()
        return loss

    before = w.detach().clone()
    loss = SAM(model, 0.1).backward(backward)
    g = before @ a
    torch.testing.assert_close(w.grad, (before + 0.1 * g / g.norm()) @ a)
    torch.testing.assert_close(loss, (before @ a @ before.T).sum() / 2)


def test_gradient_with_dropout_is_that_of_one_and_the_same_thinned_network() -> None:
    model, x = network(), torch.randn(4, 5, dtype=torch.float64)
    torch.manual_seed(7)
    SAM(model, 0.05).backward(passes(model, x))
    found = [p.grad.clone() for p in model.parameters()]

    twin = network()
    torch.manual_seed(7)
    passes(twin, x)()
    climb(twin.parameters(), 0.05)
    twin.zero_grad()
    torch.manual_seed(7)
    passes(twin, x)()
    for ours, parameter in zip(found, twin.parameters(), strict=True):
        torch.testing.assert_close(ours, parameter.grad, rtol=0, atol=0)


@pytest.mark.parametrize("device", ["cpu", pytest.param("cuda", marks=needs_gpu)])
def test_both_passes_drop_the_same_and_the_next_step_drops_something_else(device: str) -> None:
    model, x = network().to(device), torch.ones(4, 5, dtype=torch.float64, device=device)
    masks: list[Tensor] = []
    model[2].register_forward_hook(lambda module, inputs, output: masks.append(output != 0))
    sam = SAM(model)
    for _ in range(2):
        sam.backward(passes(model, x))
        model.zero_grad()
    assert len(masks) == 4
    assert torch.equal(masks[0], masks[1])
    assert torch.equal(masks[2], masks[3])
    assert not torch.equal(masks[0], masks[2])


def test_numpy_and_python_draws_are_replayed_too() -> None:
    import random

    import numpy as np

    model, drawn = network(0.0), []

    def backward() -> Tensor:
        drawn.append((random.random(), np.random.rand()))
        return passes(model, torch.ones(1, 5, dtype=torch.float64))()

    SAM(model).backward(backward)
    assert drawn[0] == drawn[1]


def test_weights_and_running_statistics_come_back_bit_by_bit() -> None:
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(3, 4), nn.BatchNorm1d(4), nn.Linear(4, 1))
    x = torch.randn(8, 3)
    weights = [p.detach().clone() for p in model.parameters()]
    SAM(model, 10.0).backward(passes(model, x))
    for parameter, weight in zip(model.parameters(), weights, strict=True):
        assert torch.equal(parameter, weight)
    once = nn.BatchNorm1d(4)
    once(model[0](x))
    assert torch.equal(model[1].running_mean, once.running_mean)
    assert int(model[1].num_batches_tracked) == 1


def test_weights_come_back_when_the_second_pass_fails() -> None:
    model, x = network(), torch.ones(1, 5, dtype=torch.float64)
    weights = [p.detach().clone() for p in model.parameters()]
    results = iter([passes(model, x)])

    def backward() -> Tensor:
        return next(results)()

    with pytest.raises(StopIteration):
        SAM(model).backward(backward)
    assert all(torch.equal(p, w) for p, w in zip(model.parameters(), weights, strict=True))


def test_bf16_autocast_climbs_in_float32() -> None:
    model = network().float()
    x = torch.randn(4, 5)

    def backward() -> Tensor:
        with torch.autocast("cpu", dtype=torch.bfloat16):
            loss = model(x).float().square().sum()
        loss.backward()
        return loss

    weights = [p.detach().clone() for p in model.parameters()]
    SAM(model, 1e-3).backward(backward)
    assert all(torch.equal(p, w) for p, w in zip(model.parameters(), weights, strict=True))
    assert all(p.dtype == p.grad.dtype == torch.float32 and p.grad.any() for p in model.parameters())


def test_length_of_the_climb_is_rho_over_all_parameters_together() -> None:
    model, x = network(), torch.ones(2, 5, dtype=torch.float64)
    passes(model, x)()
    before = torch.cat([p.detach().flatten() for p in model.parameters()])
    climb(model.parameters(), 0.3)
    after = torch.cat([p.detach().flatten() for p in model.parameters()])
    assert (after - before).norm().item() == pytest.approx(0.3)


def test_zero_gradient_and_unused_or_frozen_parameters_stay() -> None:
    model = nn.ModuleDict({"used": nn.Linear(2, 2), "frozen": nn.Linear(2, 2), "unused": nn.Linear(2, 2)})
    model["frozen"].requires_grad_(False)

    def backward() -> Tensor:
        loss = 0.0 * model["frozen"](model["used"](torch.ones(1, 2))).sum()
        loss.backward()
        return loss

    SAM(model).backward(backward)
    assert not model["used"].weight.grad.any()
    assert model["frozen"].weight.grad is None
    assert model["unused"].weight.grad is None


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"precision": "16-mixed"}, "precision must be 32-true or bf16-mixed with SAM, got 16-mixed: "),
        ({"precision": "32-true", "accumulate": 4}, "accumulate must be 1 with SAM, got 4: "),
        ({"precision": "bf16-mixed", "sharded": True}, "strategy must not be fsdp with SAM: "),
    ],
)
def test_refuses_what_would_not_be_sam(options: dict, message: str) -> None:
    with pytest.raises(ValueError, match=f"^{message}.+$") as refused:
        refuse_sam(**options)
    assert "\n" not in str(refused.value)


def test_accepts_fp32_and_bf16() -> None:
    refuse_sam(precision="32-true")
    refuse_sam(precision="bf16-mixed", accumulate=1, sharded=False)


@pytest.mark.parametrize("rho", [0.0, -0.1, float("nan"), float("inf")])
def test_bad_radius_is_named(rho: float) -> None:
    with pytest.raises(ValueError, match=r"^rho must be positive and finite, got"):
        SAM(network(), rho)
