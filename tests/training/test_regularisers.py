"""EMA, R-Drop, SAM and bytewise dropout against their formulas and torch's own."""

import copy
from pathlib import Path

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from safetensors.torch import load_file, save_file
from torch import Tensor, nn
from torch.nn import functional as F
from torch.optim.swa_utils import AveragedModel, get_ema_multi_avg_fn

from coursepkg.training.losses import label_smoothed_cross_entropy
from coursepkg.training.regularisers import (
    EMA,
    SAM,
    ByteDropout,
    ascent_step,
    average_checkpoints,
    draw_bytewise,
    duplicate_batch,
    r_drop_loss,
    refuse_sam,
    symmetric_kl,
)


def network(seed: int = 0) -> nn.Module:
    torch.manual_seed(seed)
    return nn.Sequential(nn.Linear(3, 4), nn.LayerNorm(4), nn.Linear(4, 2))


def move(model: nn.Module, seed: int) -> None:
    generator = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.add_(torch.randn(parameter.shape, generator=generator).to(parameter))


def weights(model: nn.Module) -> dict[str, Tensor]:
    return {name: p.detach().clone() for name, p in model.named_parameters()}


def test_without_warm_up_equals_torch() -> None:
    model = network()
    ema = EMA(model, 0.9, warmup=False)
    twin = AveragedModel(copy.deepcopy(model), multi_avg_fn=get_ema_multi_avg_fn(0.9))
    twin.update_parameters(model)  # torch takes the first call as the start
    for seed in range(1, 20):
        move(model, seed)
        ema.update(model)
        twin.update_parameters(model)
    for name, parameter in twin.module.named_parameters():
        torch.testing.assert_close(ema.averages[name], parameter.detach())


def test_warm_up_forgets_the_first_weights() -> None:
    model = network()
    start = weights(model)
    ema = EMA(model, 0.999)
    share = 1.0
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.zero_()
    for t in range(1, 31):
        ema.update(model)
        share *= (1 + t) / (10 + t)
    assert share < 1e-6 < 0.999**30
    for name, average in ema.averages.items():
        torch.testing.assert_close(average, start[name] * share, rtol=1e-4, atol=0)


def test_warm_up_ends_at_the_decay() -> None:
    model = network()
    ema = EMA(model, 0.5)
    ema.n_updates = 1000
    start = {name: average.clone() for name, average in ema.averages.items()}
    move(model, 1)
    ema.update(model)
    for name, parameter in model.named_parameters():
        torch.testing.assert_close(ema.averages[name], (start[name] + parameter.detach()) / 2)


def test_applied_gives_the_average_and_takes_it_back_also_after_an_error() -> None:
    model = network()
    ema = EMA(model, 0.9)
    move(model, 1)
    ema.update(model)
    own = weights(model)
    with ema.applied(model) as same:
        assert same is model
        assert all(torch.equal(p, ema.averages[name]) for name, p in model.named_parameters())
    assert all(torch.equal(p, own[name]) for name, p in model.named_parameters())
    with pytest.raises(KeyError), ema.applied(model):
        raise KeyError
    assert all(torch.equal(p, own[name]) for name, p in model.named_parameters())
    assert all(p.requires_grad for p in model.parameters())


def test_tied_weights_are_averaged_once() -> None:
    model = nn.ModuleDict({"embedding": nn.Embedding(5, 3), "output": nn.Linear(3, 5, bias=False)})
    model["output"].weight = model["embedding"].weight
    ema = EMA(model, 0.5, warmup=False)
    assert list(ema.averages) == ["embedding.weight"]
    with ema.applied(model):
        assert model["output"].weight is model["embedding"].weight


def test_bfloat16_weights_are_averaged_in_float32() -> None:
    model = nn.Linear(1, 1, bias=False).bfloat16()
    nn.init.constant_(model.weight, 1.0)
    ema = EMA(model, 0.999, warmup=False)
    nn.init.constant_(model.weight, 2.0)
    for _ in range(100):
        ema.update(model)
    # In bfloat16 a step of 0.001 from 1 would be rounded away each time.
    assert ema.averages["weight"].item() == pytest.approx(2 - 0.999**100, rel=1e-4)


def test_goes_on_exactly_from_a_file(tmp_path: Path) -> None:
    model = network()
    whole = EMA(model, 0.9)
    first = EMA(model, 0.9)
    second = None
    for seed in range(1, 9):
        move(model, seed)
        whole.update(model)
        (second or first).update(model)
        if seed == 4:
            save_file(first.state_dict(), tmp_path / "ema.safetensors")
            second = EMA(network(5), 0.9)
            second.load_state_dict(load_file(tmp_path / "ema.safetensors"))
    assert second.n_updates == 8
    assert all(torch.equal(second.averages[name], average) for name, average in whole.averages.items())


