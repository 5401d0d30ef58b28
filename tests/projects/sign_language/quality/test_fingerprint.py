"""Copies are found, whatever was done to them, and clips of one signer before one wall are told apart."""

import numpy as np
import pytest

from coursepkg.projects.sign_language.data.clip import shrink
from coursepkg.projects.sign_language.quality.survey import (
    MOMENTS,
    Fingerprint,
    copies,
    distances,
    find_broken,
    fingerprint,
)
from coursepkg.projects.sign_language.recipe import SAME
from tests.projects.sign_language.quality.scenes import scene, times_of


def mark(frames: np.ndarray, times: np.ndarray | None = None) -> Fingerprint:
    thumbs = shrink(frames)
    times = times_of(len(frames)) if times is None else times
    return fingerprint(thumbs, times, find_broken(thumbs, times).numbers)


def brighter(frames: np.ndarray) -> np.ndarray:
    return np.clip(frames.astype(int) + 14, 0, 255).astype(np.uint8)


def flatter(frames: np.ndarray) -> np.ndarray:
    return ((frames.astype(float) - 128) * 0.85 + 128).astype(np.uint8)


def smaller(frames: np.ndarray) -> np.ndarray:
    return shrink(frames, 40, 40).round().astype(np.uint8)


def noisier(frames: np.ndarray) -> np.ndarray:
    noise = np.random.Generator(np.random.PCG64(4)).normal(0, 6, frames.shape)
    return np.clip(frames + noise, 0, 255).astype(np.uint8)


def partly_black(frames: np.ndarray) -> np.ndarray:
    damaged = frames.copy()
    damaged[6:12] = 0
    return damaged


@pytest.mark.parametrize("change", [brighter, flatter, smaller, noisier, partly_black])
def test_a_changed_copy_is_near_and_another_motion_far(change) -> None:  # type: ignore[no-untyped-def]
    originals = [scene(motion) for motion in range(6)]
    marks = [mark(frames) for frames in originals]
    changed = [mark(change(frames)) for frames in originals]
    apart = distances(marks, changed)
    assert np.diag(apart).max() <= SAME
    assert apart[~np.eye(6, dtype=bool)].min() > SAME


def test_distance_of_a_clip_to_itself_is_0_and_both_ways_the_same() -> None:
    marks = [mark(scene(motion, wall=motion % 2)) for motion in range(4)]
    apart = distances(marks, marks)
    assert np.array_equal(np.diag(apart), np.zeros(4))
    assert np.allclose(apart, apart.T)
    assert apart.min() >= 0
    assert apart.max() <= 1


def test_distance_is_the_share_of_places_that_do_not_agree() -> None:
    def made(signs: list[int], motion: int) -> Fingerprint:
        picture = np.zeros((MOMENTS, 16, 16), dtype=np.int8)
        picture[:, 0, :4] = signs
        moved = np.zeros((MOMENTS - 1, 16, 17), dtype=np.int8)
        moved[0, 0, 0] = motion
        return Fingerprint(picture, moved, np.ones(MOMENTS, dtype=bool))

    one, other = made([1, 1, -1, 0], 1), made([1, -1, 0, 1], 1)
    # In every moment four places have something, and one of them agrees.
    assert distances([one], [other])[0, 0] == pytest.approx(3 / 4)
    assert distances([one], [made([1, 1, -1, 0], -1)])[0, 0] == 1.0
    assert distances([one], [made([1, 1, -1, 0], 0)])[0, 0] == 1.0
    assert distances([made([1, 1, -1, 0], 0)], [made([1, 1, -1, 0], 0)])[0, 0] == 0.0


def test_the_rate_of_frames_and_frames_shown_twice_do_not_matter() -> None:
    frames = scene(3)
    original = mark(frames)
    fast = mark(frames, np.arange(24) / 30)
    twice = mark(frames.repeat(2, axis=0))
    assert distances([original], [fast, twice]).max() <= SAME
    assert original.known.all()


def test_clips_that_show_too_little_are_copies_of_nothing() -> None:
    black = scene(1)
    black[4:] = 0
    assert distances([mark(black)], [mark(black)])[0, 0] == 1.0
    assert copies([mark(black), mark(black)]) == []
    assert distances([], [mark(black)]).shape == (0, 1)


@pytest.mark.parametrize("n_frames", [1, 2, 3, 9])
def test_short_clips_have_a_fingerprint(n_frames: int) -> None:
    found = mark(scene(1, n_frames))
    assert found.known.all()
    assert distances([found], [found])[0, 0] == 0.0


@pytest.mark.parametrize("at_once", [1, 3, 512])
def test_copies_form_groups(at_once: int) -> None:
    first, second, third = scene(1), scene(2), scene(3)
    marks = [mark(f) for f in (first, second, brighter(first), third, noisier(second), smaller(first))]
    assert copies(marks, at_once=at_once) == [(0, 2, 5), (1, 4)]
    assert copies(marks[:2] + marks[3:4], at_once=at_once) == []
    assert copies([], at_once=at_once) == []
    with pytest.raises(ValueError, match="same must be"):
        copies(marks, 1.0)
