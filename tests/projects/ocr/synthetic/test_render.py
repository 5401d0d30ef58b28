"""Drawing: every letter leaves its ink, and settings change what they name."""

import random
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from PIL import Image, ImageDraw, ImageFont

from coursepkg.projects.ocr.synthetic.fonts import RULES, LineStyle, matplotlib_faces, place, width_of, write
from coursepkg.projects.ocr.synthetic.render import draw_line, strike_pins

FACES = {f"{face.family} {face.style}": face for face in matplotlib_faces()}
SANS, MONO = FACES["DejaVu Sans Book"], FACES["DejaVu Sans Mono Book"]
STYLE = LineStyle(face=SANS, size=32, margins=(0, 0, 0, 0))


def ink(image: np.ndarray) -> float:
    return float((255 - image.astype(float)).sum() / 255)


def test_a_line_agrees_with_pillow() -> None:
    text = "Ông Ỷ ngắm chữ"
    ours = draw_line(text, STYLE)
    font = ImageFont.truetype(SANS.path, 32, layout_engine=ImageFont.Layout.BASIC)
    page = Image.new("L", (800, 100), 255)
    ImageDraw.Draw(page).text((50, 70), text, 0, font, anchor="ls")
    theirs = np.asarray(page)
    rows, columns = np.nonzero(theirs < 255)
    theirs = theirs[rows.min() : rows.max() + 1, columns.min() : columns.max() + 1]
    # Pens stand on whole pixels here, and kerning is Pillow's own.
    assert ours.shape[0] == theirs.shape[0]
    assert abs(ours.shape[1] - theirs.shape[1]) <= 6
    assert ink(ours) == pytest.approx(ink(theirs), rel=0.02)


def test_marks_are_drawn() -> None:
    plain, marked = draw_line("an", STYLE), draw_line("ẩn", STYLE)
    assert marked.shape[0] > plain.shape[0] + 5
    assert draw_line("ạn", STYLE).shape[0] > plain.shape[0] + 3
    assert not np.array_equal(draw_line("ẩn", STYLE), draw_line("ẫn", STYLE))


def test_the_picture_is_a_function_of_its_arguments() -> None:
    style = replace(STYLE, jitter=1.0, dots=0.2, neighbours=0.8, rule="table", weight=1, margins=(5, 5, 5, 5))
    first = draw_line("Tổng cộng", style, 3, ("trên", "dưới"))
    assert np.array_equal(first, draw_line("Tổng cộng", style, 3, ("trên", "dưới")))
    assert not np.array_equal(first, draw_line("Tổng cộng", style, 4, ("trên", "dưới")))


def test_margins_are_white_and_may_cut() -> None:
    tight, wide = draw_line("Hg", STYLE), draw_line("Hg", replace(STYLE, margins=(7, 5, 3, 2)))
    assert wide.shape == (tight.shape[0] + 7, tight.shape[1] + 10)
    assert np.array_equal(wide[5:-2, 7:-3], tight)
    assert wide[:5].min() == wide[-2:].min() == wide[:, :7].min() == wide[:, -3:].min() == 255
    assert draw_line("Hg", replace(STYLE, margins=(0, 0, 0, -4))).shape[0] == tight.shape[0] - 4


def test_spacing_and_stretch() -> None:
    width = draw_line("giá trị", STYLE).shape[1]
    assert draw_line("giá trị", replace(STYLE, tracking=3)).shape[1] == width + 3 * 6
    assert draw_line("giá trị", replace(STYLE, word_space=3.0)).shape[1] > width + 15
    assert draw_line("giá trị", replace(STYLE, stretch=0.5)).shape[1] == round(width / 2)


def test_weight_and_worn_heads() -> None:
    usual = ink(draw_line("mm", replace(STYLE, margins=(4, 4, 4, 4))))
    assert ink(draw_line("mm", replace(STYLE, margins=(4, 4, 4, 4), weight=1))) > usual * 1.1
    assert ink(draw_line("mm", replace(STYLE, margins=(4, 4, 4, 4), weight=-1))) < usual * 0.9
    assert ink(draw_line("mm", replace(STYLE, margins=(4, 4, 4, 4), dots=0.3))) < usual * 0.9


def test_a_second_face() -> None:
    bold = FACES["DejaVu Sans Bold"]
    both = draw_line("mm mm", replace(STYLE, second_face=bold, second_from=1))
    assert ink(draw_line("mm mm", STYLE)) < ink(both) < ink(draw_line("mm mm", replace(STYLE, face=bold)))


