"""Made-up signs: reproducible, within reach, and alike for one word."""

import numpy as np
import pytest

from coursepkg.projects.sign_language.few_shot.generator import JOINTS, N_FRAMES, draw_words, sign


def test_equal_seeds_draw_equal_signs() -> None:
    first, second = (
        sign(rng, draw_words(rng, 5)) for rng in (np.random.default_rng(4), np.random.default_rng(4))
    )
    for name in ("times", "body", "hands", "seen"):
        assert np.array_equal(getattr(first, name), getattr(second, name))


def test_shapes_and_finite_numbers() -> None:
    rng = np.random.default_rng(0)
    drawn = sign(rng, draw_words(rng, 7).repeated(3))
    assert drawn.body.shape == (21, N_FRAMES, len(JOINTS), 3)
    assert drawn.hands.shape == (21, N_FRAMES, 2, 21, 3)
    assert drawn.seen.shape == (21, N_FRAMES, 2)
    assert np.isfinite(drawn.body).all()
    assert np.isfinite(drawn.hands).all()
    assert (np.diff(drawn.times, axis=1) > 0).all()


def test_arms_are_no_longer_than_arms() -> None:
    rng = np.random.default_rng(1)
    body = sign(rng, draw_words(rng, 60)).body
    for shoulder, elbow in ((3, 5), (4, 6)):
        upper = np.linalg.norm(body[:, :, elbow, :2] - body[:, :, shoulder, :2], axis=-1)
        assert np.quantile(upper, 0.99) < 1.3


def test_a_hand_hangs_on_its_arm() -> None:
    rng = np.random.default_rng(2)
    drawn = sign(rng, draw_words(rng, 60))
    apart = np.linalg.norm(drawn.hands[:, :, :, 0, :2] - drawn.body[:, :, 7:9, :2], axis=-1)
    assert np.median(apart) < 0.12


def test_two_people_signing_one_word_are_nearer_than_two_words() -> None:
    rng = np.random.default_rng(3)
    hands = sign(rng, draw_words(rng, 200).repeated(2)).hands[:, :, 1]
    shapes = hands - hands[:, :, :1]
    first, second = shapes[::2], shapes[1::2]
    same = np.abs(first - second).mean()
    other = np.abs(first - np.roll(second, 1, axis=0)).mean()
    assert same < 0.85 * other


@pytest.mark.parametrize("share", [0.0, 1.0])
def test_left_handed_people_sign_with_the_left_hand(share: float) -> None:
    rng = np.random.default_rng(5)
    words = draw_words(rng, 300)
    moves = np.ptp(sign(rng, words, left_handed=share).body[:, :, 7:9, 1], axis=1)
    one_handed = words.two == 0
    busier = moves[one_handed].mean(axis=0).argmax()
    assert busier == (0 if share else 1)


def test_a_clip_is_as_landmarks_of_a_film_are() -> None:
    rng = np.random.default_rng(6)
    drawn = sign(rng, draw_words(rng, 3))
    clip = drawn.clip(1)
    assert clip.body.shape == (N_FRAMES, 33, 3)
    assert clip.hands.dtype == np.float32
    assert np.array_equal(clip.seen, drawn.seen[1])
    assert np.array_equal(np.isfinite(clip.hands[:, :, 0, 0]), drawn.seen[1])
