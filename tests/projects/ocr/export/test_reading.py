"""An exported program reads lines and pages as the model's CTC head does, and says what it cannot do."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from coursepkg.app.export import CARD, ONNX_PROGRAM, PROGRAM
from coursepkg.projects.ocr import export
from coursepkg.projects.ocr.detector import detector as bounded
from coursepkg.projects.ocr.export import ExportedReader
from coursepkg.projects.ocr.predict import Recognizer
from tests.projects.ocr.drawn import draw, drawn_lines
from tests.projects.ocr.page.pages import InkDetector, drawn_page
from tests.projects.ocr.sets import ocr, write_picture

PROGRAMS = {"pt2": PROGRAM, "onnx": ONNX_PROGRAM}


@pytest.fixture(params=sorted(PROGRAMS))
def exported(request: pytest.FixtureRequest, export_to: Callable[[str], Path]) -> Path:
    return export_to(request.param)


@pytest.fixture
def pages(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a page and its words, for a detector that needs no weights."""
    monkeypatch.setattr(bounded, "open_detector", lambda settings, cache=True: InkDetector())
    image, corners = drawn_page([["Phở bò tái"], ["Cơm gà"]])
    write_picture(tmp_path / "pages" / "1.png", image)
    rows = [",".join(str(round(value)) for value in four.reshape(-1)) for four in corners]
    words = [f"{row},{text}" for row, text in zip(rows, ("Phở bò tái", "Cơm gà"), strict=True)]
    (tmp_path / "pages" / "1.txt").write_text("\n".join(words), "utf-8")
    return tmp_path / "pages"


def test_lines_read_as_by_the_ctc_head(exported: Path, quick_run: Path) -> None:
    images = [line.image for line in drawn_lines(12, seed=5, height=40)]
    images += [draw("phở " * 40), np.full((30, 9), 250, np.uint8), images[0], images[0]]
    reader = ExportedReader(exported)
    found = reader.read_lines(images, batch_size=2)
    expected = Recognizer.load(quick_run).read_lines(images, reader="ctc")
    assert [one.text for one in found] == [one.text for one in expected]
    assert len({one.text for one in found}) > 1
    for ours, theirs in zip(found, expected, strict=True):
        assert ours.confidence == pytest.approx(theirs.confidence, abs=1e-3)
        assert ours.n_best[0].score == pytest.approx(theirs.n_best[0].score, rel=1e-3)
    assert reader.read_lines(images, batch_size=2) == found
    assert reader.fingerprint == ExportedReader(exported).fingerprint


