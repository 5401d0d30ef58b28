"""The table of MC-OCR with every fault it is known for, and some more."""

import json
import unicodedata
from pathlib import Path

import pytest

from coursepkg.projects.ocr.data.mc_ocr import read_table
from tests.projects.ocr.data.tables import annotation, box, receipt, row, write_table

GOOD = ([box(20, 20, 120, 45)], "Quán Phở", "SELLER")


def said(**changes: object) -> str:
    """The cell of one instance whose annotation says something else under some names."""
    return str([annotation(box(20, 20, 120, 45)) | changes])


def faults(tmp_path: Path, *rows: dict[str, str]) -> list[tuple[str, int, str, int]]:
    table = read_table(write_table(tmp_path / "table.csv", rows))
    return [(fault.kind, fault.line, fault.image, fault.instance) for fault in table.faults]


def test_a_faultless_table_is_read_whole(tmp_path: Path) -> None:
    table = read_table(
        write_table(tmp_path / "mcocr_train_df.csv", [receipt("a.jpg"), receipt("b.jpg", "KFC")])
    )
    assert table.faults == ()
    assert table.texts == ["Quán Phở", "12 Đường Láng", "45.000", "KFC", "12 Đường Láng", "45.000"]
    assert table.groups == ["a.jpg"] * 3 + ["b.jpg"] * 3
    assert table.labels[:3] == ["SELLER", "ADDRESS", "TOTAL_COST"]
    assert table.sellers == {"a.jpg": ("Quán Phở",), "b.jpg": ("KFC",)}
    assert (table.n_rows, table.n_annotated, table.receipts[1].line) == (2, 6, 3)
    assert (table.receipts[0].width, table.receipts[0].height, table.receipts[0].quality) == (300, 400, 0.5)
    assert table.receipts[0].instances[0].polygons == (((20, 20), (120, 20), (120, 45), (20, 45)),)


def test_the_folder_may_be_named_instead_of_the_file(tmp_path: Path) -> None:
    write_table(tmp_path / "mcocr_train_df.csv", [receipt("a.jpg")])
    assert len(read_table(tmp_path).receipts) == 1


