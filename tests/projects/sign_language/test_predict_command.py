"""`coursepkg sign-language predict` and what it says: clips, folders, streams, files, mistakes."""

import json
from pathlib import Path

import pytest
from PIL import Image

from coursepkg.projects.sign_language.recognizer import SignRecognizer
from tests.projects.sign_language.data.films import write_sound
from tests.projects.sign_language.signed import WORDS, word_of, write_film, write_films, write_model
from tests.said import Said, said


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_model(tmp_path_factory.mktemp("signed") / "run")


@pytest.fixture(scope="module")
def films(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    return write_films(tmp_path_factory.mktemp("films"), 4)


def predict(*arguments: object) -> Said:
    return said("sign-language", "predict", *arguments)


def test_a_clip_and_several(model: Path, films: list[Path]) -> None:
    one = predict(films[0], "--model", model)
    assert (one.code, one.err) == (0, "")
    name, word, confidence = one.out.strip().split("\t")
    assert (name, word) == (films[0].as_posix(), word_of(films[0]))
    assert 0.6 < float(confidence) <= 1
    several = predict(films[2], films[1], "--model", model, "--n-best", 2, "--json")
    *lines, _ = several.out.splitlines()
    assert [line.split("\t")[0] for line in lines] == [str(films[i]) for i in (2, 2, 1, 1)]
    document = several.document
    assert [one["label"] for one in document["answers"]] == [word_of(films[2]), word_of(films[1])]
    assert (document["clips"], document["failed"], document["model"]) == (2, 0, [str(model)])
    assert several.err == "2 of 2 videos read\n"


def test_a_folder_into_a_file(model: Path, films: list[Path], tmp_path: Path) -> None:
    out = tmp_path / "out.jsonl"
    done = predict(films[0].parent, "--model", model, "--out", out, "--json", "--batch-size", 3)
    assert done.code == 0, done.err
    assert done.document == {
        "out": str(out),
        "model": [str(model)],
        "clips": 4,
        "failed": 0,
        "resumed_after": 0,
    }
    answers = [json.loads(line) for line in out.read_text("utf-8").splitlines()]
    assert [one["label"] for one in answers] == [word_of(path) for path in films]
    assert (
        "already exists; remove it or choose another --out"
        in predict(films[0].parent, "--model", model, "--out", out).mistake
    )
    assert [path.name for path in tmp_path.iterdir()] == ["out.jsonl"]


def test_the_contest_file(model: Path, films: list[Path], tmp_path: Path) -> None:
    done = predict(films[0].parent, "--model", model, "--contest", tmp_path / "test.csv")
    assert done.code == 0, done.err
    rows = (tmp_path / "test.csv").read_text("utf-8-sig").splitlines()
    assert rows == ["video_name,label", *(f"{path.name},{word_of(path)}" for path in films)]


def test_a_stream(model: Path, tmp_path: Path) -> None:
    film = write_film(tmp_path / "film.mp4", "lên", "xuống")
    found = predict(film, "--model", model, "--stream", "--window", 1, "--hop", 0.5, "--json")
    events = found.document["events"]
    assert found.code == 0
    assert {events[0]["label"], events[-1]["label"]} <= set(WORDS)
    assert events[0]["label"] == "lên"
    assert events[-1]["label"] == "xuống"
    assert found.out.startswith(f"{film}\t0.00-")
    out = tmp_path / "events.jsonl"
    written = predict(film, "--model", model, "--stream", "--window", 1, "--hop", 0.5, "--out", out)
    assert (written.code, written.out) == (0, "")
    assert [json.loads(line) for line in out.read_text("utf-8").splitlines()] == events


def test_a_stream_in_which_no_word_is_sure_says_so(model: Path, tmp_path: Path) -> None:
    film = write_film(tmp_path / "film.mp4", "lên", "xuống")
    bad = write_sound(tmp_path / "sound.mp4")
    unsure = ("--model", model, "--stream", "--threshold", 1)
    found = predict(film, bad, *unsure)
    assert found.out == f"{film}: no word was sure; lower --threshold\n"
    assert (found.code, f"error: {bad}: audio only" in found.err) == (1, True)
    out = tmp_path / "events.jsonl"
    written = predict(film, *unsure, "--out", out, "--json")
    assert (out.read_text("utf-8"), written.code) == ("", 0)
    assert written.err == f"{film}: no word was sure; lower --threshold\n"


def test_several_models_and_settings_of_looking(model: Path, films: list[Path], tmp_path: Path) -> None:
    second = write_model(tmp_path / "second", seed=1)
    found = predict(
        films[0], "--model", model, "--model", second, "--views", 2, "--adjust", 0.5, "--n-best", 3, "--json"
    )
    together = SignRecognizer.load(model, second).with_settings(views=2, adjust=0.5)
    (expected,) = together.recognize([films[0]])
    (answer,) = found.document["answers"]
    assert [word for word, _ in answer["candidates"]] == [word for word, _ in expected.candidates]
    assert [p for _, p in answer["candidates"]] == [
        pytest.approx(p, abs=1e-4) for _, p in expected.candidates
    ]


def test_some_that_cannot_be_read_are_told_and_the_rest_is_done(
    model: Path, films: list[Path], tmp_path: Path
) -> None:
    bad = write_sound(tmp_path / "sound.mp4")
    found = predict(bad, films[0], "--model", model)
    assert found.code == 1
    assert found.out.split("\t")[1] == word_of(films[0])
    assert f"error: {bad}: audio only" in found.err
    assert "1 of 2 videos read" in found.err


def test_a_model_of_generated_figures_says_so(films: list[Path], tmp_path: Path) -> None:
    generated = write_model(tmp_path / "generated", data={"is_generated": True})
    found = predict(films[0], "--model", generated)
    assert found.code == 0
    assert found.err.startswith("note: the model has learnt from generated figures")


def test_mistakes_are_one_line_and_nothing_is_written(model: Path, films: list[Path], tmp_path: Path) -> None:
    Image.new("RGB", (64, 48)).save(tmp_path / "a.png")
    (tmp_path / "empty").mkdir()
    before = sorted(tmp_path.rglob("*"))
    film, out = films[0], tmp_path / "out"
    for arguments, message in (
        ([], "no input; name videos or folders of them"),
        ([tmp_path / "none.mp4", "--out", out], "none.mp4: there is no such file or folder"),
        ([tmp_path / "a.png", "--model", model, "--out", out], "a.png: a PNG picture, not a video"),
        ([tmp_path / "empty", "--model", model], "empty: no video in it"),
        ([film, "--model", tmp_path / "empty", "--out", out], "empty: no finished model in it"),
        ([film, "--data", "signers"], "--data names clips to learn from or to score"),
        ([film, "--split", "clip"], "--split parts clips to learn from or to score"),
        ([film, "--n-best", 0], "--n-best must be an integer of at least 1, got 0"),
        ([film, "--batch-size", 0], "--batch-size must be"),
        ([film, "--stream", "--hop", 3], "--hop must be above 0 and at most the window, 2.5, got 3.0"),
        ([film, "--threshold", 0.9], "--threshold goes with --stream or --camera"),
        ([film, "--stream", "--n-best", 2], "--n-best goes with clips"),
        ([film, "--stream", "--contest", out], "--contest wants one answer a clip"),
        ([film, "--contest", out], "--contest answers one folder of clips"),
        ([film, "--out", tmp_path / "no" / "out"], "the folder does not exist; make it first"),
        ([film, "--model", model, "--adjust", -1], "--adjust must be at least 0, got -1"),
    ):
        assert message in predict(*arguments).mistake
    assert sorted(tmp_path.rglob("*")) == before
