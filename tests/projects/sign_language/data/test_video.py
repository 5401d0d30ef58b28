"""Videos as pictures with times: every frame, only the needed ones, upright, at uneven rates, small enough."""

import sys
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from coursepkg.projects.sign_language.data import video
from coursepkg.projects.sign_language.data.clip import Framing
from coursepkg.projects.sign_language.data.video import decode_needed, decode_video, read_clip
from coursepkg.projects.sign_language.data.video_file import VideoError, probe
from tests.projects.sign_language.data.films import number_of, numbers_of, write_film

UNEVEN = [0, 10, 20, 30, 40, 500, 900, 910, 920, 2000]
"""Milliseconds: a telephone that lost its rhythm."""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("films")


@pytest.fixture(scope="module")
def film(folder: Path) -> Path:
    """Sixty frames with a key frame every twenty."""
    return write_film(folder / "film.mp4", 60, every_key=20)


def test_every_frame_comes_back_in_order_with_its_time(film: Path) -> None:
    found = decode_video(film)
    assert numbers_of(found.frames) == list(range(60))
    assert found.frames.shape == (60, 64, 96, 3)
    assert np.allclose(found.times, np.arange(60) / 30)
    assert (found.n_lost, found.lost, found.complaint) == (0, 0.0, "")


def test_facts_are_told_without_decoding_all(film: Path, folder: Path) -> None:
    facts = probe(film)
    assert (facts.width, facts.height, facts.expected, facts.rotation) == (96, 64, 60, 0)
    assert (facts.codec, facts.has_audio, facts.has_variable_rate) == ("h264", False, False)
    assert facts.fps == pytest.approx(30)
    assert facts.seconds == pytest.approx(2)
    assert np.allclose(facts.times, decode_video(film).times)
    assert probe(write_film(folder / "sound.mp4", 5, with_sound=True)).has_audio


@pytest.mark.parametrize(
    ("name", "codec"),
    [
        ("a.mp4", "libx264"),
        ("a.mkv", "libx264"),
        ("a.avi", "libx264"),
        ("a.ts", "libx264"),
        ("b.avi", "mpeg4"),
    ],
)
@pytest.mark.parametrize("wanted", [[0], [29], [3, 3, 28, 1], list(range(0, 30, 4))])
def test_needed_frames_are_those_of_decoding_all(
    folder: Path, name: str, codec: str, wanted: list[int]
) -> None:
    path = folder / name
    if not path.exists():
        write_film(path, 30, codec=codec, every_key=7)
    found, whole = decode_needed(path, lambda times: np.array(wanted)), decode_video(path)
    assert numbers_of(whole.frames) == list(range(30))
    assert np.array_equal(found.frames, whole.frames[wanted])
    assert np.allclose(found.times, whole.times[wanted])


