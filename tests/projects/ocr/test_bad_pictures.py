"""A labelled folder with every kind of bad picture: the rest is read, each fault has a line, the score counts them."""

from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from coursepkg.projects.ocr.corpora import load_corpus
from tests.projects.ocr.data.tables import box, row, write_table
from tests.projects.ocr.drawn import draw
from tests.projects.ocr.sets import ocr, write_picture

TEXT = "Giá 34.000"
BAD = {
    "text.png": "not a picture",
    "empty.png": "the file is empty",
    "cut.jpg": "damaged or cut short",
    "huge.png": "400,000,000 pixels, more than 64,000,000; scale it down",
    "pixel.png": "1 x 1 pixels hold no text",
    "thin.png": "40 x 1 pixels hold no text",
    "absent.png": "there is no such picture",
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Four pictures that can be read, in four ways of storing them, and seven that cannot."""
    found = tmp_path_factory.mktemp("bad") / "lines"
    image = draw(TEXT)
    write_picture(found / "plain.png", image)
    turned = Image.fromarray(image).transpose(Image.Transpose.ROTATE_90)
    exif = Image.Exif()
    exif[0x0112] = 6  # the camera lay on its side: turn it by a quarter clockwise
    turned.save(found / "turned.jpg", quality=95, exif=exif)
    Image.fromarray(image).convert("RGB").convert("CMYK").save(found / "cmyk.jpg", quality=95)
    write_picture(found / "last.png", image)
    (found / "text.png").write_text("no picture at all")
    (found / "empty.png").write_bytes(b"")
    (found / "cut.jpg").write_bytes((found / "turned.jpg").read_bytes()[:900])
    Image.new("1", (20_000, 20_000)).save(found / "huge.png")
    write_picture(found / "pixel.png", np.zeros((1, 1), np.uint8))
    write_picture(found / "thin.png", np.zeros((1, 40), np.uint8))
    names = ["plain.png", "turned.jpg", *BAD, "cmyk.jpg", "last.png"]
    (found / "labels.tsv").write_text("".join(f"{name}\t{TEXT}\n" for name in names), "utf-8")
    return found


def test_bad_pictures_are_named_and_the_others_read(folder: Path) -> None:
    found = load_corpus(str(folder), split="test").part("test")
    assert [line.name for line in found.lines] == ["plain.png", "turned.jpg", "cmyk.jpg", "last.png"]
    reasons = {one.name: one.reason for one in found.unreadable}
    assert reasons.keys() == BAD.keys()
    for name, reason in BAD.items():
        assert reason in reasons[name]
        assert name in reasons[name]
        assert "\n" not in reasons[name]
    plain = found.lines[0].image.astype(float)
    for line in found.lines[1:]:
        assert line.image.shape == plain.shape
        assert np.abs(line.image.astype(float) - plain).mean() < 6


def test_a_part_without_a_readable_picture_is_named(tmp_path: Path) -> None:
    rows = []
    for i in range(20):
        write_picture(tmp_path / f"{i}.png", draw(TEXT))
        rows.append(f"{i}.png\t{TEXT}\n")
    (tmp_path / "labels.tsv").write_text("".join(rows), "utf-8")
    for one in load_corpus(str(tmp_path), split="line").labels["dev"]:
        (tmp_path / one.name).write_bytes(b"")
    said = ocr("train", "--data", tmp_path, "--split", "line", "--out", tmp_path / "run")
    assert said.code == 2
    assert "dev: 0 lines read, 2 not: " in said.out
    assert said.err.startswith("error: there is no dev line whose picture can be read")
    assert not (tmp_path / "run").exists()


def test_the_score_counts_what_cannot_be_read_as_wrong(folder: Path, quick_run: Path) -> None:
    said = ocr(
        "evaluate", "--model", quick_run, "--data", folder, "--split", "test", "--part", "test", "--json"
    )
    assert said.code == 0
    assert (said.document["n"], said.document["n_unreadable"]) == (11, 7)
    assert said.document["cer"]["value"] >= 7 / 11
    assert "n:11/11" in said.document["cer"]["signature"]
    assert any("4 lines read, 7 not: " in note for note in said.document["notes"])


def test_polygons_outside_a_photograph_are_named(tmp_path: Path, quick_run: Path) -> None:
    instances = [
        ([box(20, 20, 120, 45)], "Quán Phở", "SELLER"),
        ([box(400, 20, 500, 45)], "nowhere", "ADDRESS"),
        ([box(250, 60, 380, 85)], "half of it", "ADDRESS"),
        ([box(20, 300, 90, 300.4)], "no height", "TOTAL_COST"),
    ]
    write_table(tmp_path / "mcocr_train_df.csv", [row("one.jpg", instances)])
    write_picture(tmp_path / "one.jpg", np.full((400, 300), 200, np.uint8))
    corpus = load_corpus(str(tmp_path), split="line")
    sides = [corpus.part(part) for part in ("train", "dev", "test") if corpus.labels[part]]
    assert {line.text for side in sides for line in side.lines} == {"Quán Phở", "half of it"}
    reasons = {one.text: one.reason for side in sides for one in side.unreadable}
    assert reasons.keys() == {"no height"}
    assert "70 x 0 pixels holds no text" in reasons["no height"]
    found = {fault.kind: fault.instance for fault in corpus.faults}
    assert (found["wholly outside the image"], found["outside the image"]) == (1, 2)
