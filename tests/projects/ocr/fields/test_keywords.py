from collections.abc import Sequence

import pytest

from coursepkg.projects.ocr.fields import keywords as kw
from coursepkg.projects.ocr.fields.rules import Fields, extract_fields
from coursepkg.text.vietnamese import without_marks
from tests.projects.ocr.fields.pages import GOODS, HEAD, SUMS, page

KINDS = [
    ("Tổng tiền thanh toán:", kw.TO_PAY),
    ("TỔNG TIỀN PHẢI T.TOÁN", kw.TO_PAY),
    ("Khách phải trả", kw.TO_PAY),
    ("Số tiền cần thanh toán", kw.TO_PAY),
    ("Số tiền đã thanh toán 20.000", kw.PAID),
    ("Tổng cộng (đã gồm VAT)", kw.TOTAL),
    ("Cộng tiền hàng", kw.SUBTOTAL),
    ("Tiền khách đưa 100.000", kw.PAID),
    ("Tiền thừa", kw.CHANGE),
    ("Giảm giá", kw.DISCOUNT),
    ("VAT 8%", kw.TAX),
    ("Tổng số lượng", kw.COUNT),
    ("Ngày bán", kw.WHEN),
    ("PHIẾU THANH TOÁN", kw.TITLE),
    ("Tổng tiền tiết kiệm", kw.COUNT),
    ("Tổng tiền nợ", kw.COUNT),
    ("Tổng tiền được giảm", kw.DISCOUNT),
    ("Tổng tiền trước giảm", kw.SUBTOTAL),
    ("Phải trả lại", kw.CHANGE),
    ("Tổng tiền đã trả", kw.PAID),
    ("Tổng (2 món): 42.000", kw.TOTAL),
    ("Tổng (2 món):", kw.TOTAL),
    ("Tổng món: 2", kw.COUNT),
    ("Thuế VAT 10%", kw.TAX),
    ("Giảm 10%", kw.DISCOUNT),
    ("Giảm trừ", kw.DISCOUNT),
    ("Phí dịch vụ 5%", kw.CHARGE),
    ("Phí ship", kw.CHARGE),
    ("Thực thu", kw.TO_PAY),
    ("Tổng thu", kw.TO_PAY),
    ("Net total", kw.TO_PAY),
    ("Balance due", kw.TO_PAY),
    ("Tổng cộng trước giảm giá", kw.SUBTOTAL),
    ("Tổng hóa đơn trước chiết khấu", kw.SUBTOTAL),
    ("Thành tiền sau giảm", kw.TO_PAY),
    ("Tiền còn lại", kw.COUNT),
    ("Ngày giao dịch", kw.WHEN),
    ("Ngày kinh doanh", kw.WHEN),
    ("Ngày giao hàng", kw.NO_SALE),
    ("Sinh nhật", kw.NO_SALE),
]


@pytest.mark.parametrize(("text", "kind"), KINDS)
def test_a_line_is_of_the_kind_of_its_longest_word(text: str, kind: str) -> None:
    assert kw.line_kind(text).kind == kind
    assert kw.line_kind(without_marks(text).upper()).kind == kind


@pytest.mark.parametrize("text", ["Tỗng tiên thanh tóan", "TônqTiền thanh toán", "Tổng t1ền thanh toán"])
def test_a_letter_read_wrongly_does_not_hide_a_name(text: str) -> None:
    assert kw.line_kind(text).kind == kw.TO_PAY


@pytest.mark.parametrize(
    "text", ["Vật liệu xây dựng", "Dầu gió", "Trứng gà", "Chè đậu đỏ", "Bánh sinh nhật", ""]
)
def test_goods_and_shops_are_of_no_kind(text: str) -> None:
    assert kw.line_kind(text) is None


def test_addresses_are_stronger_than_shops() -> None:
    addresses = ("Số 5 đường Mai Hồng, P. An Bình", "Đ/C: Thôn Hạ, xã Xuân Mai", "12/3 Lê Lợi, Q.1, TP.HCM")
    shops = ("SIÊU THỊ LÚA VÀNG", "Quán Bà Tư", "Lúa Vàng Mart")
    assert min(map(kw.address_strength, addresses)) > max(map(kw.address_strength, shops))
    assert all(map(kw.seller_words, shops))


