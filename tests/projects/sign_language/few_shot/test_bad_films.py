"""Films and folders of words as people have them: what is answered all the same, and what is said in one line."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from coursepkg.cli import main
from coursepkg.projects.sign_language.few_shot.words import CARD, Words
from coursepkg.projects.sign_language.synthetic.clips import draw_clip, write_video
from tests.projects.sign_language.few_shot.conftest import CONFIG


def portrait(frames: np.ndarray) -> np.ndarray:
    """The picture as wide as a film of 360 x 640 pixels, in the middle of it."""
    return enlarged(frames, 640, 360)


def landscape(frames: np.ndarray) -> np.ndarray:
    """The picture as high as a film of 960 x 540 pixels, in the middle of it."""
    return enlarged(frames, 540, 960)


def enlarged(frames: np.ndarray, height: int, width: int) -> np.ndarray:
    side = min(height, width)
    large = np.full((len(frames), height, width, 3), frames[0, 2, 2], np.uint8)
    top, left = (height - side) // 2, (width - side) // 2
    for frame, picture in zip(frames, large, strict=True):
        picture[top : top + side, left : left + side] = Image.fromarray(frame).resize((side, side))
    return large


def mirrored(frames: np.ndarray) -> np.ndarray:
    return frames[:, :, ::-1]


def beside_another(frames: np.ndarray) -> np.ndarray:
    other = draw_clip("Tôi", 3, 0, 43, CONFIG).frames[0]
    return np.concatenate([frames, np.broadcast_to(other, frames.shape)], axis=2)


def hands_hidden(frames: np.ndarray) -> np.ndarray:
    """All below the chin is outside of the picture but for some frames of the sign."""
    hidden = frames.copy()
    hidden[:12, 110:] = hidden[16:, 110:] = 60
    return hidden


def head_only(frames: np.ndarray) -> np.ndarray:
    return frames[:, :110]


def unchanged(frames: np.ndarray) -> np.ndarray:
    return frames


Change = Callable[[np.ndarray], np.ndarray]


def film(folder: Path, change: Change, fps: int = CONFIG.fps) -> Path:
    """A film of the word `Tôi` that is not enrolled, changed."""
    path = folder / f"{change.__name__}-{fps}.mp4"
    write_video(path, change(draw_clip("Tôi", 1, 0, 77, CONFIG).frames), fps)
    return path


def lines(text: str, kind: str) -> list[str]:
    return [line for line in text.splitlines() if line.startswith(kind)]


def one_error(arguments: list[object], capsys: pytest.CaptureFixture[str]) -> str:
    """The one line that a command ends with."""
    capsys.readouterr()
    assert main(["sign-language", *map(str, arguments)]) == 2
    (line,) = lines(capsys.readouterr().err, "error: ")
    return line


@pytest.mark.parametrize(
    ("change", "fps", "note"),
    [
        (mirrored, CONFIG.fps, ""),
        (portrait, CONFIG.fps, ""),
        (landscape, CONFIG.fps, ""),
        (beside_another, CONFIG.fps, "2 people are seen and one is followed; film one person alone"),
        (unchanged, 8, "8 frames a second, too few to follow fast hands; film at 15 or more"),
        (hands_hidden, CONFIG.fps, "% of the frames in which an arm is raised; film with both hands"),
    ],
)
def test_a_film_is_named_and_what_makes_it_unsure_is_one_line(
    change: Change, fps: int, note: str, words: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = film(tmp_path, change, fps)
    capsys.readouterr()
    assert main(["sign-language", "predict", str(path), "--words", str(words), "--json"]) == 0
    told = capsys.readouterr()
    (answer,) = json.loads(told.out.splitlines()[-1])["answers"]
    # A sign whose hands are hidden may be taken for none of the words.
    assert answer["label"] == "Tôi" or change is hands_hidden
    notes = lines(told.err, "note: ")
    assert len(notes) == bool(note)
    assert all(note in one and path.name in one for one in notes)
    assert answer["flaw"] == "".join(notes).removeprefix("note: ")


def test_a_film_without_hands_is_not_guessed(
    films: Path, words: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = film(tmp_path, head_only)
    said = one_error(["predict", path, "--words", words], capsys)
    assert f"{path.name}: no hand is seen in any frame; film with both hands in the picture" in said
    both = ["sign-language", "predict", str(path), str(films / "new.mp4"), "--words", str(words)]
    assert main(both) == 1, "some cannot be named"
    told = capsys.readouterr()
    assert len(lines(told.err, "error: ")) == 1
    assert "new.mp4\tTôi" in told.out


def test_a_film_that_a_word_has_twice_is_enrolled_once_and_said(
    films: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    clips, out = tmp_path / "clips", tmp_path / "words"
    (clips / "Tôi").mkdir(parents=True)
    for name in ("a.mp4", "b.mp4"):
        shutil.copy(films / "new.mp4", clips / "Tôi" / name)
    assert main(["sign-language", "enroll", str(clips), "--out", str(out)]) == 0
    told = lines(capsys.readouterr().err, "note: ")
    a, b = clips / "Tôi" / "a.mp4", clips / "Tôi" / "b.mp4"
    assert told[0] == f"note: {a} and {b} are the same film; it is enrolled once"
    assert len(told) == 2, "the other line: the word has one clip"
    assert len(Words.load(out).clips) == 1
    # In two words it is a mistake.
    (clips / "Anh").mkdir()
    shutil.move(b, clips / "Anh" / "b.mp4")
    assert "is one film with two words, 'Anh' and 'Tôi'" in one_error(
        ["enroll", clips, "--out", tmp_path / "none"], capsys
    )
    assert not (tmp_path / "none").exists()


def test_two_words_that_are_one_are_one_line(
    films: Path, words: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    clips, out = tmp_path / "clips", tmp_path / "words"
    (clips / "Mình").mkdir(parents=True)
    shutil.copytree(words, out)
    frames = draw_clip("Tôi", 1, 0, 41, CONFIG).frames
    write_video(clips / "Mình" / "faster.mp4", frames, CONFIG.fps + 1)
    assert main(["sign-language", "enroll", str(clips), "--out", str(out)]) == 0
    (note,) = lines(capsys.readouterr().err, "note: ")
    assert note.startswith("note: Mình and Tôi: faster.mp4 and 1.mp4 show nearly the same movement")


def unreadable(folder: Path, how: str) -> str:
    """Break a folder of words, and return what must be said of it."""
    path = folder / CARD
    text = path.read_text("utf-8")
    if how == "cut short":
        path.write_text(text[: len(text) // 2], "utf-8")
        return "words.json is damaged"
    path.write_text(json.dumps({**json.loads(text), "version": 99}), "utf-8")
    return "words.json is of version 99"


@pytest.mark.parametrize("how", ["cut short", "another version"])
def test_a_list_of_words_that_cannot_be_read_is_one_line_and_stays(
    how: str, films: Path, words: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "words"
    shutil.copytree(words, out)
    said = unreadable(out, how)
    before = {path: path.read_bytes() for path in out.rglob("*") if path.is_file()}
    for arguments in (
        ["predict", films / "new.mp4", "--words", out],
        ["evaluate", "--words", out],
        ["enroll", films / "clips", "--out", out],
        ["enroll", "--out", out, "--remove", "Tôi"],
    ):
        assert said in one_error(arguments, capsys)
    assert {path: path.read_bytes() for path in out.rglob("*") if path.is_file()} == before


def test_damaged_words_are_mended_word_by_word(
    films: Path, words: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out, clips = tmp_path / "words", tmp_path / "clips"
    shutil.copytree(words, out)
    places = {(one.word, one.name): out / "landmarks" / f"{one.sha256}.npz" for one in Words.load(out).clips}
    places["Tôi", "1.mp4"].unlink()
    cut = places["Uống", "1.mp4"]
    cut.write_bytes(cut.read_bytes()[:300])
    other = clips / "other"
    shutil.copytree(films / "clips" / "Xin chào", other / "Xin chào")
    for arguments in (
        ["predict", films / "new.mp4", "--words", out],
        ["evaluate", "--words", out],
        ["enroll", other, "--out", out],
        ["enroll", other, "--out", out, "--replace"],
    ):
        said = one_error(arguments, capsys)
        assert "those of 'Tôi' (1.mp4), 'Uống' (1.mp4); enrol the clips of each such word again" in said
        assert "with --replace, or take it out with --remove" in said
    again = clips / "again"
    shutil.copytree(films / "clips" / "Tôi", again / "Tôi")
    mend = ["sign-language", "enroll", str(again), "--out", str(out), "--replace", "--remove", "Uống"]
    assert main(mend) == 0
    mended = Words.load(out)
    assert mended.labels == ("Tôi", "Xin chào")
    assert [one.name for one in mended.clips_of("Tôi")] == ["1.mp4", "3.mp4"]
    assert not cut.exists()


def test_a_damaged_word_whose_new_clips_are_bad_is_said_to_be_gone(
    films: Path, words: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out, clips = tmp_path / "words", tmp_path / "clips"
    shutil.copytree(words, out)
    (one,) = Words.load(out).clips_of("Uống")
    (out / "landmarks" / f"{one.sha256}.npz").unlink()
    shutil.copytree(films / "clips" / "Tôi", clips / "Tôi")
    (clips / "Uống").mkdir()
    shutil.copy(films / "room.mp4", clips / "Uống")
    assert main(["sign-language", "enroll", str(clips), "--out", str(out), "--replace"]) == 1
    told = capsys.readouterr().err
    assert "room.mp4: no person is seen" in told
    assert "note: Uống: none of its clips could be enrolled, so the word is not there" in told
    assert Words.load(out).labels == ("Tôi", "Xin chào")
