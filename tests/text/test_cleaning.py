import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from coursepkg.text.cleaning import INVISIBLE, SPACES, clean
from coursepkg.text.vietnamese import LETTERS


@pytest.mark.parametrize(
    ("text", "cleaned", "changes"),
    [
        ("Xin chào, bạn!", "Xin chào, bạn!", {}),
        ("A\u0301o a\u0301\u0302", "Áo ấ", {"marks": 2}),
        ("một\u00a0hai\u3000ba", "một hai ba", {"spaces": 2}),
        ("\ufeffxin\u200b chào\u00ad", "xin chào", {"invisible": 3}),
        ("ở đâu？ｎ", "ở đâu?n", {"full-width": 2}),
        ("ａ\u0301", "á", {"full-width": 1, "marks": 1}),
        ("Ðà Nẵng, ði, Ɖông", "Đà Nẵng, đi, Đông", {"eth": 3}),
        ("QÐ, NÐ-CP, HÐND", "QĐ, NĐ-CP, HĐND", {"eth": 3}),
        ("Ðằng_sau", "Đằng_sau", {"eth": 1}),
    ],
)
def test_what_has_one_reading_is_replaced_and_counted(
    text: str, cleaned: str, changes: dict[str, int]
) -> None:
    assert clean(text).text == cleaned
    assert clean(text).changes == changes


@pytest.mark.parametrize(
    "text",
    [
        "það er góður VIÐ bróðir",  # Icelandic eth
        "👩\u200d🍳",  # a joiner that an emoji needs
        "пока αβγ ǎ",  # other alphabets, pinyin
        "ý \u0301 tôi",  # a mark on a space
        "file＿name",  # the escaped underscore of segmentation
        "“tốt” – 30°C…",
    ],
)
def test_what_has_several_readings_stays(text: str) -> None:
    assert clean(text) == (text, {})


@given(st.text())
def test_cleaning_twice_changes_nothing_more(text: str) -> None:
    cleaned = clean(text).text
    assert clean(cleaned) == (cleaned, {})
    assert unicodedata.is_normalized("NFC", cleaned)
    assert not set(cleaned) & set(SPACES + INVISIBLE)


@given(st.text(st.sampled_from(LETTERS + " .,?!_0123456789")))
def test_good_text_is_left_alone_in_either_form(text: str) -> None:
    assert clean(text) == (text, {})
    assert clean(unicodedata.normalize("NFD", text)).text == text