def test_more_lines_of_one_width_than_a_program_takes(
    exported: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    images = [
        draw(text)[:, :60]
        for text in ("Phở bò tái", "Cơm gà xối", "Bún chả Hà", "Trà đá chanh", "Nem rán Hà")
    ]
    reader = ExportedReader(exported)
    together = reader.read_lines(images)
    monkeypatch.setattr(export, "MOST_LINES", 2)
    assert [one.text for one in reader.read_lines(images)] == [one.text for one in together]


def test_an_export_is_no_model_to_export_again(exported: Path, tmp_path: Path) -> None:
    told = ocr("export", "--model", exported, "--out", tmp_path / "again").mistake
    assert f"{exported}: no finished model in it; it holds an export: name the folder of the model" in told


def test_a_bad_picture_stops_all_or_nothing(exported: Path, tmp_path: Path) -> None:
    (tmp_path / "bad.png").write_bytes(b"")
    reader, pictures = ExportedReader(exported), [tmp_path / "bad.png", draw("Cơm gà")]
    bad, good = reader.read_lines(pictures, keep_going=True)
    assert "bad.png" in str(bad.error)
    assert good.error is None
    with pytest.raises(ValueError, match=r"bad\.png"):
        reader.read_lines(pictures)
    with pytest.raises(ValueError, match="names must be as many as pictures, 2, got 1"):
        reader.read_lines(pictures, names=["x"])


def test_predict_and_evaluate_lines(exported: Path, quick_run: Path, labelled: Path, tmp_path: Path) -> None:
    lines = sorted(labelled.rglob("*.png"))[:6]
    said = [
        ocr("predict", *lines, "--lines", "--out", tmp_path / f"{number}.jsonl", *more)
        for number, more in enumerate(
            (["--model", exported], ["--model", quick_run, "--reader", "ctc", "--second-look", "0"])
        )
    ]
    assert [one.code for one in said] == [0, 0]
    found, expected = (
        [json.loads(row)["text"] for row in (tmp_path / f"{number}.jsonl").read_text("utf-8").splitlines()]
        for number in (0, 1)
    )
    assert found == expected
    options = ["--data", labelled, "--part", "test", "--json"]
    scored = ocr("evaluate", "--model", exported, *options).document
    by_model = ocr("evaluate", "--model", quick_run, "--reader", "ctc", *options).document
    assert scored["cer"]["value"] == by_model["cer"]["value"]
    assert f"ctc beam 1, exported to {exported.name}" in scored["cer"]["signature"]
    assert scored["loss"] is None
    assert "no loss, which needs the model that was exported" in scored["notes"]
    assert scored["reading"] == {**by_model["reading"], "second_look": 0.0}
    assert scored["exported_from"] == by_model["fingerprint"] != scored["fingerprint"]
    # Both know that the model learnt from a folder, and not where it lies.
    for model in (exported, quick_run):
        refused = ocr("evaluate", "--model", model, "--reader", "ctc").mistake
        assert "the model learnt from the folder lines; name it with --data, or one of synthetic," in refused


def test_pages_are_read_and_scored(exported: Path, quick_run: Path, pages: Path) -> None:
    read = [
        ocr("predict", pages / "1.png", "--model", model, "--reader", "ctc", "--json").document["page"]
        for model in (exported, quick_run)
    ]
    assert read[0]["text"] == read[1]["text"]
    scored = ocr("evaluate", "--pages", pages, "--model", exported, "--json").document
    (ours,) = scored["readers"]
    assert f"ctc beam 1, exported to {exported.name}" in ours["mean_f1"]["signature"]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--reader", "joint"], "reader joint needs the decoder, which an export lacks; take reader ctc"),
        (["--reader", "attention"], "reader attention needs the decoder, which an export lacks"),
        (["--beam-size", "4"], "beam_size must be 1 for an export, which reads greedily, got 4"),
        (["--second-look", "0.5"], "second_look needs the decoder, which an export lacks"),
        (
            ["--precision", "auto"],
            "--precision auto is for trained models, and an export computes in float32",
        ),
    ],
)
def test_what_an_export_lacks_is_refused(
    export_to: Callable[[str], Path], pages: Path, options: list[str], message: str
) -> None:
    model = ["--model", export_to("pt2")]
    assert message in ocr("predict", pages / "1.png", "--lines", *model, *options).mistake
    assert message in ocr("predict", pages / "1.png", *model, *options).mistake
    assert message in ocr("evaluate", *model, *options).mistake
    assert message in ocr("evaluate", "--pages", pages, *model, *options).mistake


def change_card(folder: Path, **entries: object) -> None:
    card = json.loads((folder / CARD).read_text("utf-8"))
    (folder / CARD).write_text(json.dumps(card | entries), "utf-8")


def test_a_damaged_export_is_named(exported: Path, pages: Path, tmp_path: Path) -> None:
    program = PROGRAMS[exported.name]
    for number, (broken, message) in enumerate(
        (
            (lambda folder: (folder / program).write_bytes(b"cut"), "was changed or cut short; export the"),
            (lambda folder: (folder / program).unlink(), f"{program} is missing; export the model again"),
            (lambda folder: (folder / CARD).unlink(), f"{CARD} is missing"),
            (lambda folder: (folder / CARD).write_text("{"), f"{CARD} is damaged"),
            (lambda folder: change_card(folder, widths=[5]), f"{CARD} is damaged; export the model again"),
            (lambda folder: change_card(folder, widths=["5", 9]), f"{CARD} is damaged; export the"),
            (lambda folder: change_card(folder, files={}), f"{CARD} is damaged or of another project"),
        )
    ):
        folder = tmp_path / str(number) / "export"
        shutil.copytree(exported, folder)
        broken(folder)
        for command in (["predict", pages / "1.png", "--lines"], ["evaluate"]):
            assert message in ocr(*command, "--model", folder).mistake