def test_a_second_face_ends_where_it_is_told() -> None:
    text, bold = "một hai ba bốn", FACES["DejaVu Sans Bold"]
    middle = replace(STYLE, second_face=bold, second_from=1, second_until=3)
    _, words = place(text, middle, random.Random(0))
    widths = [end - begin for begin, end in words]
    plain, heavy = (
        [end - begin for begin, end in place(text, replace(STYLE, face=face), random.Random(0))[1]]
        for face in (SANS, bold)
    )
    assert widths == pytest.approx([plain[0], heavy[1], heavy[2], plain[3]], abs=1)
    assert heavy[1] > plain[1] + 2


def test_fractions_of_a_pixel_between_letters_add_up() -> None:
    width = draw_line("nhà nước", STYLE).shape[1]
    assert draw_line("nhà nước", replace(STYLE, tracking=0.5)).shape[1] == pytest.approx(width + 3.5, abs=1)
    assert draw_line("nhà nước", replace(STYLE, tracking=-0.5)).shape[1] == pytest.approx(width - 3.5, abs=1)


def test_pins_strike_dots_and_keep_the_marks() -> None:
    style = replace(STYLE, size=44, pitch=3)
    whole, struck = draw_line("ẩn", replace(style, pitch=0)), draw_line("ẩn", style)
    assert struck.shape == whole.shape
    assert ink(struck) == pytest.approx(ink(whole), rel=0.35)
    assert (struck[5::3, 5::3] != whole[5::3, 5::3]).any()
    assert not np.array_equal(struck, draw_line("ẫn", style))
    dots = strike_pins(np.full((6, 7), 255, np.uint8), 3)
    assert dots.shape == (6, 7)
    assert (dots[1::3, 1::3] == 255).all()
    assert dots[::3, ::3].max() < 128
    assert not strike_pins(np.zeros((6, 7), np.uint8), 3).any()


def test_square_pins_print_the_pixels_of_a_bitmap_font() -> None:
    struck = strike_pins(np.full((6, 7), 255, np.uint8), 3, is_square=True)
    assert (struck == 255).all()
    style = replace(STYLE, size=44, pitch=4, margins=(0, 0, 0, 0))
    line = draw_line("in", replace(style, square_pins=True))
    assert set(np.unique(line)) <= {0, 255}
    assert ink(line) > ink(draw_line("in", style))


def test_dead_columns_are_white_from_top_to_bottom() -> None:
    style = replace(STYLE, size=44)
    whole, worn = draw_line("mmmm", style), draw_line("mmmm", replace(style, dead_columns=0.3))
    lost = (worn != whole).any(axis=0)
    assert 0.1 < lost.mean() < 0.5
    assert (worn[:, lost] == 255).all()


@pytest.mark.parametrize("rule", [rule for rule in RULES if rule != "none"])
def test_rules_add_ink(rule: str) -> None:
    style = replace(STYLE, margins=(5, 5, 5, 5))
    added = [ink(draw_line("Giá bán", replace(style, rule=rule), seed)) for seed in range(4)]
    assert max(added) > ink(draw_line("Giá bán", style)) + 20


def test_neighbours_stand_outside_the_line() -> None:
    style = replace(STYLE, margins=(0, 8, 0, 8))
    alone, among = (
        draw_line("mmm", style),
        draw_line("mmm", replace(style, neighbours=1.0), 0, ("gggg", "ỔỔỔỔ")),
    )
    assert alone.shape == among.shape
    assert (among <= alone).all()
    assert among[:8].min() < 255
    assert among[-8:].min() < 255


def test_writing_on_a_canvas() -> None:
    canvas = np.zeros((60, 200), np.uint8)
    left, top, right, bottom = write(canvas, "đgÂ", STYLE, (20, 45))
    rows, columns = np.nonzero(canvas)
    assert (left, top, right, bottom) == (columns.min(), rows.min(), columns.max() + 1, rows.max() + 1)
    assert width_of("đgÂ", STYLE) >= right - left - 4


@pytest.mark.parametrize(
    ("text", "wrong", "message"),
    [
        ("  ", {}, "needs at least one character"),
        ("ế", {"face": MONO}, "DejaVu Sans Mono Book has no glyph for 'ế'"),
        ("ế", {"second_face": MONO}, "has no glyph"),
        ("a", {"size": 4}, r"size must be in 8\.\.200"),
        ("a", {"rule": "wavy"}, "rule must be one of none, underline"),
        ("a", {"stretch": 0.1}, "stretch must be in"),
    ],
)
def test_faulty_arguments(text: str, wrong: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        draw_line(text, replace(STYLE, **wrong))
