import pytest

from coursepkg.projects.ocr.fields.rules import extract_fields
from tests.projects.ocr.fields.pages import GOODS, HEAD, SUMS, page

WRONG = (("Tổng tiền", "48.000"), *SUMS[1:])


def test_one_wrong_digit_is_corrected_and_said() -> None:
    fields = extract_fields(page((*HEAD, *GOODS, *WRONG)))
    assert fields.total.value == 42_000
    assert fields.total.text == "Tổng tiền 48.000"
    assert "corrected from 48,000 to 42,000" in fields.notes[-1]


def test_two_wrong_digits_are_told_and_left() -> None:
    fields = extract_fields(page((*HEAD, *GOODS, ("Tổng tiền", "57.000"), *SUMS[1:])))
    assert fields.total.value == 57_000
    assert "does not agree" in fields.notes[-1]


def test_equations_that_disagree_correct_nothing() -> None:
    sums = (("Tổng tiền", "48.000"), ("Tiền khách đưa", "50.000"), ("Tiền thừa", "1.000"))
    fields = extract_fields(page((*HEAD, *GOODS, *sums)))
    assert fields.total.value == 48_000
    assert "does not agree" in fields.notes[-1]


def test_one_broken_equation_alone_is_told_and_corrects_nothing() -> None:
    fields = extract_fields(page((*HEAD, *GOODS, WRONG[0])))
    assert fields.total.value == 48_000
    assert "does not agree" in fields.notes[-1]


def test_an_item_that_was_not_found_does_not_change_the_total() -> None:
    fields = extract_fields(page((*HEAD, *GOODS, ("Tổng tiền", "92.000"), ("Tiền khách đưa", "92.000"))))
    assert fields.total.value == 92_000
    assert "does not agree" in fields.notes[-1]


def test_a_total_that_was_paid_stays() -> None:
    paid = (("Tổng tiền", "48.000"), ("Tiền mặt", "48.000"), ("Tiền khách đưa", "50.000"))
    fields = extract_fields(page((*HEAD, *GOODS, *paid, ("Tiền thừa", "8.000"))))
    assert fields.total.value == 48_000
    assert "does not agree" in fields.notes[-1]


def test_a_discount_explains_the_difference() -> None:
    sums = (("Tạm tính", "42.000"), ("Giảm giá", "2.000"), ("Khách phải trả", "40.000"))
    fields = extract_fields(page((*HEAD, *GOODS, *sums)))
    assert fields.total.value == 40_000
    assert not any("agree" in note for note in fields.notes)


def test_numbers_may_stand_in_the_row_below_a_name() -> None:
    goods = (("Bánh tráng mè",), ("2 x 15.000", "30.000"), ("1. Nước sâm", "12.000"))
    first, second = extract_fields(page((*HEAD, *goods, *SUMS))).items
    assert (first.name, first.quantity, first.price, first.amount) == ("Bánh tráng mè", 2, 15_000, 30_000)
    assert (second.name, second.quantity, second.price) == ("Nước sâm", None, None)


def test_a_discount_among_the_goods_does_not_end_them() -> None:
    goods = (
        GOODS[0],
        ("Giảm giá", "-2.000"),
        GOODS[1],
        ("Chiết khấu", "1.000"),
        ("Trứng gà", "1", "9.000", "9.000"),
    )
    fields = extract_fields(page((*HEAD, *goods, ("Tổng tiền", "48.000"))))
    assert [one.name for one in fields.items] == ["Bánh tráng mè", "Nước sâm", "Trứng gà"]
    assert fields.total.value == 48_000
    assert fields.notes == ()


def test_the_last_discount_may_be_the_sum_of_the_others() -> None:
    goods = (GOODS[0], ("Giảm giá", "2.000"), GOODS[1], ("Giảm giá", "1.000"))
    sums = (("Tổng giảm giá", "3.000"), ("Tổng tiền", "39.000"))
    fields = extract_fields(page((*HEAD, *goods, *sums)))
    assert fields.notes == ()


