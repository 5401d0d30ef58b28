"""Lines that nobody has checked: the least sure come first, each with what was cut out."""

from pathlib import Path

import numpy as np
import pytest

from coursepkg.projects.ocr.error_gallery import page_readings, rank_by_confidence, write_error_gallery
from coursepkg.projects.ocr.page.output import RunStats
from coursepkg.projects.ocr.page.read import read_page
from tests.projects.ocr.page.pages import LINES, KnownBoxes, Matcher, drawn_page


def test_the_doubtful_lines_of_a_page_come_first(tmp_path: Path) -> None:
    image, corners = drawn_page()
    # The reader does not know the last amount.
    page = read_page(image, KnownBoxes(corners), Matcher(LINES[:-1]))
    readings = page_readings(image, page, name="a.jpg")
    assert [one.hypothesis for one in readings] == [line.text for line in page.lines]
    assert {one.reference for one in readings} == {None}
    rate, first = rank_by_confidence(readings)[0]
    assert (rate, first.name) == (None, f"a.jpg, line {len(corners)}")
    left, top, right, bottom = (int(value) for value in (*corners[-1][0], *corners[-1][2]))
    assert first.image is not None
    assert np.array_equal(first.image, image[top:bottom, left:right, 0])
    assert write_error_gallery(tmp_path / "doubts.html", readings, most=2, order="confidence") == 2
    assert f"confidence {first.confidence:.2f}, a.jpg, line 9" in (tmp_path / "doubts.html").read_text(
        "utf-8"
    )


def test_a_gray_picture_is_refused_by_its_name() -> None:
    image, corners = drawn_page()
    page = read_page(image, KnownBoxes(corners), Matcher(LINES))
    with pytest.raises(ValueError, match=r"a\.jpg: a page must be in colour"):
        page_readings(image[..., 0], page, name="a.jpg")


def test_boxes_in_which_nothing_was_read_are_told() -> None:
    tally = RunStats()
    page = {"error": None, "file": "a.jpg", "lines": [{}], "left_out": {"empty": 3}, "text": "x"}
    tally.add(page)
    tally.add(page | {"lines": [], "left_out": {"empty": 2}})
    assert str(tally) == "2 pages read, 1 line; without text: 1 page; boxes in which nothing was read: 3"