def test_another_model_and_another_state_are_refused_before_anything_changes() -> None:
    model = network()
    ema = EMA(model, 0.9)
    before = {name: average.clone() for name, average in ema.averages.items()}
    with pytest.raises(
        ValueError, match=r"^model must have the same tensors as the average, but it lacks 1.weight"
    ):
        ema.update(nn.Sequential(nn.Linear(3, 4)))
    with pytest.raises(ValueError, match=r"^model.0.weight must have shape \(4, 3\), got \(4, 2\)$"):
        ema.update(nn.Sequential(nn.Linear(2, 4), nn.LayerNorm(4), nn.Linear(4, 2)))
    with pytest.raises(
        ValueError, match=r"^state must have the same tensors as the average, but it also has more$"
    ):
        ema.load_state_dict(ema.state_dict() | {"more": torch.zeros(1)})
    wrong = {**{name: average + 1 for name, average in before.items()}, "n_updates": torch.tensor(3)}
    with pytest.raises(ValueError, match=r"^state\['2.bias'\] must have shape \(2,\), got \(3,\)$"):
        ema.load_state_dict(wrong | {"2.bias": torch.zeros(3)})
    assert ema.n_updates == 0
    assert all(torch.equal(ema.averages[name], average) for name, average in before.items())


@pytest.mark.parametrize("decay", [-0.1, 1.0, float("nan")])
def test_bad_decay_is_named(decay: float) -> None:
    with pytest.raises(ValueError, match=r"^decay must be at least 0 and below 1, got"):
        EMA(network(), decay)


def stored(folder: Path, tensors: list[dict[str, Tensor]]) -> list[Path]:
    paths = [folder / f"step-{i}.safetensors" for i in range(len(tensors))]
    for path, content in zip(paths, tensors, strict=True):
        save_file(content, path)
    return paths


def test_mean_of_checkpoints(tmp_path: Path) -> None:
    models = [network(seed) for seed in range(5)]
    mean = average_checkpoints(stored(tmp_path, [weights(model) for model in models]))
    for name, tensor in mean.items():
        expected = torch.stack([weights(model)[name].double() for model in models]).mean(dim=0).float()
        assert torch.equal(tensor, expected)
    network().load_state_dict(mean)


def test_mean_of_one_is_itself_and_integers_must_agree(tmp_path: Path) -> None:
    content = {"w": torch.randn(3).bfloat16(), "n": torch.tensor(4)}
    paths = stored(tmp_path, [content, content])
    for some in (paths[:1], paths):
        mean = average_checkpoints(some)
        assert all(torch.equal(mean[name], content[name]) for name in content)
        assert mean["w"].dtype == torch.bfloat16


def test_bfloat16_checkpoints_are_added_up_exactly(tmp_path: Path) -> None:
    values = [256.0, 1.0, 1.0, 1.0]  # in bfloat16 256 + 1 is 256
    mean = average_checkpoints(stored(tmp_path, [{"w": torch.tensor([v]).bfloat16()} for v in values]))
    assert mean["w"].item() == torch.tensor(259 / 4).bfloat16().item()


@pytest.mark.parametrize(
    ("second", "message"),
    [
        (
            {"w": torch.ones(2)},
            r"step-1.safetensors must have the same tensors as .*step-0.*, but it lacks n$",
        ),
        (
            {"w": torch.ones(2), "n": torch.tensor(1), "v": torch.ones(1)},
            r"step-1.safetensors must have the same tensors as .*step-0.*, but it also has v$",
        ),
        (
            {"w": torch.ones(3), "n": torch.tensor(1)},
            r"step-1.safetensors must have w as F32 \[2\] as .*step-0.safetensors has, got F32 \[3\]$",
        ),
        ({"w": torch.ones(2), "n": torch.tensor(2)}, r"must have the n of .*, as torch.int64 has no mean$"),
    ],
)
def test_checkpoints_of_another_model_are_named(tmp_path: Path, second: dict, message: str) -> None:
    paths = stored(tmp_path, [{"w": torch.ones(2), "n": torch.tensor(1)}, second])
    with pytest.raises(ValueError, match=message):
        average_checkpoints(paths)


def test_no_file_a_missing_one_and_one_cut_short_are_named(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"^paths must name at least one checkpoint, got none$"):
        average_checkpoints([])
    with pytest.raises(ValueError, match=r"^paths must be a list of files, got one; put it into a list$"):
        average_checkpoints(str(tmp_path / "model.safetensors"))
    (path,) = stored(tmp_path, [{"w": torch.ones(200)}])
    with pytest.raises(ValueError, match=r"gone.safetensors must be a safetensors file, but: .+"):
        average_checkpoints([path, tmp_path / "gone.safetensors"])
    path.write_bytes(path.read_bytes()[:300])
    with pytest.raises(ValueError, match=r"step-0.safetensors must be a safetensors file, but: .+"):
        average_checkpoints([path])