CONTACTS = (("Thu ngân Lan",), ("ĐT: 0912 345 678",))


def names_without_heads(goods: tuple[tuple[str, ...], ...], sums: tuple[tuple[str, ...], ...]) -> list[str]:
    """Names of the goods of a receipt without heads of columns, below a cashier and a telephone."""
    fields = extract_fields(page((*HEAD[:4], *CONTACTS, *goods, *sums)))
    assert not any("agree" in note for note in fields.notes)
    return [one.name for one in fields.items]


@pytest.mark.parametrize("end", [2, 4, 6])
def test_goods_named_like_a_contact_or_a_time_need_no_heads_of_columns(end: int) -> None:
    named = (("SAC DIEN THOAI",), ("2 x 15.000", "30.000"), ("GIO LUA",), ("1 x 12.000", "12.000"))
    goods = (("Cam",), ("4 x 2.000", "8.000"), *named)
    assert names_without_heads(goods, (("Tổng tiền", "50.000"),)) == ["Cam", "SAC DIEN THOAI", "GIO LUA"]
    first = (*named, *goods[:2])[:end]
    sums = (("Tổng tiền", {2: "30.000", 4: "42.000", 6: "50.000"}[end]),)
    assert names_without_heads(first, sums) == ["SAC DIEN THOAI", "GIO LUA", "Cam"][: end // 2]


@pytest.mark.parametrize(
    "row",
    [
        ("Giờ 18h30 12.000",),
        ("Giờ 18h30", "12.000"),
        ("Giờ", "18h30", "12.000"),
        ("Ngày 16/01/2021", "12.000"),
    ],
)
def test_a_time_or_a_date_beside_an_amount_is_no_good(row: tuple[str, ...]) -> None:
    goods = (("Cam", "8.000"), ("Trà đào", "9.000"))
    sums = (("Tổng tiền", "17.000"),)
    assert names_without_heads((*goods, row), sums) == ["Cam", "Trà đào"]
    items = extract_fields(page((*HEAD, *goods, row, *sums))).items
    assert [one.name for one in items] == ["Cam", "Trà đào"]


@pytest.mark.parametrize("name", ["GIO LUA 20g", "GIO LUA 2h"])
def test_a_weight_before_a_price_is_no_time(name: str) -> None:
    goods = (("Cam", "8.000"), (f"{name} 12.000",))
    assert names_without_heads(goods, (("Tổng tiền", "20.000"),)) == ["Cam", name]


def test_goods_in_one_row_may_be_named_like_a_contact() -> None:
    goods = (("Nước sâm 1 12.000 12.000",), ("Sạc điện thoại 2 15.000 30.000",))
    assert names_without_heads(goods, SUMS[:1]) == ["Nước sâm", "Sạc điện thoại"]


def test_a_contact_without_a_price_is_no_good() -> None:
    assert names_without_heads((("Nước sâm", "12.000"),), (("Tổng tiền", "12.000"),)) == ["Nước sâm"]
    foot = (*CONTACTS, ("Hotline 84 912 345 678",))
    assert names_without_heads((("Nước sâm", "12.000"), ("Cam", "8.000")), foot) == ["Nước sâm", "Cam"]


@pytest.mark.parametrize(
    ("row", "item"),
    [
        (("Bia 333", "15.000", "3", "45.000"), ("Bia 333", 3, 15_000, 45_000)),
        (("Bia 3", "15.000", "3", "45.000"), ("Bia 3", 3, 15_000, 45_000)),
        (("Bia Sài Gòn 333", "45.000"), ("Bia Sài Gòn 333", None, None, 45_000)),
        (("Bia Sài Gòn 333", "45.000", "45.000"), ("Bia Sài Gòn 333", 1, 45_000, 45_000)),
        (("Bia 333", "3", "45.000"), ("Bia 333", 3, 15_000, 45_000)),
        (("Bia 333 x3", "45.000"), ("Bia 333", 3, 15_000, 45_000)),
        (("Bia 333", "3 x 15.000", "45.000"), ("Bia 333", 3, 15_000, 45_000)),
        (("Cam", "0,5", "30.000", "15.000"), ("Cam", 0.5, 30_000, 15_000)),
        (("Bia 333 3 15.000 45.000",), ("Bia 333", 3, 15_000, 45_000)),
        (("Bia 333", "3", "15.000", "40.000"), ("Bia 333", 3, 15_000, 40_000)),
    ],
)
def test_a_number_in_a_name_is_no_quantity(row: tuple[str, ...], item: tuple[object, ...]) -> None:
    (found,) = extract_fields(page((*HEAD, row, ("Tổng tiền", row[-1])))).items
    assert (found.name, found.quantity, found.price, found.amount) == item


@pytest.mark.parametrize("unit", [("Đơn vị: USD",), ("Đơn vị tính:", "IDR"), ("Currency: KRW",)])
def test_a_line_of_units_says_the_currency_of_a_bare_total(unit: tuple[str, ...]) -> None:
    rows = (*HEAD, *GOODS, unit)
    total = extract_fields(page((*rows, SUMS[0]))).total
    assert total.value is None
    assert "names no dong" in total.reason
    assert extract_fields(page((*rows, ("Tổng tiền", "42.000 VND")))).total.value == 42_000


@pytest.mark.parametrize(
    ("goods", "value"),
    [
        ((("Kimchi", "₩4,000"), ("Soju", "6,000 KRW")), None),
        ((("Sushi ¥4,000",), ("Sake ¥6,000",)), None),
        ((("Sushi ¥4,000",), ("Cam", "5.000"), ("Chanh", "5.000")), 10_000),
    ],
)
def test_most_goods_say_the_currency_of_a_bare_total(
    goods: tuple[tuple[str, ...], ...], value: int | None
) -> None:
    total = extract_fields(page((*HEAD, *goods, ("Total", "10,000")))).total
    assert total.value == value


@pytest.mark.parametrize(
    "rest",
    [
        (("Total USD 1.70",), ("Cash USD 2.00",)),
        (("Quy đổi $1.70",), ("Tỷ giá $1", "24.700")),
        (("Quy đổi $1.70",), ("Tỷ giá $1",)),
    ],
)
@pytest.mark.parametrize("head", [HEAD, (*HEAD[:4], (*HEAD[4][:3], "Thành tiền"))])
def test_sums_and_rates_of_exchange_are_no_foreign_goods(
    head: tuple[tuple[str, ...], ...], rest: tuple[tuple[str, ...], ...]
) -> None:
    sums = (("Tổng cộng", "42.000"), *rest)
    assert extract_fields(page((*head, ("Cà phê", "42.000"), *sums))).total.value == 42_000
    foreign = extract_fields(page((*head, ("Cà phê", "$1.70"), *sums))).total
    assert foreign.value is None
    assert "names no dong" in foreign.reason


@pytest.mark.parametrize(
    "rest",
    [
        (("Giảm giá 5%", "2.100"), ("Còn lại", "39.900")),
        (("Giảm giá 5%",), ("Còn lại", "39.900")),
        (("Giảm giá 5%", "2.100"), ("Thành tiền", "39.900")),
    ],
)
def test_what_a_discount_leaves_is_to_pay_where_it_is_printed(rest: tuple[tuple[str, ...], ...]) -> None:
    fields = extract_fields(page((*HEAD, *GOODS, ("Tổng cộng", "42.000"), *rest)))
    assert (fields.total.value, fields.total.text) == (39_900, f"{rest[1][0]} 39.900")
    assert fields.total.confidence == (1.0 if rest[1][0] == "Thành tiền" else 0.8)
    assert fields.notes == ("of several sums 39,900 is the one to pay, not 42,000",)


def test_what_stands_below_a_discount_without_the_name_of_a_sum_is_less_sure() -> None:
    sums = (("Tổng cộng", "42.000"), ("Giảm giá", "12.000"), ("Ví điện tử", "30.000"))
    total = extract_fields(page((*HEAD, *GOODS, *sums))).total
    assert (total.value, total.confidence) == (30_000, 0.8)


@pytest.mark.parametrize("row", [("Còn lại", "8.000"), ("Tiền còn lại", "8.000"), ("Còn lại", "40.000")])
def test_what_remains_without_a_discount_is_change_or_a_debt(row: tuple[str, str]) -> None:
    sums = (("Tổng cộng", "42.000"), ("Khách đưa", "50.000"), row)
    assert extract_fields(page((*HEAD, *GOODS, *sums))).total.value == 42_000


def test_a_discount_below_the_last_sum_leaves_it_open() -> None:
    fields = extract_fields(page((*HEAD, *GOODS, ("Tổng cộng", "42.000"), ("Giảm giá", "2.000"))))
    assert (fields.total.value, fields.total.confidence) == (42_000, 0.8)
    assert "no line says what is left" in fields.notes[0]
    after = (("Tổng cộng", "40.000"), ("Giảm giá", "2.000"))
    assert extract_fields(page((*HEAD, *GOODS, *after))).notes == ()


@pytest.mark.parametrize("first", ["Tổng cộng sau giảm giá", "Khách phải trả"])
def test_the_goods_do_not_override_a_smaller_sum_to_pay(first: str) -> None:
    sums = ((first, "40.000"), ("Tổng cộng trước giảm giá", "42.000"))
    assert extract_fields(page((*HEAD, *GOODS, *sums))).total.value == 40_000
    assert extract_fields(page((*HEAD, *GOODS, *sums[::-1]))).total.value == 40_000


SMALL = (("Lẩu", "2", "350", "700"), ("Bia", "20", "25", "500"))


@pytest.mark.parametrize("goods", [SMALL, tuple((" ".join(row),) for row in SMALL)])
def test_goods_in_small_numbers_make_a_total_in_thousands(goods: tuple[tuple[str, ...], ...]) -> None:
    fields = extract_fields(page((*HEAD, *goods, ("Tổng cộng", "1.200"))))
    assert (fields.total.value, fields.total.confidence) == (1_200_000, 0.8)
    assert "is read as 1,200,000 dong" in fields.notes[0]
    assert fields.items == ()


@pytest.mark.parametrize("unit", ["ĐVT: 1000đ", "Đơn vị: nghìn đồng", "Đơn vị tính: 1.000 đồng"])
def test_a_line_of_units_may_say_thousands(unit: str) -> None:
    rows = (*HEAD, *SMALL, (unit,))
    assert extract_fields(page((*rows, ("Tổng cộng", "1.500")))).total.value == 1_500_000
    for goods in (SMALL, GOODS):
        fields = extract_fields(page((*HEAD, *goods, (unit,), ("Tổng cộng", "42.000"))))
        assert (fields.total.value, fields.items) == (None, ())
        assert "says thousands" in fields.total.reason


@pytest.mark.parametrize(
    "sums",
    [
        (("Thành tiền", "75"), ("(Đơn vị: nghìn đồng)",)),
        (("(Đơn vị: nghìn đồng)",), ("Thành tiền:75",)),
        (("Thành tiền 75 (nghìn đồng)",), ("ĐVT: 1000đ",)),
        (("Tạm tính", "80"), ("Giảm giá", "5"), ("Khách phải trả", "75"), ("Đơn vị: ngàn",)),
    ],
)
def test_small_sums_count_where_a_line_says_thousands(sums: tuple[tuple[str, ...], ...]) -> None:
    goods = (("Trà chanh", "2", "30"), ("Hướng dương", "1", "10"), ("Nem chua", "1", "35"))
    fields = extract_fields(page((*HEAD[:4], *goods, *sums)))
    assert (fields.total.value, fields.total.confidence) == (75_000, 0.8)
    assert "75 is read as 75,000 dong" in fields.notes[0]
    rest = [row for row in sums if "Đơn" not in row[0] and "ĐVT" not in row[0]]
    assert extract_fields(page((*HEAD[:4], *goods, *rest))).total.value is None


@pytest.mark.parametrize("row", [("Tổng", "75 USD"), ("Tổng", "$75"), ("Tổng", "7.75"), ("Tổng 2 món",)])
def test_other_numbers_are_no_sums_in_thousands(row: tuple[str, ...]) -> None:
    fields = extract_fields(page((*HEAD[:4], *SMALL, row, ("Đơn vị: nghìn đồng",))))
    assert fields.total.value is None


def test_sums_below_a_total_in_thousands_do_not_contradict_it() -> None:
    paid = (("Tổng cộng", "1.200"), ("Khách đưa", "3.000"), ("Tiền thừa", "1.800"))
    fields = extract_fields(page((*HEAD, *SMALL, *paid)))
    assert fields.total.value == 1_200_000
    assert fields.notes == (
        "1,200 is read as 1,200,000 dong: the goods add up to 1,200 in such small numbers",
    )


def test_small_goods_may_make_a_sum_above_the_total_in_thousands() -> None:
    sums = (("Tạm tính", "1.200"), ("Giảm giá", "200"), ("Khách phải trả", "1.000"))
    head = (*HEAD[:4], (*HEAD[4][:3], "Thành tiền"))
    assert extract_fields(page((*head, *SMALL, *sums))).total.value == 1_000_000
    rows = (*head, *SMALL, ("Tổng cộng", "1.200"), ("Khách phải trả", "1.200.000"))
    assert extract_fields(page(rows)).total.value == 1_200_000


def test_a_small_total_may_be_in_dong() -> None:
    rows = (*HEAD, ("Túi", "500"), ("Bánh", "1.500"), ("Tổng cộng", "2.000"))
    assert extract_fields(page(rows)).total.value == 2_000


@pytest.mark.parametrize(
    ("row", "total"),
    [
        (("Thuế VAT 10%", "4.200"), "46.200"),
        (("Phí dịch vụ", "4.200"), "46.200"),
        (("Phí ship", "15.000"), "57.000"),
        (("Giảm 10%", "4.200"), "37.800"),
        (("Giảm trừ", "2.000"), "40.000"),
    ],
)
def test_taxes_charges_and_discounts_explain_a_total(row: tuple[str, str], total: str) -> None:
    fields = extract_fields(page((*HEAD, *GOODS, row, ("Tổng cộng", total))))
    assert (fields.total.value, fields.notes) == (int(total.replace(".", "")), ())
    assert len(fields.items) == 2


def test_a_count_and_prices_are_no_telephone_number() -> None:
    goods = (("Kẹo dẻo 02 1500 3000",), ("Bánh quy 03 5000 15000",))
    fields = extract_fields(page((*HEAD, *goods, ("Tổng tiền", "18.000"))))
    assert [(one.name, one.amount) for one in fields.items] == [("Kẹo dẻo", 3_000), ("Bánh quy", 15_000)]
    assert (fields.total.value, fields.notes) == (18_000, ())


def test_goods_may_have_amounts_without_separators() -> None:
    goods = (("Bánh tráng mè", "2", "15000", "30000"), ("Nước sâm", "1", "12000", "12000"))
    items = extract_fields(page((*HEAD, *goods, ("Tổng tiền", "42000")))).items
    assert [(one.quantity, one.price, one.amount) for one in items] == [
        (2, 15_000, 30_000),
        (1, 12_000, 12_000),
    ]


@pytest.mark.parametrize(
    "rest",
    [
        (
            ("Tiền khách trả", "42.000"),
            ("Tiền mặt", "100.000"),
            ("VinID", "2.000"),
            ("Tiền trả lại", "60.000"),
        ),
        (("Tiền mặt", "100.000"), ("Tiền khách trả", "42.000"), ("Tiền trả lại", "60.000")),
        (("Tiền mặt", "50.000"), ("Tiền khách trả", "42.000"), ("Tiền trả lại", "8.000")),
    ],
)
def test_a_paid_line_with_the_total_settles_what_was_paid(rest: tuple[tuple[str, ...], ...]) -> None:
    for goods in (GOODS, ()):
        fields = extract_fields(page((*HEAD, *goods, SUMS[0], *rest)))
        assert (fields.total.value, fields.total.confidence, fields.notes) == (42_000, 1.0, ())


def test_what_was_handed_over_does_not_settle_a_total() -> None:
    fields = extract_fields(page((*HEAD, ("Tổng tiền", "50.000"), *SUMS[1:])))
    assert "does not agree" in fields.notes[-1]


@pytest.mark.parametrize("goods", [GOODS, ()])
@pytest.mark.parametrize(
    "sums",
    [
        (("Tổng tiền", "50.000"), ("Tiền mặt", "50.000"), ("Khách đưa", "100.000"), ("Tiền thừa", "58.000")),
        (("Tổng tiền", "42.000"), ("Khách đưa", "42.000"), ("Khách đưa", "50.000"), ("Tiền thừa", "3.000")),
    ],
)
def test_a_change_that_agrees_with_no_paid_amount_is_told(
    goods: tuple[tuple[str, ...], ...], sums: tuple[tuple[str, ...], ...]
) -> None:
    fields = extract_fields(page((*HEAD, *goods, *sums)))
    assert (f"{fields.total.value:,}", fields.total.confidence) == (sums[0][1].replace(".", ","), 0.8)
    assert "does not agree" in fields.notes[-1]


def test_several_paid_amounts_together_may_settle_a_total() -> None:
    paid = (("TIỀN KHÁCH TRẢ", "60.100"), ("TIỀN MẶT", "100.000"), ("VinID", "10.000"))
    fields = extract_fields(page((*HEAD, ("Tổng tiền", "60.100"), *paid, ("Tiền thừa", "49.900"))))
    assert (fields.total.value, fields.total.confidence, fields.notes) == (60_100, 1.0, ())


@pytest.mark.parametrize("amount", ["042.000", "42.00", "4Z.000", "4 2.000", "42.000-", "42:000đ"])
def test_digits_that_are_no_amount_are_read_by_two_equations(amount: str) -> None:
    fields = extract_fields(page((*HEAD, *GOODS, ("Tổng tiền:", amount), *SUMS[1:]), 0.9))
    assert (fields.total.value, fields.total.confidence, fields.total.reason) == (42_000, 0.8, "")
    assert fields.total.text == f"Tổng tiền: {amount}"
    assert "is read as 42,000: paid 50,000 - change 8,000" in fields.notes[-1]


@pytest.mark.parametrize(
    "sums",
    [
        (("Tổng tiền", "4Z.000"),),
        (("Tổng tiền", "4Z.000"), SUMS[1], ("Tiền thừa", "9.000")),
        (("Tổng tiền", "4ZZ.000"), *SUMS[1:]),
        (("Tổng tiền", "$42.00"), *SUMS[1:]),
        (("Tổng tiền", "4Z.000"), ("Đơn vị: USD",), *SUMS[1:]),
    ],
)
def test_digits_that_are_no_amount_stay_without_two_equations(sums: tuple[tuple[str, ...], ...]) -> None:
    fields = extract_fields(page((*HEAD, *GOODS, *sums)))
    assert (fields.total.value, fields.total.confidence, fields.notes) == (None, 0.0, ())
    assert fields.total.reason


def test_what_the_sums_say_is_told_where_no_total_is_printed() -> None:
    fields = extract_fields(page((*HEAD, *GOODS, ("Tổng cộng:",), *SUMS[1:])))
    assert (fields.total.value, fields.total.reason) == (None, "no amount stands beside 'Tổng cộng:'")
    assert "the sums say: paid 50,000 - change 8,000 = 42,000; goods 42,000 = 42,000" in fields.notes[-1]
    assert extract_fields(page((*HEAD, *GOODS))).notes == ()
