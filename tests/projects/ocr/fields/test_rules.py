import json
from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from coursepkg.projects.ocr.detector.lines import TextBox
from coursepkg.projects.ocr.fields.rules import BY_PLACE, FIELDS, Field, Fields, extract_fields
from coursepkg.projects.ocr.page.read import PageLine
from coursepkg.text.vietnamese import without_marks
from tests.projects.ocr.fields.pages import GOODS, HEAD, RECEIPT, SUMS, page


def fields_of(rows: Sequence[Sequence[str]]) -> Fields:
    return extract_fields(page(rows))


def test_a_receipt_gives_all_fields() -> None:
    fields = fields_of(RECEIPT)
    assert fields.seller.value == "SIÊU THỊ LÚA VÀNG"
    assert fields.address.value == "Số 12 đường Hoa Mai, P. An Bình, Cần Thơ"
    assert fields.timestamp.value == "2021-01-16T08:58"
    assert fields.total.value == 42_000
    assert fields.notes == ()
    items = [(one.name, one.quantity, one.price, one.amount) for one in fields.items]
    assert items == [("Bánh tráng mè", 2, 15_000, 30_000), ("Nước sâm", 1, 12_000, 12_000)]


def test_each_field_says_where_it_is_from() -> None:
    lines = page(RECEIPT, 0.9)
    fields = extract_fields(lines)
    for name in FIELDS:
        field = getattr(fields, name)
        assert field.text == " ".join(lines[number].text for number in field.lines)
        assert 0 < field.confidence <= 0.9
    assert fields.total.text == "Tổng tiền 42.000"


def test_the_record_is_json_with_the_documented_keys() -> None:
    record = json.loads(json.dumps(fields_of(RECEIPT).as_json()))
    assert list(record) == [*FIELDS, "items", "notes"]
    for name in FIELDS:
        assert list(record[name]) == ["value", "text", "confidence", "lines"]
    assert type(record["total"]["value"]) is int
    empty = fields_of(()).as_json()
    assert all(empty[name]["value"] is None and empty[name]["reason"] for name in FIELDS)


def test_marks_are_not_needed() -> None:
    plain = fields_of([[without_marks(text) for text in row] for row in RECEIPT])
    assert plain.seller.value == "SIEU THI LUA VANG"
    assert plain.address.text.startswith("So 12")
    assert (plain.timestamp.value, plain.total.value) == ("2021-01-16T08:58", 42_000)


def test_a_part_that_was_paid_is_no_total() -> None:
    sums = (("Tổng cộng", "42.000"), ("Số tiền đã thanh toán", "20.000"), ("Còn nợ", "22.000"))
    assert fields_of((*HEAD, *GOODS, *sums)).total.value == 42_000


def test_without_a_total_there_is_none() -> None:
    fields = fields_of((*HEAD, *GOODS))
    assert fields.total.value is None
    assert fields.total.reason == "no line says a total"
    assert len(fields.items) == 2


def test_a_total_without_an_amount_is_no_total() -> None:
    total = fields_of((*HEAD, *GOODS, ("Tổng tiền:",))).total
    assert (total.value, total.text) == (None, "Tổng tiền:")
    assert "no amount" in total.reason


@pytest.mark.parametrize("last", ["Tổng thanh toán", "Khách phải trả", "Còn phải trả", "Tổng cộng"])
def test_of_two_totals_the_one_to_pay_counts(last: str) -> None:
    sums = (("Tổng cộng", "42.000"), ("Giảm giá", "2.000"), (last, "40.000"))
    fields = fields_of((*HEAD, *GOODS, *sums))
    assert fields.total.value == 40_000
    assert "42,000" in fields.notes[0]


def test_the_sum_with_tax_counts_not_the_one_before_it() -> None:
    sums = (("Tổng tiền chưa thuế:", "38.182"), ("Tiền thuế:", "3.818"), ("TONG TIEM CO THUE:", "42.000"))
    fields = fields_of((*HEAD, *GOODS, *sums))
    assert fields.total.value == 42_000


def test_a_sum_that_the_goods_contradict_gives_way_to_one_they_agree_with() -> None:
    sums = (("Tổng cộng", "42.000"), ("Phải thanh toán", "615.000"), ("Tổng hóa đơn", "90.000"))
    fields = fields_of((*HEAD, *GOODS, *sums))
    assert (fields.total.value, fields.total.text) == (42_000, "Tổng cộng 42.000")
    assert fields.total.confidence == 0.8
    assert "the goods come to 42,000; another sum has a surer name" in fields.notes
    assert not any("agree" in note for note in fields.notes)


