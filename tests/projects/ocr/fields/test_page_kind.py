"""What kind of page it is: two receipts and papers that are no receipt have no fields."""

from collections.abc import Sequence

import numpy as np
import pytest

from coursepkg.projects.ocr.detector.lines import TextBox
from coursepkg.projects.ocr.fields.rules import FIELDS, Fields, extract_fields
from coursepkg.projects.ocr.page.read import PageLine
from tests.projects.ocr.fields.pages import GOODS, HEAD, RECEIPT, SUMS, page


def fields_of(rows: Sequence[Sequence[str]]) -> Fields:
    return extract_fields(page(rows))


def beside(left: Sequence[Sequence[str]], right: Sequence[Sequence[str]], lower: int = 0) -> list[PageLine]:
    """Two receipts side by side on one page, the right one lower by some rows."""
    moved = [
        PageLine(
            TextBox(line.box.corners + np.array([700, 30 * lower]), 1.0), line.row + lower, line.text, 1.0
        )
        for line in page(right)
    ]
    return sorted([*page(left), *moved], key=lambda line: (line.row, line.box.corners[0, 0]))


OTHER = (
    ("Quán Bà Tư",),
    ("7 Lê Lợi, P. Hoa Lư, Huế",),
    ("PHIẾU THANH TOÁN",),
    ("Ngày: 02/03/2021 19:05",),
    ("Tên hàng", "SL", "Đ.Giá", "T.Tiền"),
    ("Bún bò", "2", "40.000", "80.000"),
    ("Tổng cộng", "80.000"),
)


BARE = (
    ("CAFE B",),
    ("Ngày: 02/03/2021 19:05",),
    ("Bún bò", "2", "40.000", "80.000"),
    ("Tổng cộng", "80.000"),
)


def above_turned(upright: Sequence[Sequence[str]], turned: Sequence[Sequence[str]]) -> list[PageLine]:
    """A receipt and below it another one upside down, as the page is read."""
    first, second = page(upright), page(turned)
    size = np.array([700, 30 * (len(upright) + len(turned))])
    heads = [
        PageLine(
            TextBox(size - line.box.corners, 1.0), len(upright) + second[-1].row - line.row, line.text, 1.0
        )
        for line in reversed(second)
    ]
    return [*first, *heads]


def beside_crossing(left: Sequence[Sequence[str]], crossing: Sequence[Sequence[str]]) -> list[PageLine]:
    """A receipt and right of it another one, turned by a quarter."""
    quarter = np.array([[0, 1], [-1, 0]])
    turned = [
        PageLine(TextBox(one.box.corners @ quarter + [1200, 0], 1.0), 20 + one.row, one.text, 1.0)
        for one in page(crossing)
    ]
    return [*page(left), *turned]


def plain(rows: Sequence[Sequence[str]]) -> list[list[str]]:
    """Rows whose amounts have no separators."""
    return [[text.replace(".000", "000") for text in row] for row in rows]


@pytest.mark.parametrize(
    "rows",
    [
        plain(RECEIPT),
        ((HEAD[2][0], "16/01/2021"), *HEAD[:2], *HEAD[3:], *GOODS, *SUMS),
        (*HEAD[:2], ("Số HĐ: 12", "", "Ngày: 16/01/2021"), *HEAD[4:], *GOODS, ("Tổng", "", "", "42.000")),
    ],
)
def test_one_receipt_in_columns_is_not_two(rows: Sequence[Sequence[str]]) -> None:
    assert extract_fields([line for line in page(rows) if line.text]).total.value == 42_000


@pytest.mark.parametrize(
    "lines",
    [
        page((*RECEIPT, *OTHER)),
        beside(RECEIPT, OTHER),
        beside(OTHER, RECEIPT),
        *(beside(RECEIPT, OTHER, lower) for lower in (2, 5, 8)),
        beside(RECEIPT, BARE, 3),
        beside_crossing(RECEIPT, OTHER),
        page(plain((*HEAD[:4], *GOODS, *SUMS, *OTHER[:4], *OTHER[5:]))),
        page((*RECEIPT, *BARE)),
        page((*HEAD, *GOODS, *OTHER)),
        page((*HEAD, *GOODS, *BARE)),
        page((*RECEIPT, *OTHER[:-1])),
        page((*RECEIPT, *BARE[:-1])),
        page((*GOODS, *SUMS, *OTHER[:-1])),
        page((*SUMS, *OTHER[:4], *OTHER[5:-1])),
        page((*SUMS, OTHER[2], *OTHER[:2], *OTHER[3:-1])),
        page((*RECEIPT, *OTHER[:3], HEAD[3], *OTHER[4:-1])),
        above_turned(RECEIPT, OTHER),
        above_turned(OTHER, RECEIPT),
    ],
)
def test_two_receipts_in_one_picture_have_no_fields(lines: list[PageLine]) -> None:
    fields = extract_fields(lines)
    for name in FIELDS:
        assert getattr(fields, name).value is None
        assert "two receipts" in getattr(fields, name).reason


