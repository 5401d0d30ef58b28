"""Rows of a CSV file: where each begins, and what is wrong with the file in one line."""

import csv
from pathlib import Path

import pytest

from coursepkg.data.csv_rows import csv_rows


def written(folder: Path, content: bytes) -> Path:
    path = folder / "table.csv"
    path.write_bytes(content)
    return path


def test_rows_come_with_the_lines_where_they_begin(tmp_path: Path) -> None:
    path = written(tmp_path, '\ufeffa,b\r\n1,"x\ny"\n2,z\n'.encode())
    assert list(csv_rows(path, ("a", "b"), "a table")) == [
        (2, {"a": "1", "b": "x\ny"}),
        (4, {"a": "2", "b": "z"}),
    ]


def test_empty_lines_are_no_rows_and_count_as_lines(tmp_path: Path) -> None:
    path = written(tmp_path, b"a,b\n\n1,2\n\n\n3,4\n")
    assert list(csv_rows(path, ("a",), "a table")) == [(3, {"a": "1", "b": "2"}), (6, {"a": "3", "b": "4"})]


def test_short_and_long_rows_can_be_told(tmp_path: Path) -> None:
    path = written(tmp_path, b"a,b\n1\n1,2,3\n")
    short, long = (row for _, row in csv_rows(path, ("a",), "a table"))
    assert short == {"a": "1", "b": None}
    assert long == {"a": "1", "b": "2", None: ["3"]}
    assert next(csv_rows(path, ("a",), "a table", empty=""))[1] == {"a": "1", "b": ""}


def test_columns_may_be_renamed(tmp_path: Path) -> None:
    path = written(tmp_path, b" a,B \n1,2\n")
    rows = csv_rows(
        path, ("a", "b"), "a table", rename=lambda names: [name.strip().lower() for name in names]
    )
    assert list(rows) == [(2, {"a": "1", "b": "2"})]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"a,c\n1,2\n", r"table\.csv, line 1: no column b, d; a list of things has a, b, d"),
        (b"", r"line 1: no column a, b, d"),
        (b"a,b,x,d,x,b\n", r"table\.csv, line 1: several columns are called b; keep one of each"),
        (b"a,b,d\n\xff,1,2\n", r"table\.csv: not UTF-8 \(.* in line 2\); save the table as UTF-8"),
        (b"a,b,d\n" + b"1,2,3\n" * 9_999 + b"1,\xe1", r"\(unexpected end of data in line 10001\)"),
        (b'a,b,d\n1,2,3\n1,"2"x,3\n', r"table\.csv, line 3: no CSV \(.*\); copy the table again"),
    ],
)
def test_what_is_wrong_is_said_with_its_line(tmp_path: Path, content: bytes, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        list(csv_rows(written(tmp_path, content), ("a", "b", "d"), "a list of things"))


def test_a_limit_of_cells_is_that_of_one_file(tmp_path: Path) -> None:
    path, usual = written(tmp_path, b"a\n" + b"x" * 200_000 + b"\n"), csv.field_size_limit()
    assert len(next(csv_rows(path, ("a",), "a table", longest=200_000))[1]["a"]) == 200_000
    with pytest.raises(ValueError, match="line 2: no CSV"):
        list(csv_rows(path, ("a",), "a table"))
    assert csv.field_size_limit() == usual