@pytest.mark.parametrize("less", [("Voucher", "4.200"), ("Ưu đãi thành viên 10%",)])
def test_a_difference_that_is_printed_explains_the_sum_to_pay(less: tuple[str, ...]) -> None:
    sums = (("Tổng cộng", "42.000"), less, ("Phải thanh toán", "37.800"))
    assert fields_of((*HEAD, *GOODS, *sums)).total.value == 37_800


def test_a_sum_that_was_paid_is_the_total_whatever_the_goods_say() -> None:
    sums = (("Cộng tiền hàng", "42.000"), ("Phải thanh toán", "35.000"))
    paid = (("Tiền khách đưa", "50.000"), ("Tiền thừa", "15.000"))
    assert fields_of((*HEAD, *GOODS, *sums, *paid)).total.value == 35_000


def test_goods_may_be_called_like_a_telephone() -> None:
    goods = (("Sạc điện thoại",), ("", "2", "15.000", "30.000"), ("Giò lụa",), ("", "1", "12.000", "12.000"))
    rows = (*HEAD, *goods, SUMS[0])
    items = extract_fields([line for line in page(rows) if line.text]).items
    assert [one.name for one in items] == ["Sạc điện thoại", "Giò lụa"]


def test_a_house_number_is_no_price() -> None:
    rows = [("D/C: 890B D. Ben Cu", "") if row[0].startswith("Số") else row for row in RECEIPT]
    fields = extract_fields([line for line in page(rows) if line.text])
    assert fields.address.value == "890B D. Ben Cu"
    assert fields.seller.value == "SIÊU THỊ LÚA VÀNG"


@pytest.mark.parametrize(
    "address",
    [
        "CS1: 21-25 Hoa Mai - An Bình -Huế",
        "Cs 5: 37 Hoa Mai - An Bình",
        "Cơ sở 2: 45 Hoa Mai, An Bình, Huế",
        "3581s - 45 đường Hoa Mai",
    ],
)
def test_the_house_of_a_branch_is_an_address(address: str) -> None:
    fields = fields_of((RECEIPT[0], (address,), *RECEIPT[2:]))
    assert (fields.seller.value, fields.address.value) == (HEAD[0][0], address)
    assert fields.timestamp.text == HEAD[3][0]


@pytest.mark.parametrize(
    "row", ["7h - 22h hàng ngày", "8 - 22 giờ hàng ngày", "0900000000 - 0900000001 Zalo", "CS: 19000000"]
)
def test_opening_hours_and_telephones_are_no_house(row: str) -> None:
    fields = fields_of((*RECEIPT[:2], (row,), *RECEIPT[2:]))
    assert (fields.seller.value, fields.address.value) == (HEAD[0][0], HEAD[1][0])


@pytest.mark.parametrize("street", ["phố Hoa Sen", "Quận Hải An"])
def test_a_street_with_its_marks_is_no_tavern(street: str) -> None:
    fields = fields_of((*RECEIPT[:2], (street,), *RECEIPT[2:]))
    assert fields.address.value == f"{HEAD[1][0]} {street}"


def test_what_stands_alone_on_a_known_receipt_is_its_shop() -> None:
    lines = page((("Lúa Vàng",),))
    assert extract_fields(lines).seller.value is None
    seller = extract_fields(lines, is_receipt=True).seller
    assert (seller.value, seller.confidence) == ("Lúa Vàng", BY_PLACE)


def test_a_shop_with_its_town_above_an_address_is_a_shop() -> None:
    fields = fields_of((HEAD[0], ("Cánh Diều - An Giang",), *RECEIPT[1:]))
    assert fields.seller.value == "SIÊU THỊ LÚA VÀNG Cánh Diều - An Giang"
    assert fields.address.value == HEAD[1][0]


def enlarged(lines: Sequence[PageLine], sizes: Sequence[float]) -> list[PageLine]:
    """The lines of a page, the first ones with letters of other widths."""
    rest = [1.0] * (len(lines) - len(sizes))
    boxes = [
        TextBox(line.box.corners[:1] + (line.box.corners - line.box.corners[:1]) * (size, 1), 1.0)
        for line, size in zip(lines, [*sizes, *rest], strict=True)
    ]
    return [
        PageLine(box, line.row, line.text, line.confidence) for box, line in zip(boxes, lines, strict=True)
    ]


