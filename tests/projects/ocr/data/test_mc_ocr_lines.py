"""Lines out of photographs: the right pixels, and a reason for each line that has none."""

from pathlib import Path

import numpy as np
from PIL import Image

from coursepkg.projects.ocr.data.mc_ocr import read_table, receipt_lines
from coursepkg.projects.ocr.line import sort_lines
from tests.projects.ocr.data.tables import box, receipt, row, write_table

PAGE = np.random.default_rng(3).integers(0, 256, (400, 300), dtype=np.uint8)


def test_each_instance_is_cut_out_of_its_photograph(tmp_path: Path) -> None:
    table = read_table(write_table(tmp_path / "table.csv", [receipt("a.png")]))
    Image.fromarray(PAGE).save(tmp_path / "a.png")
    found = sort_lines(receipt_lines(table.receipts, tmp_path))
    assert [line.text for line in found.lines] == table.texts
    assert [line.name for line in found.lines] == [f"a.png, instance {i}" for i in range(3)]
    assert {line.group for line in found.lines} == {"a.png"}
    assert np.array_equal(found.lines[0].image, PAGE[20:45, 20:120])
    assert np.array_equal(found.lines[2].image, PAGE[300:320, 20:90])


def test_text_that_runs_upwards_is_turned(tmp_path: Path) -> None:
    upwards = row(
        "a.png",
        [
            ([box(20, 50, 45, 250)], "Quán Phở Hà Nội", "SELLER"),
            ([box(200, 50, 220, 150)], "45.000", "TOTAL_COST"),
        ],
    )
    table = read_table(write_table(tmp_path / "table.csv", [upwards]))
    Image.fromarray(PAGE).save(tmp_path / "a.png")
    first, _ = sort_lines(receipt_lines(table.receipts, tmp_path)).lines
    assert np.array_equal(first.image, np.rot90(PAGE[50:250, 20:45], 3))


def test_a_scaled_copy_of_the_photograph_serves_and_another_one_does_not(tmp_path: Path) -> None:
    table = read_table(write_table(tmp_path / "table.csv", [receipt("a.png"), receipt("b.png")]))
    Image.fromarray(PAGE).resize((600, 800), Image.Resampling.NEAREST).save(tmp_path / "a.png")
    Image.fromarray(np.ascontiguousarray(PAGE.T)).save(tmp_path / "b.png")
    found = sort_lines(receipt_lines(table.receipts, tmp_path))
    assert np.array_equal(found.lines[0].image[::2, ::2], PAGE[20:45, 20:120])
    assert {one.group for one in found.unreadable} == {"b.png"}
    assert "400 x 300 pixels, but the table says 300 x 400" in found.unreadable[0].reason


def test_every_instance_comes_out_once_with_or_without_a_picture(tmp_path: Path) -> None:
    rows = [
        receipt("missing.png"),
        receipt("broken.png"),
        row(
            "a.png",
            [
                ([box(20, 20, 120, 45)], "Quán Phở", "SELLER"),
                (
                    [box(0, 100, 90, 120), box(0, 125, 90, 145)],
                    "12 Đường Láng, Quận Đống Đa, Hà Nội",
                    "ADDRESS",
                ),
                ([box(20, 350, 90, 350.4)], "46.000", "TOTAL_COST"),
            ],
        ),
    ]
    table = read_table(write_table(tmp_path / "table.csv", rows))
    (tmp_path / "broken.png").write_bytes(b"no picture")
    Image.fromarray(PAGE).save(tmp_path / "a.png")
    found = sort_lines(receipt_lines(table.receipts, tmp_path))
    assert [line.text for line in found.lines] == ["Quán Phở"]
    assert len(found.unreadable) == len(table.texts) - 1
    reasons = [one.reason for one in found.unreadable]
    assert all("there is no such picture" in reason for reason in reasons[:3])
    assert all("broken.png: not a picture" in reason for reason in reasons[3:6])
    assert "several lines" in reasons[6]
    assert "70 x 0 pixels" in reasons[7]
