"""Receipts: the outlines fit the letters, and the table reads as the real one does."""

import csv
import random
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from coursepkg.projects.ocr.data.geometry import crop_corners
from coursepkg.projects.ocr.data.mc_ocr import COLUMNS, read_table, receipt_lines
from coursepkg.projects.ocr.line import sort_lines
from coursepkg.projects.ocr.synthetic.fonts import matplotlib_faces
from coursepkg.projects.ocr.synthetic.receipt_config import ReceiptConfig
from coursepkg.projects.ocr.synthetic.receipts import make_receipt, outline, place_on_photo, write_receipts
from coursepkg.projects.ocr.synthetic.sheet import PAPER, lay_out

CALM = ReceiptConfig(several_polygons=0.0, fifth_corner=0.0, turned=0.0, empty=0.0)
MONO = [face for face in matplotlib_faces() if face.family == "DejaVu Sans Mono"]


def test_a_sheet_has_every_part() -> None:
    for seed in range(15):
        sheet = lay_out(random.Random(seed), matplotlib_faces())
        assert {line.label for line in sheet.lines} == {"SELLER", "ADDRESS", "TIMESTAMP", "TOTAL_COST", ""}
        assert sheet.image.shape[1] == PAPER
        for line in sheet.lines:
            left, top, right, bottom = line.box
            assert 0 <= left < right <= PAPER
            assert 0 <= top < bottom <= sheet.image.shape[0]
            # Ink touches all four sides of its box.
            inside = sheet.image[top:bottom, left:right] < 255
            assert inside[0].any()
            assert inside[-1].any()
            assert inside[:, 0].any()
            assert inside[:, -1].any()


def test_an_incomplete_face_prints_without_marks() -> None:
    sheet = lay_out(random.Random(0), MONO)
    assert all(line.text.isascii() for line in sheet.lines)


def test_goods_add_up_to_the_total() -> None:
    for seed in range(10):
        sheet = lay_out(random.Random(seed), matplotlib_faces())
        amounts = [
            int("".join(filter(str.isdigit, line.text)))
            for line in sheet.lines
            if not line.label and line.box[2] > PAPER * 0.9 and line.text[:1].isdigit()
        ]
        total = next(line for line in sheet.lines if line.label == "TOTAL_COST" and line.box[2] > PAPER * 0.9)
        said = int("".join(filter(str.isdigit, total.text)))
        assert any(sum(amounts[:n]) == said for n in range(1, len(amounts) + 1))


def test_the_outline_of_a_line_is_where_its_letters_are() -> None:
    sheet = lay_out(random.Random(3), matplotlib_faces())
    for quarter in (0, 1, 3):
        rng = np.random.Generator(np.random.PCG64(1))
        matrix = place_on_photo(sheet.image.shape, (2048, 1536), rng, quarter=quarter)
        back = np.linalg.inv(matrix)
        flat = Image.fromarray(sheet.image).transform(
            (1536, 2048),
            Image.Transform.PERSPECTIVE,
            tuple((back / back[2, 2]).reshape(-1)[:8]),
            Image.Resampling.BICUBIC,
            fillcolor=255,
        )
        page = np.asarray(flat)
        for line in sheet.lines:
            left, top, right, bottom = line.box
            crop = crop_corners(page, outline(matrix, line.box))
            straight = Image.fromarray(sheet.image[top - 2 : bottom + 2, left - 2 : right + 2])
            straight = straight.resize(crop.shape[::-1], Image.Resampling.BICUBIC)
            alike = np.corrcoef(crop.ravel(), np.asarray(straight).ravel())[0, 1]
            assert alike > 0.8, (quarter, line.text)


def test_a_receipt_is_a_function_of_seed_and_number() -> None:
    first, again, other = make_receipt(1, 4), make_receipt(1, 4), make_receipt(1, 5)
    assert np.array_equal(first.image, again.image)
    assert first.row == again.row
    assert other.row["anno_texts"] != first.row["anno_texts"]


def test_what_is_written_is_read_back_without_a_fault(tmp_path: Path) -> None:
    table = read_table(write_receipts(tmp_path, 3, seed=2, config=CALM), tmp_path / "images")
    assert table.faults == ()
    assert len(table.receipts) == 3
    found = sort_lines(receipt_lines(table.receipts, tmp_path / "images"))
    assert not found.unreadable
    assert [line.text for line in found.lines] == table.texts
    for number, receipt in enumerate(table.receipts):
        made = make_receipt(2, number, config=CALM)
        labelled = [line.text for line in made.lines if line.label]
        assert [one.text for one in receipt.instances] == labelled
        # Annotators' hands shake, but by no more than two pixels.
        true = made.outlines[[i for i, line in enumerate(made.lines) if line.label]]
        drawn = np.array([one.polygons[0] for one in receipt.instances])
        assert np.abs(drawn - true).max() < 2


def test_the_table_has_the_columns_of_the_real_one(tmp_path: Path) -> None:
    path = write_receipts(tmp_path, 1)
    with path.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert tuple(rows[0]) == COLUMNS
    assert not list(tmp_path.rglob("*.part"))


def test_quirks_come_at_their_rates(tmp_path: Path) -> None:
    always = ReceiptConfig(several_polygons=1.0, fifth_corner=1.0, turned=1.0, empty=0.0)
    table = read_table(write_receipts(tmp_path, 2, seed=1, config=always), tmp_path / "images")
    assert all(len(one.polygons) == 2 and len(one.polygons[1]) == 5 for _, one in table.instances)
    assert "several polygons" in table.counts
    assert "upright" not in {name for name, count in table.turned.items() if count}
    empty = read_table(write_receipts(tmp_path, 2, config=ReceiptConfig(empty=1.0)))
    assert empty.counts == {"empty row": 2}


@pytest.mark.parametrize("wrong", [{"turned": 2.0}, {"empty": -0.1}])
def test_faulty_rates(wrong: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=rf"{next(iter(wrong))} must be in \[0, 1\]"):
        ReceiptConfig(**wrong)