@pytest.mark.parametrize("name", ["NGÕ VẮNG", "Hẻm Nhỏ", "Cho nho Doi Thong", "Phố Xưa"])
def test_large_letters_tell_a_second_row_of_a_shop_from_an_address(name: str) -> None:
    rows = (("Quán Lúa Vàng",), (name,), *RECEIPT[1:])
    fields = extract_fields(enlarged(page(rows), (1.7, 1.7)))
    assert fields.seller.value == f"Quán Lúa Vàng {name}"
    assert fields.address.value == HEAD[1][0]


@pytest.mark.parametrize(
    ("name", "sizes"),
    [
        ("Chợ Hôm", (1.7, 1.0)),
        ("Chợ Hôm", (1.0, 1.0)),
        ("CHỢ HÔM", (1.0, 1.3)),
        ("Ngõ 12 Chợ Hôm", (1.7, 1.7)),
        ("Chợ Hôm, Phố Huế", (1.7, 1.7)),
        ("Địa chỉ: Chợ Hôm", (1.7, 1.7)),
    ],
)
def test_a_row_in_the_form_or_the_letters_of_an_address_is_one(name: str, sizes: Sequence[float]) -> None:
    fields = extract_fields(enlarged(page((("Quán Lúa Vàng",), (name,), *RECEIPT[1:])), sizes))
    assert fields.seller.value == "Quán Lúa Vàng"
    assert fields.address.text == f"{name} {HEAD[1][0]}"


@pytest.mark.parametrize("name", ["Khách hàng: Nguyễn Văn A", "Tên khách hàng", "Giao đến: 5 Trần Phú, Huế"])
def test_an_address_of_a_customer_is_not_the_shops(name: str) -> None:
    customer = ((name,), ("Địa chỉ: 5 Trần Phú, Huế",))
    fields = fields_of((HEAD[0], *customer, *HEAD[2:], *GOODS, *SUMS))
    assert (fields.seller.value, fields.address.value) == (HEAD[0][0], None)
    fields = fields_of((*HEAD[:2], *customer, *HEAD[2:], *GOODS, *SUMS))
    assert fields.address.value == HEAD[1][0]


def test_the_customers_copy_has_a_shop_and_an_address() -> None:
    fields = fields_of((("Khách hàng",), *RECEIPT))
    assert (fields.seller.value, fields.address.value) == (HEAD[0][0], HEAD[1][0])
    for first in (("Khách hàng:",), ("Khách hàng", "Nguyễn Văn A")):
        rows = (first, ("Địa chỉ: 5 Trần Phú, Huế",), *HEAD[2:], *GOODS, *SUMS)
        assert fields_of(rows).address.value is None


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("Siêu thị: VM12", "Siêu thị: VM12"),
        ("Cửa hàng: CH1234", "CH1234"),
        ("Đơn vị bán hàng: CH1234", "CH1234"),
    ],
)
def test_the_code_of_a_shop_is_its_name(text: str, name: str) -> None:
    fields = fields_of(((text,), *RECEIPT[1:]))
    assert (fields.seller.value, fields.address.value) == (name, HEAD[1][0])


@pytest.mark.parametrize(
    "text", ["Hotline: 0912 345 678", "0912 345 678", "(024) 3795 4888", "Tel 1900 636 467"]
)
def test_a_telephone_number_in_the_head_does_not_end_it(text: str) -> None:
    for rows in ((HEAD[0], (text,), *RECEIPT[1:]), (*HEAD[:2], (text,), *RECEIPT[2:])):
        fields = fields_of(rows)
        assert (fields.seller.value, fields.address.value) == (HEAD[0][0], HEAD[1][0])
        assert [one.amount for one in fields.items] == [30_000, 12_000]
        assert fields.notes == ()


