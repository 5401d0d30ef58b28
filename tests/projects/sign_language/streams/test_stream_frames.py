"""A film read frame by frame has the frames and the times of the film decoded whole, in memory that does not grow."""

import tracemalloc
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from coursepkg.projects.sign_language.data.video import VideoFrames, array_frames, decode_video
from coursepkg.projects.sign_language.data.video_file import VideoError
from coursepkg.projects.sign_language.recipe import StreamConfig
from coursepkg.projects.sign_language.streams.sliding_window import sliding_windows
from tests.projects.sign_language.data.films import (
    cut,
    number_of,
    picture,
    write_empty_film,
    write_film,
    write_sound,
)

UNEVEN = [0, 40, 60, 200, 210, 500, 533, 900]
"""Milliseconds."""


@pytest.mark.parametrize(
    "options",
    [{}, {"stamps": UNEVEN, "n_frames": len(UNEVEN)}, {"rotation": 90}, {"codec": "mpeg4"}],
    ids=["even", "uneven", "turned", "mpeg4"],
)
@pytest.mark.parametrize("size", [0, 32])
def test_frames_and_times_are_those_of_the_whole_film(tmp_path: Path, options: dict, size: int) -> None:
    film = write_film(tmp_path / "film.mp4", **options)
    whole = decode_video(film, size=size)
    frames = VideoFrames(film, size=size)
    found = list(frames)
    np.testing.assert_allclose([one.seconds for one in found], whole.times)
    assert np.array_equal(np.stack([one.pixels for one in found]), whole.frames)
    assert frames.complaint == ""
    assert next(iter(frames)).seconds == 0.0


@pytest.mark.parametrize("n_frames", [1, 2, 30])
def test_an_avi_whose_frames_are_stored_in_another_order_is_not_late(tmp_path: Path, n_frames: int) -> None:
    film = write_film(tmp_path / "film.avi", n_frames)
    found = list(VideoFrames(film))
    assert [number_of(one.pixels) for one in found] == list(range(n_frames))
    np.testing.assert_allclose([one.seconds for one in found], decode_video(film).times)


@pytest.mark.parametrize(
    ("name", "share", "options"),
    [
        ("film.mp4", 0.9, {"container": {"movflags": "faststart"}}),
        ("film.mkv", 0.7, {"codec": "mpeg4"}),
        ("film.flv", 0.7, {"codec": "flv"}),
    ],
)
def test_of_a_film_that_is_cut_short_the_loss_is_told(
    tmp_path: Path, name: str, share: float, options: dict
) -> None:
    shorter = cut(write_film(tmp_path / name, **options), share)
    frames = VideoFrames(shorter)
    found = [number_of(one.pixels) for one in frames]
    assert found == list(range(len(found)))
    assert f"{30 - len(found)} of 30 frames are missing or cannot be decoded" in frames.complaint
    assert str(shorter) in frames.complaint


def test_times_count_from_the_first_frame_of_the_film_where_it_is_lost(tmp_path: Path) -> None:
    film = write_film(tmp_path / "film.mp4", 40)
    content = bytearray(film.read_bytes())
    first, last = content.index(b"mdat") + 8, content.index(b"moov") - 4
    for i in range(first + int(0.4 * (last - first)), first + int(0.55 * (last - first))):
        content[i] = 255 - content[i]
    film.write_bytes(content)
    whole = decode_video(film)
    assert whole.times[0] > 0.1
    assert number_of(whole.frames[-1]) == 39
    np.testing.assert_allclose([one.seconds for one in VideoFrames(film)], whole.times)


def test_what_is_no_video_is_refused_in_one_line(tmp_path: Path) -> None:
    Image.new("RGB", (64, 48)).save(tmp_path / "a.mp4", "PNG")
    for path, said in (
        (tmp_path / "a.mp4", "a PNG picture, not a video"),
        (write_sound(tmp_path / "b.mp4"), "audio only"),
        (tmp_path, "is a folder"),
    ):
        with pytest.raises(VideoError, match=said) as told:
            list(VideoFrames(path))
        assert "\n" not in str(told.value)
    with pytest.raises(FileNotFoundError, match="there is no such video"):
        list(VideoFrames(tmp_path / "c.mp4"))


def test_a_film_without_a_frame_has_the_reason_that_it_has_when_it_is_decoded_whole(tmp_path: Path) -> None:
    fast = {"movflags": "faststart"}
    for path, said in (
        (write_empty_film(tmp_path / "none.mp4"), "a video without a single frame"),
        (
            cut(write_film(tmp_path / "film.mp4", container=fast), 0.46),
            "none of its 30 frames can be decoded",
        ),
    ):
        with pytest.raises(VideoError, match=said) as whole:
            decode_video(path)
        with pytest.raises(VideoError) as one_by_one:
            list(VideoFrames(path))
        assert str(one_by_one.value) == str(whole.value)


def test_pictures_of_a_camera_get_the_size_that_a_film_has(tmp_path: Path) -> None:
    pictures = [picture(number) for number in range(5)]
    found = list(array_frames(pictures, fps=4, size=32))
    assert [one.seconds for one in found] == [0.0, 0.25, 0.5, 0.75, 1.0]
    film = list(VideoFrames(write_film(tmp_path / "film.mp4", 5), size=32))
    for ours, theirs in zip(found, film, strict=True):
        # The film has gone through H.264, which is not exact.
        assert np.abs(ours.pixels.astype(int) - theirs.pixels).mean() < 4
    untouched = next(array_frames(pictures, fps=4))
    assert untouched.pixels is pictures[0]


@pytest.mark.parametrize(
    "wrong", [np.zeros((4, 4), np.uint8), np.zeros((4, 4, 3), np.float32), np.zeros((0, 4, 3), np.uint8)]
)
def test_a_picture_of_another_kind_is_named(wrong: np.ndarray) -> None:
    with pytest.raises(ValueError, match="camera, frame 2: frames must be RGB pictures"):
        list(array_frames([picture(0), wrong], fps=10, name="camera"))


def test_a_rate_of_zero_is_refused() -> None:
    with pytest.raises(ValueError, match="fps must be above 0, got 0"):
        next(array_frames([picture(0)], fps=0))


def test_memory_does_not_grow_with_the_stream() -> None:
    def camera(n_frames: int) -> Iterator[np.ndarray]:
        return (np.full((64, 64, 3), number % 256, dtype=np.uint8) for number in range(n_frames))

    def most(n_frames: int) -> int:
        tracemalloc.start()
        for window in sliding_windows(array_frames(camera(n_frames), fps=10), StreamConfig(hop=1.0)):
            assert len(window.clip.frames) <= 26
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        return peak

    assert most(2000) < 1.2 * most(200)
