"""A prediction runs through few files; a backbone is one class and one entry; the front door leads somewhere."""

import dataclasses
from pathlib import Path

import pytest
import torch
from torch import Tensor, nn

from coursepkg.projects import sign_language
from coursepkg.projects.sign_language import recipe as recipes
from coursepkg.projects.sign_language.model.classifier import build_model
from coursepkg.projects.sign_language.recipe import TINY, Architecture, ModelConfig, Recipe
from tests.projects.profiled import profiled
from tests.projects.sign_language.signed import write_films

PYTHON = """
from coursepkg.projects.sign_language import SignRecognizer
assert SignRecognizer.load_default().recognize(sys.argv[1:])
"""
COMMAND = """
from coursepkg.cli import main
assert main(["sign-language", "predict", *sys.argv[1:]]) == 0
"""
NOT_FOR_PREDICTION = {"synthetic", "quality", "ladder", "studies", "loop", "corpora", "cache", "bench"}


@pytest.mark.parametrize("code", [PYTHON, COMMAND], ids=["Python", "command"])
def test_a_prediction_passes_through_few_files(code: str, tmp_path: Path) -> None:
    write_films(tmp_path, 1)
    files, modules = profiled(code, *tmp_path.glob("*.mp4"))
    assert len(files) <= 35, files
    assert len(modules) <= 70, modules
    assert [name for name in modules if set(name.split(".")) & NOT_FOR_PREDICTION] == []


class Mean(nn.Module):
    """A backbone of its own: the mean colour of a frame."""

    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        self.out_channels, self.depths = config.stage_channels[-1], ["scale"]
        self.scale = nn.Linear(3, self.out_channels)

    def forward(self, frames: Tensor) -> Tensor:
        """frames (N, 3, H, W) -> (N, out_channels)."""
        return self.scale(frames.mean(dim=(2, 3)))


def test_a_backbone_is_one_class_and_one_entry(monkeypatch: pytest.MonkeyPatch) -> None:
    entry = Architecture(f"{__name__}:Mean", "mean", (8,), (1,))
    monkeypatch.setitem(recipes.ARCHITECTURES, "mean", entry)
    config = ModelConfig(3, size=16, n_frames=4, backbone="mean", d_model=8, n_heads=2, d_ff=16)
    own = dataclasses.replace(TINY, size=16, n_frames=4, channels=(8,), n_blocks=(1,), frozen=1)
    object.__setattr__(own, "backbone", "mean")  # as `--backbone` takes it once it is in the table
    model = build_model(own, 3)
    assert isinstance(model.backbone, Mean)
    assert not model.backbone.scale.weight.requires_grad
    assert config.stage_channels == (8,)
    assert model(torch.zeros(2, 4, 3, 16, 16)).logits.shape == (2, 3)


def test_a_backbone_without_weights_takes_none(monkeypatch: pytest.MonkeyPatch) -> None:
    bare = dataclasses.replace(recipes.ARCHITECTURES["vit-base"], weights="")
    monkeypatch.setitem(recipes.ARCHITECTURES, "vit-base", bare)
    with pytest.raises(ValueError, match="--pretrained x needs a --backbone other than vit-base"):
        Recipe(backbone="vit-base", pretrained="x")


def test_every_name_of_the_front_door_leads_somewhere() -> None:
    for name in sign_language.__all__:
        assert getattr(sign_language, name) is not None
