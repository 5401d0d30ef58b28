"""Photographs with their true fields: the table is checked, and the command says what share is read right."""

import json
import re
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from coursepkg.projects.ocr.detector.engines import what_is_missing
from coursepkg.projects.ocr.fields.labelled import read_labelled_photos, shares_right
from coursepkg.projects.ocr.fields.photographs import SEED, held_out_faces
from coursepkg.projects.ocr.fields.rules import Field, Fields
from coursepkg.projects.ocr.fields.values import parse_amount, parse_timestamp
from coursepkg.projects.ocr.predict import DEFAULT
from coursepkg.projects.ocr.synthetic.receipts import make_receipt
from tests.projects.ocr.sets import ocr, write_picture
from tests.projects.pages import BOOK


def write_table(folder: Path, *rows: str, pictures: Sequence[str] = ("a.png", "b.png", "c.png")) -> Path:
    for name in pictures:
        write_picture(folder / name, np.full((40, 40, 3), 255, np.uint8))
    (folder / "fields.csv").write_text("\n".join(rows) + "\n", "utf-8")
    return folder


def fields(total: int | None, when: str | None, seller: str | None = None) -> Fields:
    return Fields(Field(seller), Field(), Field(when), Field(total))


def test_values_are_compared_as_numbers_and_days_and_names_but_for_case(tmp_path: Path) -> None:
    rows = ("file,seller,date,total", "a.png,Quán  PHỞ,2021-01-16,045000", "b.png,,,", "c.png,X,2021-01-17,9")
    labelled = read_labelled_photos(write_table(tmp_path, *rows))
    assert labelled.columns == ("total", "date", "seller")
    found = [
        fields(45000, "2021-01-16T08:58", "quán phở"),
        fields(None, None),
        fields(None, "2021-01-18", "Y"),
    ]
    total, day, seller = shares_right(found, labelled, protocol="drawn")
    assert (total.right, total.missed, total.wrong) == (2, ("c.png",), ())
    assert (day.right, day.missed, day.wrong) == (2, (), ("c.png",))
    assert (seller.right, seller.missed, seller.wrong) == (2, (), ("c.png",))
    assert total.signed.startswith("total accuracy|nrefs:1|")
    assert "|n:3/3|" in total.signed
    assert "|protocol:drawn|" in total.signed
    low, high = total.interval
    assert 0 < low < total.value < high < 1
    assert str(total).startswith("total right: 2 of 3 receipts, 66.7% [20.8%, 93.9%]; not found 1, wrong 0")


def test_spaces_around_the_names_of_columns_do_not_count(tmp_path: Path) -> None:
    labelled = read_labelled_photos(write_table(tmp_path, "file, total ,date", "a.png, 5 ,"))
    assert labelled.columns == ("total", "date")
    assert labelled.photos[0].texts == {"total": "5", "date": ""}


def test_what_is_found_where_nothing_is_printed_is_wrong(tmp_path: Path) -> None:
    labelled = read_labelled_photos(write_table(tmp_path, "file,total", "a.png,"))
    (total,) = shares_right([fields(5000, None)], labelled)
    assert (total.right, total.wrong) == (0, ("a.png",))


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        (("file,total", "z.png,1"), "line 2: there is no picture z.png in"),
        (
            ("file,total", "a.png,45.000"),
            "line 2: total must be a whole number of dong such as 45000, got '45.000'",
        ),
        (("file,total", "a.png,-5"), "line 2: total must be a whole number"),
        (("file,total", "a.png,5", "b.png,5k"), "line 3: total must be a whole number"),
        (("file,date", "a.png,16/01/2021"), "line 2: date must be a day as 2021-01-16, got '16/01/2021'"),
        (("file,date", "a.png,2021-02-30"), "line 2: date must be a day"),
        (("file,date", "a.png,20210116"), "line 2: date must be a day"),
        (
            ("file,total,shop", "a.png,5,x"),
            "line 1: unknown column 'shop'; the columns are file, total, date",
        ),
        (("total,date", "5,2021-01-16"), "line 1: no column file"),
        (("file", "a.png"), "line 1: no column total or date or seller or address; add one"),
        (("file,total", "a.png,5", "a.png,5"), "line 3: a.png stands in line 2 already"),
        (("file,total", ",5"), "line 2: no file; add it"),
        (("file,total", "../a.png,5"), "line 2: ../a.png leads out of the folder"),
        (("file,total", "a.png,5,6"), "line 2: more cells than columns"),
        (("file,total",), "fields.csv: no receipt in it"),
        (
            ("file,total,seller", "a.png,1"),
            "line 2: fewer cells than columns; an empty cell needs its comma, too",
        ),
        (("file,total,total", "a.png,1,2"), "line 1: column total stands there twice; keep one"),
        (("file,total, total", "a.png,1,2"), "line 1: column total stands there twice"),
        (("file,total", "a.png,5", "./a.png,5"), "line 3: ./a.png stands in line 2 already"),
        (("file,total,", "a.png,5,"), "line 1: an empty column name; remove the last comma"),
        (("file,,total", "a.png,5,5"), "line 1: an empty column name; name it"),
        (("file,total", "a.png,5", "fields.csv,5"), "line 3: fields.csv: not a picture; PNG,"),
    ],
)
def test_a_fault_of_the_table_is_one_line(tmp_path: Path, rows: tuple[str, ...], message: str) -> None:
    done = ocr("evaluate-fields", "--data", write_table(tmp_path, *rows))
    assert done.code == 2
    assert message in done.err
    assert done.err.count("\n") == 1


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--part", "test"], "--part has no use, since all photographs"),
        (["--split", "seller"], "--split has no use"),
        (["--generate", "3"], "--generate has no use"),
        (["--recognizer", "nowhere"], "nowhere"),
    ],
)
def test_options_without_a_use_are_refused(tmp_path: Path, arguments: list[str], message: str) -> None:
    done = ocr("evaluate-fields", "--data", write_table(tmp_path, "file,total", "a.png,5"), *arguments)
    assert done.code == 2
    assert message in done.err


