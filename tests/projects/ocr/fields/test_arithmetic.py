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
