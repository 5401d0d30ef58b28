"""Exports of Label Studio: where lines lie, which photograph is meant, and that every fault is named."""

import math
import unicodedata
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image, ImageDraw

from coursepkg.projects.ocr.corpora import load_corpus
from coursepkg.projects.ocr.corpus import PARTS
from coursepkg.projects.ocr.data.label_studio import read_export
from coursepkg.projects.ocr.data.mc_ocr import receipt_lines
from coursepkg.projects.ocr.line import TextLine
from tests.projects.ocr.data.exported import SIZE, polygon, rectangle, region, task, write_export

LINE = region("a", rectangle(40, 30, 200, 30), "Phở bò 45.000")


def page(path: Path, *marks: list[tuple[float, float]], size: tuple[int, int] = SIZE) -> Path:
    """A white photograph with black marks."""
    path.parent.mkdir(parents=True, exist_ok=True)
    image = Image.new("L", size, 255)
    for corners in marks:
        ImageDraw.Draw(image).polygon(corners, fill=0)
    image.save(path)
    return path


def only_line(folder: Path) -> TextLine:
    """The line of an export with one."""
    table = read_export(folder / "project-1.json", folder)
    (line,) = receipt_lines(table.receipts, folder)
    assert isinstance(line, TextLine)
    return line


@pytest.mark.parametrize("angle", [0, 12, -20, 372])
def test_a_rectangle_is_turned_around_its_corner(tmp_path: Path, angle: float) -> None:
    # What stands in the region is black, so a crop of anything else would be partly white.
    x, y, wide, high = 120, 100, 160, 40
    cos, sin = math.cos(math.radians(angle)), math.sin(math.radians(angle))
    corners = [
        (x, y),
        (x + wide * cos, y + wide * sin),
        (x + wide * cos - high * sin, y + wide * sin + high * cos),
        (x - high * sin, y + high * cos),
    ]
    page(tmp_path / "1.png", corners)
    write_export(tmp_path, task("1.png", region("a", rectangle(x, y, wide, high, angle), "Phở bò")))
    line = only_line(tmp_path)
    assert line.image.shape == (high, wide)
    assert np.mean(line.image) < 10
    assert (line.text, line.group) == ("Phở bò", "1.png")


def test_a_polygon_is_cut_out_and_straightened(tmp_path: Path) -> None:
    corners = [(50, 60), (250, 80), (247, 120), (47, 100)]
    page(tmp_path / "1.png", [(float(a), float(b)) for a, b in corners])
    write_export(tmp_path, task("1.png", region("a", polygon(*corners), "Tổng cộng")))
    line = only_line(tmp_path)
    assert line.width == pytest.approx(201, abs=2)
    assert line.height == pytest.approx(40, abs=2)
    assert np.mean(line.image) < 15


def test_a_photograph_of_another_size_is_cut_in_proportion(tmp_path: Path) -> None:
    page(tmp_path / "1.png", [(80, 60), (480, 60), (480, 120), (80, 120)], size=(800, 600))
    write_export(tmp_path, task("1.png", LINE))
    line = only_line(tmp_path)
    assert line.image.shape == (60, 400)
    assert np.mean(line.image) < 10


def test_results_without_a_bare_shape_are_read_too(tmp_path: Path) -> None:
    # RectangleLabels, as in older templates: one result for shape and label.
    page(tmp_path / "1.png")
    _, labelled, text = LINE
    labelled = labelled | {"type": "rectanglelabels"}
    labelled["value"] = labelled["value"] | {"rectanglelabels": ["SELLER"]}
    table = read_export(write_export(tmp_path, task("1.png", [labelled, text], key="image")), tmp_path)
    (receipt,) = table.receipts
    assert [(one.text, one.label) for one in receipt.instances] == [("Phở bò 45.000", "SELLER")]


