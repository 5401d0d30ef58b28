"""Order of words against brute force."""

from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from coursepkg.projects.translation.errors.word_order import compare_order, count_inversions, longest_rising

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
