"""Files that are no video or a damaged one: each is refused or counted in one line that names it."""

from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from coursepkg.projects.sign_language.data.clip import uniform_frames
from coursepkg.projects.sign_language.data.video import decode_needed, decode_video, read_clip
from coursepkg.projects.sign_language.data.video_file import VideoError, probe
from tests.projects.sign_language.data.films import (
    cut,
    numbers_of,
    write_empty_film,
    write_film,
    write_sound,
)

FAST = {"movflags": "faststart"}
"""The table of frames stands before them."""


def sixteen(times: np.ndarray) -> np.ndarray:
    return uniform_frames(times, 16)


def written(path: Path, content: bytes) -> Path:
    path.write_bytes(content)
    return path


def saved(path: Path, kind: str) -> Path:
    Image.new("RGB", (64, 48), "red").save(path, kind)
    return path


BAD = {
    "empty file": (lambda folder: written(folder / "a.mp4", b""), "the file is empty"),
    "JPEG": (lambda folder: saved(folder / "a.mp4", "JPEG"), "a JPEG picture, not a video"),
    "PNG": (lambda folder: saved(folder / "a.mp4", "PNG"), "a PNG picture, not a video"),
    "GIF": (lambda folder: saved(folder / "a.mp4", "GIF"), "a GIF picture, not a video"),
    "text": (
        lambda folder: written(folder / "a.mp4", "xin chào\n".encode() * 500),
        "not a video that can be",
    ),
    "noise": (lambda folder: written(folder / "a.mp4", bytes(range(1, 256)) * 40), "not a video that can be"),
    "web page": (lambda folder: written(folder / "a.mp4", b"<!DOCTYPE html><html>"), "a web page"),
    "archive": (lambda folder: written(folder / "a.mp4", b"PK\x03\x04" + bytes(99)), "a ZIP archive"),
    "LFS": (lambda folder: written(folder / "a.mp4", b"version https://git-lfs.x\n"), "Git LFS pointer"),
    "sound": (lambda folder: write_sound(folder / "a.mp4"), "audio only, no moving pictures"),
    "no frame": (lambda folder: write_empty_film(folder / "a.mp4"), "a video without a single frame"),
    "no table": (lambda folder: cut(write_film(folder / "a.mp4"), 0.4), "its table of frames is missing"),
    "half a table": (lambda folder: cut(write_film(folder / "a.mp4"), 0.7), "its table of frames is missing"),
    "no data": (
        lambda folder: cut(write_film(folder / "a.mp4", container=FAST), 0.46),
        "none of its 30 frames",
    ),
    "folder": (lambda folder: folder, "is a folder; name a video in it"),
}


@pytest.mark.parametrize("name", BAD)
@pytest.mark.parametrize("read", [probe, decode_video, read_clip, lambda path: decode_needed(path, sixteen)])
def test_what_is_no_video_is_refused_in_one_line(tmp_path: Path, name: str, read: object) -> None:
    make, message = BAD[name]
    path = make(tmp_path)
    with pytest.raises(VideoError, match=message) as told:
        read(path)  # type: ignore[operator]
    assert str(path) in str(told.value)
    assert "\n" not in str(told.value)
    assert len(str(told.value)) < len(str(path)) + 160


def test_a_missing_file_is_said_to_be_missing(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match=r"x\.mp4: there is no such video"):
        decode_video(tmp_path / "x.mp4")


def test_a_playlist_opens_no_other_file(tmp_path: Path) -> None:
    film = write_film(tmp_path / "secret.mp4", 3)
    for content in (f"#EXTM3U\n#EXTINF:1,\n{film}\n", f"ffconcat version 1.0\nfile '{film}'\n"):
        (tmp_path / "list.mp4").write_text(content)
        with pytest.raises(VideoError, match=r"list\.mp4: .*not a video"):
            decode_video(tmp_path / "list.mp4")


def test_a_video_by_another_name_is_read_for_what_it_is(tmp_path: Path) -> None:
    film = write_film(tmp_path / "film.mkv", 4)
    film.rename(tmp_path / "film.mp4")
    found = decode_video(tmp_path / "film.mp4")
    assert numbers_of(found.frames) == [0, 1, 2, 3]
    assert found.facts.container.startswith("matroska")


