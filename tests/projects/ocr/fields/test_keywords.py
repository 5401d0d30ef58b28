import pytest

from coursepkg.projects.ocr.fields import keywords as kw
from coursepkg.text.vietnamese import without_marks

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
