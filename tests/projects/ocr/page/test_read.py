"""A page from boxes to text: crops, all four ways up, order, thresholds, and what cannot be read."""

from itertools import pairwise

import numpy as np
import pytest
from PIL import Image

from coursepkg.projects.ocr.data.geometry import homography, map_points
from coursepkg.projects.ocr.options import ReadOptions
from coursepkg.projects.ocr.page.read import read_page, read_single_lines
from coursepkg.projects.ocr.synthetic.receipts import make_receipt
from tests.projects.ocr.page.pages import (
    LINES,
    ROWS,
    TEXT,
    KnownBoxes,
    Matcher,
    drawn_page,
    random_recognizer,
)


def turned(image: np.ndarray, corners: list[np.ndarray], quarter: int) -> tuple[np.ndarray, list[np.ndarray]]:
    """A page turned by quarters clockwise; the corners stay in the reader's order."""
    for _ in range(quarter):
        height = image.shape[0]
        image = np.rot90(image, -1)
        corners = [np.column_stack([height - one[:, 1], one[:, 0]]) for one in corners]
    return np.ascontiguousarray(image), corners


def unordered(corners: list[np.ndarray]) -> list[np.ndarray]:
    """Corners as a detector gives them: clockwise, beginning wherever it likes."""
    return [np.roll(one, number, axis=0) for number, one in enumerate(corners)]


@pytest.mark.parametrize("quarter", [0, 1, 2, 3])
def test_a_page_reads_alike_whichever_way_up_it_lies(quarter: int) -> None:
    image, corners = turned(*drawn_page(), quarter)
    page = read_page(image, KnownBoxes(unordered(corners)), Matcher(LINES))
    assert page.text == TEXT
    assert (page.height, page.width) == image.shape[:2]
    assert [line.row for line in page.lines] == [i for i, row in enumerate(ROWS) for _ in row]
    assert min(line.confidence for line in page.lines) > 0.8
    for line, true in zip(page.lines, corners, strict=True):
        # The corners begin where the text does, so they tell how the page lies.
        assert np.abs(line.box.corners - true).max() < 1e-6
    assert page.words == TEXT.split()


def test_a_photograph_in_perspective_is_straightened() -> None:
    image, corners = drawn_page()
    height, width = image.shape[:2]
    outline = np.array([[0, 0], [width, 0], [width, height], [0, height]], np.float64)
    seen = np.array([[40, 30], [600, 70], [570, 320], [70, 300]], np.float64)
    back = homography(seen, outline)
    photo = Image.fromarray(image).transform(
        (width, height),
        Image.Transform.PERSPECTIVE,
        tuple(back.flat[:8]),
        Image.Resampling.BICUBIC,
        fillcolor="white",
    )
    boxes = [map_points(homography(outline, seen), one) for one in corners]
    page = read_page(np.array(photo), KnownBoxes(unordered(boxes)), Matcher(LINES))
    assert page.text == TEXT


def test_one_line_upside_down_on_an_upright_page() -> None:
    image, corners = drawn_page()
    left, top = corners[3][0].astype(int)
    right, bottom = corners[3][2].astype(int)
    image[top:bottom, left:right] = image[top:bottom, left:right][::-1, ::-1]
    page = read_page(image, KnownBoxes(corners), Matcher(LINES))
    assert page.text == TEXT
    assert np.array_equal(page.lines[3].box.corners, np.roll(corners[3], 2, axis=0))
    one_way = read_page(image, KnownBoxes(corners), Matcher(LINES), ReadOptions(upside_down=False))
    assert one_way.lines[3].confidence < 0.5 < page.lines[3].confidence


def test_reading_both_ways_costs_nothing_where_nothing_is_doubtful() -> None:
    image, corners = drawn_page()
    reader = Matcher(LINES)
    read_page(image, KnownBoxes(corners), reader)
    assert reader.n_read == len(corners)


def test_words_of_a_line_are_read_together() -> None:
    image, corners = drawn_page([["Trà sữa trân châu"]])
    left, top = corners[0][0]
    right, bottom = corners[0][2]
    cuts = np.linspace(left, right, 4)
    words = [np.array([[a, top], [b, top], [b, bottom], [a, bottom]]) for a, b in pairwise(cuts)]
    page = read_page(image, KnownBoxes(words), Matcher(LINES))
    assert page.text == "Trà sữa trân châu"
    assert len(page.lines) == 1


def test_thresholds_leave_out_and_count() -> None:
    image, corners = drawn_page()
    scores = [0.9] * 8 + [0.2]
    reader = Matcher([*LINES[:-2], LINES[-1]])
    page = read_page(
        image, KnownBoxes(corners, scores), reader, ReadOptions(min_score=0.5, min_confidence=0.7)
    )
    # The last but one is a text that the reader does not know.
    assert page.text == "\n".join(TEXT.split("\n")[:-1])
    assert page.left_out == {"score": 1, "confidence": 1, "empty": 0, "crop": 0}


