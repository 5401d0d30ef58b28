"""What networks say of clips: a plain pass, views, ensembles, adjustment; and what does not go together."""

from dataclasses import replace

import numpy as np
import pytest
import torch
from torch.nn import functional as F

from coursepkg.projects.sign_language.corpus import SignCorpus
from coursepkg.projects.sign_language.data.batches import ClipBatches
from coursepkg.projects.sign_language.data.clip import normalise, uniform_frames
from coursepkg.projects.sign_language.inference import predict_clips, views_of
from tests.projects.sign_language.blocks import FAST, network


def plain_pass(model: torch.nn.Module, corpus: SignCorpus, size: int) -> tuple[np.ndarray, np.ndarray]:
    """Probabilities and weights of the test part without any of the package's prediction."""
    batches = ClipBatches(
        corpus.part("test"), corpus.mapping, n_frames=FAST.n_frames, batch_clips=size, shuffle=False
    )
    with torch.no_grad():
        found = [model(batch.frames, batch.mask) for batch in batches.epoch(0)]
    probabilities = torch.cat([one.logits.softmax(dim=1) for one in found])
    return probabilities.numpy(), torch.cat([one.weights for one in found]).numpy()


def test_one_view_of_one_network_is_a_plain_pass(blocks: SignCorpus) -> None:
    model, clips = network(), blocks.part("test")
    said = predict_clips(model, clips, FAST, batch_size=4)
    probabilities, weights = plain_pass(model, blocks, 4)
    assert np.array_equal(said.probabilities, probabilities)
    assert said.weights is not None
    assert np.array_equal(said.weights, weights)
    assert (said.probabilities.dtype, said.weights.dtype) == (np.float32, np.float32)
    assert (said.probabilities.shape, said.weights.shape) == ((6, 3), (6, FAST.n_frames))
    assert said.words(blocks.labels) == [blocks.labels[i] for i in probabilities.argmax(axis=1)]
    in_memory = predict_clips(model, [clips.clip(i) for i in range(6)], FAST, batch_size=4)
    assert np.array_equal(in_memory.probabilities, said.probabilities)
    one_by_one = predict_clips(model, clips, FAST, batch_size=1)
    np.testing.assert_allclose(one_by_one.probabilities, said.probabilities, atol=1e-6)


def test_networks_stay_in_their_mode_and_do_not_drop(blocks: SignCorpus) -> None:
    model = network()
    expected = predict_clips(model, blocks.part("test"), FAST).probabilities
    model.train()
    assert np.array_equal(predict_clips(model, blocks.part("test"), FAST).probabilities, expected)
    assert model.training


def test_an_ensemble_is_the_mean_and_of_one_network_the_network(blocks: SignCorpus) -> None:
    clips, one, other = blocks.part("test"), network(0), network(1)
    alone = [predict_clips(model, clips, FAST) for model in (one, other)]
    twice = predict_clips(one, clips, FAST, models=[one])
    assert np.array_equal(twice.probabilities, alone[0].probabilities)
    both = predict_clips(one, clips, FAST, models=[other])
    mean = (alone[0].probabilities + alone[1].probabilities) / 2
    assert np.array_equal(both.probabilities, mean)
    assert not np.array_equal(both.probabilities, alone[0].probabilities)
    assert both.weights is not None
    np.testing.assert_allclose(both.weights, sum(a.weights for a in alone) / 2, atol=1e-7)


def test_adjustment_is_log_p_less_tau_log_prior(blocks: SignCorpus) -> None:
    model, clips, counts = network(), blocks.part("test"), (50, 9, 1)
    p = predict_clips(model, clips, FAST).probabilities.astype(np.float64)
    found = predict_clips(model, clips, replace(FAST, adjust=0.7), counts=counts).probabilities
    logs = np.log(p) - 0.7 * np.log(np.array(counts) / 60)
    np.testing.assert_allclose(found, np.exp(logs) / np.exp(logs).sum(axis=1, keepdims=True), rtol=1e-4)
    assert (found[:, 2] > p[:, 2]).all()
    assert (found[:, 0] < p[:, 0]).all()


def test_two_views_are_the_mean_of_both_written_out(blocks: SignCorpus) -> None:
    model, clips = network(), blocks.part("test")
    plain = predict_clips(model, clips, FAST)
    later = views_of(2)[1]
    side = round(later.crop * FAST.size)
    at = (FAST.size - side) // 2
    seen = []
    for i in range(len(clips)):
        numbers = uniform_frames(clips.times(i), FAST.n_frames, offset=later.offset)
        frames = normalise(clips.frames(i, numbers))[:, :, at : at + side, at : at + side]
        seen.append(F.interpolate(frames, size=(16, 16), mode="bilinear", antialias=True))
    with torch.no_grad():
        other = model(torch.stack(seen), None).logits.softmax(dim=1).numpy()
    found = predict_clips(model, clips, replace(FAST, views=2))
    np.testing.assert_allclose(found.probabilities, (plain.probabilities + other) / 2, atol=1e-6)
    assert not np.array_equal(found.probabilities, plain.probabilities)
    assert np.array_equal(found.weights, plain.weights)  # those of the clip as it is


def test_views_begin_with_the_clip_as_it_is() -> None:
    views = views_of(9)
    assert views[0] == (0.0, 1.0)
    assert len(set(views_of(5))) == 5
    assert all(0.8 <= view.crop <= 1 and abs(view.offset) < 1 for view in views)
    with pytest.raises(ValueError, match="--views must be an integer of at least 1, got 0"):
        views_of(0)


def test_weights_are_those_of_attention_pooling_alone(blocks: SignCorpus) -> None:
    recipe = replace(FAST, pooling="mean")
    assert predict_clips(network(recipe=recipe), blocks.part("test"), recipe).weights is None


def test_what_does_not_go_together_is_named(blocks: SignCorpus) -> None:
    model, clips = network(), blocks.part("test")
    with pytest.raises(ValueError, match="clips must hold at least one clip, got none"):
        predict_clips(model, [], FAST)
    with pytest.raises(
        ValueError, match="the clips have 16 pixels and the model reads 32; prepare them with --size 32"
    ):
        predict_clips(model, clips, replace(FAST, size=32))
    with pytest.raises(ValueError, match=r"--adjust 1 needs the number of training clips of each word"):
        predict_clips(model, clips, replace(FAST, adjust=1.0))
    with pytest.raises(
        ValueError, match=r"counts must be 3 numbers of at least 1, one a word, got \[4, 0, 1\]"
    ):
        predict_clips(model, clips, replace(FAST, adjust=1.0), counts=(4, 0, 1))
    with pytest.raises(
        ValueError, match="models of an ensemble must have the same number of words, got 3 and 5"
    ):
        predict_clips(model, clips, FAST, models=[network(n_classes=5)])
    larger = replace(FAST, size=32)
    with pytest.raises(
        ValueError, match="models of an ensemble must have the same number of pixels, got 16 and 32"
    ):
        predict_clips(model, clips, FAST, models=[network(recipe=larger)])