def test_two_kinds_of_labels_need_two_folders(tmp_path: Path) -> None:
    folder = write_table(tmp_path, "file,total", "a.png,5")
    (folder / "scores.json").write_text("{}", "utf-8")
    assert len(read_labelled_photos(folder).photos) == 1
    (folder / "scores.json").rename(folder / "export.json").write_text("[]", "utf-8")
    done = ocr("evaluate-fields", "--data", folder)
    assert done.code == 2
    assert "other labels lie beside fields.csv" in done.err


def test_a_table_of_fields_teaches_nothing(tmp_path: Path) -> None:
    folder = write_table(tmp_path / "photos", "file,total", "a.png,5")
    done = ocr("train-fields", "--data", folder, "--out", tmp_path / "run")
    assert done.code == 2
    assert "fields.csv holds no lines, so it can only score, by evaluate-fields; to train, name" in done.err
    assert not (tmp_path / "run").exists()


def test_the_table_on_the_page_for_own_receipts_is_read(tmp_path: Path) -> None:
    told = " ".join((BOOK / "your_own_receipts.md").read_text("utf-8").split())
    head, row = re.findall("`(file,[^`]*,[^`]*|a\\.jpg,[^`]*)`", told)
    (photo,) = read_labelled_photos(write_table(tmp_path, head, row, pictures=["a.jpg"])).photos
    expected = {"total": "45000", "date": "2021-01-16", "seller": "quán phở", "address": "12 hoa mai, huế"}
    assert photo.texts == expected
    assert "`fields.csv` in a folder of their own" in told


def test_where_true_lines_are_known_no_recogniser_reads() -> None:
    done = ocr("evaluate-fields", "--data", "receipts", "--generate", "1", "--recognizer", "x")
    assert done.code == 2
    assert "--recognizer reads photographs, and of receipts the true lines are known" in done.err


@pytest.mark.skipif(not (DEFAULT / "model").is_dir(), reason="the model does not ship here")
@pytest.mark.skipif(what_is_missing() is not None, reason="the detector is not installed")
def test_photographs_are_read_and_scored_by_one_command(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # With the one held-out family that comes with matplotlib, they are the same everywhere.
    monkeypatch.delenv("COURSEPKG_FONTS", raising=False)
    rows = ["file,total,date"]
    for number in range(2):
        photo = make_receipt(SEED, number, faces=held_out_faces())
        by_label = {line.label: line.text for line in photo.lines}
        total = parse_amount(by_label["TOTAL_COST"]).value
        when = parse_timestamp(by_label["TIMESTAMP"]).value
        assert total is not None
        # Of the second one a wrong total is written down: what is read must then count as wrong.
        rows.append(f"{number}.png,{total + 7 * number},{(when or '')[:10]}")
        write_picture(tmp_path / "mine" / f"{number}.png", photo.image)
    (tmp_path / "mine" / "fields.csv").write_text("\n".join(rows), "utf-8")
    out = tmp_path / "scores.json"
    done = ocr("evaluate-fields", "--data", tmp_path / "mine", "--out", out, "--json")
    assert done.code == 0, done.err
    assert "total right: 1 of 2 receipts, 50.0% [9.5%, 90.5%]" in done.out
    document = json.loads(out.read_text("utf-8"))
    assert document == json.loads(done.out.splitlines()[-1])
    assert document["schema"] == "coursepkg.ocr.fields_read/1"
    assert (document["n"], list(document["ways"])) == (2, ["rules"])
    scores = document["ways"]["rules"]
    assert scores["total"]["wrong"] + scores["total"]["missed"] == ["1.png"]
    assert scores["total"]["right"] == 1
    assert list(scores) == ["total", "date"]
    assert "|n:2/2|" in scores["date"]["signature"]
    assert len(document["labels"]["sha256"]) == 64
    assert {"machine", "versions", "commit", "recognizer"} <= document.keys()