def test_a_margin_widens_what_is_cut_out_and_not_the_box() -> None:
    image, corners = drawn_page([["Trà sữa trân châu"]])
    tight = corners[0] + np.array([[12, 9], [-12, 9], [-12, -9], [12, -9]])
    narrow, wide = (
        read_page(image, KnownBoxes([tight]), Matcher(LINES), ReadOptions(margin=margin))
        for margin in (0.0, 1.0)
    )
    assert narrow.lines[0].confidence < 0.7
    assert wide.lines[0].confidence > 0.9
    assert np.array_equal(wide.lines[0].box.corners, tight)


def test_an_empty_page_is_no_error() -> None:
    page = read_page(drawn_page()[0], KnownBoxes([]), random_recognizer())
    assert (page.text, page.lines, page.words) == ("", (), [])
    assert sum(page.left_out.values()) == 0


def test_boxes_that_cannot_be_cut_out_are_counted() -> None:
    image, corners = drawn_page()
    odd = [
        np.array([[10, 10], [90, 10], [90, 10.4], [10, 10.4]]),
        np.array([[-1e6, -1e6], [1e6, -1e6], [1e6, 1e6], [-1e6, 1e6]]),
        np.array([[100, 100], [200, 200], [300, 300], [150, 150]]),
    ]
    page = read_page(image, KnownBoxes([*corners, *odd]), Matcher(LINES), ReadOptions(min_confidence=0.5))
    assert page.left_out["crop"] == 3
    assert set(page.words) == set(TEXT.split())
    outside = [corners[0] + 5000, corners[0] - np.array([60, 25])]
    assert len(read_page(image, KnownBoxes(outside), Matcher(LINES)).lines) == 2


def test_batches_and_neighbours_never_change_a_line() -> None:
    receipt = make_receipt(5, 2)
    boxes = list(receipt.outlines)
    reader = random_recognizer()

    def read(chosen: list[np.ndarray], batch_size: int) -> dict[tuple[float, ...], tuple[str, float]]:
        options = ReadOptions(batch_size=batch_size, upside_down=False)
        page = read_page(receipt.image, KnownBoxes(chosen), reader, options)
        return {tuple(line.box.corners.ravel()): (line.text, line.confidence) for line in page.lines}

    together, single, few = read(boxes, 64), read(boxes, 1), read(boxes[:5], 64)
    assert len(together) > 5
    assert together.keys() == single.keys()
    common = together.keys() & few.keys()
    assert common
    for other, keys in ((single, together.keys()), (few, common)):
        for key in keys:
            assert other[key][0] == together[key][0]
            assert other[key][1] == pytest.approx(together[key][1], rel=1e-4)


def test_single_lines_need_no_detector() -> None:
    images = [drawn_page([[text]], 400)[0][30:62, 20:380] for text in LINES[:3]]
    pages = read_single_lines([*images, np.zeros((1, 40, 3), np.uint8)], random_recognizer())
    assert pages[3] == "picture 4: 40 x 1 pixels hold no text; leave it out"
    alone = read_single_lines(images[1:2], random_recognizer())[0]
    assert not isinstance(alone, str)
    assert not isinstance(pages[1], str)
    assert alone.text == pages[1].text
    assert (pages[1].width, pages[1].height) == (360, 32)
    strict = read_single_lines(images, random_recognizer(), ReadOptions(min_confidence=1.0))
    assert [
        page.left_out["confidence"] + page.left_out["empty"] for page in strict if not isinstance(page, str)
    ] == [1] * 3


@pytest.mark.parametrize(
    "image", [np.zeros((4, 4), np.uint8), np.zeros((4, 4, 3), np.float32), np.zeros((0, 4, 3), np.uint8)]
)
def test_only_colour_pictures_are_pages(image: np.ndarray) -> None:
    with pytest.raises(ValueError, match=r"a\.jpg: a page must be in colour"):
        read_page(image, KnownBoxes([]), random_recognizer(), name="a.jpg")


@pytest.mark.parametrize(
    ("options", "flag"),
    [
        ({"min_score": 1.5}, "--min-score"),
        ({"min_confidence": float("nan")}, "--min-confidence"),
        ({"batch_size": 0}, "--batch-size"),
        ({"beam_size": 0}, "--beam-size"),
        ({"word_gap": -1.0}, "--word-gap"),
        ({"margin": 1.5}, "--margin"),
    ],
)
def test_bad_options_name_their_flag(options: dict[str, float], flag: str) -> None:
    with pytest.raises(ValueError, match=flag):
        ReadOptions(**options)  # type: ignore[arg-type]