@pytest.mark.parametrize(
    "text",
    [
        *("Liên 1: Lưu", "Liên 2: Giao khách", "Ngon từ tâm!", "Mua 2 tặng 1 cả tuần", "MUA 2 TANG 1"),
        "Mua sắm tại cửa hàng!",
    ],
)
def test_a_slogan_above_a_shop_is_no_part_of_its_name(text: str) -> None:
    for rows in (((text,), *RECEIPT), ((text,), HEAD[2], *HEAD[:2], *RECEIPT[3:])):
        fields = fields_of(rows)
        assert (fields.seller.value, fields.address.value) == (HEAD[0][0], HEAD[1][0])
    assert fields_of((("Ngon!",), *RECEIPT[1:])).seller.value == "Ngon!"
    assert fields_of((HEAD[0], ("Ngon!",), *RECEIPT[1:])).seller.value == f"{HEAD[0][0]} Ngon!"


def test_an_address_and_a_shop_are_no_slogan() -> None:
    address = "Số 12 đường Mua Sắm, tầng 2, Cần Thơ"
    assert fields_of(((address,), HEAD[0], *RECEIPT[2:])).address.value == address
    for name in ("CÀ PHÊ MÙA ĐÔNG tầng 1", "SIÊU THỊ HOA MAI!"):
        seller = fields_of(((name,), ("Công ty TNHH Lúa Vàng",), *RECEIPT[1:])).seller.value
        assert name in str(seller)
    name = "MUA SAM TANG 1"
    assert fields_of(((name,), *RECEIPT[2:])).seller.value == name


def test_a_corporation_is_a_shop() -> None:
    fields = fields_of((("TỔNG CÔNG TY LÚA VÀNG",), *RECEIPT[1:]))
    assert (fields.seller.value, fields.total.value) == ("TỔNG CÔNG TY LÚA VÀNG", 42_000)


def test_one_letter_again_and_again_is_no_shop() -> None:
    assert fields_of((("lll",), *HEAD[2:], *GOODS, *SUMS)).seller.value is None


def test_a_count_of_people_beside_an_amount_is_no_reason_to_drop_it() -> None:
    assert fields_of((*HEAD, *GOODS, ("Tổng cộng (1.000 người): 42.000",))).total.value == 42_000


@pytest.mark.parametrize(
    "foot",
    [
        (("Cửa hàng mở cửa hằng ngày",), ("Đổi hàng đến 02/03/2021",)),
        (("Hotline nhà hàng", "In lúc 16/01/2021 09:10"),),
        (("Hóa đơn GTGT xuất trong ngày",), ("Tổng hóa đơn", "42.000")),
        (("Thuế suất", "Thành tiền", "Thuế"), ("8%", "39.000", "3.000"), ("Tổng", "42.000")),
    ],
)
def test_a_foot_with_another_sum_is_no_second_receipt(foot: tuple[tuple[str, ...], ...]) -> None:
    assert fields_of((*RECEIPT, *foot)).total.value == 42_000


def test_what_was_handed_over_is_no_total() -> None:
    sums = (("Tổng cộng", "42.000"), ("Thanh toán", "50.000"), ("Tiền thừa", "8.000"))
    assert fields_of((*HEAD, *GOODS, *sums)).total.value == 42_000


@pytest.mark.parametrize("amount", ["42.000", "42,000", "42 000", "42000", "42.000đ", "42.000,00"])
def test_the_total_stands_behind_beside_or_below_its_name(amount: str) -> None:
    for sums in ([[f"Tổng tiền: {amount}"]], [["Tổng tiền", amount]], [["Tổng tiền"], ["", amount]]):
        rows = [*HEAD, *GOODS, *sums]
        lines = [line for line in page(rows) if line.text]
        assert extract_fields(lines).total.value == 42_000


@pytest.mark.parametrize(
    "text",
    [
        "Tổng cộng: 42.000 (VAT 10%: 3.818)",
        "Tổng cộng (VAT 10%: 3.818): 42.000",
        "Tổng cộng: 42.000 Tiền mặt: 50.000",
        "Tổng cộng 42000 Tiền mặt 50.000",
        "Tổng cộng:42.000",
        "Tổng cộng (42.000)",
        "Tổng cộng: 2 x 21.000 = 42.000",
        "Phải trả là 42.000",
    ],
)
def test_of_several_amounts_in_a_line_the_one_behind_the_name_counts(text: str) -> None:
    assert fields_of((*HEAD, *GOODS, (text,))).total.value == 42_000


