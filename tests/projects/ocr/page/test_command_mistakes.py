"""`coursepkg ocr predict` and wrong input: one line says what, where and what to do, and nothing is left behind."""

import pytest

from coursepkg.projects.ocr.detector import detector
from tests.projects.ocr.page.world import World, save

OPEN_DETECTOR = detector.open_detector


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ([], "no input"),
        (["none.png"], "none.png: there is no such file or folder"),
        (["bad.png"], "bad.png: not a picture"),
        (["bad.png", "other.png"], "nothing could be read"),
        (["ok.png", "--out", "none/o.json"], "the folder does not exist; make it first"),
        (["ok.png", "--out", "ok.png"], "already exists"),
        (["ok.png", "--out", "."], "--out . is a folder; name a file"),
        (["ok.png", "--text", "."], "--text . is a folder; name a file"),
        (["ok.png", "--out", "o", "--text", "o"], "--out and --text are both o"),
        (["ok.png", "--overlay", "o.gif"], "must end in"),
        (["ok.png", "--overlay", "bad.png"], "already exists"),
        (["ok.png", "bad.png", "--overlay", "o.png"], "name a folder"),
        ([".", "--overlay", "."], "is what is read"),
        (["ok.png", "bad.png", "--reference", "ok.png"], "text of one file"),
        (["ok.png", "--reference", "ok.png"], "not UTF-8"),
        (["ok.png", "--reference", "none.txt"], "--reference none.txt: there is no such file"),
        (["ok.png", "--split", "line"], "--split says what to learn from"),
        (["ok.png", "--generate", "5"], "--generate says what to learn from"),
        (["ok.png", "--texts", "ok.png"], "--texts says what to learn from"),
        (["ok.png", "--preset", "tiny"], "--model and --preset both name the model"),
        (["ok.png", "--lines", "--engine", "paddle-vi"], "--engine is for pages"),
        (["ok.png", "--lines", "--side", "640"], "--side is for pages"),
        (["ok.png", "--lines", "--min-score", "0.5"], "--min-score is for pages"),
        (["ok.png", "--lines", "--word-gap", "1"], "--word-gap is for pages"),
        (["ok.png", "--lines", "--margin", "0.1"], "--margin is for pages"),
        (["ok.png", "--lines", "--no-upside-down"], "--no-upside-down is for pages"),
        (["ok.png", "--second-look", "1.5"], "--second-look must be in [0, 1]"),
        (["ok.png", "--reader", "ctc", "--second-look", "0.5"], "second_look needs reader joint"),
        (["ok.png", "--dpi", "3"], "--dpi"),
        (["ok.png", "--threads", "-1"], "--threads"),
        (["ok.png", "--min-confidence", "2"], "--min-confidence"),
        (["ok.png", "--reader", "eyes"], "--reader"),
        (["ok.png", "--data", "vi-lines"], "--data"),
        (["ok.png", "--beam-size", "0"], "--beam-size"),
        (["ok.png", "--side", "1"], "--side"),
    ],
)
def test_a_mistake_gets_one_line_and_leaves_nothing(world: World, arguments: list[str], said: str) -> None:
    save(world.folder / "ok.png")
    for name in ("bad.png", "other.png"):
        (world.folder / name).write_text("no picture")
    before = {path.name: path.stat().st_size for path in world.folder.iterdir()}
    outputs = [] if {"--out", "--text"} & set(arguments) else ["--out", "result.json"]
    ran = world.predict(*arguments, *outputs)
    assert ran.code == 2
    assert said in ran.err.splitlines()[-1]
    # Only where several files failed, each has its own line first.
    assert ran.err.count("\n") == (3 if "other.png" in arguments else 1)
    assert {path.name: path.stat().st_size for path in world.folder.iterdir()} == before


def test_without_a_detector_a_line_says_what_to_install(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    save(world.folder / "ok.png")
    monkeypatch.setattr(detector, "open_detector", OPEN_DETECTOR)
    monkeypatch.setattr(
        detector, "what_is_missing", lambda engine: f"{engine} needs onnxruntime: pip install it"
    )
    assert (
        "onnxruntime needs onnxruntime: pip install it" in world.predict("ok.png", "--out", "o.json").mistake
    )
    assert [path.name for path in world.folder.iterdir()] == ["ok.png"]
    assert world.predict("ok.png", "--lines").code == 0


def test_a_missing_model_is_named(world: World) -> None:
    save(world.folder / "ok.png")
    assert "train one there first" in world.predict("ok.png", "--model", "nowhere", trained=False).mistake
