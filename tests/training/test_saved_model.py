"""A finished model: what was saved comes back, and what does not fit is refused in one line."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch import nn

from coursepkg.blocks.config import TransformerConfig
from coursepkg.blocks.transformer import Transformer
from coursepkg.files import file_sha256
from coursepkg.training import saved_model
from coursepkg.training.config import TrainConfig
from coursepkg.training.loop import fit
from coursepkg.training.saved_model import load_model, restore, save_model, store_model
from coursepkg.training.weights import mean_weights, parameter_counts
from tests.training.jobs import Net, NetConfig, RandomBatches, SquareTask, make_net, mean_error, same


def build(fields: dict[str, Any]) -> Net:
    return Net(NetConfig(**fields))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    save_model(tmp_path / "model", make_net(dropout_p=0.25), vocabulary="abc", score=3.5)
    return tmp_path / "model"


def test_a_model_comes_back_with_its_meta(folder: Path) -> None:
    model, meta = load_model(folder, build, config=NetConfig(dropout_p=0.25), vocabulary="abc")
    assert same(model, make_net())
    assert model.again is model.outer
    assert not model.training
    assert model.config == NetConfig(dropout_p=0.25)
    assert meta == {"vocabulary": "abc", "score": 3.5}
    assert sorted(path.name for path in folder.parent.rglob("*")) == [
        "model",
        "model.json",
        "model.safetensors",
    ]


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        (
            {"config": NetConfig(width=9)},
            "another config: dropout_p is 0.25 there and 0.0 here; width is 8 there and 9",
        ),
        (
            {"vocabulary": "xyz"},
            "another set of entries: vocabulary is abc there and xyz here; use what the model was saved",
        ),
        ({"alphabet": "vi"}, "another set of entries: alphabet is None there and vi here"),
    ],
)
def test_what_does_not_match_is_named(folder: Path, asked, message: str) -> None:
    with pytest.raises(ValueError, match=message) as told:
        load_model(folder, build, **asked)
    assert str(told.value).startswith(str(folder / "model.json"))
    assert "\n" not in str(told.value)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (
            lambda fields: Net(NetConfig(width=9)),
            r"has inner.bias of shape \(8,\), the model of \(9,\); build the",
        ),
        (lambda fields: nn.Linear(2, 2), "lacks bias, which the model has"),
        (lambda fields: Net(NetConfig(**fields)).inner, "lacks bias, which the model has"),
        (
            lambda fields: NetConfig(**fields, depth=3),
            "does not describe a model that this version can build",
        ),
    ],
)
def test_a_model_that_is_built_otherwise_is_refused(folder: Path, make, message: str) -> None:
    with pytest.raises(ValueError, match=message) as told:
        load_model(folder, make)
    assert "\n" not in str(told.value)


def test_an_older_model_without_a_tensor_is_refused(folder: Path) -> None:
    def grown(fields: dict[str, Any]) -> Net:
        net = build(fields)
        net.register_buffer("zeros", torch.zeros(2))
        return net

    with pytest.raises(ValueError, match="lacks zeros, which the model has"):
        load_model(folder, grown)


@pytest.mark.parametrize(
    ("name", "change", "kind", "message"),
    [
        ("model.safetensors", lambda data: data[:-1], ValueError, "is cut short"),
        (
            "model.safetensors",
            lambda data: data[:-1] + b"\x07",
            ValueError,
            "its SHA-256 is not the one on record",
        ),
        ("model.safetensors", None, FileNotFoundError, "is missing"),
        ("model.json", None, FileNotFoundError, "is missing"),
        ("model.json", lambda data: data[:9], ValueError, "is damaged"),
        (
            "model.json",
            lambda data: data.replace(b'"format": 1', b'"format": 99'),
            ValueError,
            "newer than 1; update",
        ),
    ],
)
def test_damage_is_named(folder: Path, name: str, change, kind, message: str) -> None:
    path = folder / name
    path.unlink() if change is None else path.write_bytes(change(path.read_bytes()))
    with pytest.raises(kind, match=message) as told:
        load_model(folder, build)
    assert str(path) in str(told.value)
    assert "\n" not in str(told.value)


def test_a_folder_that_exists_is_not_written_over(folder: Path) -> None:
    seal = file_sha256(folder / "model.safetensors")
    with pytest.raises(ValueError, match="already exists; remove it or choose another folder"):
        save_model(folder, make_net())
    assert file_sha256(folder / "model.safetensors") == seal


def test_what_cannot_be_saved_leaves_nothing(tmp_path: Path, monkeypatch) -> None:
    with pytest.raises(ValueError, match="model must have a dataclass as its config, got NoneType"):
        save_model(tmp_path / "model", nn.Linear(2, 2))
    with pytest.raises(ValueError, match="config and meta must be what JSON can hold"):
        save_model(tmp_path / "model", make_net(), vocabulary=object())
    monkeypatch.setattr(
        "os.rename", lambda *paths: (_ for _ in ()).throw(OSError(28, "No space left on device"))
    )
    with pytest.raises(OSError, match="No space left"):
        save_model(tmp_path / "model", make_net())
    assert list(tmp_path.iterdir()) == []


def test_restore_gives_the_weights_that_were_judged(tmp_path: Path) -> None:
    config = TrainConfig(max_epochs=3, learning_rate=1e-2, ema_decay=0.9, progress=False)
    net = make_net()
    history = fit(net, SquareTask(), RandomBatches(), config=config, out=tmp_path, validate=mean_error)
    fresh = make_net().eval()
    assert restore(fresh, tmp_path) == history.best_step
    assert mean_error(fresh)["loss"] == history.best_score
    assert not same(fresh, net)
    with pytest.raises(ValueError, match=r"has inner.bias of shape \(8,\), the model of \(4,\)"):
        restore(make_net(width=4), tmp_path)


def test_a_model_is_replaced_when_the_new_one_is_whole(tmp_path: Path, monkeypatch) -> None:
    folder, net = tmp_path / "model", make_net()
    store_model(folder, net, {"score": 1})
    with torch.no_grad():
        net.outer.weight.add_(1.0)

    def full_disk(path: Path, tensors: Any) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(saved_model, "write_tensors", full_disk)
        with pytest.raises(OSError, match="No space left"):
            store_model(folder, net, {"score": 2})
    old, meta = load_model(folder, build)
    assert meta == {"score": 1}
    assert same(old, make_net())
    assert list(tmp_path.iterdir()) == [folder]
    store_model(folder, net, {"score": 2})
    new, meta = load_model(folder, build)
    assert meta == {"score": 2}
    assert same(new, net)


def test_numbers_of_numpy_are_stored_as_those_of_python(tmp_path: Path) -> None:
    save_model(tmp_path / "model", make_net(), words=np.int64(3), score=np.float32(0.5))
    assert load_model(tmp_path / "model", build, words=np.int64(3))[1] == {"words": 3, "score": 0.5}


def test_parameters_of_the_model_itself_are_counted() -> None:
    config = TransformerConfig(20, d_model=8, n_heads=2, d_ff=8, output_bias=True)
    model = Transformer(config)
    counts = parameter_counts(model)
    assert counts["output_bias"] == 20
    assert counts["total"] == sum(p.numel() for p in model.parameters())


def test_the_mean_of_weights_has_the_shares_asked_for() -> None:
    one, other = (nn.BatchNorm1d(2) for _ in range(2))
    with torch.no_grad():
        one.weight.copy_(torch.tensor([1.0, 2.0]))
        other.weight.copy_(torch.tensor([5.0, -2.0]))
    other.num_batches_tracked.fill_(7)
    even, uneven = mean_weights([one, other]), mean_weights([one, other], (0.25, 0.75))
    assert even["weight"].tolist() == [3.0, 0.0]
    assert uneven["weight"].tolist() == [4.0, -1.0]
    assert even["num_batches_tracked"] == uneven["num_batches_tracked"] == 7
    with pytest.raises(ValueError, match="2 numbers that are 1 together, got"):
        mean_weights([one, other], (0.5, 0.6))
    with pytest.raises(ValueError, match="2 numbers that are 1 together, got"):
        mean_weights([one, other], (1.0,))
