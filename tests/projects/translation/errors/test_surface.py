"""Pieces of a text and phrases among them."""

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from coursepkg.projects.translation.errors.surface import (
    contains,
    find_phrase,
    folded,
    pieces,
    runs,
    token_spans,
    words,
)


def test_pieces_point_into_the_line() -> None:
    line = "Khách_sạn 'Tây-Hồ' giá 3,5 tệ; 我想 don't ⁇."
    assert [piece.text for piece in pieces(line)] == (
        ["Khách", "sạn", "'", "Tây", "-", "Hồ", "'", "giá", "3,5", "tệ", ";", "我", "想", "don't", "⁇", "."]
    )
    assert all(line[piece.start : piece.stop] == piece.text for piece in pieces(line))


@given(st.text())
def test_no_letter_or_digit_is_lost(line: str) -> None:
    kept = "".join(piece.text for piece in pieces(line))
    assert len(folded(line)) == len(pieces(line))
    assert [c for c in kept if c.isalpha() or c.isdecimal()] == [
        c for c in line if c.isalpha() or c.isdecimal()
    ]


def test_spellings_of_one_sentence_are_alike() -> None:
    spaced, read = "Khách_sạn Hà_Nội ở đâu ?", "khách sạn Hà Nội ở đâu?"
    assert folded(spaced) == folded(read) == folded(unicodedata.normalize("NFD", spaced))
    assert words(spaced) == folded(read)[:-1]


@pytest.mark.parametrize(
    ("line", "phrase", "expected"),
    [
        ("Tôi ở Khách sạn này.", "khách_sạn", [(2, 4)]),
        ("我 是 中国 人民", "人", []),
        ("我 是 中国 人", "人", [(4, 5)]),
        ("我是中国人", "中国", [(2, 4)]),
        ("一 个 人 和 个人", "个人", [(4, 6)]),
        ("Xin vui_lòng lòng", "lòng", [(3, 4)]),
        ("bàn", "b", []),
        ("bàn", "", []),
        ("", "bàn", []),
        ("谢谢谢", "谢谢", [(0, 2), (1, 3)]),
        ("JAL 4002 航班", "航班", [(2, 4)]),
    ],
)
def test_phrases(line: str, phrase: str, expected: list[tuple[int, int]]) -> None:
    assert find_phrase(line, phrase) == expected
    assert contains(line, phrase) is bool(expected)


def test_runs() -> None:
    assert runs(["a", "b", "a", "b", "a", "b", "c"], 2) == [(0, 3)]
    assert runs(["x", "a", "a", "y", "b", "b"], 1) == [(1, 2), (4, 2)]
    assert runs(["a", "b", "c"], 1) == []
    assert runs([], 2) == []


def test_tokens_are_found_in_their_text() -> None:
    text = "khách sạn ở a a."
    spans = token_spans(text, ["▁khách", "▁s", "ạn", "▁", "ở", "▁a", "▁a", "."])
    assert [text[span[0] : span[1]] if span else None for span in spans] == (
        ["khách", "s", "ạn", None, "ở", "a", "a", "."]
    )
    assert token_spans("", []) == []


@pytest.mark.parametrize("tokens", [["a"], ["a", "c"], ["a", "b", "</s>"], ["b"]])
def test_tokens_of_another_text_are_refused(tokens: list[str]) -> None:
    with pytest.raises(ValueError, match="tokens must spell the text 'a b'"):
        token_spans("a b", tokens)
