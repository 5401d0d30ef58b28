"""Enrol, name and score drawn films by the command line, as the page on words of one's own does."""

import json
import shutil
from pathlib import Path

import pytest

from coursepkg.cli import main
from coursepkg.projects.sign_language import SignRecognizer
from coursepkg.projects.sign_language.few_shot.words import Words
from tests.projects.pages import run_page
from tests.projects.profiled import profiled
from tests.projects.sign_language.few_shot.conftest import FILMS


def last_json(text: str) -> dict[str, object]:
    found: dict[str, object] = json.loads(text.strip().splitlines()[-1])
    return found


def test_enrolling_tells_words_clips_and_what_is_unsure(
    films: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "words"
    assert main(["sign-language", "enroll", str(films / "clips"), "--out", str(out), "--json"]) == 0
    told = capsys.readouterr()
    document = last_json(told.out)
    assert document["words"] == {"Tôi": 2, "Uống": 1, "Xin chào": 2}
    assert "3 words, 5 clips in" in told.out
    assert "note: Uống: one clip; two or three, by two people, are surer" in told.err
    assert Words.load(out).labels == ("Tôi", "Uống", "Xin chào")


def test_a_new_film_is_named(films: Path, words: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["sign-language", "predict", str(films / "new.mp4"), "--words", str(words), "--json"]) == 0
    told = capsys.readouterr()
    (answer,) = last_json(told.out)["answers"]  # type: ignore[misc]
    assert answer["candidates"][0][0] == "Tôi"
    assert 0 < answer["none"] < 1
    assert "generated figures" not in told.err


def test_a_film_without_anybody_is_named_and_not_guessed(
    films: Path, words: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["sign-language", "predict", str(films / "room.mp4"), "--words", str(words)]) == 2
    told = capsys.readouterr()
    assert "room.mp4: no person is seen" in told.err
    assert "Tôi" not in told.out


def test_clips_that_cannot_be_enrolled_are_named_and_the_others_stay(
    films: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    clips, out = tmp_path / "clips", tmp_path / "words"
    shutil.copytree(films / "clips" / "Tôi", clips / "Tôi")
    (clips / "room").mkdir()
    shutil.copy(films / "room.mp4", clips / "room")
    assert main(["sign-language", "enroll", str(clips), "--out", str(out)]) == 1
    assert "no person is seen" in capsys.readouterr().err
    assert Words.load(out).labels == ("Tôi",)
    assert main(["sign-language", "enroll", str(clips / "room"), "--out", str(tmp_path / "none")]) == 2
    assert not (tmp_path / "none").exists()


def test_words_are_removed_and_replaced(films: Path, words: Path, tmp_path: Path) -> None:
    out = tmp_path / "words"
    shutil.copytree(words, out)
    assert main(["sign-language", "enroll", "--out", str(out), "--remove", "Uống"]) == 0
    assert Words.load(out).labels == ("Tôi", "Xin chào")
    clips = tmp_path / "clips" / "Tôi"
    clips.mkdir(parents=True)
    shutil.copy(films / "new.mp4", clips)
    assert main(["sign-language", "enroll", str(clips.parent), "--out", str(out), "--replace"]) == 0
    assert [one.name for one in Words.load(out).clips_of("Tôi")] == ["new.mp4"]


def test_words_are_scored_by_leaving_clips_out(
    words: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    command = ["sign-language", "evaluate", "--words", str(words), "--split", "clip", "--method", "dtw"]
    assert main([*command, "--out", str(tmp_path / "scores"), "--json"]) == 0
    document = last_json(capsys.readouterr().out)
    assert document["left_out"] == ["1.mp4"]
    assert len(document["answers"]) == 4  # type: ignore[arg-type]
    assert (tmp_path / "scores" / "evaluation.json").is_file()


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["enroll", "--out", "w"], "name the folder of the clips"),
        (["enroll", "nowhere", "--out", "w"], "nowhere"),
        (["enroll", "."], "--out"),
        (["predict", "x.mp4", "--words", "nowhere"], "nowhere: there are no words; enrol some"),
        (["predict", "x.mp4", "--words", "w", "--model", "m"], "--model goes with a trained model"),
        (["predict", "x.mp4", "--words", "w", "--preset", "tiny"], "--preset goes with a trained model"),
        (["predict", "x.mp4", "--words", "w", "--views", "2"], "--views goes with a trained model"),
        (["predict", "x.mp4", "--words", "w", "--contest", "c.csv"], "--contest goes with a trained model"),
        (["predict", "x.mp4", "--words", "w", "--window", "2"], "--window goes with a trained model"),
        (["evaluate", "--words", "nowhere"], "nowhere: there are no words"),
        (
            ["evaluate", "--words", "w", "--leave-one-signer-out"],
            "--leave-one-signer-out goes with a trained",
        ),
        (["evaluate", "--words", "w", "--batch-size", "8"], "--batch-size goes with a trained model"),
        (["evaluate", "--words", "w", "--worst", "3"], "--worst goes with a trained model"),
        (["evaluate", "--words", "w", "--worst", "-1"], "--worst"),
        (["evaluate", "--words", "w", "--seed", "3"], "--seed goes with a trained model"),
        (["evaluate", "--method", "dtw"], "--method compares enrolled words; name their folder with --words"),
    ],
)
def test_what_does_not_go_together_is_one_line(
    arguments: list[str],
    said: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "x.mp4").write_bytes(b"")
    assert main(["sign-language", *arguments]) == 2
    errors = [line for line in capsys.readouterr().err.splitlines() if line.startswith("error: ")]
    assert len(errors) == 1
    assert said in errors[0]
    assert [path.name for path in tmp_path.iterdir()] == ["x.mp4"]


def test_python_enrols_and_names(films: Path) -> None:
    recognizer = SignRecognizer.enroll(films / "clips")
    (found,) = recognizer.recognize([films / "clips" / "Tôi" / "1.mp4"], n_best=2)
    assert found.candidates[0][0] == "Tôi"
    assert recognizer.labels == ("Tôi", "Uống", "Xin chào")
    with pytest.raises(ValueError, match=r"room\.mp4: no person is seen"):
        recognizer.recognize([films / "room.mp4"])


COMMAND = """
from coursepkg.cli import main
assert main(["sign-language", "predict", sys.argv[1], "--words", sys.argv[2]]) == 0
"""


def test_naming_by_words_is_light(films: Path, words: Path) -> None:
    files, modules = profiled(COMMAND, films / "new.mp4", words)
    assert len(files) <= 50, files
    forbidden = {"synthetic", "quality", "ladder", "loop", "corpora", "cache", "bench", "generator"}
    assert [name for name in modules if set(name.split(".")) & forbidden] == []


def test_the_commands_of_the_page_on_words_of_ones_own_run_from_an_installed_wheel(
    films: Path, installed: Path, tmp_path: Path
) -> None:
    shutil.copytree(films / "clips", tmp_path / "clips")
    for name in ("clip.mp4", "film.mp4"):
        shutil.copy(films / "new.mp4", tmp_path / name)
    rows = [f"{word}/{signer}.mp4,{word},{signer}" for word, signers in FILMS.items() for signer in signers]
    (tmp_path / "clips" / "manifest.csv").write_text("\n".join(["path,label,signer", *rows]))
    told = run_page("your_own_signs.md", tmp_path, installed)
    python = told.pop("python")
    assert {line.split()[2] for line in told} == {"enroll", "evaluate", "predict", "export"}
    assert sum("Tôi" in one for one in told.values()) >= 4
    assert "Tôi" in python
