"""A receipt that the picture cuts: what is cut off has no value, and the reason says so where lines show it."""

import math
from dataclasses import replace

import numpy as np
import pytest

from coursepkg.projects.ocr.detector.lines import TextBox, place_lines
from coursepkg.projects.ocr.fields.line_tagger import LineTagger
from coursepkg.projects.ocr.fields.page_kind import LEFT, LOWER, RIGHT, UPPER, cut_lines
from coursepkg.projects.ocr.fields.rules import BY_PLACE, FIELDS, Fields, extract_fields
from coursepkg.projects.ocr.fields.table import LabelledReceipt, generated_fields
from coursepkg.projects.ocr.fields.values import parse_amount
from coursepkg.projects.ocr.page.read import PageLine
from tests.projects.ocr.fields.pages import GOODS, HEAD, RECEIPT, SUMS, page

PAPER, MARGIN = 640, 30
"""Width of the generated paper, and the least that is empty below its print, in pixels."""
UPPER_CUT = "the text is cut by the upper edge of the picture"
LOWER_CUT = "the text is cut by the lower edge of the picture"


@pytest.fixture(scope="module")
def receipts() -> list[LabelledReceipt]:
    return list(generated_fields(100, seed=31))


def cut(lines: tuple[PageLine, ...], top: float, bottom: float) -> tuple[list[PageLine], tuple[int, int]]:
    """The lines that a detector sees between two heights, clipped as its boxes are, and the picture's size."""
    height = round(bottom - top)
    kept = []
    for line in lines:
        corners = np.clip(line.box.corners - [0, round(top)], 0, (PAPER, height))
        if np.ptp(corners[:, 1]) >= 0.5 * np.ptp(line.box.corners[:, 1]):
            kept.append((TextBox(corners, 1.0), line.text))
    texts = {id(box): text for box, text in kept}
    rows = place_lines([box for box, _ in kept], word_gap=math.inf, settle=False)
    found = [PageLine(box, row.row, texts[id(box)], 1.0) for row in rows for box in row.parts]
    return found, (PAPER, height)


