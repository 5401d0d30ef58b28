"""The targets of mixed clips are the shares of what is seen."""

from dataclasses import dataclass

import numpy as np
import pytest
import torch
from torch import Tensor

from coursepkg.projects.sign_language.mixing import (
    KINDS,
    MixClips,
    MixConfig,
    Weights,
    apply_weights,
    draw_weights,
    soft_targets,
)


@dataclass(frozen=True)
class Batch:
    frames: Tensor
    mask: Tensor
    targets: Tensor


def chance(number: int) -> np.random.Generator:
    return np.random.Generator(np.random.PCG64([4, number]))


def numbered(clips: int, frames: int = 6, side: int = 8) -> Tensor:
    """Clip i shows the value i everywhere, in its own one-hot channel of width `clips`: (B, T, B, H, W)."""
    return torch.eye(clips)[:, None, :, None, None].expand(clips, frames, clips, side, side).contiguous()


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("alpha", [0.2, 1.0, 4.0])
def test_targets_are_the_shares_of_what_is_seen(kind: str, alpha: float) -> None:
    """With pictures that say which clip they are of, the mean picture is the target."""
    frames = numbered(5)
    mask = torch.ones(5, 6, dtype=torch.bool)
    for number in range(10):
        weights = draw_weights(kind, (5, 6, 8, 8), alpha, chance(number))
        mixed, real, targets = apply_weights(frames, mask, torch.eye(5), weights)
        assert mixed.shape == frames.shape
        assert real.all()
        assert torch.allclose(mixed.mean(dim=(1, 3, 4)), targets, atol=1e-6)
        assert torch.allclose(targets.sum(1), torch.ones(5))


@pytest.mark.parametrize("kind", KINDS)
def test_only_real_frames_are_mixed_and_counted(kind: str) -> None:
    frames = numbered(4)
    lengths = [6, 4, 2, 1]
    mask = torch.arange(6)[None] < torch.tensor(lengths)[:, None]
    for number in range(10):
        weights = draw_weights(kind, (4, 6, 8, 8), 1.0, chance(number))
        mixed, real, targets = apply_weights(frames, mask, torch.eye(4), weights)
        longer = torch.maximum(mask.sum(1), mask.sum(1)[weights.partners])
        assert torch.equal(real.sum(1), longer)
        for i in range(4):
            shown = mixed[i, real[i]].mean(dim=(0, 2, 3))
            assert torch.allclose(shown, targets[i], atol=1e-6)


def test_padding_of_one_clip_shows_the_other_whole() -> None:
    frames = numbered(2, frames=4)
    mask = torch.tensor([[True, True, False, False], [True, True, True, True]])
    weights = Weights(torch.full((2, 4, 1, 1, 1), 0.5), torch.tensor([1, 0]))
    mixed, real, targets = apply_weights(frames, mask, torch.eye(2), weights)
    assert real.all()
    assert torch.allclose(mixed[0, :2], torch.full((2, 2, 8, 8), 0.5))
    assert torch.equal(mixed[0, 2:], frames[1, 2:])
    assert torch.allclose(targets, torch.tensor([[0.25, 0.75], [0.25, 0.75]]))


def test_a_clip_of_padding_alone_keeps_its_target() -> None:
    frames, mask = numbered(2), torch.zeros(2, 6, dtype=torch.bool)
    weights = Weights(torch.full((2, 6, 1, 1, 1), 0.5), torch.tensor([1, 0]))
    mixed, real, targets = apply_weights(frames, mask, torch.eye(2), weights)
    assert not real.any()
    assert torch.equal(mixed, frames)
    assert torch.equal(targets, torch.eye(2))


