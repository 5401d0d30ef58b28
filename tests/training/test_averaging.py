"""EMA against its recursion and torch's AveragedModel; averages of checkpoint files."""

import copy
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file, save_file
from torch import Tensor, nn
from torch.optim.swa_utils import AveragedModel, get_ema_multi_avg_fn

from coursepkg.training.averaging import EMA, average_checkpoints


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
    (path,) = stored(tmp_path, [{"w": torch.ones(200)}])
    with pytest.raises(ValueError, match=r"gone.safetensors must be a safetensors file, but: .+"):
        average_checkpoints([path, tmp_path / "gone.safetensors"])
    path.write_bytes(path.read_bytes()[:300])
    with pytest.raises(ValueError, match=r"step-0.safetensors must be a safetensors file, but: .+"):
        average_checkpoints([path])
