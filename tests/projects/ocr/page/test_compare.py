"""Several readers on the same pages, by name and by what they do; and the record of a page read back."""

from pathlib import Path

import numpy as np
import pytest
import torch

from coursepkg.projects.ocr import baselines
from coursepkg.projects.ocr.detector import detector
from coursepkg.projects.ocr.detector.engines import DetectorSettings
from coursepkg.projects.ocr.page import compare
from coursepkg.projects.ocr.page.compare import PageText, compare_pages
from coursepkg.projects.ocr.page.output import SCHEMA, page_record, record_page
from coursepkg.projects.ocr.page.read import Page, read_page
from coursepkg.projects.ocr.page.sources import PagePicture, Source
from tests.projects.ocr.page.pages import LINES, TEXT, InkDetector, Matcher, drawn_page


def ours(image: np.ndarray) -> PageText:
    return PageText(read_page(image, InkDetector(), Matcher(LINES)).text)


def without_marks(image: np.ndarray) -> PageText:
    return PageText(ours(image).text.replace("ổ", "o").replace("ộ", "o"))


def test_readers_are_compared_on_the_same_words() -> None:
    image = drawn_page()[0]
    found = compare_pages([(image, TEXT), (image, TEXT)], {"ours": ours, "plain": without_marks}, rounds=2)
    assert found["ours"].score.value == 1
    n_words = 2 * len(TEXT.split())
    assert found["plain"].score.details["matches"] == n_words - 4
    assert found["plain"].missed == ("Tổng", "cộng") * 2
    assert found["plain"].wrong == ("Tong", "cong") * 2
    assert found["ours"].texts == (TEXT, TEXT)
    assert found["ours"].seconds > 0
    stored = found["plain"].as_json()
    assert stored["printed"] == n_words
    assert stored["signature"].startswith("bag-of-words F1|nrefs:1|")
    assert "|protocol:pages, plain|" in stored["signature"]
    assert "words right of" in str(found["plain"])


def test_named_readers_are_opened_with_equal_threads_and_closed(monkeypatch: pytest.MonkeyPatch) -> None:
    opened, closed = [], []

    def open_ours(threads: int) -> tuple:
        opened.append(threads)
        return ours, lambda: closed.append(1)

    for name in ("coursepkg", "rapidocr"):
        monkeypatch.setitem(compare.READERS, name, open_ours)
    page = drawn_page()[0]
    found = compare_pages([(page, TEXT)], ["coursepkg", "rapidocr"], threads=3)
    assert [one.score.value for one in found.values()] == [1, 1]
    assert (opened, closed) == ([3, 3], [1, 1])
    with pytest.raises(
        ValueError, match=r"readers must be among coursepkg, rapidocr, tesseract.*, got 'eyes'"
    ):
        compare_pages([(page, TEXT)], ["eyes"])
    with pytest.raises(ValueError, match="at least one page"):
        compare_pages([], {"ours": ours})


def test_the_first_reader_is_closed_where_the_second_cannot_be_opened(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    closed = []
    monkeypatch.setitem(compare.READERS, "coursepkg", lambda threads: (ours, lambda: closed.append(1)))
    monkeypatch.setattr(baselines, "what_is_missing", lambda: "reading with rapidocr needs rapidocr")
    with pytest.raises(ImportError, match="needs rapidocr"):
        compare_pages([(drawn_page()[0], TEXT)])
    assert closed == [1]


def test_threads_are_set_while_ours_is_open(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []

    class Closing(InkDetector):
        def close(self) -> None:
            asked.append("closed")

    def opened(settings: DetectorSettings, *, cache: bool) -> Closing:
        asked.append(settings.threads)
        return Closing()

    monkeypatch.setattr(detector, "open_detector", opened)
    before = torch.get_num_threads()
    read, close = compare.open_coursepkg(before + 1, recognizer=Matcher(LINES))
    assert torch.get_num_threads() == before + 1
    page = read(drawn_page()[0])
    assert page.text == TEXT
    assert len(page.boxes) == len(LINES)
    close()
    assert torch.get_num_threads() == before
    assert asked == [before + 1, "closed"]


def test_rapidocr_reads_what_it_sees() -> None:
    pytest.importorskip("rapidocr", reason="rapidocr is not installed; see the extra `ocr`")
    pytest.importorskip("onnxruntime", reason="onnxruntime is not installed; see the extra `ocr`")
    page = drawn_page([["HOA DON 0012", "45.000"]])[0]
    found = compare_pages([(page, "HOA DON 0012 45.000")], ["rapidocr"])["rapidocr"]
    assert found.score.details["recall"] > 0
    assert all(box.shape == (4, 2) for box in found.boxes[0])


def test_a_record_is_read_back() -> None:
    image = drawn_page()[0]
    page = read_page(image, InkDetector(), Matcher(LINES))
    picture = PagePicture(Source(Path("a.pdf"), "a.pdf"), 3, 7, image, dpi=200)
    record = page_record(picture, page)
    assert (record["schema"], record["page"], record["pages"], record["dpi"]) == (SCHEMA, 3, 7, 200)
    again = record_page(record)
    assert again.text == page.text == record["text"] == TEXT
    assert (again.width, again.height, again.left_out) == (page.width, page.height, page.left_out)
    for one, other in zip(again.lines, page.lines, strict=True):
        assert np.abs(one.box.corners - other.box.corners).max() <= 0.05
        assert (one.row, one.text) == (other.row, other.text)


def test_records_that_are_no_pages() -> None:
    picture = PagePicture(Source(Path("a.jpg"), "a.jpg"), 1, 1, None, "a.jpg: not a picture")
    failed = page_record(picture, picture.error)
    assert (failed["error"], failed["lines"], failed["text"]) == ("a.jpg: not a picture", [], "")
    with pytest.raises(ValueError, match=r"could not be read: a\.jpg: not a picture"):
        record_page(failed)
    with pytest.raises(ValueError, match="must have the schema"):
        record_page({"schema": "coursepkg.ocr.page/0"})
    good = page_record(picture, Page(4, 5, ()))
    del good["lines"]
    with pytest.raises(ValueError, match="damaged: 'lines'"):
        record_page(good)
