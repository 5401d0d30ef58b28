"""Figures: arms of one length whose elbows never leap, hands where the word says, and mirror images for left hands."""

import dataclasses

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from coursepkg.projects.sign_language.synthetic.figure import FOREARM, UPPER_ARM, bend_arm, figure
from coursepkg.projects.sign_language.synthetic.motion import Pose, draw_timing, make_pose
from coursepkg.projects.sign_language.synthetic.signer import WORDS, Signer, make_signer

NAMES = list(WORDS)


def _pose(word: str, signer: Signer, n_frames: int) -> Pose:
    rng = np.random.Generator(np.random.PCG64(1))
    return make_pose(WORDS[word], signer, draw_timing(signer, rng), n_frames, rng)


@given(word=st.sampled_from(NAMES), number=st.integers(0, 40))
def test_no_arm_is_longer_than_its_bones(word: str, number: int) -> None:
    signer = make_signer(0, number)
    pose = _pose(word, signer, 60)
    for track in (pose.strong, pose.weak):
        arm = bend_arm(track, signer)
        upper = np.linalg.norm(arm.elbow - arm.shoulder, axis=1)
        lower = np.linalg.norm(arm.wrist - arm.elbow, axis=1)
        assert upper.max() <= UPPER_ARM * signer.arms * 1.001
        assert lower.max() <= FOREARM * signer.arms * 1.001
        # The hand stays at the wrist: its palm is as far from it in every frame.
        gap = np.linalg.norm(arm.palm - arm.wrist, axis=1)
        np.testing.assert_allclose(gap, 0.3 * signer.hand)


@pytest.mark.parametrize("word", NAMES)
def test_elbows_and_wrists_never_leap(word: str) -> None:
    signer = make_signer(0, 1)
    pose = _pose(word, signer, 2000)
    for track in (pose.strong, pose.weak):
        arm = bend_arm(track, signer)
        for joint in (arm.elbow, arm.wrist):
            assert np.linalg.norm(np.diff(joint, axis=0), axis=1).max() < 0.05


@pytest.mark.parametrize("word", NAMES)
def test_places_are_within_reach(word: str) -> None:
    signer = make_signer(0, 2)
    pose = _pose(word, signer, 60)
    arm = bend_arm(pose.strong, signer)
    signing = pose.lift > 0.99
    # An arm that is drawn back to its length would blur where words differ.
    assert np.abs(arm.palm - pose.strong.palm)[signing].max() < 0.05


def test_a_left_handed_signer_is_the_mirror_image() -> None:
    right = dataclasses.replace(make_signer(0, 0), left_handed=False, pattern="plain", hair_style="short")
    left = dataclasses.replace(right, left_handed=True)
    for word in ("Xin chào", "Học", "Ngủ"):
        first, second = (figure(_pose(word, one, 20), one) for one in (right, left))
        assert len(first) == len(second)
        for part, other in zip(first, second, strict=True):
            assert part.colour == other.colour or part.colour in {p.colour for p in second}
        # Hands and arms are the last parts; each is where its mirror image was.
        for part, other in zip(first[-20:], second[-20:], strict=True):
            low, high = part.points.min(axis=1), part.points.max(axis=1)
            np.testing.assert_allclose(other.points[..., 0].max(axis=1), -low[:, 0], atol=1e-9)
            np.testing.assert_allclose(other.points[..., 0].min(axis=1), -high[:, 0], atol=1e-9)
            np.testing.assert_allclose(other.points[..., 1].max(axis=1), high[:, 1], atol=1e-9)


def test_the_camera_sees_the_right_hand_on_the_left() -> None:
    signer = dataclasses.replace(make_signer(0, 0), left_handed=False)
    parts = figure(_pose("Không", signer, 30), signer)
    middle = parts[-1].points[15].mean(axis=0)
    assert middle[0] < -0.3


@given(number=st.integers(0, 200), word=st.sampled_from(NAMES))
def test_every_outline_is_finite_and_has_an_area(number: int, word: str) -> None:
    signer = make_signer(2, number)
    for part in figure(_pose(word, signer, 8), signer):
        assert part.points.shape[0] == 8
        assert part.points.shape[1] >= 3
        assert np.isfinite(part.points).all()
        assert (np.ptp(part.points, axis=1) > 0).all()
        assert all(0 <= channel <= 255 for channel in part.colour)


def test_the_head_leans_to_the_signing_hand() -> None:
    signer = dataclasses.replace(make_signer(0, 0), left_handed=False)
    straight, leaning = (figure(_pose(word, signer, 30), signer) for word in ("Xin chào", "Ngủ"))
    # The same parts: the eyes of the first are at the same height, those of the second are not.
    heights = []
    for parts in (straight, leaning):
        eyes = [part.points[15].mean(axis=0) for part in parts if part.colour == (240, 240, 236)]
        assert len(eyes) == 2
        heights.append(sorted(eyes, key=lambda point: float(point[0])))
    assert heights[0][0][1] == pytest.approx(heights[0][1][1])
    assert heights[1][0][1] < heights[1][1][1] or heights[1][0][1] > heights[1][1][1]
    # A right-handed signer's hand is on the left of the picture, and so the left eye sinks.
    assert heights[1][0][1] > heights[1][1][1]
