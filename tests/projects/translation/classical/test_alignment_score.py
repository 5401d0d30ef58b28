"""Alignment error rate: the published formula by hand, its properties, and links taken from weights."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from coursepkg.projects.translation.classical.alignment_score import (
    alignment_error_rate,
    best_links,
    flipped,
    score_alignments,
)

LINKS = st.sets(st.tuples(st.integers(0, 4), st.integers(0, 4)), max_size=8)


def test_by_hand() -> None:
    # Three found links: one sure, one possible only, one wrong; of two sure links one is found.
    found, sure = {(0, 0), (1, 1), (2, 0)}, {(0, 0), (3, 3)}
    possible = sure | {(1, 1)}
    score = score_alignments([found], [sure], [possible])
    assert score.precision == pytest.approx(2 / 3)
    assert score.recall == pytest.approx(1 / 2)
    assert score.error_rate == pytest.approx(1 - (1 + 2) / (3 + 2))
    assert alignment_error_rate(found, sure, possible) == score.error_rate


@given(LINKS, LINKS)
def test_without_possible_links_it_is_one_minus_f1(
    found: set[tuple[int, int]], sure: set[tuple[int, int]]
) -> None:
    if not found or not sure:
        return
    score = score_alignments([found], [sure])
    total = score.precision + score.recall
    f1 = 2 * score.precision * score.recall / total if total else 0.0
    assert score.error_rate == pytest.approx(1 - f1)


@given(LINKS, LINKS, LINKS)
def test_between_zero_and_one_and_zero_for_the_sure_ones(
    found: set[tuple[int, int]], sure: set[tuple[int, int]], more: set[tuple[int, int]]
) -> None:
    if not sure:
        return
    assert 0.0 <= alignment_error_rate(found, sure, sure | more) <= 1.0
    # Any choice between the sure and the possible links is without error.
    assert alignment_error_rate(sure | more, sure, sure | more) == 0.0
    assert alignment_error_rate(sure, sure, sure | more) == 0.0


def test_counts_of_all_pairs_are_added_before_the_division() -> None:
    found = [{(0, 0)}, {(0, 1), (1, 1), (2, 1)}]
    sure = [{(0, 0)}, {(0, 0), (1, 1), (2, 2)}]
    assert score_alignments(found, sure).error_rate == pytest.approx(1 - (2 + 2) / 8)


def test_nothing_found_has_precision_one_and_recall_zero() -> None:
    assert score_alignments([set()], [{(0, 0)}]) == (1.0, 0.0, 1.0)


def test_the_largest_weight_of_each_row_unless_it_is_too_small() -> None:
    weights = np.array([[0.1, 0.7], [0.6, 0.4], [0.0, 0.0], [0.2, 0.1]])
    assert best_links(weights) == {(1, 0), (0, 1), (0, 3)}
    assert best_links(weights, least=0.5) == {(1, 0), (0, 1)}
    assert best_links(weights, least=1 - weights.sum(axis=1)) == {(1, 0), (0, 1)}
    assert flipped({(1, 0), (0, 2)}) == {(0, 1), (2, 0)}


def test_bad_input_is_named() -> None:
    with pytest.raises(ValueError, match="an entry a pair, got 1, 2 and 2"):
        score_alignments([set()], [set(), set()])
    with pytest.raises(ValueError, match=r"pair 0 lacks \(0, 0\)"):
        score_alignments([set()], [{(0, 0)}], [{(1, 1)}])
    with pytest.raises(ValueError, match="at least one link"):
        alignment_error_rate(set(), set())
    with pytest.raises(ValueError, match=r"got shape \(3, 0\)"):
        best_links(np.zeros((3, 0)))
