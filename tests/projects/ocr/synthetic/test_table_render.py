"""Pictures drawn from a table: each text stands in its polygon, and what cannot be drawn is named."""

import numpy as np
import pytest

from coursepkg.projects.ocr.data.mc_ocr import receipt_lines
from coursepkg.projects.ocr.data.table_row import Instance, Receipt
from coursepkg.projects.ocr.line import sort_lines
from coursepkg.projects.ocr.synthetic.fonts import Face, matplotlib_faces
from coursepkg.projects.ocr.synthetic.render import render_receipt

SANS: list[Face] = [
    face for face in matplotlib_faces() if (face.family, face.style) == ("DejaVu Sans", "Book")
]
SELLER = ((60.0, 40.0), (330.0, 52.0), (329.0, 90.0), (58.0, 78.0))
TOTAL = ((250.0, 420.0), (360.0, 420.0), (360.0, 448.0), (250.0, 448.0), (249.0, 421.0))


def receipt(*instances: Instance, name: str = "one.jpg") -> Receipt:
    return Receipt(name, 2, 400, 500, 0.5, instances)


GOOD = receipt(
    Instance(0, (SELLER,), "TẠP HÓA HẠT DẺ", "SELLER"), Instance(1, (TOTAL,), "45.000", "TOTAL_COST")
)


def test_ink_is_in_the_polygons_and_nowhere_else() -> None:
    blank, _ = render_receipt(receipt(), faces=SANS)
    image, missing = render_receipt(GOOD, faces=SANS)
    assert missing == []
    assert image.shape == blank.shape == (500, 400)
    # The same seed lays the same grain and light on both, so that what differs is ink.
    ink = np.abs(image.astype(int) - blank.astype(int)) > 40
    assert ink[44:88, 60:330].mean() > 0.1
    assert ink[422:446, 250:360].mean() > 0.1
    outside = ink.copy()
    outside[34:96, 52:336] = outside[414:454, 243:366] = False
    assert not outside.any()


def test_every_instance_comes_back_as_a_line() -> None:
    found = sort_lines(receipt_lines([GOOD], lambda one: render_receipt(one)[0]))
    assert [line.text for line in found.lines] == ["TẠP HÓA HẠT DẺ", "45.000"]
    assert found.unreadable == []


def test_the_picture_is_a_function_of_seed_and_receipt() -> None:
    assert np.array_equal(render_receipt(GOOD)[0], render_receipt(GOOD)[0])
    assert not np.array_equal(render_receipt(GOOD)[0], render_receipt(GOOD, 1)[0])


def test_turned_texts_follow_their_polygons() -> None:
    down = ((300.0, 40.0), (340.0, 40.0), (340.0, 400.0), (300.0, 400.0))
    amount = ((60.0, 200.0), (100.0, 200.0), (100.0, 400.0), (60.0, 400.0))
    turned = receipt(
        Instance(0, (down,), "TẠP HÓA HẠT DẺ", "SELLER"), Instance(1, (amount,), "45.000", "TOTAL_COST")
    )
    image, missing = render_receipt(turned, faces=SANS)
    assert missing == []
    blank, _ = render_receipt(receipt(), faces=SANS)
    ink = np.abs(image.astype(int) - blank.astype(int)) > 40
    assert ink[40:400, 300:340].mean() > 0.1
    assert ink[:, 110:290].sum() == 0


def test_what_cannot_be_drawn_is_named() -> None:
    strange = receipt(Instance(0, (SELLER,), "漢字", "SELLER"), GOOD.instances[1])
    image, left_out = render_receipt(strange, faces=SANS)
    assert [str(one) for one in left_out] == ["one.jpg, instance 0: no glyph for '漢字' in DejaVu Sans Book"]
    assert image.shape == (500, 400)


def test_faces_that_lack_letters_are_refused() -> None:
    mono = [face for face in matplotlib_faces() if face.family == "DejaVu Sans Mono"]
    with pytest.raises(ValueError, match=f"none of the {len(mono)} given writes all of Vietnamese"):
        render_receipt(GOOD, faces=mono)