@pytest.mark.parametrize("p", [0.001, 0.1, 0.3, 0.5, 0.9, 0.999])
def test_share_and_scale_are_those_of_the_rounded_probability(p: float) -> None:
    torch.manual_seed(0)
    rounded = max(1, min(255, round(p * 256))) / 256
    found = ByteDropout(p)(torch.ones(1000, 1001))
    assert float((found == 0).float().mean()) == pytest.approx(rounded, abs=2e-3)
    assert torch.equal(found.unique(), torch.tensor([0.0, 1 / (1 - rounded)]))


def test_bytes_of_one_word_are_independent() -> None:
    torch.manual_seed(0)
    kept = (ByteDropout(0.5)(torch.ones(100_000, 8)) > 0).float()
    assert torch.allclose(torch.corrcoef(kept.T), torch.eye(8), atol=0.02)


def test_the_gradient_goes_through_what_was_kept() -> None:
    x = torch.randn(7, 5, 3, requires_grad=True)
    torch.manual_seed(3)
    found = ByteDropout(0.3)(x)
    found.sum().backward()
    assert x.grad is not None
    assert torch.allclose(found, x * x.grad)
    torch.manual_seed(3)
    assert torch.equal(ByteDropout(0.3)(x), found)


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float64])
def test_keeps_type_and_shape(dtype: torch.dtype) -> None:
    found = ByteDropout(0.2)(torch.ones(3, 0, 5, dtype=dtype)), ByteDropout(0.2)(torch.ones((), dtype=dtype))
    assert [(f.dtype, tuple(f.shape)) for f in found] == [(dtype, (3, 0, 5)), (dtype, ())]


def test_is_nothing_in_evaluation_and_everything_at_one() -> None:
    x = torch.randn(50)
    assert torch.equal(ByteDropout(0.5).eval()(x), x)
    assert torch.equal(ByteDropout(0.0)(x), x)
    assert not ByteDropout(1.0)(x).any()


def test_every_dropout_of_a_model_is_replaced_and_nothing_else() -> None:
    class Own(nn.Dropout):
        pass

    model = nn.Sequential(nn.Dropout(0.25), nn.Sequential(nn.Linear(2, 2), nn.Dropout(0.5), Own(0.1)))
    weights = model.state_dict()
    draw_bytewise(model)
    assert [type(m) for m in model.modules() if isinstance(m, nn.Dropout)] == [ByteDropout, ByteDropout, Own]
    assert [m.p for m in model.modules() if isinstance(m, nn.Dropout)] == [0.25, 0.5, 0.1]
    assert model.state_dict().keys() == weights.keys()


needs_gpu = pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a GPU")


def wide_network(dropout_p: float = 0.5) -> nn.Sequential:
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
    model, x = wide_network(), torch.randn(4, 5, dtype=torch.float64)
    torch.manual_seed(7)
    SAM(model, 0.05).backward(passes(model, x))
    found = [p.grad.clone() for p in model.parameters()]

    twin = wide_network()
    torch.manual_seed(7)
    passes(twin, x)()
    ascent_step(twin.parameters(), 0.05)
    twin.zero_grad()
    torch.manual_seed(7)
    passes(twin, x)()
    for ours, parameter in zip(found, twin.parameters(), strict=True):
        torch.testing.assert_close(ours, parameter.grad, rtol=0, atol=0)


@pytest.mark.parametrize("device", ["cpu", pytest.param("cuda", marks=needs_gpu)])
def test_both_passes_drop_the_same_and_the_next_step_drops_something_else(device: str) -> None:
    model, x = wide_network().to(device), torch.ones(4, 5, dtype=torch.float64, device=device)
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

    model, drawn = wide_network(0.0), []

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
    model, x = wide_network(), torch.ones(1, 5, dtype=torch.float64)
    weights = [p.detach().clone() for p in model.parameters()]
    results = iter([passes(model, x)])

    def backward() -> Tensor:
        return next(results)()

    with pytest.raises(StopIteration):
        SAM(model).backward(backward)
    assert all(torch.equal(p, w) for p, w in zip(model.parameters(), weights, strict=True))


def test_bf16_autocast_climbs_in_float32() -> None:
    model = wide_network().float()
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
    model, x = wide_network(), torch.ones(2, 5, dtype=torch.float64)
    passes(model, x)()
    before = torch.cat([p.detach().flatten() for p in model.parameters()])
    ascent_step(model.parameters(), 0.3)
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
        SAM(wide_network(), rho)


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
    both = label_smoothed_cross_entropy(logits, duplicate_batch(targets), 0.1)
    torch.testing.assert_close(r_drop_loss(logits, targets, 0.0, smoothing=0.1), both / 2)


def test_equal_passes_have_no_divergence() -> None:
    logits, targets = case()
    same = duplicate_batch(logits[:B])
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
    first, second = nn.Dropout(0.5)(duplicate_batch(torch.ones(3, 100))).chunk(2)
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
