"""Normalised steps of a sign: what they keep, and what they let go."""

from dataclasses import replace

import numpy as np
import pytest

from coursepkg.projects.sign_language.few_shot import features
from coursepkg.projects.sign_language.few_shot.features import (
    SignSteps,
    active_part,
    active_parts,
    bridge,
    check_landmarks,
    is_at_rest,
    palm_length,
    resample,
    signs_of,
    trimmed,
    wrist_heights,
)
from coursepkg.projects.sign_language.few_shot.generator import draw_words, sign
from coursepkg.projects.sign_language.landmarks.extract import Landmarks


@pytest.fixture(scope="module")
def clip() -> Landmarks:
    """A drawn sign in which both hands are seen."""
    rng = np.random.default_rng(3)
    drawn = sign(rng, draw_words(rng, 40))
    rises = np.array([np.ptp(wrist_heights(drawn.full_body(i))[0], axis=0).max() for i in range(40)])
    best = int((drawn.seen.mean(axis=1).min(axis=1) * (rises > 0.8)).argmax())
    return drawn.clip(best)


def changed(clip: Landmarks, scale: float, move: tuple[float, float]) -> Landmarks:
    """The same clip from another place, by another camera."""
    away = np.array([*move, 0.0])
    body, hands = clip.body * scale + away, clip.hands * scale + away
    return replace(clip, body=body.astype(np.float32), hands=hands.astype(np.float32))


def assert_alike(first: SignSteps, second: SignSteps, tolerance: float = 2e-3) -> None:
    for name in ("hands", "seen", "wrists", "elbows", "face"):
        np.testing.assert_allclose(getattr(first, name), getattr(second, name), atol=tolerance)


def test_place_and_size_in_the_picture_change_nothing(clip: Landmarks) -> None:
    moved = changed(clip, 2.5, (70.0, -30.0))
    for (first, *_), (second, *_) in zip(signs_of(clip), signs_of(moved), strict=True):
        assert_alike(first, second)


def test_time_stretched_evenly_changes_nothing_but_the_seconds(clip: Landmarks) -> None:
    first = features.steps_of(clip.times, clip.body, clip.hands, clip.seen)
    slower = features.steps_of(1.3 * clip.times, clip.body, clip.hands, clip.seen)
    assert slower.seconds == pytest.approx(1.3 * first.seconds)
    np.testing.assert_allclose(first.elbows, slower.elbows, atol=1e-5)


def test_twice_mirrored_is_the_sign_itself(clip: Landmarks) -> None:
    steps = signs_of(clip)[0][0]
    assert_alike(steps.mirrored().mirrored(), steps, 0)
    assert not np.allclose(steps.mirrored().wrists, steps.wrists)


def test_mirrored_landmarks_give_mirrored_steps(clip: Landmarks) -> None:
    flip = np.array([-1.0, 1.0, 1.0], np.float32)
    order = np.arange(33)
    for left in (1, 4, 7, 9, 11, 13, 15, 17, 19, 21, 23):
        right = {1: 4, 4: 1}.get(left, left + 1)
        order[[left, right]] = right, left
    mirrored = replace(
        clip, body=clip.body[:, order] * flip, hands=clip.hands[:, ::-1] * flip, scores=clip.scores[:, ::-1]
    )
    assert_alike(signs_of(mirrored)[0][0], signs_of(clip)[0][0].mirrored())


def test_hands_begin_at_their_wrist_and_have_palms_of_length_one(clip: Landmarks) -> None:
    steps = signs_of(clip)[0][0]
    assert np.abs(steps.hands[:, :, 0]).max() == 0
    palms = np.linalg.norm(steps.hands[:, :, 9], axis=-1)[steps.seen > 0.99]
    assert 0.4 < np.median(palms) < 1.4


def test_a_hand_that_is_never_seen_is_zero(clip: Landmarks) -> None:
    scores, hands = clip.scores.copy(), clip.hands.copy()
    scores[:, 0], hands[:, 0] = 0, np.nan
    steps = signs_of(replace(clip, scores=scores, hands=hands))[0][0]
    assert not steps.hands[:, 0].any()
    assert not steps.seen[:, 0].any()
    assert np.isfinite(steps.hands).all()


def test_frames_without_anybody_do_not_count(clip: Landmarks) -> None:
    body, hands, scores = clip.body.copy(), clip.hands.copy(), clip.scores.copy()
    gone = slice(10, 12)
    body[gone], hands[gone], scores[gone] = np.nan, np.nan, 0
    steps = signs_of(replace(clip, body=body, hands=hands, scores=scores))[0][0]
    whole = signs_of(clip)[0][0]
    assert np.isfinite(steps.wrists).all()
    assert np.abs(steps.elbows - whole.elbows).mean() < 0.05


