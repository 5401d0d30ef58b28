"""The harder set: pairs that differ in order alone, moving cameras, varied people."""

import dataclasses
import hashlib
import json
from dataclasses import asdict, replace

import numpy as np
import pytest

from coursepkg.projects.sign_language.corpora import FULL, HARD, TINY, order_pairs
from coursepkg.projects.sign_language.synthetic.clips import (
    clip_counts,
    clip_pose,
    draw_clip,
    plan_clips,
)
from coursepkg.projects.sign_language.synthetic.motion import Timing, make_pose
from coursepkg.projects.sign_language.synthetic.room import draw_camera_move
from coursepkg.projects.sign_language.synthetic.signer import (
    ORDER_PAIRS,
    PAIR_WORDS,
    WORDS,
    SignersConfig,
    make_signer,
)

NEW = ("order_pairs", "moving_camera", "varied_people")


@pytest.mark.parametrize("pair", ORDER_PAIRS)
def test_the_second_word_of_a_pair_has_the_frames_of_the_first_backwards(
    pair: tuple[str, str],
) -> None:
    # With as much rest before as after, the frames are the very same.
    timing, signer = Timing(0.1, 0.25, 0.75, 0.9), make_signer(0, 3, HARD.known)
    first, second = (
        make_pose(PAIR_WORDS[word], signer, timing, 41, np.random.default_rng(0)) for word in pair
    )
    for hand in ("strong", "weak"):
        for field in dataclasses.fields(getattr(first, hand)):
            one, other = (getattr(getattr(pose, hand), field.name) for pose in (first, second))
            np.testing.assert_allclose(one, other[::-1], atol=1e-9)
    np.testing.assert_allclose(first.lift, second.lift[::-1], atol=1e-9)
    assert not np.allclose(first.strong.palm, second.strong.palm, atol=0.1)


def test_older_sets_keep_their_words_names_and_people() -> None:
    assert not set(WORDS) & set(PAIR_WORDS)
    for config in (FULL.known, FULL.unseen, TINY.known, TINY.unseen):
        assert config.described() == {k: v for k, v in asdict(config).items() if k not in NEW}
        assert list(config.vocabulary) == list(WORDS)[: config.words]
    older = {k: v for k, v in asdict(SignersConfig()).items() if k not in NEW}
    digest = hashlib.sha256(json.dumps([1, older]).encode()).hexdigest()
    named = hashlib.sha256(json.dumps([1, SignersConfig().described()]).encode()).hexdigest()
    assert named == digest
    assert order_pairs("signers") == order_pairs("signs") == ()


def test_the_hard_set_has_48_people_of_whom_one_in_six_is_left_handed() -> None:
    people = {
        (seed, clip.signer)
        for seed, config in ((0, HARD.known), (1, HARD.unseen))
        for clip in plan_clips(seed, config)
    }
    left = sum(make_signer(*one, HARD.known).left_handed for one in people)
    assert (len(people), left) == (48, 7)
    counts = clip_counts(HARD.known)
    assert len(counts) == 24
    assert max(counts.values()) == 48
    assert min(counts.values()) == 8
    for first, second in order_pairs("signers-hard"):
        assert abs(counts[first] - counts[second]) <= 4
    assert set(clip_counts(HARD.unseen).values()) == {16}


def test_varied_people_keep_their_looks_and_move_otherwise() -> None:
    plain, varied = (make_signer(0, 4, SignersConfig(varied_people=value)) for value in (False, True))
    moves = ("speed", "amplitude", "rhythm", "habit")
    same = {name: getattr(plain, name) for name in moves}
    assert replace(varied, **same) == plain
    assert all(getattr(varied, name) != value for name, value in same.items())


def test_a_moving_camera_moves_the_wall_and_the_signer() -> None:
    config = SignersConfig(size=64, order_pairs=1)
    still, moved = (
        draw_clip("Cho", 0, 0, 1, replace(config, moving_camera=value)).frames.astype(float)
        for value in (False, True)
    )
    assert still.shape == moved.shape
    # The upper corners show the wall alone.
    changes = [np.abs(one[0, :12, :12] - one[-1, :12, :12]).mean() for one in (still, moved)]
    assert changes[0] < 12
    again = draw_clip("Cho", 0, 0, 1, replace(config, moving_camera=True)).frames
    np.testing.assert_array_equal(again, moved)
    move = draw_camera_move(20, np.random.default_rng(0))
    assert np.abs(move.shift).max() < 0.12
    assert move.zoom.min() >= 0.9
    assert move.zoom.max() <= 1.1
    # A point and the wall behind it move alike: the middle of the picture goes by shift.
    middle = move.moved(np.full((20, 1, 2), 32.0), 64)[:, 0]
    np.testing.assert_allclose(middle, 32 + 64 * move.shift)


def test_there_are_six_pairs_at_most() -> None:
    with pytest.raises(ValueError, match="--order-pairs"):
        SignersConfig(order_pairs=7)


def _features(word: str, number: int) -> tuple[np.ndarray, np.ndarray]:
    """Of a clip, what a bag of frames can know, and what order adds."""
    pose = clip_pose(word, number // 2 % 32, 0, number, HARD.known)
    hand = pose.strong
    frames = np.concatenate(
        [hand.palm, hand.degrees[:, None] / 90, hand.fingers[..., 0] / 30, pose.lift[:, None]],
        axis=1,
    )
    spread = np.quantile(frames, (0, 0.25, 0.5, 0.75, 1), axis=0).ravel()
    bag = np.concatenate([frames.mean(0), (frames**2).mean(0), spread])
    third = len(frames) // 3
    return bag, frames[:third].mean(0) - frames[-third:].mean(0)


@pytest.mark.parametrize("pair", ORDER_PAIRS)
def test_a_bag_of_frames_is_at_chance_within_a_pair(pair: tuple[str, str]) -> None:
    # The two words of a pair have clips of their own; nothing but the word may tell them apart.
    drawn = [(_features(pair[i % 2], i), i % 2) for i in range(900)]
    truths = np.array([2 * truth - 1 for _, truth in drawn], float)
    right = []
    for kind in (0, 1):
        x = np.array([found[kind] for found, _ in drawn])
        x = np.column_stack([(x - x.mean(0)) / (x.std(0) + 1e-9), np.ones(len(x))])
        known, unseen = slice(0, 450), slice(450, None)
        ridge = x[known].T @ x[known] + 3 * np.eye(x.shape[1])
        weights = np.linalg.solve(ridge, x[known].T @ truths[known])
        right.append(float((np.sign(x[unseen] @ weights) == truths[unseen]).mean()))
    assert 0.42 < right[0] < 0.58, "chance, give or take three deviations"
    assert right[1] > 0.8