@pytest.mark.parametrize(
    "name",
    ["Tổng tiền tiết kiệm", "Tổng tiền nợ", "Tổng tiền được giảm", "Phải trả lại", "Tổng tiền đã trả"],
)
def test_what_is_saved_owed_or_given_back_is_no_total(name: str) -> None:
    assert fields_of((*HEAD, *GOODS, ("Tổng cộng", "42.000"), (name, "8.000"))).total.value == 42_000


@pytest.mark.parametrize(
    "text",
    [
        "Chương trình khuyến mãi tháng 8",
        "Nơi nhận hàng: quầy 2",
        "Theo thông tư 78/2021/TT-BTC",
        "Số hợp đồng: 123",
    ],
)
def test_a_word_of_official_papers_does_not_discard_a_receipt(text: str) -> None:
    fields = fields_of((*RECEIPT, (text,)))
    assert (fields.seller.value, fields.total.value) == ("SIÊU THỊ LÚA VÀNG", 42_000)
    assert fields_of((*HEAD, (text,))).seller.value is None


def test_a_foreign_total_is_refused() -> None:
    total = fields_of((*HEAD, ("Cà phê", "$4.20"), ("Total", "$4.20"))).total
    assert total.value is None
    assert "US dollars" in total.reason


@pytest.mark.parametrize(
    "text", ["Ngày 16-01-21 8h58", "Thời gian: 08:58 16.01.2021", "Ngày 2021-01-16 08:58"]
)
def test_dates_of_three_notations(text: str) -> None:
    assert timestamp_of(text).value == "2021-01-16T08:58"


def timestamp_of(text: str) -> Field:
    """The time of a receipt that says it so."""
    return fields_of([[text] if "Ngày" in row[0] else row for row in RECEIPT]).timestamp


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("Ngày 31/02/2021 08:58", "'31/02/2021' is no date"),
        ("Ngày: 11/08/2020 - 12/08/2020", "two dates"),
        ("Giờ vào: 08:58", "without a date"),
    ],
)
def test_a_date_that_is_not_read_has_its_own_reason(text: str, reason: str) -> None:
    timestamp = timestamp_of(text)
    assert timestamp.value is None
    assert reason in timestamp.reason


def test_the_month_may_be_named_first() -> None:
    assert timestamp_of("Jan 16, 2021 08:58").value == "2021-01-16T08:58"


def test_the_day_of_the_sale_counts_not_that_of_the_print() -> None:
    rows = (("Ngày bán: 16/01/2021",), ("Ngày in: 17/01/2021 08:58",))
    for when in (rows, rows[::-1]):
        assert fields_of((*HEAD[:3], *when, *RECEIPT[4:])).timestamp.value == "2021-01-16"
    assert fields_of((*HEAD[:3], rows[1], *RECEIPT[4:])).timestamp.value == "2021-01-17T08:58"


def test_a_year_that_may_stand_in_front_makes_a_date_less_sure() -> None:
    assert timestamp_of("Ngày 21-01-16").confidence == 0.5


def test_date_and_time_may_stand_apart() -> None:
    rows = [
        r for row in RECEIPT for r in ([["Ngày: 16/01/2021"], ["Giờ: 08:58"]] if "Ngày" in row[0] else [row])
    ]
    assert fields_of(rows).timestamp.value == "2021-01-16T08:58"


@pytest.mark.parametrize(
    "rows",
    [
        (("Ngày: 16/01/2021",), ("Giờ vào: 08.58",)),
        (("Ngày: 16/01/2021",), ("Giờ vào:", "08.58")),
        (("Ngày", "Giờ"), ("16/01/2021 08:58",)),
    ],
)
def test_what_names_a_time_of_day_makes_one(rows: tuple[tuple[str, ...], ...]) -> None:
    named = [one for row in RECEIPT for one in (rows if "Ngày" in row[0] else (row,))]
    timestamp = fields_of(named).timestamp
    assert timestamp.value == "2021-01-16T08:58"
    assert timestamp.text == " ".join(text for row in rows for text in row)


@pytest.mark.parametrize(
    "row",
    [
        ("Giờ hát: 1.50",),
        ("Giờ hát", "1.50", "60.000", "90.000"),
        ("Giờ", "1.50", "60.000", "90.000"),
    ],
)
def test_hours_that_are_paid_for_are_no_time_of_day(row: tuple[str, ...]) -> None:
    fields = fields_of((*RECEIPT[:3], ("Ngày: 16/01/2021",), row, *RECEIPT[4:]))
    assert fields.timestamp.value == "2021-01-16"


