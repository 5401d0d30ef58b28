import pytest

from coursepkg.text.alphabet import check_alphabet, find_unknown
from coursepkg.text.vietnamese import LETTERS

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
