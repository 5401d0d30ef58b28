"""Changes of landmarks: one draw a clip, mirrored as steps are, nothing of a clip without anybody."""

import numpy as np
import pytest
import torch

from coursepkg.projects.sign_language.few_shot.embedding import N_FEATURES, step_features
from coursepkg.projects.sign_language.few_shot.features import steps_of
from coursepkg.projects.sign_language.few_shot.generator import draw_words, sign
from coursepkg.projects.sign_language.landmarks.augmentation import (
    PARTS,
    LandmarkAugmentation,
    LandmarkConfig,
    augmented,
    mirrored,
    turned_in_space,
)
from coursepkg.projects.sign_language.mixing import NO_CHANGE, AugmentSettings, batch_steps


@pytest.fixture(scope="module")
def signs() -> list:
    rng = np.random.default_rng(5)
    drawn = [sign(rng, draw_words(rng, 3)).clip(i) for i in range(3)]
    return [steps_of(one.times, one.body, one.hands, one.seen) for one in drawn]


def test_mirrored_numbers_are_those_of_mirrored_steps(signs: list) -> None:
    rows = torch.from_numpy(np.stack([step_features(one) for one in signs]))
    turned = np.stack([step_features(one.mirrored()) for one in signs])
    np.testing.assert_array_equal(mirrored(rows).numpy(), turned)
    assert mirrored(mirrored(rows)).equal(rows)
    assert sum(PARTS) == N_FEATURES


def test_a_draw_decides_all_and_only_its_own_clip(signs: list) -> None:
    change, numbers = LandmarkAugmentation(LandmarkConfig()), step_features(signs[0])
    before = numbers.copy()
    one, again, other = (change(numbers, np.random.default_rng(seed)) for seed in (1, 1, 2))
    np.testing.assert_array_equal(one, again)
    assert not np.array_equal(one, other)
    np.testing.assert_array_equal(numbers, before)
    assert (one.shape, one.dtype) == (numbers.shape, np.float32)
    assert np.isfinite(one).all()


def test_arms_turn_by_at_most_the_rotation(signs: list) -> None:
    rows = torch.from_numpy(step_features(signs[0]))[None].repeat(400, 1, 1)
    turns = []
    for angle in (0.0, 0.5):
        found = augmented(rows, torch.Generator().manual_seed(0), torch.full((400,), angle))
        wrists = found.split(PARTS, dim=2)[2].unflatten(2, (2, 2))
        steps = (wrists[:, -1, 0] - wrists[:, 12, 0]).mean(0)
        turns.append(torch.atan2(steps[1], steps[0]))
    apart = (turns[1] - turns[0] + torch.pi) % (2 * torch.pi) - torch.pi
    assert apart.item() == pytest.approx(0.5, abs=0.05)


def test_hands_keep_their_size_while_they_turn() -> None:
    hands = torch.randn(2, 4, 2, 20, 3)
    turned = turned_in_space(hands, torch.randn(2, 2, 3))
    torch.testing.assert_close(turned.norm(dim=-1), hands.norm(dim=-1))
    assert turned_in_space(hands, torch.zeros(2, 2, 3)).equal(hands)


def test_nothing_is_made_up_where_nobody_is_found() -> None:
    zeros = np.zeros((6, N_FEATURES), np.float32)
    change = LandmarkAugmentation(LandmarkConfig(rotation=5.0, flip=1.0))
    assert not change(zeros, np.random.default_rng(0)).any()


def test_flip_alone_mirrors_and_no_more(signs: list) -> None:
    numbers = step_features(signs[0])
    change = LandmarkAugmentation(LandmarkConfig(rotation=0.0, flip=1.0))
    found = change(numbers, np.random.default_rng(0))
    np.testing.assert_array_equal(found, mirrored(torch.from_numpy(numbers)).numpy())


def test_a_recipe_chooses_the_changes() -> None:
    assert not any(batch_steps(NO_CHANGE, 3, of_landmarks=True).values())
    steps = batch_steps(AugmentSettings(rotation=4.0), 3, of_landmarks=True)
    assert steps["change_frames"] == LandmarkAugmentation(LandmarkConfig(4.0, 0.0))
    assert steps["change_strong"] == LandmarkAugmentation(LandmarkConfig(8.0, 0.0))
    plain = AugmentSettings(crop=0.8, colour=0.3, rotation=0.0)
    assert batch_steps(plain, 3, of_landmarks=True)["change_frames"] is None
    with pytest.raises(ValueError, match=r"--mix cutmix-space .* choose another --mix"):
        batch_steps(AugmentSettings(mix="cutmix-space"), 3, of_landmarks=True)
