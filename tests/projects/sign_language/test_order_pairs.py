"""Accuracy within pairs of words, and a network that cannot know their order."""

from dataclasses import fields, replace
from types import SimpleNamespace

import numpy as np
import pytest
import torch

from coursepkg.app.ladder import seed_lines
from coursepkg.app.report import mean_interval
from coursepkg.projects.sign_language.ladder import LADDER
from coursepkg.projects.sign_language.model.classifier import ClipClassifier, with_motion
from coursepkg.projects.sign_language.recipe import PRESETS, ModelConfig
from coursepkg.projects.sign_language.scoring import score_pairs

LABELS = ("up", "down", "other")


def test_only_the_two_words_of_the_pair_count() -> None:
    clips = [
        SimpleNamespace(name=f"c{i}", label=label, signer=f"s{i}")
        for i, label in enumerate(("up", "down", "down", "other"))
    ]
    rows = [[0.2, 0.1, 0.7], [0.3, 0.2, 0.5], [0.0, 0.1, 0.9], [1.0, 0.0, 0.0]]
    predicted = SimpleNamespace(probabilities=np.array(rows, dtype=np.float32))
    pairs = (("up", "down"), ("in", "out"))
    found = score_pairs(predicted, clips, LABELS, pairs, n_resamples=0)
    assert found is not None
    assert found.n == 3
    assert found.accuracy.value == pytest.approx(2 / 3)
    assert found.pairs == {("up", "down"): pytest.approx(2 / 3)}
    assert found.as_json()["pairs"] == {"up/down": pytest.approx(2 / 3)}
    assert "up/down" in str(found)
    assert score_pairs(predicted, clips, LABELS, (("in", "out"),)) is None


def test_a_bag_of_frames_does_not_know_their_order() -> None:
    recipe = LADDER.recipe(LADDER.row("bag-of-frames"), PRESETS["tiny"])
    names = ("size", "channels", "n_blocks", "motion", "places", "temporal")
    names = (*names, "n_convolutions", "pooling", "d_model")
    told = {name: getattr(recipe, name) for name in names}
    model = ClipClassifier(ModelConfig(3, n_frames=6, **told)).eval()
    frames = torch.randn(2, 6, 3, recipe.size, recipe.size)
    with torch.no_grad():
        forwards, backwards = (model(one).logits for one in (frames, frames.flip(1)))
    torch.testing.assert_close(forwards, backwards, atol=1e-4, rtol=1e-4)


def test_centred_frames_have_no_mean() -> None:
    frames = torch.randn(2, 4, 3, 5, 5)
    mask = torch.tensor([[True] * 4, [True, True, False, False]])
    shown = with_motion(frames, mask, "centred")
    assert shown.shape == frames.shape
    torch.testing.assert_close(shown[1, :2].mean(0), torch.zeros(3, 5, 5), atol=1e-6, rtol=0)


def test_a_difference_of_seeds_whose_interval_holds_0_is_undecided() -> None:
    def row(name: str, seed: int, value: float) -> dict:
        return {"row": name, "seed": seed, "scores": {"macro_f1": {"value": value}}}

    values = {"lstm-last": (0.5, 0.6, 0.4), "improved": (0.7, 0.8, 0.61), "transformer": (0.6, 0.55, 0.5)}
    rows = [row(name, seed, v) for name, some in values.items() for seed, v in enumerate(some)]
    first, improved, transformer = seed_lines([*rows, row("flip", 0, 0.5)], LADDER.first)
    assert first.startswith("lstm-last: macro-F1 over 3 seeds 0.5000 [")
    assert "to lstm-last +0.2033" in improved
    assert "undecided" not in improved
    assert transformer.endswith("undecided")
    middle, half = mean_interval((1.0, 2.0, 3.0))
    assert middle == 2.0
    assert half == pytest.approx(4.303 / 3**0.5)


@pytest.mark.parametrize("preset", ["crnn-baseline", "report"])
def test_the_presets_of_the_source_take_112_pixels(preset: str) -> None:
    pytest.importorskip("transformers")
    recipe = replace(PRESETS[preset], size=112, pretrained="")
    told = {one.name: getattr(recipe, one.name) for one in fields(ModelConfig)[1:]}
    model = ClipClassifier(ModelConfig(24, **told)).eval()
    with torch.no_grad():
        assert model(torch.zeros(1, 2, 3, 112, 112)).logits.shape == (1, 24)