def through_goods(receipt: LabelledReceipt, seen: float) -> float:
    """A height that cuts a row between date and total, of which so much lies above it."""
    rows = [line.row for line in receipt.lines]
    both = list(zip(rows, receipt.labels, strict=True))
    head = max(row for row, label in both if label == "TIMESTAMP")
    total = min(row for row, label in both if label == "TOTAL_COST")
    line = receipt.lines[rows.index((head + total + 1) // 2)]
    top, bottom = line.box.corners[:, 1].min(), line.box.corners[:, 1].max()
    return float(top + seen * (bottom - top))


def reasons(fields: Fields) -> dict[str, str]:
    return {name: getattr(fields, name).reason for name in FIELDS}


def test_no_field_of_a_whole_receipt_is_called_cut(receipts: list[LabelledReceipt]) -> None:
    n_missing = 0
    for one in receipts:
        height = max(line.box.corners[:, 1].max() for line in one.lines) + MARGIN
        told = reasons(extract_fields(one.lines, (PAPER, math.ceil(height)))).values()
        n_missing += sum(map(bool, told))
        assert not any("is cut" in reason for reason in told)
    # Some dates are printed as no rule reads them: their reasons say nothing of an edge.
    assert n_missing > 0


def test_the_lower_half_says_that_shop_and_address_are_cut_off(receipts: list[LabelledReceipt]) -> None:
    for one in receipts[:40]:
        end = one.lines[-1].box.corners[:, 1].max() + MARGIN
        lines, size = cut(one.lines, through_goods(one, 0.3), end)
        fields = extract_fields(lines, size)
        for field in (fields.seller, fields.address):
            assert (field.value, field.lines) == (None, ())
            assert field.reason.endswith(f"; {UPPER_CUT}")
        assert fields.total.value is not None


def test_the_upper_half_says_that_the_total_is_cut_off(receipts: list[LabelledReceipt]) -> None:
    n_receipts = 0
    for one in receipts[:40]:
        lines, size = cut(one.lines, 0, through_goods(one, 0.7))
        fields = extract_fields(lines, size)
        if fields.seller.reason.startswith("the page does not look like a receipt"):
            continue
        n_receipts += 1
        assert fields.total.value is None
        assert fields.total.reason.endswith(f"; {LOWER_CUT}")
        assert "is cut" not in fields.seller.reason + fields.address.reason
    assert n_receipts > 20


def test_without_the_size_of_the_picture_or_a_line_at_its_edge_nobody_can_tell() -> None:
    lines = page((*HEAD, *GOODS))
    assert extract_fields(lines).total.reason == "no line says a total"
    bottom = int(max(line.box.corners[:, 1].max() for line in lines))
    assert extract_fields(lines, (600, bottom + 2)).total.reason == "no line says a total"
    assert extract_fields(lines, (600, bottom)).total.reason == f"no line says a total; {LOWER_CUT}"
    assert cut_lines([], (600, 600)) == dict.fromkeys((UPPER, LOWER, LEFT, RIGHT), frozenset())


def test_a_field_that_is_there_keeps_its_value_at_the_edge() -> None:
    lines = page((HEAD[0], *HEAD[1:], *GOODS, SUMS[0]))
    bottom = int(max(line.box.corners[:, 1].max() for line in lines))
    fields = extract_fields(lines, (600, bottom))
    assert reasons(fields) == dict.fromkeys(FIELDS, "")
    assert fields == extract_fields(lines)


def test_what_is_read_without_a_value_is_cut_only_where_it_stands_at_the_edge() -> None:
    lines = page((*HEAD, *GOODS, ("Tổng tiền",)))
    bottom = int(max(line.box.corners[:, 1].max() for line in lines))
    told = "no amount stands beside 'Tổng tiền'"
    assert extract_fields(lines, (600, bottom)).total.reason == f"{told}; {LOWER_CUT}"
    more = page((*HEAD, *GOODS, ("Tổng tiền",), ("Xin cảm ơn",)))
    bottom += 30
    assert extract_fields(more, (600, bottom)).total.reason == told


def test_goods_below_a_cut_are_no_shop() -> None:
    lines = page((("Dép nhựa",), ("2", "20.000"), ("Tổng tiền", "40.000"), ("Ngày 16/01/2021",)))
    assert extract_fields(lines).seller.value is None
    seller = extract_fields(lines, (600, 600)).seller
    assert seller.value is None
    assert seller.reason.endswith(UPPER_CUT)


@pytest.mark.parametrize(
    "first",
    [
        (("TAI NGHE",), ("1 x 150.000", "150.000")),
        (("1. TRÀ SỮA ĐƯỜNG ĐEN",), ("1 x 150.000", "150.000")),
        (("Kenh: POS824",), HEAD[3], HEAD[4], GOODS[0]),
        (("Ma don: K4092",), HEAD[3], HEAD[4], GOODS[0]),
        (("Số TK : 1073797762",), GOODS[0]),
        (("STK 1073797762",), HEAD[3], GOODS[0]),
    ],
)
def test_below_a_cut_between_rows_neither_goods_nor_codes_name_the_shop(
    first: tuple[tuple[str, ...], ...],
) -> None:
    # Words of titles, columns and times stand in the foot, too.
    foot = (("Tổng tiền", "150.000"), ("Hình thức thanh toán: Thẻ",), ("In lúc: 16/01/2021 09:10",))
    fields = extract_fields(page((*first, *foot)))
    assert fields.total.value == 150_000
    assert (fields.seller.value, fields.address.value) == (None, None)
    assert fields.seller.reason
    assert fields.address.reason


def test_a_shop_without_a_word_of_shops_is_told_by_a_date_between_it_and_the_prices() -> None:
    assert extract_fields(page((("LÚA VÀNG",), HEAD[3], *GOODS, *SUMS))).seller.value == "LÚA VÀNG"
    assert extract_fields(page((("LÚA VÀNG",), *GOODS, *SUMS, HEAD[3]))).seller.value is None


def test_a_title_on_top_tells_the_top_of_a_receipt_and_a_date_alone_does_not() -> None:
    top = (("HÓA ĐƠN BÁN HÀNG",), HEAD[3])
    fields = extract_fields(page((*top, ("LÚA VÀNG",), ("12 Hoa Mai",), *GOODS, *SUMS)))
    assert (fields.seller.value, fields.address.value) == ("LÚA VÀNG", "12 Hoa Mai")
    cut_off = extract_fields(page((HEAD[3], ("Nước mía",), *GOODS, *SUMS)))
    assert (cut_off.seller.value, cut_off.address.value) == (None, None)


@pytest.mark.parametrize("side", [LEFT, RIGHT])
def test_a_text_at_the_left_or_right_edge_may_lack_letters(side: str) -> None:
    lines = page(RECEIPT)
    assert extract_fields(lines, (700, 900)).notes == ()
    long, left = lines[1], 0 if side == LEFT else 700
    corners = long.box.corners.copy()
    corners[[0, 3] if side == LEFT else [1, 2], 0] = left
    lines[1] = replace(long, box=TextBox(corners, 1.0))
    fields = extract_fields(lines, (700, 900))
    assert fields.notes == (f"the address may lack letters at the {side} edge",)
    assert (fields.address.value, fields.address.confidence) == (HEAD[1][0], BY_PLACE)


def test_a_total_right_of_the_picture_is_said_to_be_cut_off() -> None:
    left_half = page((*HEAD[:4], ("Tên hàng",), ("Bánh tráng mè ngon nhất trong vùng Cần Thơ",)))
    assert extract_fields(left_half, (348, 900)).total.reason.endswith(
        "; the text is cut by the right edge of the picture"
    )


TIGHT = (("LÚA VÀNG",), ("12 Hoa Mai",), *RECEIPT[2:])


def test_a_whole_receipt_may_begin_at_the_edge_of_the_picture() -> None:
    lines = page(TIGHT)
    fields = extract_fields(lines, (600, 900))
    assert (fields.seller.value, fields.address.value) == ("LÚA VÀNG", "12 Hoa Mai")
    assert fields == extract_fields(lines)
    # What is missing is not said to be cut off.
    unplaced = extract_fields(page((TIGHT[0], *TIGHT[2:])), (600, 900))
    assert (unplaced.seller.value, unplaced.address.value) == ("LÚA VÀNG", None)
    assert "is cut" not in unplaced.address.reason


def test_a_fragment_at_the_edge_does_not_hide_the_shop() -> None:
    lines = page((("abc",), *TIGHT))
    fields = extract_fields(lines, (600, 900))
    assert fields.address.value == "12 Hoa Mai"
    assert fields == extract_fields(lines)


def test_letters_that_are_cut_through_name_no_shop() -> None:
    lines = page(TIGHT)
    lower = lines[0].box.corners - [0, 8]
    lines[0] = replace(lines[0], box=TextBox(lower.clip(0), 1.0))
    lines[1:] = [replace(one, box=TextBox(one.box.corners - [0, 8], 1.0)) for one in lines[1:]]
    seller = extract_fields(lines, (600, 900)).seller
    assert seller.value is None
    assert seller.reason.endswith(UPPER_CUT)


@pytest.mark.parametrize("quarters", range(4))
def test_upper_is_where_the_reading_begins(quarters: int) -> None:
    lines = page(RECEIPT[4:])
    points = np.concatenate([line.box.corners for line in lines])
    points -= points.min(axis=0)
    size = np.ceil(points.max(axis=0)).astype(int) + np.array([0, 40])
    for _ in range(quarters):
        # A quarter clockwise: the left side becomes the upper one.
        points = np.column_stack([size[1] - points[:, 1], points[:, 0]])
        size = size[::-1]
    turned = [
        PageLine(TextBox(points[4 * i : 4 * i + 4], 1.0), line.row, line.text, 1.0)
        for i, line in enumerate(lines)
    ]
    found = cut_lines(turned, (int(size[0]), int(size[1])))
    assert found[UPPER] == {i for i, line in enumerate(lines) if line.row == 0}
    assert found[LOWER] == frozenset()
    begin = min(line.box.corners[0, 0] for line in lines)
    assert found[LEFT] == {i for i, line in enumerate(lines) if line.box.corners[0, 0] == begin}


@pytest.mark.parametrize("n_total", [0, 1])
def test_the_model_says_it_in_the_same_words(monkeypatch: pytest.MonkeyPatch, n_total: int) -> None:
    lines = page((*HEAD, *GOODS))
    bottom = int(max(line.box.corners[:, 1].max() for line in lines))
    tagger = LineTagger()
    # The last line, at the edge, is labelled as a name of a total without its amount.
    lines[-1] = replace(lines[-1], text="Tổng tiền")
    tags = [("", 1.0)] * (len(lines) - n_total) + [("TOTAL_COST", 1.0)] * n_total
    monkeypatch.setattr(tagger, "tag", lambda _: tags)
    told = {name: f"no line is labelled as the {name}" for name in FIELDS}
    if n_total:
        told["total"] = parse_amount("Tổng tiền").reason
    assert reasons(tagger.extract_fields(lines)) == told
    cut_off = {name: f"{told[name]}; {LOWER_CUT}" for name in ("timestamp", "total")}
    assert reasons(tagger.extract_fields(lines, (600, bottom))) == told | cut_off
