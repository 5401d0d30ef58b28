"""Pieces of a text and phrases among them.

Order of words against brute force.
"""

import unicodedata
from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from coursepkg.projects.translation.errors.surface import (
    compare_order,
    contains,
    count_inversions,
    find_phrase,
    folded,
    longest_rising,
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
    letters, all_letters = ([c for c in text if c.isalpha() or c.isdecimal()] for text in (kept, line))
    assert letters == all_letters


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


ORDERS = st.permutations(range(7)).flatmap(lambda row: st.integers(0, 7).map(lambda n: row[:n]))


@given(ORDERS)
def test_inversions_are_pairs_in_the_wrong_order(ranks: list[int]) -> None:
    assert count_inversions(ranks) == sum(a > b for a, b in combinations(ranks, 2))


@given(ORDERS)
def test_no_rising_selection_is_longer(ranks: list[int]) -> None:
    found = longest_rising(ranks)
    assert found == sorted(found)
    assert [rank for rank in ranks if rank in found] == found
    longest = max(
        n for n in range(len(ranks) + 1) if any(list(c) == sorted(c) for c in combinations(ranks, n))
    )
    assert len(found) == longest


@given(st.permutations(list("abcdef")))
def test_kendall_of_opposites_adds_up(texts: list[str]) -> None:
    order = compare_order(texts, list("abcdef"))
    assert order.inverted + compare_order(texts[::-1], list("abcdef")).inverted == pytest.approx(1)
    assert (order.inverted == 0) is (order.moved == []) is (texts == list("abcdef"))


def test_words_that_repeat_or_stand_alone_do_not_count() -> None:
    assert compare_order(["b", "x", "a", "b"], ["a", "b", "y", "b"]) == (0.0, [])
    assert compare_order([], []) == (0.0, [])


def test_a_line_of_ten_thousand_words_is_no_trouble() -> None:
    texts = [str(i) for i in range(10_000)]
    order = compare_order(texts[1:] + texts[:1], texts)
    assert order.moved == ["0"]
    assert order.inverted == pytest.approx(2 / 10_000)
