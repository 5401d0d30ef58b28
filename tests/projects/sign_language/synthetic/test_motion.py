"""The course of the hands: rest at both ends, words that tell themselves apart, and hands that mirror each other."""

import dataclasses

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from coursepkg.projects.sign_language.synthetic.motion import (
    LEAST_REST,
    REST,
    SHAPES,
    Pose,
    draw_timing,
    make_pose,
)
from coursepkg.projects.sign_language.synthetic.signer import WORDS, Signer, make_signer

NAMES = list(WORDS)


def _rng(number: int) -> np.random.Generator:
    return np.random.Generator(np.random.PCG64(number))


def _pose(word: str, signer: Signer, number: int, n_frames: int = 30) -> Pose:
    rng = _rng(number)
    return make_pose(WORDS[word], signer, draw_timing(signer, rng), n_frames, rng)


@given(
    word=st.sampled_from(NAMES),
    signer=st.integers(0, 60),
    number=st.integers(0, 10_000),
    n_frames=st.integers(6, 60),
)
def test_the_last_frames_are_at_rest(word: str, signer: int, number: int, n_frames: int) -> None:
    pose = _pose(word, make_signer(0, signer), number, n_frames)
    n_rest = int(LEAST_REST * (n_frames - 1))
    assert n_rest >= 1 or n_frames < 7
    for hand in (pose.strong, pose.weak):
        np.testing.assert_allclose(hand.palm[0], REST, atol=1e-9)
        np.testing.assert_allclose(hand.palm[n_frames - n_rest :], np.tile(REST, (n_rest, 1)), atol=1e-9)
        np.testing.assert_allclose(np.abs(hand.degrees[n_frames - n_rest :]), 180)
        np.testing.assert_allclose(hand.facing[n_frames - n_rest :], -1)
        np.testing.assert_allclose(
            hand.fingers[n_frames - n_rest :], np.tile(SHAPES["relaxed"], (n_rest, 1, 1))
        )
        assert np.isfinite(hand.palm).all()
    assert (pose.lift[n_frames - n_rest :] == 0).all()
    assert ((pose.lift >= 0) & (pose.lift <= 1)).all()


@given(word=st.sampled_from(NAMES), number=st.integers(0, 10_000))
def test_when_the_hands_rise_does_not_tell_the_word(word: str, number: int) -> None:
    signer = make_signer(0, number % 16)
    np.testing.assert_array_equal(_pose(word, signer, number).lift, _pose(NAMES[0], signer, number).lift)


def test_phases_come_in_order_and_fast_signers_rest_longer() -> None:
    slow = dataclasses.replace(make_signer(0, 0), speed=1.0)
    fast = dataclasses.replace(slow, speed=1.3)
    for number in range(50):
        first, second = draw_timing(slow, _rng(number)), draw_timing(fast, _rng(number))
        for one in (first, second):
            assert 0 < one.begin < one.signing < one.signed < one.end <= 1 - LEAST_REST
        assert second.end < first.end


def _seen(pose: Pose) -> np.ndarray:
    """What an eye sees of the word: both hands at 16 moments at which they are raised."""
    raised = np.flatnonzero(pose.lift > 0.5)
    moments = raised[np.linspace(0, len(raised) - 1, 16).round().astype(int)]
    parts = []
    for hand in (pose.strong, pose.weak):
        angle = np.radians(hand.degrees[moments])[:, None]
        parts += [hand.palm[moments], 0.5 * np.cos(angle), 0.5 * np.sin(angle), hand.fingers[moments][..., 1]]
    return np.concatenate(parts, axis=1).ravel()


def test_the_motion_tells_the_word_across_people() -> None:
    # Directions of the world are left out: seen from a left-handed signer's own side they are each other.
    words = [word for word in NAMES if not WORDS[word].fixed_direction]
    known = np.stack([_seen(_pose(word, make_signer(0, n), n)) for n in range(6) for word in words])
    asked = np.stack([_seen(_pose(word, make_signer(1, n), 50 + n)) for n in range(6) for word in words])
    nearest = ((asked[:, None] - known) ** 2).mean(axis=-1).argmin(axis=1)
    right = np.arange(len(asked)) % len(words) == nearest % len(words)
    assert right.mean() > 0.97


def test_a_tap_touches_its_place_and_comes_back() -> None:
    signer = dataclasses.replace(make_signer(0, 0), habit=(0.0, 0.0), rhythm=1.0, amplitude=1.0)
    sign = WORDS["Bố"]
    pose = _pose("Bố", signer, 1, 400)
    away = np.linalg.norm(pose.strong.palm - np.array(sign.place), axis=1)
    inside = (away[1:-1] < away[:-2]) & (away[1:-1] <= away[2:]) & (away[1:-1] < 0.2)
    assert inside.sum() == sign.times


def test_a_mirrored_hand_does_the_same_and_one_in_turn_the_opposite() -> None:
    signer = make_signer(0, 3)
    mirrored = _pose("Nhà", signer, 5)
    # Each hand has its own small error of place.
    assert np.abs(mirrored.strong.palm - mirrored.weak.palm).max() < 0.2
    np.testing.assert_allclose(mirrored.strong.degrees, mirrored.weak.degrees)
    in_turn = _pose("Xe đạp", signer, 5, 200)
    signing = in_turn.lift == 1
    heights = np.stack([in_turn.strong.palm[signing, 1], in_turn.weak.palm[signing, 1]])
    assert np.corrcoef(heights)[0, 1] < -0.99
    single = _pose("Tôi", signer, 5)
    np.testing.assert_array_equal(single.weak.palm, np.tile(REST, (30, 1)))
    base = _pose("Học", signer, 5)
    assert np.ptp(base.weak.palm[base.lift == 1], axis=0).max() < 1e-9


@pytest.mark.parametrize(("word", "sense"), [("Bên phải", 1), ("Bên trái", -1)])
def test_a_direction_of_the_world_is_the_same_for_both_hands(word: str, sense: int) -> None:
    right = dataclasses.replace(make_signer(0, 0), left_handed=False)
    left = dataclasses.replace(right, left_handed=True)
    for signer, outwards in ((right, 1), (left, -1)):
        pose = _pose(word, signer, 2, 200)
        signing = np.flatnonzero(pose.lift == 1)
        gone = pose.strong.palm[signing[-1]] - pose.strong.palm[signing[0]]
        # Outwards is to the right for the right hand and to the left for the left one.
        assert gone[0] * outwards * sense > 0.5


def test_the_side_of_the_hand_is_that_of_the_word() -> None:
    signer = make_signer(0, 0)
    for word, sense in (("Không", 1), ("Tôi", -1)):
        pose = _pose(word, signer, 1)
        np.testing.assert_allclose(pose.strong.facing[pose.lift == 1], sense)


def test_larger_amplitude_leads_further() -> None:
    small = dataclasses.replace(make_signer(0, 0), amplitude=0.8)
    large = dataclasses.replace(small, amplitude=1.2)
    spans = [np.ptp(_pose("Không", one, 1, 200).strong.palm[:, 0]) for one in (small, large)]
    assert spans[1] > spans[0]