def test_a_number_beside_a_name_above_a_date_is_no_hour() -> None:
    rows = (("Bàn 5", "Giờ"), ("12", "16/01/2021"))
    assert fields_of((*RECEIPT[:3], *rows, *RECEIPT[4:])).timestamp.value == "2021-01-16"


@pytest.mark.parametrize(
    "row",
    [
        ("Giờ mở cửa: 09:00 - 22:00",),
        ("Giờ mở cửa:", "09:00 - 22:00"),
        ("Hạn sử dụng: 20/12/2022 10:00",),
        ("Hạn sử dụng:", "20/12/2022"),
        ("Ngày hết hạn", "20/12/2022"),
        ("Sinh nhật: 20/12/1990",),
        ("Ngày sinh: 20/12/1990",),
        ("Ngày giao hàng: 20/12/2022",),
        ("Kỳ 1 tháng 12/2022",),
    ],
)
def test_opening_hours_and_expiry_are_no_time_of_the_sale(row: tuple[str, ...]) -> None:
    dated = [["Ngày: 16/01/2021"] if "Ngày" in r[0] else r for r in RECEIPT]
    assert fields_of((*dated[:4], row, *dated[4:])).timestamp.value == "2021-01-16"
    undated = [r for r in RECEIPT if "Ngày" not in r[0]]
    assert fields_of((*undated, row)).timestamp.reason == "no line says a date"


@pytest.mark.parametrize(
    "text",
    ["Phuc vu tu 6h30 den 22h", "Phục vụ từ 6h30 đến 22h", "7:00 - 22:00", "Giờ phục vụ: 6h30", "8h~22h"],
)
def test_opening_hours_below_a_date_are_no_time_of_the_sale(text: str) -> None:
    foot = (("Ngay gio: 02/01/2025",), ("Kinh chuc quy khach suc khoe",), (text,))
    rows = [row for row in RECEIPT if "Ngày" not in row[0]]
    timestamp = fields_of((*rows, *foot)).timestamp
    assert (timestamp.value, timestamp.text) == ("2025-01-02", foot[0][0])


@pytest.mark.parametrize(
    "when",
    [
        (("Ngày: 16/01/2021",), ("Giờ: 18:05 - 19:30",)),
        (("Ngày: 16/01/2021",), ("Giờ:", "18:05 - 19:30")),
        (("Ngày: 16/01/2021", "18:05 - 19:30"),),
    ],
)
def test_hours_beside_a_date_or_a_name_are_those_of_a_visit(when: tuple[tuple[str, ...], ...]) -> None:
    rows = [r for row in RECEIPT for r in (when if "Ngày" in row[0] else (row,))]
    assert fields_of(rows).timestamp.value == "2021-01-16T18:05"


def test_too_small_a_total_has_a_reason() -> None:
    total = fields_of((*HEAD, *GOODS, ("Tổng cộng", "500"))).total
    assert total.value is None
    assert "less than 1,000 dong" in total.reason


@pytest.mark.parametrize(
    ("row", "reason"),
    [
        (("Tổng cộng", "0"), "less than 1,000 dong"),
        (("Tổng cộng 4 2.000",), "a digit stands apart"),
        (("Tổng cộng", "4 2.000"), "a digit stands apart"),
        (("Total 7.75",), "its digits are no amount in dong"),
        (("Tổng cộng", "42.000-"), "its digits are no amount in dong"),
        (("Total RM 12.50",), "in ringgit, not in dong"),
        (("Tổng cộng", "2,500 Baht"), "in Thai baht, not in dong"),
        (("Total (USD)", "4,200"), "in US dollars, not in dong"),
        (("Tổng cộng", "42.000 Euro"), "in euros, not in dong"),
        (("Tổng cộng", "40 đô"), "in dollars, not in dong"),
    ],
)
def test_a_total_that_is_not_read_has_its_own_reason(row: tuple[str, ...], reason: str) -> None:
    total = fields_of((*HEAD, *GOODS, row)).total
    assert total.value is None
    assert reason in total.reason


