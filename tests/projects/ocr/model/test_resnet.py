"""The ResNet backbone: the library's own numbers, pretrained weights by folder, errors in one line."""

import dataclasses
import sys
from pathlib import Path

import pytest
import torch
from torch.nn import functional as F

from coursepkg.projects.ocr.model.backbone import ModelConfig, ResNetBackbone, load_pretrained
from coursepkg.projects.ocr.model.recognizer import build_model
from coursepkg.projects.ocr.recipe import PRESETS
from tests.projects.ocr.drawn import SMALL, noise

SIZES = {"backbone": "resnet", "channels": (8, 8, 12, 16), "n_blocks": (1, 2, 1, 1)}


def backbone(**changes: object) -> ResNetBackbone:
    torch.manual_seed(0)
    return ResNetBackbone(ModelConfig(30, **(SMALL | SIZES | changes))).double().eval()


def test_a_full_picture_gives_what_the_library_gives() -> None:
    mine = backbone()
    images, widths = noise([72, 72], 72)
    features, columns = mine(images, widths)
    colours = ((images + 1) / 2 - mine.mean) / mine.deviation
    theirs = F.relu(mine.reduce(mine.network(colours).last_hidden_state))
    torch.testing.assert_close(features, theirs)
    assert features.shape == (2, SMALL["d_model"], 4, 9)
    assert columns.tolist() == [9, 9]


def test_pretrained_weights_are_taken_over(tmp_path: Path) -> None:
    trained = backbone()
    trained.network.float().save_pretrained(tmp_path / "resnet")
    torch.manual_seed(1)
    recipe = dataclasses.replace(
        PRESETS["report"],
        pretrained=str(tmp_path / "resnet"),
        channels=SIZES["channels"],
        n_blocks=SIZES["n_blocks"],
        d_model=16,
        n_heads=2,
        d_ff=16,
        n_encoder_layers=1,
        n_decoder_layers=1,
    )
    model = build_model(recipe, 30)
    for name, weight in trained.network.state_dict().items():
        assert model.backbone.network.state_dict()[name].equal(weight)
    # Strides are those of H / 8 still.
    assert model.backbone(torch.zeros(1, 1, 32, 64), torch.tensor([64]))[0].shape == (1, 16, 4, 8)
    other = build_model(recipe, 30, pretrained=False).backbone
    assert not other.network.embedder.embedder.convolution.weight.equal(
        trained.network.embedder.embedder.convolution.weight
    )
    with pytest.raises(ValueError, match=r"has depths \[1, 2, 1, 1\], the recipe asks for \[1, 1, 1, 1\]"):
        load_pretrained(backbone(n_blocks=(1, 1, 1, 1)), str(tmp_path / "resnet"))


def test_without_the_library_one_line_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "transformers", None)
    with pytest.raises(ImportError, match="--backbone resnet needs transformers: pip install"):
        backbone()