@pytest.mark.parametrize(
    ("named", "lies"),
    [
        ("/data/upload/3/0a1b2c3d-bill_1.jpg", "bill_1.jpg"),
        ("/data/upload/3/0a1b2c3d-bill_1.jpg", "0a1b2c3d-bill_1.jpg"),
        ("/data/local-files/?d=scans/may/1.jpg", "may/1.jpg"),
        ("/data/local-files/?d=scans%2Fh%C3%B3a%20%C4%91%C6%A1n.jpg", "scans/hóa đơn.jpg"),
        ("https://example.org/a/h%C3%B3a.jpg?x=1", "hóa.jpg"),
        ("s3://bucket/bills/1.jpg", "1.jpg"),
        ("1.jpg", "1.jpg"),
        ("C:\\bills\\1.jpg", "1.jpg"),
    ],
)
def test_the_photograph_of_a_task_is_found(tmp_path: Path, named: str, lies: str) -> None:
    page(tmp_path / lies)
    table = read_export(write_export(tmp_path, task(named, LINE)), tmp_path)
    assert [one.image for one in table.receipts] == [lies]
    assert table.faults == ()


def test_a_name_that_leads_out_of_the_folder_is_looked_for_in_it(tmp_path: Path) -> None:
    page(tmp_path / "secret.jpg")
    folder = tmp_path / "own"
    table = read_export(write_export(folder, task("/data/local-files/?d=../secret.jpg", LINE)), folder)
    assert [one.image for one in table.receipts] == ["secret.jpg"]
    assert [one.kind for one in table.faults] == ["missing image"]


def kinds(folder: Path, *regions: Any, **more: Any) -> list[str]:
    """The faults of a photograph with a good line and these regions."""
    page(folder / "1.png")
    one = task("1.png", LINE, *regions) | more
    table = read_export(write_export(folder, one), folder)
    assert "Phở bò 45.000" in table.texts
    assert not any("\n" in str(fault) for fault in table.faults)
    return [fault.kind for fault in table.faults]


BELOW = rectangle(40, 90, 200, 30)


@pytest.mark.parametrize(
    ("added", "expected"),
    [
        (region("b", BELOW), ["empty text"]),
        (region("b", BELOW, "  "), ["empty text"]),
        (region("b", BELOW, "một", "hai"), ["several texts"]),
        (region("b", BELOW, "một\nhai"), ["text on several lines"]),
        (region("b", rectangle(500, 90, 200, 30), "ở ngoài"), ["wholly outside the image"]),
        (region("b", rectangle(300, 90, 200, 30), "một nửa ở ngoài"), ["outside the image"]),
        (region("b", rectangle(40, 90, 0, 0), "một"), ["no area"]),
        (region("b", BELOW | {"x": "left"}, "một"), ["malformed polygon", "no polygon"]),
        (region("b", BELOW | {"x": 10**400}, "một"), ["malformed polygon", "no polygon"]),
        (region("b", {"points": [[1, 2], [3]]}, "một"), ["malformed polygon", "no polygon"]),
        (region("b", {"x": 5, "y": 5, "radiusX": 9, "radiusY": 2}, "một"), ["no outline"]),
        (region("b", rectangle(40, 90, 200, 30, 90), "một hai"), ["turned text"]),
        (region("b", BELOW, unicodedata.normalize("NFD", "Tổng cộng tiền")), ["not NFC"]),
        (region("b", rectangle(40, 90, 300, 20), "dài quá"), ["too wide for its text"]),
        (region("b", rectangle(45, 32, 190, 26), "trùng lên dòng trên"), ["overlapping outlines"]),
        ([{"type": "relation", "from_id": "a", "to_id": "b", "direction": "right"}], []),
        ([{"id": "q", "type": "choices", "value": {"choices": ["blurred"]}}], []),
    ],
)
def test_a_region_that_cannot_be_used_is_named_and_the_others_are_read(
    tmp_path: Path, added: list[dict[str, Any]], expected: list[str]
) -> None:
    assert kinds(tmp_path, added) == expected