@pytest.mark.parametrize(
    ("bad", "kind", "instance"),
    [
        (row("a.jpg", []), "empty row", -1),
        (row("a.jpg", [GOOD], anno_texts="Quán|||Phở"), "mismatched counts", -1),
        (row("a.jpg", [GOOD], anno_labels=""), "mismatched counts", -1),
        (row("a.jpg", [GOOD], anno_num="7"), "wrong anno_num", -1),
        (row("a.jpg", [GOOD, ([box(0, 0, 9, 9)], " ", "ADDRESS")]), "empty text", 1),
        (row("a.jpg", [GOOD], anno_labels="SELER", anno_polygons=str([annotation(box(0, 0, 9, 9), category=3)])),
         "unknown label", 0),
        (row("a.jpg", [([box(0, 0, 90, 9)], "Tổng", "TOTAL_TOTAL_COST")]), "label typo", 0),
        (row("a.jpg", [([[1, 2, 3, 4]], "Tổng", "SELLER")]), "no polygon", 0),
        (row("a.jpg", [([box(1, 1, 9, 9), [1, 2, 3]], "Tổng", "SELLER")]), "malformed polygon", 0),
        (row("a.jpg", [([box(1, 1, 9, 9), box(1, 1, 9, 2)], "Tổng", "SELLER")]), "several polygons", 0),
        (row("a.jpg", [([box(-5, 1, 90, 9)], "Tổng", "SELLER")]), "outside the image", 0),
        (row("a.jpg", [([box(1, 1, 90, 9)], unicodedata.normalize("NFD", "Tổng"), "SELLER")]), "not NFC", 0),
        (row("a.jpg", [GOOD], anno_polygons="[{'a': open('x')}]"), "polygons not readable", -1),
        (row("a.jpg", [GOOD], anno_polygons="[" * 5000), "polygons not readable", -1),
        (row("a.jpg", [GOOD], anno_polygons="[1, 2]"), "polygons not readable", -1),
        (row("a.jpg", [GOOD], anno_polygons=f"'{'x' * 1_000_001}'"), "polygons not readable", -1),
        (row("a.jpg", [GOOD], anno_polygons=str([annotation(box(0, 0, 9, 9), size=(0, 5))])), "image size", -1),
        (row("a.jpg", [GOOD], anno_polygons=said(width=[4])), "image size", -1),
        (row("a.jpg", [GOOD], anno_polygons=said(height={4})), "image size", -1),
        (row("a.jpg", [GOOD], anno_polygons=said(width=True)), "image size", -1),
        (row("a.jpg", [GOOD], anno_polygons=said(width=100_000, height=100_000)), "image size", -1),
        (row("a.jpg", [GOOD], anno_polygons=said(width=10**4000)), "image size", -1),
        (row("a.jpg", [GOOD], anno_num="9" * 5000), "wrong anno_num", -1),
        (row("a.jpg", [GOOD], anno_polygons=said(segmentation=5)), "malformed polygon", 0),
        (row("a.jpg", [GOOD], anno_polygons=said(segmentation={"counts": "x"})), "malformed polygon", 0),
        (row("a.jpg", [GOOD], anno_polygons=said(segmentation=[[10**400, 0, 9, 0, 9, 9]])), "malformed polygon", 0),
        (row("a.jpg", [GOOD], anno_polygons=said(segmentation=[[2e6, 0, 9, 0, 9, 9]])), "malformed polygon", 0),
        (row("a.jpg", [([box(0, 0, 9, 9)], "Tổng", "SELLER"), ([[0, 0, 20, 10, 40, 20]], "KFC", "SELLER")]),
         "no area", 1),
        (row("a.jpg", [([box(1000, 1000, 1090, 1020)], "Tổng", "SELLER")]), "wholly outside the image", 0),
        (row("a.jpg", [([box(300, 10, 390, 20)], "Tổng", "SELLER")]), "wholly outside the image", 0),
        (row("../a.jpg", [GOOD]), "image name", -1),
        (row("", [GOOD]), "image name", -1),
    ],
)  # fmt: skip
def test_each_fault_is_counted_and_named(
    tmp_path: Path, bad: dict[str, str], kind: str, instance: int
) -> None:
    found = faults(tmp_path, receipt("good.jpg"), bad)
    place = bad["img_id"] or "(no image)"
    assert (kind, 3, place, instance) in found
    assert {line for _, line, _, _ in found} == {3}


def test_what_is_mended_and_what_is_left_out(tmp_path: Path) -> None:
    decomposed = unicodedata.normalize("NFD", "Tổng cộng")
    rows = [
        row(
            "a.jpg",
            [([box(0, 0, 90, 24)], decomposed, "TOTAL_TOTAL_COST"), ([box(0, 0, 9, 9)], "", "SELLER")],
        ),
        row("b.jpg", [GOOD], anno_texts="Quán|||Phở"),
        receipt("a.jpg"),
    ]
    table = read_table(write_table(tmp_path / "table.csv", rows))
    assert table.texts == ["Tổng cộng"]
    assert table.labels == ["TOTAL_COST"]
    assert table.counts == {
        "label typo": 1,
        "not NFC": 1,
        "empty text": 1,
        "mismatched counts": 1,
        "repeated image": 1,
    }


def test_an_outline_that_shows_nothing_is_left_out_and_named_once(tmp_path: Path) -> None:
    rows = [
        row("a.jpg", [([[0, 0, 200, 100, 400, 200]], "Quán Phở", "SELLER")]),
        row("b.jpg", [([box(1000, 1000, 1090, 1020)], "Quán Phở", "SELLER")]),
        row("c.jpg", [([box(20, 20, 120, 45), box(900, 20, 990, 45)], "Quán Phở", "SELLER")]),
        row("d.jpg", [GOOD, ([box(-5, 60, 90, 80)], "12 Đường Láng", "ADDRESS")], anno_num="2" * 5000),
    ]
    table = read_table(write_table(tmp_path / "table.csv", rows))
    assert [(fault.kind, fault.image) for fault in table.faults] == [
        ("no area", "a.jpg"),
        ("wholly outside the image", "b.jpg"),
        ("wholly outside the image", "c.jpg"),
        ("wrong anno_num", "d.jpg"),
        ("outside the image", "d.jpg"),
    ]
    assert table.groups == ["c.jpg", "d.jpg", "d.jpg"]
    assert table.receipts[2].instances[0].polygons == (((20, 20), (120, 20), (120, 45), (20, 45)),)
    assert table.n_annotated == 3


