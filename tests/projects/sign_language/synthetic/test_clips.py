"""Clips: functions of their arguments in any process; the word decides the motion and nothing else."""

import hashlib
import subprocess
import sys

import numpy as np
import pytest

from coursepkg.projects.sign_language.synthetic.clips import (
    BRIGHTER,
    PlannedClip,
    clip_gap,
    clip_length,
    clip_pose,
    draw_clip,
    draw_planned,
)
from coursepkg.projects.sign_language.synthetic.signer import WORDS, SignersConfig

SMALL = SignersConfig(size=32)


def _sha256(frames: np.ndarray) -> str:
    return hashlib.sha256(frames.tobytes()).hexdigest()


def test_a_clip_says_what_it_is() -> None:
    clip = draw_clip("Bố", 3, 2, 17, SignersConfig(size=64))
    assert clip.frames.shape[1:] == (64, 64, 3)
    assert clip.frames.dtype == np.uint8
    assert 16 <= len(clip.frames) <= 30
    assert (clip.label, clip.signer, clip.name) == ("Bố", "s2-03", "synthetic:2:17")
    np.testing.assert_allclose(np.diff(clip.times), 1 / 12)


def test_a_clip_is_the_same_in_another_process() -> None:
    draw_clip("Mẹ", 1, 0, 4, SMALL)
    here = _sha256(draw_clip("Ăn", 2, 0, 5, SMALL, fault="solid").frames)
    program = (
        "import hashlib; from coursepkg.projects.sign_language.synthetic.clips import draw_clip; "
        "from coursepkg.projects.sign_language.synthetic.signer import SignersConfig; "
        "clip = draw_clip('Ăn', 2, 0, 5, SignersConfig(size=32), fault='solid'); "
        "print(hashlib.sha256(clip.frames.tobytes()).hexdigest())"
    )
    there = subprocess.run(
        [sys.executable, "-X", "utf8", "-c", program], check=True, capture_output=True, text=True
    ).stdout
    assert there.strip() == here


def test_other_numbers_and_seeds_give_other_clips() -> None:
    clips = [draw_clip("Có", 0, seed, number, SMALL) for seed in (0, 1) for number in (0, 1)]
    assert len({_sha256(clip.frames) for clip in clips}) == 4


def test_the_word_decides_the_motion_and_nothing_else() -> None:
    for number in range(2):
        first = draw_clip("Tôi", number, 0, number, SMALL).frames
        for word in WORDS:
            frames = draw_clip(word, number, 0, number, SMALL).frames
            assert len(frames) == len(first)
            # Room, light, grain and the hanging hands at both ends are those of any other word.
            np.testing.assert_array_equal(frames[0], first[0])
            np.testing.assert_array_equal(frames[-3:], first[-3:])
            # The middle is another one, by more than a corner of a finger.
            changed = (frames != first).any(axis=-1).sum(axis=(1, 2))
            assert (np.sort(changed)[-5:] > 20).all() == (word != "Tôi")


def test_a_living_body_is_never_a_frozen_frame() -> None:
    for number, word in enumerate(("Ăn", "Có", "Mưa")):
        frames = draw_clip(word, number, 1, number, SignersConfig(size=64)).frames
        changed = (frames[1:] != frames[:-1]).any(axis=-1).mean(axis=(1, 2))
        assert changed.min() > 0.2


def test_lengths_are_mostly_the_longest() -> None:
    lengths = np.array([clip_length(0, number, SignersConfig()) for number in range(600)])
    assert set(lengths) == set(range(16, 31))
    assert (lengths == 30).mean() == pytest.approx(0.7 + 0.3 / 15, abs=0.05)


@pytest.mark.parametrize("number", range(4))
def test_faults_are_where_they_are_said_to_be(number: int) -> None:
    gap = clip_gap(0, number, SMALL, "solid")
    frames = draw_clip("Tôi", 1, 0, number, SMALL, fault="solid").frames
    is_solid = (frames == frames[:, :1, :1]).all(axis=(1, 2, 3))
    assert np.flatnonzero(is_solid).tolist() == list(range(gap.begin, gap.begin + gap.length))
    gap = clip_gap(0, number, SMALL, "frozen")
    frames = draw_clip("Tôi", 1, 0, number, SMALL, fault="frozen").frames
    stands = (frames[1:] == frames[:-1]).all(axis=(1, 2, 3))
    assert np.flatnonzero(stands).tolist() == list(range(gap.begin - 1, gap.begin - 1 + gap.length))
    assert clip_gap(0, number, SMALL, "").length == clip_gap(0, number, SMALL, "duplicate").length == 0


def test_the_pose_is_that_of_the_frames() -> None:
    config = SignersConfig(size=64)
    pose, clip = clip_pose("Không", 2, 0, 9, config), draw_clip("Không", 2, 0, 9, config)
    assert len(pose.lift) == len(clip.frames)
    change = np.abs(clip.frames.astype(float) - clip.frames[0]).mean(axis=(1, 2, 3))
    assert change[pose.lift > 0.9].min() > change[1:][pose.lift[1:] == 0].max()


def test_copies_are_exact_or_from_a_second_hand() -> None:
    original = draw_planned(PlannedClip("Ăn", 1, 3, "", 3), 0, SMALL)
    exact = draw_planned(PlannedClip("Ăn", 1, 8, "duplicate", 3), 0, SMALL)
    second = draw_planned(PlannedClip("Ăn", 1, 9, "duplicate", 3), 0, SMALL)
    np.testing.assert_array_equal(exact.frames, original.frames)
    brighter = second.frames.astype(int) - original.frames
    assert brighter.max() == BRIGHTER
    assert brighter.min() >= 0
    assert [one.name for one in (original, exact, second)] == [
        "synthetic:0:3",
        "synthetic:0:8",
        "synthetic:0:9",
    ]


def test_unknown_words_and_negative_numbers() -> None:
    with pytest.raises(ValueError, match="no generated signer knows the word 'Chó'; choose from Xin chào, "):
        draw_clip("Chó", 0, 0, 0)
    with pytest.raises(ValueError, match="number must be an integer of at least 0"):
        draw_clip("Ăn", 0, 0, -1)
    with pytest.raises(ValueError, match="seed must be an integer of at least 0"):
        draw_clip("Ăn", 0, -1, 0)
