import pytest
from hypothesis import given
from hypothesis import strategies as st

from coursepkg.text.spacing import capitalize, detokenize, space_punctuation

PAIRS = [
    ("Xin chào , bạn !", "Xin chào, bạn!"),
    ('Anh ấy nói : " Xin chào , bạn ! " rồi đi .', 'Anh ấy nói: "Xin chào, bạn!" rồi đi.'),
    ("Giá 3,5 tệ ( khoảng 50 % ) lúc 8:30 ...", "Giá 3,5 tệ (khoảng 50%) lúc 8:30..."),
    ("“ Tốt ” ; [ a ] { b } « c » …", "“Tốt”; [a] {b} «c»…"),
    ("Khách_sạn ở đâu ?", "Khách_sạn ở đâu?"),
    ("T.S . Nguyễn", "T.S. Nguyễn"),
    ("", ""),
]


@pytest.mark.parametrize(("spaced", "read"), PAIRS)
def test_both_ways(spaced: str, read: str) -> None:
    assert detokenize(spaced) == read
    assert space_punctuation(read) == spaced
    assert detokenize(read) == read
    assert space_punctuation(spaced) == spaced


@pytest.mark.parametrize(
    ("spaced", "read"),
    [
        ("1 , 2 và 8 : 30", "1, 2 và 8:30"),
        ("That 's what you don 't know , I 'm sure", "That's what you don't know, I'm sure"),
        ("the 1880 's", "the 1880 's"),  # nothing says that it is no quotation
        ("  xin   chào  ", "xin chào"),
        ('và nói , " Con thấy chưa ?', 'và nói, "Con thấy chưa?'),  # the speech goes on in the next line
        ('Tôi không làm được " .', 'Tôi không làm được".'),  # it began in an earlier one
        ('không ? " Và tôi nói , " Không . "', 'không?" Và tôi nói, "Không."'),
        ("rock ' n ' roll - có", "rock ' n ' roll - có"),
    ],
)
def test_detokenize(spaced: str, read: str) -> None:
    assert detokenize(spaced) == read


WORDS = st.text(st.sampled_from("aấđeoự_"), min_size=1, max_size=4)


@given(st.lists(st.tuples(WORDS, st.sampled_from(["", ",", ".", "?", "!", ";", ":", "...", "%"]))))
def test_spacing_is_undone(words: list[tuple[str, str]]) -> None:
    text = " ".join(word + mark for word, mark in words)
    assert detokenize(space_punctuation(text)) == text


@given(st.text())
def test_only_spaces_change(text: str) -> None:
    for change in (detokenize, space_punctuation):
        assert "".join(change(text).split()) == "".join(text.split())


@pytest.mark.parametrize(
    ("text", "capital"),
    [
        ("xin chào USA", "Xin chào USA"),
        ('"ấy là', '"Ấy là'),
        ("đi", "Đi"),
        ("3 người", "3 người"),
        ("?!", "?!"),
    ],
)
def test_capitalize(text: str, capital: str) -> None:
    assert capitalize(text) == capital
