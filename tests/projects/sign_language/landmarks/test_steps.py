"""Landmarks as the input of a recogniser: the numbers of the enrolled words' steps, over all that shows somebody."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from coursepkg.projects.sign_language.data.cache import CachedClips, cache_clips
from coursepkg.projects.sign_language.data.clip import Clip, ClipFile
from coursepkg.projects.sign_language.data.video import CacheConfig, read_clip
from coursepkg.projects.sign_language.few_shot.embedding import N_FEATURES, step_features
from coursepkg.projects.sign_language.few_shot.features import steps_between
from coursepkg.projects.sign_language.few_shot.generator import draw_words, sign
from coursepkg.projects.sign_language.landmarks.extract import Landmarks, extract_landmarks
from coursepkg.projects.sign_language.landmarks.steps import (
    NOBODY,
    landmark_clip,
    landmark_features,
    read_landmark_clip,
)
from coursepkg.projects.sign_language.recipe import ARCHITECTURES
from coursepkg.projects.sign_language.synthetic.clips import draw_clip, write_video
from coursepkg.projects.sign_language.synthetic.signer import SignersConfig
from tests.projects.sign_language.signed import write_film

N = 8
CONFIG = CacheConfig(size=16, frames=N, n_features=N_FEATURES)
DRAWN = SignersConfig(size=224, least_frames=16, most_frames=16, fps=12)


@pytest.fixture
def made_up() -> Landmarks:
    rng = np.random.default_rng(3)
    return sign(rng, draw_words(rng, 1)).clip(0)


@pytest.fixture(scope="module")
def films(tmp_path_factory: pytest.TempPathFactory) -> Iterator[list[Path]]:
    """A drawn signer, and a film of a block in which nobody is."""
    folder = tmp_path_factory.mktemp("films")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CACHE_HOME", str(folder / "cache"))
        write_video(folder / "Tôi.mp4", draw_clip("Tôi", 1, 0, 10, DRAWN).frames, 12)
        yield [folder / "Tôi.mp4", write_film(folder / "block.mp4", "lên")]


def test_the_table_of_backbones_has_the_numbers_of_a_step() -> None:
    assert ARCHITECTURES["landmarks"].n_features == N_FEATURES
    assert [name for name, one in ARCHITECTURES.items() if one.n_features] == ["landmarks"]


def test_the_numbers_are_those_of_the_steps_from_the_first_person_to_the_last(made_up: Landmarks) -> None:
    body = made_up.body.copy()
    body[[0, 1, -1]] = np.nan
    clip = replace(made_up, body=body)
    numbers, times = landmark_features(clip, N)
    last = len(clip.times) - 2
    whole = steps_between(clip.times, clip.body, clip.hands, clip.seen, 2, last, N)
    np.testing.assert_array_equal(numbers, step_features(whole))
    np.testing.assert_allclose(times, np.linspace(clip.times[2], clip.times[last], N))
    assert numbers.shape == (N, N_FEATURES)
    assert numbers.dtype == np.float32
    assert np.isfinite(numbers).all()


def test_a_frame_that_may_not_be_used_shows_nobody(made_up: Landmarks) -> None:
    body = made_up.body.copy()
    body[5] = np.nan
    others = np.delete(np.arange(len(body)), 5)
    for one, other in zip(
        landmark_features(made_up, N, others), landmark_features(replace(made_up, body=body), N), strict=True
    ):
        np.testing.assert_array_equal(one, other)
    assert not np.array_equal(landmark_features(made_up, N)[0], landmark_features(made_up, N, others)[0])


def test_where_nobody_is_all_numbers_are_zero(made_up: Landmarks) -> None:
    numbers, times = landmark_features(replace(made_up, body=np.full_like(made_up.body, np.nan)), N)
    assert not numbers.any()
    assert len(times) == len(numbers) == N
    numbers, times = landmark_features(made_up, N, np.array([4]))
    assert len(numbers) == len(times) == 1, "one frame is one step"
    assert numbers.any()


def test_a_mirrored_clip_gives_mirrored_numbers(made_up: Landmarks) -> None:
    width = made_up.size[0]
    flip, at = np.array([-1, 1, 1], np.float32), np.array([width, 0, 0], np.float32)
    body = made_up.body * flip + at
    pairs = [(7, 8), (11, 12), (13, 14), (15, 16)]
    for left, right in pairs:
        body[:, [left, right]] = body[:, [right, left]]
    hands = (made_up.hands * flip + at)[:, ::-1]
    other = replace(made_up, body=body, hands=hands, scores=made_up.scores[:, ::-1])
    found = made_up.times, made_up.body, made_up.hands, made_up.seen
    whole = steps_between(*found, 0, len(made_up.times) - 1, N)
    np.testing.assert_allclose(landmark_features(other, N)[0], step_features(whole.mirrored()), atol=1e-4)


def test_a_cache_of_landmarks_gives_back_what_a_film_shows(films: list[Path], tmp_path: Path) -> None:
    files = [ClipFile(path, word) for path, word in zip(films, ("Tôi", "lên"), strict=True)]
    kept = cache_clips(files, tmp_path / "cache", CONFIG)
    landmarks = extract_landmarks(films[0])
    numbers, times = landmark_features(landmarks, N)
    np.testing.assert_array_equal(kept.frames(0), numbers)
    np.testing.assert_array_equal(kept.times(0), times)
    np.testing.assert_array_equal(kept.frames(0, [3, 1]), numbers[[3, 1]])
    assert not kept.frames(1).any()
    assert kept.clips[1].flaw == f"{films[1]}: {NOBODY}"
    assert kept.without_anybody == ["block.mp4"]
    assert f"2 clips of landmarks, {N_FEATURES} numbers a step" in kept.report()
    again = CachedClips(tmp_path / "cache")
    assert again.fingerprint == kept.fingerprint
    assert cache_clips(files, tmp_path / "cache", CONFIG).clips == kept.clips, "made once"
    one = cache_clips(files, tmp_path / "cleaned", CONFIG, usable=[lambda t: np.arange(2, 10)] * 2)
    np.testing.assert_array_equal(one.frames(0), landmark_features(landmarks, N, np.arange(2, 10))[0])


@pytest.mark.parametrize("fps", [12, 60])
def test_a_clip_in_memory_has_the_landmarks_of_its_film(fps: int, films: list[Path], tmp_path: Path) -> None:
    """At 60 frames a second both ways look at the same third of the frames."""
    film = tmp_path / "film.mp4"
    write_video(film, read_clip(films[0]).frames, fps)
    clip = read_clip(film, label="Tôi")
    found, kept = landmark_clip(clip, N), read_landmark_clip(film, N)
    np.testing.assert_array_equal(found.frames, kept.frames)
    np.testing.assert_array_equal(found.times, kept.times)
    assert (found.label, found.flaw, kept.flaw) == ("Tôi", "", "")
    gray = np.full((6, 48, 48, 3), 128, np.uint8)
    nobody = landmark_clip(Clip(gray, np.arange(6) / 12, "", "", "gray"), N)
    assert nobody.flaw == f"gray: {NOBODY}"
    assert not nobody.frames.any()


def test_a_missing_film_is_left_out_with_its_reason(films: list[Path], tmp_path: Path) -> None:
    files = [ClipFile(films[0], "Tôi"), ClipFile(tmp_path / "gone.mp4", "Tôi")]
    kept = cache_clips(files, tmp_path / "cache", CONFIG)
    assert len(kept) == 1
    assert "gone.mp4" in kept.left_out[0].reason