@pytest.mark.parametrize(
    "row",
    [
        ("Tổng cộng: 42.000đ ($1.80)",),
        ("Tổng cộng", "42.000đ", "($1.80)"),
        ("Tổng cộng", "$1.80", "42.000đ"),
        ("Tổng cộng", "2", "42.000"),
    ],
)
def test_a_total_in_dong_beside_another_number_is_read(row: tuple[str, ...]) -> None:
    assert fields_of((*HEAD, *GOODS, row)).total.value == 42_000


def test_nothing_is_to_pay_where_a_discount_says_so() -> None:
    sums = (("Tổng cộng", "42.000"), ("Giảm giá", "42.000"), ("Phải thanh toán", "0"))
    assert fields_of((*HEAD, *GOODS, *sums)).total.value == 0
    left = (("Tổng cộng", "42.000"), ("Đã thanh toán", "42.000"), ("Còn phải trả", "0"))
    assert fields_of((*HEAD, *GOODS, *left)).total.value == 42_000


@pytest.mark.parametrize(
    "sums",
    [
        (("Tổng cộng", "42.800"),),
        (("Tổng cộng", "43.000"), ("Tiền khách đưa", "50.000"), ("Tiền thừa", "8.000")),
    ],
)
def test_a_total_that_arithmetic_contradicts_is_less_sure(sums: tuple[tuple[str, ...], ...]) -> None:
    assert fields_of((*HEAD, *GOODS, *sums)).total.confidence == BY_PLACE
    assert fields_of(RECEIPT).total.confidence == 1


@pytest.mark.parametrize("text", ["Tổng cộng -42.000", "Tổng cộng -42000", "Tổng cộng - 42.000"])
def test_a_hyphen_before_a_total_is_no_sign(text: str) -> None:
    assert fields_of((*HEAD, *GOODS, (text,))).total.value == 42_000


def test_the_upper_half_of_a_receipt_has_no_total() -> None:
    fields = fields_of((*HEAD, GOODS[0]))
    assert fields.seller.value
    assert fields.timestamp.value
    assert fields.total.value is None


@pytest.mark.parametrize("above", [(), (("Nước mía",),), (("Hoa lá cành",), ("Phục vụ tận tình",))])
def test_the_lower_half_of_a_receipt_has_no_shop(above: tuple[tuple[str, ...], ...]) -> None:
    fields = fields_of((*above, GOODS[1], *SUMS))
    assert fields.total.value == 42_000
    for field in (fields.seller, fields.address, fields.timestamp):
        assert field.value is None
        assert field.reason


def test_a_receipt_on_its_side_reads_alike() -> None:
    upright = page(RECEIPT)
    turned = [
        PageLine(TextBox(np.stack([-line.box.corners[:, 1], line.box.corners[:, 0]], axis=1), 1.0), *rest)
        for line in upright
        for rest in [(line.row, line.text, line.confidence)]
    ]
    assert extract_fields(turned).as_json() == extract_fields(upright).as_json()


TEXTS = st.sampled_from([text for row in RECEIPT for text in row]) | st.text(min_size=1, max_size=20)


@settings(max_examples=30)
@given(st.lists(st.lists(TEXTS, min_size=1, max_size=3), max_size=8))
def test_any_page_has_a_value_or_a_reason(rows: list[list[str]]) -> None:
    lines = page(rows)
    fields = extract_fields(lines)
    for name in FIELDS:
        field = getattr(fields, name)
        assert (field.value is None) == bool(field.reason)
        assert set(field.lines) <= set(range(len(lines)))
        assert 0 <= field.confidence <= 1
    if fields.total.value is not None:
        assert type(fields.total.value) is int


def test_of_two_dates_with_equal_names_the_first_is_less_sure() -> None:
    dates = (("Ngày: 12/08/2020",), ("Nhân viên: Lan",), ("Ca: 2",), ("Ngày: 09/08/2020",))
    fields = fields_of((*HEAD[:3], *dates, HEAD[4], *GOODS, *SUMS))
    assert (fields.timestamp.value, fields.timestamp.confidence) == ("2020-08-12", 0.5)
    assert "another date is as likely: 2020-08-09" in fields.notes
    unnamed = (*dates[:3], ("09/08/2020",))
    assert fields_of((*HEAD[:3], *unnamed, HEAD[4], *GOODS, *SUMS)).timestamp.confidence == 1.0
    same = (*dates[:3], ("Ngày: 12/08/2020",))
    assert fields_of((*HEAD[:3], *same, HEAD[4], *GOODS, *SUMS)).timestamp.confidence == 1.0
