"""Which unit the amounts of a receipt have, where no word names it."""

import pytest

from coursepkg.projects.ocr.fields.rules import extract_fields
from tests.projects.ocr.fields.pages import GOODS, HEAD, page


def total_of(*rows: tuple[str, ...]):
    return extract_fields(page((*HEAD[:4], *rows))).total


@pytest.mark.parametrize(
    "goods", [(("Áo", "550.00"), ("Giày", "700.00")), (("Áo", "$5.50"), ("Giày", "s7.00"))]
)
def test_goods_with_hundredths_are_in_another_currency(goods: tuple[tuple[str, ...], ...]) -> None:
    """A recogniser may read the sign of a currency as a digit: `$1,250.00` as `51,250.00`."""
    total = total_of(*goods, ("Total", "51,250.00"))
    assert total.value is None
    assert ("US dollars" if goods[0][1][0] == "$" else "a currency with hundredths") in total.reason


@pytest.mark.parametrize(
    ("rows", "value"),
    [
        ((*GOODS, ("Tổng cộng", "42.000,00")), 42_000),
        ((("Quãng đường (km): 12.50",), ("Tổng cộng", "150.000")), 150_000),
        ((("Số lít: 12.50",), ("Số km: 10.25",), ("Tổng tiền", "287.500")), 287_500),
        ((("Xăng RON 12.50",), ("Tổng tiền", "287.500")), 287_500),
        ((("Giờ vào 22.10",), ("Giờ ra 23.40",), ("Vé vào cổng",), ("Tổng cộng", "42.000")), 42_000),
        ((("Cam sành", "65.000", "0.85"), ("Xoài", "70.000", "1.10"), ("Tổng cộng", "132.250")), 132_250),
        (
            (("Cam sành 0.85",), ("65000 55250",), ("Xoài 1.10",), ("70000 77000",), ("Tổng", "132.250")),
            132_250,
        ),
        ((("Đơn vị tính: nghìn đồng",), ("Cà phê 12.50",), ("Trà 15.50",), ("Tổng tiền", "28")), 28_000),
    ],
)
def test_weights_distances_times_and_thousands_leave_the_total(
    rows: tuple[tuple[str, ...], ...], value: int
) -> None:
    assert total_of(*rows).value == value