def test_every_word_is_folded_and_stands_once_in_its_kind() -> None:
    for words in kw.WORDS.values():
        assert [kw.fold(word) for word in words] == list(words)
        assert len(set(words)) == len(words)


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("Tổng tiền thuế: 3.818", kw.TAX),
        ("Tổng tiền chưa thuế: 38.182", kw.SUBTOTAL),
        ("Tong tiun ch:a thue: 38.182", kw.SUBTOTAL),
        ("ÍONG TIEM CO THUE: 42.000", kw.TO_PAY),
        ("Tổng tiền đã có thuế: 42.000", kw.TO_PAY),
    ],
)
def test_sums_before_and_with_tax_and_the_tax_are_told_apart(text: str, kind: str) -> None:
    named = kw.line_kind(text)
    assert named is not None
    assert named.kind == kind


@pytest.mark.parametrize("text", ["Tổng công ty Lúa Vàng", "TONG CONG TY LUA VANG", "TỔNG CÔNG TY"])
def test_a_corporation_is_no_total(text: str) -> None:
    assert kw.line_kind(text) is None


def test_a_total_before_another_word_is_one() -> None:
    for text in ("Tổng cộng tiền 42.000", "Tổng công: 42.000"):
        found = kw.line_kind(text)
        assert found is not None
        assert found.kind == kw.TOTAL


def fields_of(rows: Sequence[Sequence[str]]) -> Fields:
    return extract_fields(page(rows))


@pytest.mark.parametrize(
    "line",
    [
        "Bảo hành đến: 12/08/2021",
        "Khuyến mãi áp dụng đến 31/08/2020",
        "Hóa đơn theo TT 78/2021 ngày 17/09/2021",
        "Hóa đơn theo thông tư 78 ngày 17/09/2021",
    ],
)
def test_a_date_of_something_else_is_not_that_of_the_sale(line: str) -> None:
    rows = (*HEAD[:3], HEAD[4], *GOODS, *SUMS, (line,))
    assert fields_of(rows).timestamp.reason == "no line says a date"
    assert fields_of((*HEAD, *GOODS, *SUMS, (line,))).timestamp.value == "2021-01-16T08:58"


def test_what_a_card_paid_is_no_goods() -> None:
    fields = fields_of((*HEAD, *GOODS, ("Thẻ Visa", "42.000"), ("Tổng cộng", "42.000")))
    assert [one.amount for one in fields.items] == [30_000, 12_000]
    assert fields.total.value == 42_000


def test_a_lowered_price_of_goods_is_no_total() -> None:
    goods = (("Áo", "50.000"), ("Giá sau giảm:", "45.000"), ("Quần", "80.000"), ("Giá sau giảm:", "70.000"))
    assert fields_of((*HEAD[:4], *goods, ("Tổng cộng", "115.000"))).total.value == 115_000


def test_a_bill_by_table_has_its_time() -> None:
    head = (*HEAD[:2], ("Hóa đơn theo bàn ngày 12/08/2020 18:20",), HEAD[4])
    assert fields_of((*head, *GOODS, *SUMS)).timestamp.value == "2020-08-12T18:20"


def test_the_cards_that_a_shop_takes_are_no_payment() -> None:
    rows = (*HEAD[:2], ("VISA MASTERCARD JCB",), *HEAD[2:4], *GOODS, *SUMS)
    assert len(fields_of(rows).items) == 2


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("Tổng trước giảm:", "Tổng sau giảm:"),
        ("Tổng trước giảm giá:", "Tổng sau giảm giá:"),
        ("Tổng tiền trước giảm:", "Tổng tiền sau giảm:"),
        ("Tổng trước chiết khấu:", "Tổng sau chiết khấu:"),
        ("Trước giảm:", "Sau giảm:"),
        ("Total before discount:", "Total after discount:"),
        ("Tổng cộng:", "Sau giảm giá:"),
    ],
)
def test_the_total_after_a_discount_is_to_pay(before: str, after: str) -> None:
    sums = ((before, "42.000"), ("Giảm giá:", "5.000"), (after, "37.000"))
    fields = fields_of((*HEAD, *GOODS, *sums))
    assert (fields.total.value, fields.total.confidence) == (37_000, 1.0)
    assert len(fields.items) == 2


def test_each_line_of_an_address_loses_the_name_before_it() -> None:
    rows = (HEAD[0], ("ĐC: 129 Bờ Kè, Xã Vĩnh Thạnh",), ("Địa chỉ: Tổ 3 Khu 4, Phường Tân Lập",), *HEAD[2:])
    fields = fields_of((*rows, *GOODS, *SUMS))
    assert fields.address.value == "129 Bờ Kè, Xã Vĩnh Thạnh Tổ 3 Khu 4, Phường Tân Lập"