@pytest.mark.parametrize(
    "foot",
    [
        (),
        (("Hóa đơn GTGT xuất trong ngày",), HEAD[0]),
        (("Phương thức thanh toán",), ("Cửa hàng Hoa Mai",)),
        (HEAD[0], HEAD[1]),
        (("HÓA ĐƠN ĐIỆN TỬ",), ("Tra cứu tại web",)),
    ],
)
@pytest.mark.parametrize(
    "last",
    [
        (),
        (SUMS[1],),
        (SUMS[2],),
        (("Voucher", "20.000"),),
        (("Hotline 0912 345 678",),),
        (("Trà từ 9.000đ",),),
    ],
)
def test_a_date_and_advertising_at_the_foot_are_no_second_receipt(
    foot: tuple[tuple[str, ...], ...], last: tuple[tuple[str, ...], ...]
) -> None:
    for upper in ((*HEAD[:3], HEAD[4]), (HEAD[0], HEAD[4]), ()):
        assert fields_of((*upper, *GOODS, *SUMS, *foot, HEAD[3], *last)).total.value == 42_000
    assert (
        fields_of((*HEAD[:3], HEAD[4], *GOODS, SUMS[0], *OTHER[:3], HEAD[3], *SUMS[1:])).total.value == 42_000
    )


@pytest.mark.parametrize(
    "foot",
    [
        (
            *(("Hóa đơn điện tử",), ("Công ty TNHH Lúa Vàng",)),
            *(("Xuất trong ngày 16/01/2021",), ("Điểm: 1.250",)),
        ),
        (
            *(("Hóa đơn",), ("Cửa hàng Hoa Mai",), ("Số 7 đường Lê Lợi, Huế",)),
            *(("Ngày 16/01/2021",), ("Phí gửi xe 5.000",)),
        ),
        (("HÓA ĐƠN",), ("Cửa hàng Hoa Mai",), ("Ngày 02/03/2021",), ("STK 0071 0001 2345",)),
        (*(("Hóa đơn GTGT",), ("Cửa hàng Hoa Mai",), HEAD[3]), ("Điểm: 1.250",), ("Xu: 2.500",)),
    ],
)
def test_a_title_a_shop_and_a_number_at_the_foot_are_no_second_receipt(
    foot: tuple[tuple[str, ...], ...],
) -> None:
    for upper in (HEAD, (*HEAD[:3], HEAD[4]), ()):
        assert fields_of((*upper, *GOODS, *SUMS, *foot)).total.value == 42_000


@pytest.mark.parametrize(
    "rows",
    [
        [],
        [["Mùa thu trên núi"], ["Gió thổi qua đồi thông, lá rơi đầy lối."], ["Trang 12"]],
        [["CỘNG HÒA XÃ HỘI CHỦ NGHĨA VIỆT NAM"], ["Hà Nội, ngày 5 tháng 3 năm 2021"], ["Tổng cộng 12.000"]],
        [["0912 345 678"]],
        *(
            [["CÔNG TY LÚA VÀNG"], ["Nguyễn Văn An"], ["Số 12 đường Hoa Mai, Cần Thơ"], [contact]]
            for contact in ("ĐT: 0912 345 678", "ĐT: 0912 345.678")
        ),
        [
            ["HỢP ĐỒNG THUÊ NHÀ"],
            ["Bên A: Công ty Lúa Vàng"],
            ["Địa chỉ: Số 12 đường Hoa Mai, Cần Thơ"],
            ["Tổng cộng: 60.000.000 đ"],
        ],
        [["LÚA VÀNG BANK"], ["Số tiền", "1.500.000 VND"], ["Phí", "0 VND"], ["16/01/2021 08:58"]],
        *(
            [[heading], *map(list, (HEAD[0], HEAD[1], HEAD[3], *GOODS, SUMS[0]))]
            for heading in (
                *("SAO KÊ TÀI KHOẢN", "Bảng giá", "BÁO GIÁ", "PHIẾU LƯƠNG THÁNG 1", "ĐƠN ĐẶT HÀNG"),
                *("THÔNG BÁO TIỀN ĐIỆN", "Chuyển khoản thành công", "BANG GIA"),
            )
        ),
        [
            ["Tổng cộng 1.200.000 người đã tham gia"],
            ["lễ hội tại Huế, ngày 16/01/2021"],
            ["Báo Tuổi Trẻ, 12 Hoa Mai, Huế"],
        ],
        [["QUÁN CƠM BÀ TƯ"], ["7 Lê Lợi, P. Hoa Lư, Huế"], ["Cơm gà", "35.000"], ["Trà đá", "3.000"]],
    ],
)
def test_a_page_that_is_no_receipt_has_no_fields(rows: list[list[str]]) -> None:
    fields = fields_of(rows)
    for name in FIELDS:
        assert getattr(fields, name).value is None
        assert getattr(fields, name).reason
    assert fields.items == ()


@pytest.mark.parametrize(
    "text", ["Thông báo: đổi hàng trong 7 ngày", "THÔNG BÁO ĐỔI HÀNG", "Bảng giá tại quầy", "Xem sao kê"]
)
def test_a_heading_of_other_papers_in_the_foot_does_not_discard_a_receipt(text: str) -> None:
    assert fields_of((*RECEIPT, (text,))).total.value == 42_000


def test_a_shop_may_be_called_like_a_heading_without_its_marks() -> None:
    for name in ("BAO GIA MART", "Bảo Gia Mart"):
        assert fields_of(((name,), *RECEIPT[1:])).seller.value == name


@pytest.mark.parametrize("table", ["Bàn 5", "Phòng 302", "Table A3"])
def test_the_number_of_a_table_is_no_shop(table: str) -> None:
    fields = fields_of((("HÓA ĐƠN BÁN HÀNG",), (table,), *HEAD[3:], *GOODS, *SUMS))
    assert fields.seller.value is None
