import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from coursepkg.text.vietnamese import (
    ACCENTED,
    LETTERS,
    TONE_MARKS,
    TONES,
    VOWELS,
    compose,
    unicode_form,
    without_marks,
)

VIETNAMESE = st.text(st.sampled_from(LETTERS + " ,.?!0123456789"))


def test_there_are_67_accented_letters_in_both_cases() -> None:
    assert len(ACCENTED) == len(set(ACCENTED)) == 67
    assert ACCENTED.islower()
    assert len(set(ACCENTED + ACCENTED.upper())) == 134
    assert all(len(letter.encode()) in (2, 3) for letter in ACCENTED)


def test_the_67_are_the_letters_that_vietnamese_writes() -> None:
    written = (
        "áàảãạ ăắằẳẵặ âấầẩẫậ đ éèẻẽẹ êếềểễệ íìỉĩị óòỏõọ ôốồổỗộ ơớờởỡợ úùủũụ ưứừửữự ýỳỷỹỵ"  # typed by hand
    )
    assert set(ACCENTED) == set(unicodedata.normalize("NFC", written).replace(" ", ""))


def test_all_letters_are_186_and_every_one_is_a_single_nfc_code_point() -> None:
    assert len(LETTERS) == len(set(LETTERS)) == 186
    assert set(LETTERS) == set(ACCENTED + ACCENTED.upper()) | {
        chr(code) for code in (*range(65, 91), *range(97, 123))
    }
    assert unicodedata.is_normalized("NFC", LETTERS)


def test_tones_of_every_vowel_in_both_cases() -> None:
    assert len(TONES) == 12 * 6 * 2
    assert TONES["ấ"] == ("â", "sắc")
    assert TONES["Ợ"] == ("Ơ", "nặng")
    assert TONES["y"] == ("y", "ngang")
    for letter, (vowel, tone) in TONES.items():
        assert vowel.lower() in VOWELS
        assert unicodedata.normalize("NFC", vowel + TONE_MARKS[tone]) == letter


@pytest.mark.parametrize(
    ("text", "form"),
    [
        ("hoa", "either"),
        ("", "either"),
        ("你好", "either"),
        ("hòa", "NFC"),
        ("ho\u0300a", "NFD"),
        ("hòa ho\u0300a", "mixed"),
        ("đ", "either"),
        # ế in one and a half pieces: ê with a combining acute is neither form
        ("\u00ea\u0301", "mixed"),
    ],
)
def test_unicode_form(text: str, form: str) -> None:
    assert unicode_form(text) == form


@pytest.mark.parametrize("letter", ACCENTED + ACCENTED.upper())
def test_every_order_of_the_marks_composes(letter: str) -> None:
    base, *marks = unicodedata.normalize("NFD", letter)
    assert compose(base + "".join(marks)) == letter
    assert compose(base + "".join(reversed(marks))) == letter


def test_the_order_that_nfc_leaves_in_pieces() -> None:
    tone_first = "a\u0301\u0302"
    assert unicodedata.normalize("NFC", tone_first) == "á\u0302"
    assert compose(tone_first) == compose("á\u0302") == "ấ"
    assert compose("tie\u0323\u0302n") == "tiện"
    assert compose("U\u0301\u031b") == "Ứ"


@pytest.mark.parametrize(
    "text", ["e\u0306\u0301", "a\u0308\u0301", "a\u0302\u0306", "o\u0301\u0301", " \u0301"]
)
def test_marks_that_vietnamese_does_not_combine_stay_as_nfc_has_them(text: str) -> None:
    assert compose(text) == unicodedata.normalize("NFC", text)


@given(st.text())
def test_compose_is_idempotent_and_nfc(text: str) -> None:
    composed = compose(text)
    assert compose(composed) == composed
    assert unicodedata.is_normalized("NFC", composed)


@given(VIETNAMESE)
def test_compose_undoes_nfd(text: str) -> None:
    assert compose(unicodedata.normalize("NFD", text)) == text == compose(text)
    assert unicode_form(text) in ("NFC", "either")


@pytest.mark.parametrize("form", ["NFC", "NFD"])
def test_letters_without_marks_are_those_of_ascii(form: str) -> None:
    bare = without_marks(unicodedata.normalize(form, LETTERS))
    assert bare.isascii()
    assert len(bare) == len(LETTERS)
    assert (
        without_marks(unicodedata.normalize(form, "Đường số 5, Ỷ Lan: 45.000đ"))
        == "Duong so 5, Y Lan: 45.000d"
    )