def test_missing_photographs_are_faults_only_where_a_folder_is_given(tmp_path: Path) -> None:
    path = write_table(tmp_path / "table.csv", [receipt("a.jpg"), receipt("b.jpg")])
    (tmp_path / "a.jpg").write_bytes(b"")
    assert read_table(path).counts == {}
    assert [(f.kind, f.image) for f in read_table(path, tmp_path).faults] == [("missing image", "b.jpg")]


def test_a_row_may_begin_lines_later_than_its_number(tmp_path: Path) -> None:
    two_lines = row("a.jpg", [GOOD], anno_texts="Quán\nPhở")
    assert faults(tmp_path, two_lines, row("b.jpg", [])) == [("empty row", 4, "b.jpg", -1)]


def test_a_row_cut_short_is_named(tmp_path: Path) -> None:
    path = write_table(tmp_path / "table.csv", [receipt("a.jpg")])
    path.write_text(path.read_text(encoding="utf-8") + "b.jpg,[]\r\n", encoding="utf-8")
    table = read_table(path)
    assert [(f.kind, f.line, f.image) for f in table.faults] == [("short row", 3, "b.jpg")]


def test_a_row_with_a_comma_too_many_is_left_out(tmp_path: Path) -> None:
    rows = [row("a.jpg", [([box(0, 0, 90, 24)], "Phở, bò", "SELLER")]), receipt("b.jpg")]
    path = write_table(tmp_path / "table.csv", rows)
    text = path.read_text(encoding="utf-8").replace('"Phở, bò"', "Phở, bò")
    path.write_text(text.rstrip() + ",\n", encoding="utf-8")
    table = read_table(path)
    assert [(f.kind, f.line, f.image) for f in table.faults] == [("long row", 2, "a.jpg")]
    # An empty cell at the end moves nothing.
    assert [one.image for one in table.receipts] == ["b.jpg"]


def test_outlines_without_area_are_read(tmp_path: Path) -> None:
    crossed, point = [0, 0, 50, 50, 50, 0, 0, 50], [5, 5, 5, 5, 5, 5]
    path = write_table(tmp_path / "table.csv", [row("a.jpg", [([crossed, point], "Phở", "SELLER")])])
    assert read_table(path).counts == {"several polygons": 1, "text in one polygon of several": 1}


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"a,b\n1,2\n", "line 1: no column img_id, anno_polygons"),
        (b"", "line 1: no column img_id"),
        ("img_id".encode("utf-16"), "not UTF-8"),
        (b'img_id,anno_polygons,anno_texts,anno_labels,anno_num,anno_image_quality\n"a', "no CSV"),
    ],
)
def test_another_file_is_refused_in_one_line(tmp_path: Path, content: bytes, message: str) -> None:
    path = tmp_path / "table.csv"
    path.write_bytes(content)
    with pytest.raises(ValueError, match=message) as caught:
        read_table(path)
    assert str(path) in str(caught.value)
    assert "\n" not in str(caught.value)


def test_report_and_json_name_every_kind(tmp_path: Path) -> None:
    rows = [receipt("a.jpg"), *(row(f"{i}.jpg", []) for i in range(8))]
    table = read_table(write_table(tmp_path / "table.csv", rows))
    report = table.report()
    assert "9 rows; 1 receipts with 3 usable instances of 3 annotated" in report
    assert "empty row: 8" in report
    assert "line 3, 0.jpg: empty row" in report
    assert "... and 3 more" in report
    document = json.loads(json.dumps(table.as_json()))
    assert document["fault_counts"] == {"empty row": 8}
    assert len(document["faults"]) == 8
    assert document["turned"] == {"upright": 3}
