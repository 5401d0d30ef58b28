"""The library's backbones: their vectors, pretrained weights by folder, exact sizes, errors in one line."""

import sys
from pathlib import Path

import pytest
import torch

from coursepkg.projects.sign_language.model.backbones import LibraryBackbone
from coursepkg.projects.sign_language.model.classifier import ClipClassifier
from coursepkg.projects.sign_language.recipe import ModelConfig
from tests.projects.sign_language.networks import LIBRARY, clips, library_config

FAMILIES = list(LIBRARY)


def backbone(name: str, seed: int = 0, **changes: object) -> LibraryBackbone:
    torch.manual_seed(seed)
    return LibraryBackbone(library_config(name, **changes)).eval()


def pictures(size: int = 32) -> torch.Tensor:
    return torch.randn(3, 3, size, size, generator=torch.Generator().manual_seed(0))


@pytest.mark.parametrize("name", FAMILIES)
def test_a_vector_is_the_mean_over_places(name: str) -> None:
    made, frames = backbone(name), pictures()
    options = {"interpolate_pos_encoding": True} if made.family == "vit" else {}
    last = made.network(frames, **options).last_hidden_state
    if made.family == "resnet":
        expected = last.mean(dim=(2, 3))
    elif made.family == "convnext":
        expected = made.network.layernorm(last.mean(dim=(2, 3)))
    else:
        n_patches = 4 if made.family == "vit" else 16
        expected = last[:, -n_patches:].mean(dim=1)
        assert last.shape[1] == n_patches + (made.family == "vit")
    torch.testing.assert_close(made(frames), expected)
    assert made(frames).shape == (3, made.out_channels)


@pytest.mark.parametrize("name", FAMILIES)
def test_parts_by_depth_are_the_whole_backbone(name: str) -> None:
    made = backbone(name)
    by_part = [f"{part}.{n}" for part in made.depths for n, _ in made.get_submodule(part).named_parameters()]
    assert sorted(by_part) == sorted(n for n, _ in made.named_parameters())


@pytest.mark.parametrize("name", FAMILIES)
def test_the_whole_network_learns_behind_it_and_sees_no_padding(name: str) -> None:
    torch.manual_seed(0)
    model = ClipClassifier(library_config(name)).eval()
    frames, mask = clips([3, 2], n_frames=3, size=32)
    frames = frames.float()
    found = model(frames, mask).logits
    torch.testing.assert_close(found[1:], model(frames[1:, :2]).logits)
    found.square().sum().backward()
    stem = model.backbone.get_submodule(model.backbone.depths[0])
    assert any(p.grad is not None and p.grad.any() for p in stem.parameters())


@pytest.mark.parametrize("name", ["resnet-18", "convnext-tiny", "vit-base", "swin-tiny"])
def test_pretrained_weights_are_taken_over(name: str, tmp_path: Path) -> None:
    trained, fresh, frames = backbone(name), backbone(name, seed=1), pictures()
    trained.network.save_pretrained(tmp_path / name)
    assert not torch.allclose(fresh(frames), trained(frames))
    fresh.load_pretrained(str(tmp_path / name))
    torch.testing.assert_close(fresh(frames), trained(frames))


def test_weights_that_are_not_there_are_one_line(tmp_path: Path) -> None:
    with pytest.raises(OSError, match="can be neither read nor fetched") as caught:
        backbone("resnet-18").load_pretrained(str(tmp_path / "none"))
    assert "\n" not in str(caught.value)


def test_weights_that_do_not_fit_are_named(tmp_path: Path) -> None:
    convnext = backbone("convnext-tiny")
    convnext.network.save_pretrained(tmp_path / "weights")
    folder = str(tmp_path / "weights")
    with pytest.raises(
        ValueError, match="is a convnext, the backbone a resnet; choose weights such as microsoft/"
    ):
        backbone("resnet-18").load_pretrained(folder)
    with pytest.raises(ValueError, match=r"has depths \[1, 2\], the recipe asks for \[1, 1\]"):
        backbone("convnext-tiny", n_blocks=(1, 1)).load_pretrained(folder)


@pytest.mark.parametrize(
    ("name", "count"),
    [
        ("resnet-18", 11_176_512),
        ("resnet-34", 21_284_672),
        ("resnet-50", 23_508_032),
        ("convnext-tiny", 27_820_128),
        ("vit-base", 85_798_656),
        ("swin-tiny", 27_519_354),
    ],
)
def test_backbones_have_the_published_sizes_without_their_classifiers(name: str, count: int) -> None:
    sizes = ModelConfig(5, size=224, backbone=name)
    with torch.device("meta"):
        made = LibraryBackbone(sizes)
    assert sum(p.numel() for p in made.parameters()) == count


def test_without_the_library_one_line_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "transformers", None)
    with pytest.raises(ImportError, match="a --backbone other than small needs transformers: pip install"):
        backbone("resnet-18")
