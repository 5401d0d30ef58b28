"""How texts lie, and which of several polygons they stand in."""

import pytest

from coursepkg.projects.ocr.data.mc_ocr import outline_faults, quarters, read_instance
from coursepkg.projects.ocr.data.table_row import Instance, Receipt

Box = tuple[float, float, float, float]


def polygon(box: Box) -> tuple[tuple[float, float], ...]:
    left, top, right, bottom = box
    corners = ((left, top), (right, top), (right, bottom), (left, bottom))
    return tuple((float(x), float(y)) for x, y in corners)


def instance(text: str, *boxes: Box, label: str = "SELLER", number: int = 0) -> Instance:
    return Instance(number, tuple(map(polygon, boxes)), text, label)


def receipt(*instances: Instance) -> Receipt:
    return Receipt("a.jpg", 2, 500, 500, 0.5, instances)


def boxes_turned(quarter: int) -> list[Box]:
    """A seller above a total, in a picture turned by quarters clockwise."""
    upright = [(100, 20, 200, 40), (100, 400, 200, 420)]
    turn = {
        0: lambda b: b,
        1: lambda b: (500 - b[3], b[0], 500 - b[1], b[2]),
        2: lambda b: (500 - b[2], 500 - b[3], 500 - b[0], 500 - b[1]),
        3: lambda b: (b[1], 500 - b[2], b[3], 500 - b[0]),
    }[quarter]
    return [turn(box) for box in upright]


@pytest.mark.parametrize("quarter", range(4))
def test_the_way_a_photograph_lies_is_told_by_its_seller_and_total(quarter: int) -> None:
    seller, total = boxes_turned(quarter)
    found = receipt(
        instance("Quán Phở", seller),
        instance("45.000", total, label="TOTAL_COST"),
        instance("5", (240, 240, 250, 260), label="TOTAL_COST"),
    )
    assert quarters(found) == [quarter] * 3


def test_dates_and_short_texts_turn_nothing() -> None:
    found = receipt(
        instance("20/08", (100, 10, 200, 30), label="TIMESTAMP"),
        instance("Quán", (100, 50, 200, 70)),
        instance("3", (100, 200, 110, 230), label="TOTAL_COST"),
    )
    assert quarters(found) == [0, 0, 0]
    assert quarters(receipt(instance("3", (0, 0, 10, 30)))) == [0]
    assert quarters(receipt()) == []


def test_a_sliver_is_dropped() -> None:
    found = read_instance(instance("Quán Phở Hà Nội", (20, 20, 140, 40), (300, 300, 303, 301)))
    assert found.kind == "slivers dropped"
    assert found.corners is not None
    assert found.corners[2].tolist() == [140, 40]


def test_halves_of_one_line_become_one() -> None:
    # 24 letters take 24 * 0.4 * 20 = 192 pixels: both halves together.
    found = read_instance(instance("Tổng giá trị TT: 145,880", (0, 0, 100, 20), (300, 2, 392, 22)))
    assert found.kind == "side by side"
    assert found.corners is not None
    assert (found.corners[0].tolist(), found.corners[2].tolist()) == ([0, 0], [392, 22])


def test_a_text_of_one_column_leaves_the_other_column_out() -> None:
    found = read_instance(instance("Tổng tiền:", (0, 0, 80, 20), (300, 2, 376, 22)))
    assert found.kind == "one of several"
    assert found.corners is not None
    assert found.corners[1].tolist() in ([80, 0], [376, 2])


def test_a_text_of_several_lines_is_no_crop() -> None:
    stack = instance("12 Đường Láng, Quận Đống Đa, Hà Nội, Việt Nam", (0, 0, 180, 20), (0, 25, 180, 45))
    assert read_instance(stack) == (None, "several lines")
    faults = outline_faults(receipt(instance("Quán", (0, 0, 40, 20)), stack))
    assert [(fault.kind, fault.instance, fault.image) for fault in faults] == [
        ("text on several lines", 0, "a.jpg")
    ]


def test_one_line_of_a_stack_is_taken_where_the_text_fits_it() -> None:
    found = read_instance(instance("12 Đường Láng, Quận Đống", (0, 0, 190, 20), (0, 25, 500, 45)))
    assert found.kind == "one of several"
    assert found.corners is not None
    assert found.corners[2].tolist() == [190, 20]


@pytest.mark.parametrize(("quarter", "first"), [(0, [10, 10]), (1, [90, 10]), (2, [90, 30]), (3, [10, 30])])
def test_the_corners_begin_where_reading_begins(quarter: int, first: list[int]) -> None:
    corners = read_instance(instance("Quán Phở", (10, 10, 90, 30)), quarter).corners
    assert corners is not None
    assert corners[0].tolist() == first


@pytest.mark.parametrize(
    ("text", "box", "kind"),
    [
        ("74,000 74,000 74,000", (0, 0, 135, 58), "too narrow for its text"),
        ("TOTAL", (0, 0, 150, 28), "too wide for its text"),
        ("Tổng cộng", (0, 0, 80, 20), None),
        ("5", (0, 0, 80, 20), None),
    ],
)
def test_outlines_of_unusual_width_are_named(text: str, box: Box, kind: str | None) -> None:
    found = [fault.kind for fault in outline_faults(receipt(instance(text, box)))]
    assert found == ([] if kind is None else [kind])


def test_outlines_that_lie_on_one_another_are_named() -> None:
    on_top = instance("12 Đường Láng", (0, 4, 110, 24), number=1)
    beside = instance("Hà Nội", (0, 30, 60, 50), number=2)
    faults = outline_faults(receipt(instance("Quán Phở Bò", (0, 0, 100, 20)), on_top, beside))
    assert [(fault.kind, fault.instance) for fault in faults] == [("overlapping outlines", 1)]