def test_of_a_film_that_is_cut_short_the_rest_is_read_and_the_loss_told(tmp_path: Path) -> None:
    shorter = cut(write_film(tmp_path / "film.mp4", 30, container=FAST), 0.9)
    found = decode_video(shorter)
    assert 0 < len(found.frames) < 30
    assert numbers_of(found.frames) == list(range(len(found.frames)))
    assert found.n_lost == 30 - len(found.frames)
    assert found.facts.expected == 30
    assert f"{found.n_lost} of 30 frames are missing or cannot be decoded" in found.complaint
    assert str(shorter) in found.complaint
    sampled = decode_needed(shorter, sixteen)
    assert sampled.n_lost == found.n_lost
    assert np.array_equal(sampled.frames, found.frames[sixteen(found.times)])


@pytest.mark.parametrize(
    ("name", "codec", "with_sound"),
    [
        ("film.mkv", "libx264", False),
        ("sound.mkv", "libx264", True),
        ("film.webm", "libvpx", False),
        ("film.flv", "flv", False),
    ],
)
def test_a_film_that_says_its_length_alone_may_be_cut_too(
    tmp_path: Path, name: str, codec: str, with_sound: bool
) -> None:
    film = write_film(tmp_path / name, 60, codec=codec, with_sound=with_sound)
    assert decode_video(film).complaint == ""
    shorter = cut(film, 0.5)
    found = decode_video(shorter)
    assert 0 < len(found.frames) < 45
    # A frame that is shown later may stand before the cut, so that one more seems to be there.
    expected = found.facts.expected
    assert expected in (59, 60)
    assert f"{expected - len(found.frames)} of {expected} frames are missing" in found.complaint
    sampled = decode_needed(shorter, sixteen)
    assert (sampled.n_lost, probe(shorter).expected) == (found.n_lost, expected)
    with pytest.raises(VideoError, match=f"of {expected} frames are missing"):
        read_clip(shorter)


def test_sound_that_goes_on_behind_the_pictures_is_no_cut(tmp_path: Path) -> None:
    # Half a second of silence behind eight pictures; FLV has one length for both.
    for name in ("film.mkv", "film.flv"):
        assert decode_video(write_film(tmp_path / name, 8, with_sound=True)).complaint == ""


def test_a_clip_is_refused_or_kept_by_how_much_is_lost(tmp_path: Path) -> None:
    shorter = cut(write_film(tmp_path / "film.mp4", 30, container=FAST), 0.9)
    lost = decode_video(shorter).lost
    assert 0 < lost < 1
    with pytest.raises(VideoError, match="of 30 frames are missing"):
        read_clip(shorter)
    assert len(read_clip(shorter, most_lost=lost).frames) == round(30 * (1 - lost))


def test_damage_in_the_middle_costs_the_frames_there(tmp_path: Path) -> None:
    film = write_film(tmp_path / "film.mp4", 40, every_key=10)
    content = bytearray(film.read_bytes())
    first, last = content.index(b"mdat") + 8, content.index(b"moov") - 4
    middle = first + int(0.4 * (last - first))
    for i in range(middle, middle + (last - first) // 10):
        content[i] = 255 - content[i]
    film.write_bytes(content)
    found = decode_video(film)
    assert 0 < found.n_lost < 20
    assert len(found.frames) == 40 - found.n_lost
    # The last stretch begins with a key frame of its own and is whole.
    assert numbers_of(found.frames[-10:]) == list(range(30, 40))
    assert np.allclose(found.times[-10:], np.arange(30, 40) / 30)
    chosen = decode_needed(film, lambda times: np.array([len(times) - 1]))
    assert numbers_of(chosen.frames) == [39]


def test_a_frame_that_is_too_large_is_refused_before_it_is_decoded(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    film = write_film(tmp_path / "film.mp4", 2)
    monkeypatch.setattr("coursepkg.projects.sign_language.data.video_file.MOST_PIXELS", 96 * 64 - 1)
    with pytest.raises(VideoError, match="frames of 96 x 64 pixels, more than 6,143; scale it down"):
        probe(film)