def test_of_several_annotations_the_first_finished_one_is_taken(tmp_path: Path) -> None:
    done = task("1.png", LINE)["annotations"][0]
    other = task("1.png", region("a", BELOW, "khác"))["annotations"][0]
    assert kinds(tmp_path, annotations=[other | {"was_cancelled": True}, done, other]) == [
        "several annotations"
    ]


@pytest.mark.parametrize(
    ("second", "kind", "named"),
    [
        (task("2.png"), "not labelled", "2.png"),
        (task("2.png") | {"annotations": []}, "not labelled", "2.png"),
        (task("2.png", [{"id": "q", "type": "choices", "value": {}}]), "not labelled", "2.png"),
        (task("1.png", LINE), "repeated image", "1.png"),
        (task("9.png", LINE), "missing image", "9.png"),
        (task("2.png", LINE, key="photo"), "no picture", "task 7"),
        (task("2.png", region("a", BELOW, "một", original_width=None)), "image size", "2.png"),
        (task("2.png", LINE, region("b", BELOW, "một", original_width=90)), "image size", "2.png"),
        (task("2.png", region("a", BELOW, "một", image_rotation=90)), "turned picture", "2.png"),
        (task("2.png", region("a", rectangle(40, 30, 30, 200), "một hai ba")), "not upright", "2.png"),
    ],
)
def test_a_task_that_cannot_be_used_is_named(
    tmp_path: Path, second: dict[str, Any], kind: str, named: str
) -> None:
    for name in ("1.png", "2.png"):
        page(tmp_path / name)
    table = read_export(write_export(tmp_path, task("1.png", LINE), second), tmp_path)
    assert [(fault.kind, fault.image) for fault in table.faults] == [(kind, named)]
    assert str(table.faults[0]).startswith(f"{named}: {kind}: ")
    assert table.n_rows == 2


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("{", "no JSON"),
        ("[" * 100_000, "no JSON"),
        ("9" * 5_000, "no JSON"),
        ("{}", "no list of tasks with data and annotations; .* not JSON-MIN"),
        ('[{"ocr": "1.png", "bbox": [], "transcription": []}]', "not JSON-MIN"),
        ("[]", "no line of it can be used"),
    ],
)
def test_what_is_no_export_is_refused_in_one_line(tmp_path: Path, content: str, message: str) -> None:
    path = tmp_path / "project-1.json"
    path.write_text(content, "utf-8")
    with pytest.raises(ValueError, match=message) as caught:
        load_corpus(str(tmp_path))
    assert str(caught.value).startswith(str(path))
    assert "\n" not in str(caught.value)


def test_an_export_without_a_usable_line_says_why(tmp_path: Path) -> None:
    write_export(tmp_path, task("1.png", region("a", BELOW)))
    with pytest.raises(ValueError, match=r"the first fault: 1\.png, instance 0: empty text"):
        load_corpus(str(tmp_path))


def exported(folder: Path, count: int, present: int) -> Path:
    """Photographs of two lines each, of which the first ones are there."""
    other = region("b", BELOW, "Tổng cộng 90.000")
    write_export(folder, *(task(f"/data/upload/1/0000{i:04}-{i}.png", LINE, other) for i in range(count)))
    for i in range(present):
        page(folder / "images" / f"{i}.png")
    return folder


def test_lines_of_one_photograph_stay_together_and_missing_ones_are_counted(tmp_path: Path) -> None:
    corpus = load_corpus(str(exported(tmp_path / "mine", 20, 18)))
    assert corpus.name == "mine"
    groups = [{one.group for one in corpus.labels[part]} for part in PARTS]
    assert all(groups)
    assert sum(map(len, groups)) == len(set.union(*groups)) == 20
    assert any("2 of 20 photographs are missing" in note for note in corpus.notes)
    found = [corpus.part(part) for part in PARTS]
    assert sum(len(one.lines) for one in found) == 36
    assert sum(len(one.unreadable) for one in found) == 4


def test_an_export_without_any_photograph_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"none of the 3 photographs that project-1\.json names"):
        load_corpus(str(exported(tmp_path / "mine", 3, 0)))
