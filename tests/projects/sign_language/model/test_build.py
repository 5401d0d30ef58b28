"""From recipe to network: exact sizes of every preset, storing and reading back, pretrained weights, learning rates."""

import dataclasses
from pathlib import Path

import pytest
import torch

from coursepkg.projects.sign_language.model.classifier import (
    ClipClassifier,
    build_model,
    config_of,
    factor_of,
    learning_rate_factors,
    parameter_groups,
    rebuild,
)
from coursepkg.projects.sign_language.recipe import PRESETS
from coursepkg.training.saved_model import load_model, save_model
from coursepkg.training.weights import parameter_counts
from tests.projects.sign_language.networks import clips, library_config, network


def test_the_presets_have_exactly_so_many_parameters() -> None:
    lstm = 4 * 256 * (512 + 256) + 2 * 4 * 256  # four gates, each with two biases
    layer = 4 * (768 * 768 + 768) + (768 * 3072 + 3072) + (3072 * 768 + 768) + 2 * 2 * 768
    pooling = 768 * 192 + 192 + 192 + 1
    expected = {
        "crnn-baseline": {"backbone": 11_176_512, "temporal": lstm, "output": 256 * 100 + 100},
        "report": {
            "backbone": 27_820_128,
            "temporal": 2 * layer,
            "pooling": pooling,
            "output": 768 * 100 + 100,
        },
    }
    for name, parts in expected.items():
        with torch.device("meta"):
            counts = parameter_counts(build_model(PRESETS[name], 100, pretrained=False))
        assert counts == parts | {"total": sum(parts.values())}
    assert sum(expected["crnn-baseline"].values()) == 11_990_692
    assert sum(expected["report"].values()) == 42_220_613


def test_the_presets_from_scratch_have_exactly_so_many_parameters() -> None:
    for name, total in (("tiny", 476_373), ("small", 2_698_101)):
        counts = parameter_counts(build_model(PRESETS[name], 20))
        assert counts["total"] == total
        assert counts["total"] == sum(n for part, n in counts.items() if part != "total")


def test_a_stored_network_comes_back(tmp_path: Path) -> None:
    model, (frames, mask) = network().float(), clips([6, 3])
    save_model(tmp_path / "model", model, labels=["cảm ơn"])
    found, meta = load_model(tmp_path / "model", rebuild)
    assert isinstance(found, ClipClassifier)
    assert found.config == model.config
    assert meta["labels"] == ["cảm ơn"]
    torch.testing.assert_close(found(frames.float(), mask).logits, model(frames.float(), mask).logits)


def test_a_recipe_names_weights_and_what_stays_frozen(tmp_path: Path) -> None:
    torch.manual_seed(1)
    trained = ClipClassifier(library_config("resnet-18"))
    trained.backbone.network.save_pretrained(tmp_path / "resnet")
    recipe = dataclasses.replace(
        PRESETS["crnn-baseline"],
        size=32,
        channels=(8, 12),
        n_blocks=(1, 2),
        pretrained=str(tmp_path / "resnet"),
        frozen=2,
    )
    torch.manual_seed(2)
    model = build_model(recipe, 5)
    for name, weight in trained.backbone.state_dict().items():
        assert model.backbone.state_dict()[name].equal(weight), name
    learning = {name for name, p in model.backbone.named_parameters() if p.requires_grad}
    assert learning
    assert all(name.startswith("network.encoder.stages.1.") for name in learning)
    random = build_model(recipe, 5, pretrained=False).backbone.state_dict()
    assert not random["network.embedder.embedder.convolution.weight"].equal(
        trained.backbone.state_dict()["network.embedder.embedder.convolution.weight"]
    )


def test_rates_fall_from_the_classifier_to_the_stem() -> None:
    model = ClipClassifier(library_config("resnet-18"))
    factors = learning_rate_factors(model, backbone_rate=0.1, layer_decay=0.5)
    assert factors == {
        "backbone.network.embedder.": pytest.approx(0.025),
        "backbone.network.encoder.stages.0.": pytest.approx(0.05),
        "backbone.network.encoder.stages.1.": pytest.approx(0.1),
    }
    assert factor_of("temporal.project.weight", factors) == 1.0
    groups = parameter_groups(model, factors)
    assert [factor for factor, _ in groups] == pytest.approx([1.0, 0.1, 0.05, 0.025])
    assert sum(len(group) for _, group in groups) == len(list(model.parameters()))
    model.freeze(1)
    assert [factor for factor, _ in parameter_groups(model, factors)] == pytest.approx([1.0, 0.1, 0.05])


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"backbone_rate": 0.0}, "backbone_rate must be above 0"),
        ({"layer_decay": 1.5}, "layer_decay must be at most 1"),
        ({"layer_decay": float("nan")}, "layer_decay must be a finite number"),
    ],
)
def test_a_bad_factor_is_named(options: dict[str, float], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        learning_rate_factors(network(), **options)


def test_every_preset_makes_a_configuration() -> None:
    for recipe in PRESETS.values():
        assert config_of(recipe, 24).n_classes == 24
