"""Label files: what is read, and that every mistake names its line."""

import unicodedata
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from coursepkg.projects.ocr.data.labelled import read_labels
from coursepkg.projects.ocr.line import sort_lines


def write(folder: Path, content: bytes) -> Path:
    (folder / "labels.tsv").write_bytes(content)
    return folder


def picture(path: Path, size: tuple[int, int] = (60, 20)) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    Image.fromarray(np.full(size[::-1], 255, dtype=np.uint8)).save(path)


def test_lines_come_in_order_with_their_folder_as_group(tmp_path: Path) -> None:
    picture(tmp_path / "one" / "1.png")
    picture(tmp_path / "two" / "1.png", (90, 30))
    folder = read_labels(write(tmp_path, "one/1.png\tĐiều 1.\r\ntwo/1.png\tHà Nội \n".encode("utf-8-sig")))
    found = sort_lines(folder.lines())
    assert [(line.text, line.group, line.name, line.width) for line in found.lines] == [
        ("Điều 1.", "one", "one/1.png", 60),
        ("Hà Nội ", "two", "two/1.png", 90),
    ]
    assert found.unreadable == []
    assert found.summary() == "2 lines read"
    assert len(read_labels(tmp_path / "labels.tsv")) == 2


def test_unreadable_pictures_do_not_stop_the_others(tmp_path: Path) -> None:
    picture(tmp_path / "good.png")
    picture(tmp_path / "thin.png", (30, 1))
    (tmp_path / "bad.png").write_bytes(b"no picture")
    rows = "bad.png\tmột\nmissing.png\thai\nthin.png\tba\ngood.png\tbốn\n"
    found = sort_lines(read_labels(write(tmp_path, rows.encode())).lines())
    assert [line.text for line in found.lines] == ["bốn"]
    assert [(one.name, one.text) for one in found.unreadable] == [
        ("bad.png", "một"),
        ("missing.png", "hai"),
        ("thin.png", "ba"),
    ]
    for one, reason in zip(
        found.unreadable, ("not a picture", "no such picture", "hold no text"), strict=True
    ):
        assert one.name in one.reason
        assert reason in one.reason
    assert found.summary().startswith("1 line read, 3 not: bad.png")


@pytest.mark.parametrize(
    ("second", "message"),
    [
        (b"b.png no tab", "line 2: no tab between path and text"),
        (b"\ttext", "line 2: no tab"),
        (b"", "line 2: no tab"),
        (b"b.png\t ", r"line 2: no text for b\.png"),
        (b"b.png\tone\ttwo", "line 2: a second tab"),
        (b"b.png\t\xff\xfe", "line 2: not UTF-8"),
        ("b.png\t" + unicodedata.normalize("NFD", "Tổng"), "line 2: .* not in Unicode form NFC"),
        (b"a.png\tagain", r"line 2: a\.png stands in line 1 already"),
        (b"../b.png\ttext", "line 2: .*leads out of the folder"),
        (b"/etc/b.png\ttext", "line 2: .*leads out of the folder"),
        (b"x\\b.png\ttext", "line 2: .*leads out of the folder"),
    ],
)
def test_every_mistake_names_its_line(tmp_path: Path, second: bytes | str, message: str) -> None:
    raw = second if isinstance(second, bytes) else second.encode()
    with pytest.raises(ValueError, match=message) as caught:
        read_labels(write(tmp_path, b"a.png\ttext\n" + raw + b"\nc.png\tmore\n"))
    assert "\n" not in str(caught.value)


def test_an_empty_and_a_missing_file(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        read_labels(tmp_path)
    with pytest.raises(ValueError, match="at least one line: path, tab, text"):
        read_labels(write(tmp_path, b""))


def table(folder: Path, content: str, encoding: str = "utf-8") -> Path:
    (folder / "labels.csv").write_bytes(content.encode(encoding))
    return folder


@pytest.mark.parametrize("header", ["file,text", "path,transcription", "image,label", "note,text,file"])
def test_a_table_is_read_by_the_names_of_its_columns(tmp_path: Path, header: str) -> None:
    picture(tmp_path / "a" / "1.png")
    cells = {"file": "a/1.png", "path": "a/1.png", "image": "a/1.png", "note": "x"}
    row = ",".join(cells.get(name, '"Phở, 45.000"') for name in header.split(","))
    found = read_labels(table(tmp_path, f"{header}\r\n{row}\r\n", "utf-8-sig"))
    (line,) = found.lines()
    assert (line.text, line.group, line.name) == ("Phở, 45.000", "a", "a/1.png")
    assert found.file == "labels.csv"
    assert found.missing() == []


def test_lines_that_a_table_gives_to_one_receipt_are_one_group(tmp_path: Path) -> None:
    found = read_labels(table(tmp_path, "file,text,receipt\n1.png,một,r1\n2.png,hai,r1\nx/3.png,ba,\n"))
    assert [one.group for one in found.pictures] == ["r1", "r1", "x"]
    assert [str(fault) for fault in found.missing()] == [
        f"line {number}, {name}: missing image: not in {tmp_path}"
        for number, name in ((2, "1.png"), (3, "2.png"), (4, "x/3.png"))
    ]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("picture,text\n1.png,một\n", "line 1: no column file, path or image among 'picture', 'text'"),
        ("file;text\n1.png;một\n", "line 1: no column file, .* among 'file;text'; name it so, with commas"),
        ("file,says\n1.png,một\n", "line 1: no column text, transcription or label among"),
        ("file,image,text\n1.png,1.png,một\n", "line 1: both file and image are columns"),
        ("file,text\n1.png, \n", "line 2: no text for 1.png"),
        ("file,text\n1.png\n", "line 2: no text for 1.png"),
        ("file,text\n,một\n", "line 2: no file; add it or remove the line"),
        ("file,text\n1.png,Phở, 45.000\n", "line 2: more cells than columns"),
        ('file,text\n1.png,"một\nhai"\n', "line 2: a tab or a line break"),
        ("file,text\n1.png,một\n1.png,hai\n", "line 3: 1.png stands in line 2 already"),
        ("file,text\n../1.png,một\n", "line 2: .*leads out of the folder"),
        ("file,text\n", "empty; a label file has at least one line: a line with file,text"),
        ('file,text\n1.png,"mộ"t\n', "line 2: no CSV"),
    ],
)
def test_every_mistake_of_a_table_names_its_line(tmp_path: Path, content: str, message: str) -> None:
    with pytest.raises(ValueError, match=message) as caught:
        read_labels(table(tmp_path, content))
    assert "\n" not in str(caught.value)
    assert "labels.csv" in str(caught.value)


def test_a_table_in_another_encoding_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"labels\.csv: not UTF-8"):
        read_labels(table(tmp_path, "file,text\n1.png,m\u00f4t\n", "latin-1"))


def test_two_label_files_are_refused(tmp_path: Path) -> None:
    table(write(tmp_path, b"1.png\ttext\n"), "file,text\n1.png,text\n")
    with pytest.raises(ValueError, match=r"both labels\.tsv and labels\.csv are there"):
        read_labels(tmp_path)