def test_resample_lies_on_straight_lines_and_skips_what_is_not_valid() -> None:
    times, values = np.array([0.0, 1, 2, 3]), np.array([[0.0], [10], [99], [30]])
    valid = np.array([True, True, False, True])
    found = resample(values, valid, times, np.array([-1, 0, 0.5, 2, 3, 9]))
    assert found[:, 0].tolist() == [0, 0, 5, 20, 30, 30]
    assert resample(values, ~np.ones(4, bool), times, times).tolist() == [[0.0]] * 4
    assert resample(values, np.arange(4) == 1, times, times)[:, 0].tolist() == [10] * 4


def heights_of(right: list[float], left: float = -2.0) -> np.ndarray:
    return np.stack([np.full(len(right), left), np.array(right)], axis=1)


def test_active_part_is_where_a_hand_is_up() -> None:
    heights = heights_of([-2.0] * 5 + [-1, 0, 0, 0, 0, -1] + [-2.0] * 5)
    assert active_part(heights) == (5, 10)
    assert active_part(heights, 0.65) == (6, 9)
    assert active_part(heights_of([-1.0] * 9)) == (0, 8)


def test_two_signs_with_a_rest_between_are_two_parts_and_both_together() -> None:
    up, down = [0.0] * 12, [-2.0] * 12
    heights = heights_of([*down, *up, *down, *up, *down])
    times = np.arange(len(heights)) / 25
    assert active_parts(heights, times) == [(12, 23), (36, 47), (12, 47)]


def test_a_short_dip_is_no_rest_and_a_short_rise_no_sign() -> None:
    up, down = [0.0] * 12, [-2.0] * 12
    times = np.arange(60) / 25
    dip = heights_of([*down, *up, *[-2.0] * 4, *up, *down, *down[:8]])
    assert active_parts(dip, times) == [(12, 39)]
    rise = heights_of([*down, *[0.0] * 5, *down, *up, *down, *down[:7]])
    assert active_parts(rise, times)[0] == (29, 40)


def test_a_part_is_cut_wider_and_closer() -> None:
    heights = heights_of([-2, -1.8, -1.5, -1, 0, 0, 0, 0, -0.9, -1.5, -1.9, -2])
    assert trimmed((3, 8), heights, 0.2) == (2, 9)
    assert trimmed((3, 8), heights, 0.65) == (4, 7)


def test_short_gaps_are_bridged_and_long_ones_are_not() -> None:
    seen, times = np.array([0, 1, 0, 0, 1, 0, 0, 0, 0, 0, 0, 1], bool), np.arange(12) * 0.1
    assert bridge(seen, times).tolist() == [False, True, True, True, True, *[False] * 6, True]


def test_a_palm_that_points_to_the_camera_is_measured_across() -> None:
    hand = np.zeros((1, 21, 3))
    hand[0, 9], hand[0, 5], hand[0, 17] = (0, -0.2, 0), (-0.3, 0, 0), (0.3, 0, 0)
    assert palm_length(hand) == pytest.approx(0.9)
    assert palm_length(np.zeros((0, 21, 3))) == 1
    assert palm_length(np.zeros((2, 21, 3))) == 1e-3


def resting(clip: Landmarks) -> Landmarks:
    still = np.repeat(clip.body[:1], len(clip.times), axis=0)
    still[:, (15, 16), 1] = still[:, (11, 12), 1] + 130
    return replace(clip, body=still)


def test_hands_that_stay_down_are_at_rest(clip: Landmarks) -> None:
    assert is_at_rest(resting(clip))
    assert not is_at_rest(clip)


@pytest.mark.parametrize(
    ("broken", "said"),
    [
        (lambda c: replace(c, body=np.full_like(c.body, np.nan)), "no person is seen"),
        (lambda c: replace(c, scores=np.zeros_like(c.scores)), "no hand is seen in any frame"),
        (
            lambda c: replace(c, body=np.where(np.arange(len(c.times))[:, None, None] < 2, c.body, np.nan)),
            "somebody is seen in 2 frames only",
        ),
        (
            lambda c: replace(c, times=c.times[:3], body=c.body[:3], hands=c.hands[:3], scores=c.scores[:3]),
            "3 frames, and a sign needs at least 4",
        ),
    ],
)
def test_a_clip_that_shows_no_sign_is_named(clip: Landmarks, broken: object, said: str) -> None:
    lacking = broken(replace(clip, name="shop.mp4"))  # type: ignore[operator]
    with pytest.raises(ValueError, match=rf"^shop\.mp4: {said}") as caught:
        check_landmarks(lacking)
    assert "\n" not in str(caught.value)
    with pytest.raises(ValueError, match=r"shop\.mp4"):
        signs_of(lacking)