def test_a_box_is_the_same_in_all_frames_and_a_run_is_whole_frames() -> None:
    frames, mask = numbered(3), torch.ones(3, 6, dtype=torch.bool)
    boxes = runs = 0
    for number in range(20):
        weights = draw_weights("cutmix-space", (3, 6, 8, 8), 1.0, chance(number))
        mixed, *_ = apply_weights(frames, mask, torch.eye(3), weights)
        assert torch.equal(mixed, mixed[:, :1].expand_as(mixed))
        assert set(mixed.unique().tolist()) <= {0.0, 1.0}
        boxes += int((mixed != frames).any())
        weights = draw_weights("cutmix-time", (3, 6, 8, 8), 1.0, chance(number))
        mixed, *_ = apply_weights(frames, mask, torch.eye(3), weights)
        assert torch.equal(mixed, mixed[..., :1, :1].expand_as(mixed))
        taken = (mixed != frames).any(dim=2)[:, :, 0, 0].int()
        assert (taken.diff(dim=1).abs().sum(1) <= 2).all()
        runs += int(taken.any())
    assert min(boxes, runs) > 10


def test_a_blend_in_time_goes_from_one_clip_into_the_other() -> None:
    falls = rises = 0
    for number in range(20):
        places = draw_weights("mixup-time", (4, 16, 8, 8), 2.0, chance(number)).places[:, :, 0, 0, 0]
        steps = places.diff(dim=1)
        assert ((steps <= 0).all(1) | (steps >= 0).all(1)).all()
        falls += int((steps < 0).any(1).sum())
        rises += int((steps > 0).any(1).sum())
    assert min(falls, rises) > 10


def test_a_mixed_batch_belongs_to_its_chance_alone() -> None:
    batch = Batch(
        torch.rand(6, 4, 3, 8, 8), torch.ones(6, 4, dtype=torch.bool), torch.tensor([0, 1, 2, 0, 1, 2])
    )
    mix = MixClips(MixConfig(KINDS), 3)
    first, again, other = (mix(batch, chance(number)) for number in (1, 1, 2))
    assert torch.equal(first.frames, again.frames)
    assert torch.equal(first.targets, again.targets)
    assert not torch.equal(first.frames, other.frames)
    assert first.targets.shape == (6, 3)
    assert torch.equal(batch.targets, torch.tensor([0, 1, 2, 0, 1, 2]))


def test_batches_that_stay_whole_have_soft_targets_too() -> None:
    batch = Batch(torch.rand(2, 4, 3, 8, 8), torch.ones(2, 4, dtype=torch.bool), torch.tensor([2, 0]))
    kept = MixClips(MixConfig(rate=0.0), 3)(batch, chance(1))
    assert torch.equal(kept.frames, batch.frames)
    assert torch.equal(kept.targets, torch.tensor([[0.0, 0.0, 1.0], [1.0, 0.0, 0.0]]))


def test_about_the_rate_of_batches_is_mixed() -> None:
    batch = Batch(torch.rand(8, 2, 3, 4, 4), torch.ones(8, 2, dtype=torch.bool), torch.arange(8))
    mix = MixClips(MixConfig(("mixup",), rate=0.3, alpha=1.0), 8)
    mixed = sum(not torch.equal(mix(batch, chance(n)).frames, batch.frames) for n in range(200))
    assert 40 <= mixed <= 80


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda: MixConfig(()), "--kinds"),
        (lambda: MixConfig(("mix",)), "--kinds"),
        (lambda: MixConfig(rate=1.5), "--rate"),
        (lambda: MixConfig(alpha=0.0), "--alpha"),
        (lambda: MixClips(MixConfig(), 0), "n_classes"),
        (lambda: draw_weights("mix", (1, 1, 1, 1), 1.0, chance(0)), "kind must be one of mixup"),
        (lambda: soft_targets(torch.tensor([3]), 3), "targets must be in 0..2"),
        (lambda: soft_targets(torch.ones(1, 2), 3), "3 shares a clip, got 2"),
    ],
)
def test_bad_arguments_are_named(make, said: str) -> None:  # type: ignore[no-untyped-def]
    with pytest.raises(ValueError, match=said):
        make()
