import html
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from coursepkg.text.cleaning import INVISIBLE, SPACES, check_alphabet, clean, find_unknown, unescape
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


@pytest.mark.parametrize(
    ("text", "plain", "counts"),
    [
        ("life &apos;s &quot; work &quot; .", 'life \'s " work " .', {"&apos;": 1, "&quot;": 2}),
        ("&#91; Laughter &#93; &lt; &gt; &#124;", "[ Laughter ] < > |", None),
        ("&amp;quot;", '"', {"&amp;": 1, "&quot;": 1}),
        ("&amp;amp;amp;lt;", "<", {"&amp;": 3, "&lt;": 1}),
        ("Head &amp; amp ; Shoulders", "Head & Shoulders", {"&amp;": 2}),
        ("he said &amp; quot ; no", 'he said " no', {"&amp;": 1, "&quot;": 1}),
        ("&eacute; &#233; &#xE9; &#Xe9;", "é é é é", None),
        ("không có gì", "không có gì", {}),
    ],
)
def test_entities_become_characters(text: str, plain: str, counts: dict[str, int] | None) -> None:
    found = unescape(text)
    assert found.text == plain
    assert found.unknown == {}
    if counts is not None:
        assert found.counts == counts


@pytest.mark.parametrize(
    "text", ["AT&T; x".replace(";", ""), "R & D ;", "?a=1&copy=2", "& ; &; &amp", "fish&chips"]
)
def test_what_is_no_entity_stays(text: str) -> None:
    assert unescape(text) == (text, {}, {})


def test_unknown_entities_stay_and_are_reported() -> None:
    found = unescape("&nosuch; &#0; &#xD800; &#x110000; &#27; &quot;")
    assert found.text == '&nosuch; &#0; &#xD800; &#x110000; &#27; "'
    assert found.counts == {"&quot;": 1}
    assert found.unknown == dict.fromkeys(["&nosuch;", "&#0;", "&#xD800;", "&#x110000;", "&#27;"], 1)


@given(st.text(), st.integers(0, 3))
def test_text_that_was_escaped_comes_back_however_often(text: str, times: int) -> None:
    escaped = plain = unescape(text).text
    for _ in range(times):
        escaped = html.escape(escaped)
    assert unescape(escaped).text == plain


@given(st.text(st.sampled_from("&amp;#quot91 ;x")))
def test_unescaping_twice_changes_nothing_more(text: str) -> None:
    once = unescape(text).text
    assert unescape(once).text == once


@pytest.mark.parametrize("name", ["&#9;", "&#10;", "&#13;", "&#x0A;"])
def test_no_entity_breaks_a_line(name: str) -> None:
    assert unescape(f"a{name}b").text == "a b"


ALPHABET = LETTERS + " .,?!"


def test_known_text_passes() -> None:
    check_alphabet(["Xin chào, bạn!", "", "ĐƯỜNG"], ALPHABET)
    assert find_unknown(["Xin chào"], ALPHABET) == []


def test_the_first_unknown_character_is_named_with_its_place() -> None:
    with pytest.raises(ValueError) as caught:  # noqa: PT011 - the whole message is compared
        check_alphabet(["tốt", "nhiệt độ trong phòng là ba mươi °C, nóng"], ALPHABET, name="labels.tsv")
    assert str(caught.value) == (
        "labels.tsv, line 2, column 33: unknown character '°' (U+00B0 DEGREE SIGN) in ' là ba mươi °C, nóng'; "
        "correct the text or add the character to the alphabet"
    )


def test_others_follow_with_their_counts() -> None:
    with pytest.raises(ValueError, match=r"'1' \(U\+0031 DIGIT ONE\).*\(also unknown: '2' x 3, '3' x 1\)$"):
        check_alphabet(["1 2", "2 2 3"], ALPHABET)
    with pytest.raises(ValueError, match=r"\(also unknown: '1' x 1, .* '5' x 1, \.\.\.\)$"):
        check_alphabet(["0123456789"], ALPHABET)


@pytest.mark.parametrize(
    ("line", "name", "advice"),
    [
        ("A\u0301o", r"'\\u0301' \(U\+0301 COMBINING ACUTE ACCENT\)", "not in NFC: call compose"),
        ("A\u0301o \u2603", r"'\\u0301' \(U\+0301 COMBINING ACUTE ACCENT\)", "not in NFC: call compose"),
        ("ý \u0301 tôi", r"'\\u0301' \(U\+0301 COMBINING ACUTE ACCENT\)", "belongs to no letter"),
        ("xin\u200bchào", r"'\\u200b' \(U\+200B ZERO WIDTH SPACE\)", "call clean"),
        ("xin\u00a0chào", r"'\\xa0' \(U\+00A0 NO-BREAK SPACE\)", "call clean"),
        ("Ðông", r"'Ð' \(U\+00D0 LATIN CAPITAL LETTER ETH\)", "call clean"),
        ("VIÐ", r"'Ð' \(U\+00D0 LATIN CAPITAL LETTER ETH\)", r"looks like 'Đ' \(U\+0110 .*STROKE\)"),
        ("tốt\U00031722", r"'.*' \(U\+31722 .*\)", "correct the text or add"),
        ("\t", r"'\\t' \(U\+0009 category Cc\)", "correct the text or add"),
    ],
)
def test_the_message_says_what_to_do(line: str, name: str, advice: str) -> None:
    with pytest.raises(ValueError, match=f"unknown character {name} in .*{advice}") as caught:
        check_alphabet([line], ALPHABET)
    assert "\n" not in str(caught.value)
    assert "\u200b" not in str(caught.value)


def test_every_unknown_character_is_reported_once_where_it_occurs_first() -> None:
    found = find_unknown(["ab1", "2a1"], "ab")
    assert [(one.character, one.line, one.column, one.count) for one in found] == [
        ("1", 1, 3, 2),
        ("2", 2, 1, 1),
    ]


def test_one_string_is_refused() -> None:
    with pytest.raises(ValueError, match="lines must be a list of lines, got the string 'abc'"):
        find_unknown("abc", ALPHABET)
