"""The overlay: what is drawn where, in letters that the font has, on light and dark photographs."""

from pathlib import Path

import numpy as np
import pytest
from PIL import Image, ImageFont

from coursepkg.projects.ocr.page.overlay import draw_overlay, write_overlay
from coursepkg.projects.ocr.page.read import Page, PageLine, read_page
from coursepkg.projects.ocr.synthetic.fonts import read_face
from coursepkg.text.vietnamese import LETTERS
from coursepkg.viz.image import font_file
from tests.projects.ocr.page.pages import LINES, KnownBoxes, Matcher, drawn_page


def overlay_of(image: np.ndarray, corners: list[np.ndarray]) -> tuple[np.ndarray, np.ndarray, Page]:
    """The photograph's half, the texts' half, and the page."""
    page = read_page(image, KnownBoxes(corners), Matcher(LINES))
    drawn = np.array(draw_overlay(image, page))
    # The page is wider than high, so its texts stand below.
    height = (drawn.shape[0] - 8) // 2
    return drawn[:height], drawn[-height:], page


def test_the_font_has_every_vietnamese_letter_and_leaves_room_for_its_marks() -> None:
    face = read_face(font_file())
    assert not face.missing(LETTERS + "0123456789.,:;-/()%+*đ₫")
    font = ImageFont.truetype(str(font_file()), 100)
    boxes = [font.getbbox(letter, anchor="ls") for letter in LETTERS]
    # A line of 132 pixels with its baseline 107.5 below the top holds letters of size 100 whole.
    assert min(box[1] for box in boxes) >= -107.5
    assert max(box[3] for box in boxes) <= 132 - 107.5


def test_every_text_stands_in_the_place_of_its_box() -> None:
    image, corners = drawn_page()
    _, texts, page = overlay_of(image, corners)
    scale = texts.shape[1] / image.shape[1]
    ink = texts.min(axis=2) < 128
    inside = np.zeros_like(ink)
    for line in page.lines:
        left, top = np.floor(line.box.corners[0] * scale).astype(int)
        right, bottom = np.ceil(line.box.corners[2] * scale).astype(int)
        assert ink[top:bottom, left:right].mean() > 0.05
        inside[top:bottom, left:right] = True
    assert not ink[~inside].any()


def test_a_text_looks_like_itself() -> None:
    image, corners = drawn_page([["Trà sữa trân châu"]])
    _, texts, _ = overlay_of(image, corners)
    (left, top), (right, bottom) = corners[0][0].astype(int), corners[0][2].astype(int)
    crop = np.asarray(Image.fromarray(texts).resize(image.shape[1::-1]).convert("L"))[top:bottom, left:right]
    assert Matcher(LINES).read_lines([np.ascontiguousarray(crop)])[0].text == "Trà sữa trân châu"


@pytest.mark.parametrize("ground", ["light", "dark"])
def test_boxes_stand_out_from_any_ground(ground: str) -> None:
    image, corners = drawn_page()
    image = image if ground == "light" else 255 - image
    page = Page(image.shape[1], image.shape[0], tuple(line_at(one) for one in corners))
    drawn = np.array(draw_overlay(image, page))[: image.shape[0]]
    paper = 255.0 if ground == "light" else 0.0
    left, top = corners[0][0].astype(int)
    edge = drawn[top : top + 8, left - 4 : left + 3].astype(float).mean(axis=2)
    assert np.abs(edge - paper).max() > 100


def line_at(corners: np.ndarray, confidence: float = 0.9) -> PageLine:
    return PageLine(KnownBoxes([corners]).boxes[0], 0, "Ổ", confidence)


def test_doubtful_lines_have_another_colour() -> None:
    image, corners = drawn_page()
    size = image.shape[1], image.shape[0]
    sure, unsure = (np.array(draw_overlay(image, Page(*size, (line_at(corners[0], c),)))) for c in (0.9, 0.3))
    assert sure.shape == unsure.shape
    redder = unsure[..., 0].astype(int) - unsure[..., 2]
    assert redder.max() > 100 > (sure[..., 0].astype(int) - sure[..., 2]).max()


def test_odd_boxes_and_pages_are_drawn(tmp_path: Path) -> None:
    image, corners = drawn_page()
    odd = [
        corners[0] + 9000,
        corners[0] - 60,
        corners[0] * [1, 0.001],
        np.array([[10, 10], [10, 10], [10, 10], [10, 10]], float),
        np.array([[0, 0], [5000, 9], [5000, 40], [0, 40]], float),
    ]
    draw_overlay(image, Page(image.shape[1], image.shape[0], tuple(line_at(one) for one in odd)))
    assert draw_overlay(np.full((5000, 3000, 3), 9, np.uint8), Page(3000, 5000, ())).height <= 2800
    with pytest.raises(ValueError, match="of the picture's size"):
        draw_overlay(image, Page(9, 9, ()))
    empty = Page(image.shape[1], image.shape[0], ())
    for name, kind in (("a.jpg", "JPEG"), ("b.png", "PNG"), ("c.JPEG", "JPEG")):
        write_overlay(tmp_path / name, image, empty)
        with Image.open(tmp_path / name) as written:
            assert written.format == kind
    assert len(list(tmp_path.iterdir())) == 3