def test_stretches_without_a_needed_frame_are_jumped_over(
    film: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    decoded: list[int] = []
    whole = video.frames_of

    def watched(packet: object) -> list[object]:
        frames = whole(packet)
        decoded.extend(frame.pts for frame in frames)  # type: ignore[attr-defined]
        return frames

    monkeypatch.setattr(video, "frames_of", watched)
    found = decode_needed(film, lambda times: np.array([2, 45]))
    assert numbers_of(found.frames) == [2, 45]
    # Frames 0 to 2 and 40 to 45, and a few that the decoder has begun when the last one comes out.
    assert len(decoded) < 20


def test_frames_that_nothing_is_built_on_are_skipped(film: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    decoded: list[int] = []
    whole = video.frames_of
    monkeypatch.setattr(video, "frames_of", lambda packet: [decoded.append(1) or f for f in whole(packet)])  # type: ignore[func-returns-value]
    decode_needed(film, lambda times: np.array([0, 59]))
    skipped_to_the_end = len(decoded)
    decoded.clear()
    decode_video(film)
    assert skipped_to_the_end < len(decoded) == 60


def test_at_an_uneven_rate_a_frame_keeps_its_own_time(folder: Path) -> None:
    path = write_film(folder / "uneven.mp4", 10, stamps=UNEVEN)
    found = decode_video(path)
    assert found.facts.has_variable_rate
    assert np.allclose(found.times, np.array(UNEVEN) / 1000)
    assert numbers_of(found.frames) == list(range(10))


@pytest.mark.parametrize("turn", [0, 90, 180, 270])
def test_a_film_that_lies_on_its_side_is_turned_upright(folder: Path, turn: int) -> None:
    path = write_film(folder / f"turned {turn}.mp4", 3, rotation=turn)
    found = decode_video(path)
    # A player turns what is stored against the clock.
    upright = np.rot90(decode_video(write_film(folder / "plain.mp4", 3)).frames[2], turn // 90)
    assert found.facts.rotation == turn
    assert (found.facts.height, found.facts.width) == upright.shape[:2]
    assert np.abs(found.frames[2].astype(int) - upright).max() <= 2


def test_a_telephone_held_upright_is_read_as_it_is_seen(folder: Path) -> None:
    """What telephones write: a matrix that takes the right of what is stored to the bottom, a turn with the clock."""
    content = bytearray(write_film(folder / "stored.mp4", 2).read_bytes())
    at = content.index(b"tkhd") + 4 + 40
    rows = (0, 1 << 16, 0, -(1 << 16) & 0xFFFFFFFF, 0, 0, 0, 0, 1 << 30)
    content[at : at + 36] = b"".join(value.to_bytes(4, "big") for value in rows)
    (folder / "telephone.mp4").write_bytes(content)
    stored, found = decode_video(folder / "stored.mp4"), decode_video(folder / "telephone.mp4")
    assert np.array_equal(found.frames, np.rot90(stored.frames, -1, axes=(1, 2)))
    # Frame 1 is bright at the top left; seen with the clock turned that is the top right.
    bright = np.argwhere(found.frames[1, :, :, 0] > 125)
    assert bright[:, 0].max() < 40
    assert bright[:, 1].min() >= 30


def test_pixels_that_are_not_square_are_made_square(folder: Path) -> None:
    path = write_film(folder / "wide pixels.mp4", 3, pixel=Fraction(2, 1))
    found = decode_video(path)
    assert (found.facts.width, found.facts.height) == (192, 64)
    assert found.frames.shape == (3, 64, 192, 3)
    assert numbers_of(found.frames) == [0, 1, 2]


def test_a_title_in_any_encoding_does_not_matter(folder: Path) -> None:
    path = write_film(folder / "title.mp4", 2, title="a title to be spoiled")
    content = path.read_bytes()
    path.write_bytes(content.replace(b"to be spoiled", b"to be \xff\xfe\xe9iled"))
    assert path.read_bytes() != content
    assert numbers_of(decode_video(path).frames) == [0, 1]


def test_4k_is_scaled_frame_by_frame(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = write_film(folder / "4k.mp4", 4, size=(3840, 2160))
    one_frame = 3840 * 2160 * 3
    monkeypatch.setattr(video, "MOST_BYTES", 2 * one_frame)
    for found in (decode_video(path), decode_needed(path, lambda times: np.arange(4))):
        assert found.frames.shape == (4, 360, 640, 3)
        assert numbers_of(found.frames) == [0, 1, 2, 3]
        assert (found.facts.width, found.facts.height) == (3840, 2160)
    assert decode_video(path, size=112).frames.shape == (4, 112, 112, 3)
    with pytest.raises(ValueError, match=r"4k\.mp4: more than 2 frames of 3840 x 2160 do not fit") as told:
        decode_video(path, most_side=0)
    assert "\n" not in str(told.value)


@pytest.mark.parametrize(("fit", "place"), [("crop", (16, 16)), ("stretch", (16, 8)), ("pad", (18, 8))])
def test_a_square_is_the_middle_or_all_of_the_frame(folder: Path, fit: str, place: tuple[int, int]) -> None:
    path = write_film(folder / "wide.mp4", 20, size=(192, 96))
    frames = decode_video(path, size=48, fit=fit).frames  # type: ignore[arg-type]
    assert frames.shape == (20, 48, 48, 3)
    seen = frames[16]  # one bright cell: at the top right
    if fit == "stretch":
        assert number_of(seen) == 16
    if fit == "pad":
        assert (seen[:12] == 0).all()
        assert (seen[36:] == 0).all()
        assert number_of(seen[12:36]) == 16
    if fit == "crop":
        full = decode_video(path, most_side=96).frames[16]
        assert np.abs(seen.astype(int) - full[:, 24:72]).max() < 12


def test_a_small_frame_is_never_enlarged_to_the_longest_side() -> None:
    assert Framing().scaled(320, 240) == (320, 240)
    assert Framing().scaled(1280, 720) == (640, 360)
    assert Framing(size=224).scaled(640, 360) == (398, 224)
    assert Framing(size=224, fit="pad").scaled(640, 360) == (224, 126)
    with pytest.raises(ValueError, match="size must be an integer of at least 0, got -1"):
        Framing(size=-1)


def test_a_clip_is_all_of_a_video_with_its_label(film: Path) -> None:
    clip = read_clip(film, label="ăn", signer="An", size=32)
    assert (clip.label, clip.signer, clip.name) == ("ăn", "An", str(film))
    assert clip.frames.shape == (60, 32, 32, 3)
    assert clip.seconds == pytest.approx(59 / 30)


@pytest.mark.parametrize("name", ["a:b.mp4", "100 %d.mp4", "ăn mừng.mp4", "-i.mp4"])
def test_any_name_is_the_name_of_a_file(folder: Path, name: str) -> None:
    assert len(decode_video(write_film(folder / name, 2)).frames) == 2


def test_without_av_one_line_says_what_to_install(film: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "av", None)
    with pytest.raises(ImportError, match=r"reading videos needs av: pip install 'coursepkg\[video\]'"):
        decode_video(film)
    assert issubclass(VideoError, ValueError)
