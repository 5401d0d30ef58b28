"""Overlap against shapely's or counted pixels, matching and scores against counts by hand."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from coursepkg.projects.ocr.data.geometry import smallest_rectangle
from coursepkg.projects.ocr.detector.evaluate import (
    DetectionScore,
    covered_words,
    generated_pages,
    match_boxes,
    score_page,
)
from coursepkg.projects.ocr.detector.lines import TextBox, intersection_over_union
from tests.projects.ocr.detector.pages import box, score_pages


def rectangle(seed: int) -> np.ndarray:
    return smallest_rectangle(np.random.default_rng(seed).normal(size=(6, 2)) * [30, 12] + 50)


def inside(corners: np.ndarray, points: np.ndarray) -> np.ndarray:
    """Which points lie in a clockwise quadrilateral: right of each of its sides."""
    edges = np.roll(corners, -1, axis=0) - corners
    apart = points[:, None] - corners
    return (edges[:, 0] * apart[..., 1] - edges[:, 1] * apart[..., 0] >= 0).all(axis=1)


@settings(max_examples=12, deadline=None)
@given(st.integers(0, 9999), st.integers(0, 9999))
def test_overlap_is_that_of_counted_points(seed: int, other: int) -> None:
    one, two = rectangle(seed), rectangle(other)
    grid = np.linspace(-60, 160, 221)
    points = np.stack(np.meshgrid(grid, grid), axis=-1).reshape(-1, 2)
    first, second = inside(one, points), inside(two, points)
    counted = (first & second).sum() / max(1, (first | second).sum())
    assert intersection_over_union(one, two) == pytest.approx(counted, abs=0.03)
    assert intersection_over_union(one, two) == pytest.approx(
        intersection_over_union(two, one[::-1]), abs=1e-9
    )
    assert intersection_over_union(one, np.roll(one, 2, axis=0)) == pytest.approx(1)


def test_overlap_of_nothing_is_none() -> None:
    flat = np.array([[0, 0], [10, 0], [10, 0], [0, 0]], float)
    assert intersection_over_union(flat, flat) == 0
    assert intersection_over_union(box(0, 0, 10).corners, box(100, 0, 10).corners) == 0


def test_every_line_and_every_box_counts_once() -> None:
    wanted = [box(0, 0, 100).corners, box(0, 40, 100).corners, box(0, 80, 100).corners]
    found = [box(2, 0, 100).corners, box(0, 1, 100).corners, box(0, 40, 45).corners, box(0, 85, 100).corners]
    # The second box fits the first line better, the third covers less than half, the fourth is a little low.
    assert sorted(match_boxes(found, wanted)) in ([(0, 0), (3, 2)], [(1, 0), (3, 2)])
    score = score_page(found, wanted)
    assert (score.recall, score.precision) == (pytest.approx(2 / 3), pytest.approx(2 / 4))
    assert score.f1 == pytest.approx(4 / 7)
    assert sorted(match_boxes(found, wanted, 0.4)) != sorted(match_boxes(found, wanted))
    with pytest.raises(ValueError, match=r"least_iou must be in \(0, 1\]"):
        match_boxes(found, wanted, 0.0)


def test_scores_of_pages_add_and_say_their_protocol() -> None:
    total = score_page([], [box(0, 0, 9).corners]) + score_page(
        [box(0, 0, 9).corners], [box(0, 0, 9).corners]
    )
    assert total == DetectionScore(2, 2, 1, 1)
    assert str(total) == "detection|iou:0.5|pages:2|lines:2|boxes:1 recall 0.5000 precision 1.0000 F1 0.6667"
    assert (DetectionScore(1, 0, 0, 0).recall, DetectionScore(1, 0, 0, 0).f1) == (1.0, 1.0)
    with pytest.raises(ValueError, match="do not add"):
        total + DetectionScore(0, 0, 0, 0, 0.7)


class Oracle:
    """Knows the outlines, and cuts each into pieces as a detector of words does."""

    fingerprint = "oracle"

    def __init__(self, outlines: list[np.ndarray], n_pieces: int) -> None:
        self.outlines, self.n_pieces = list(outlines), n_pieces

    def detect(self, image: np.ndarray, name: str = "picture") -> list[TextBox]:
        boxes = []
        for top_left, top_right, bottom_right, bottom_left in self.outlines.pop(0):
            at = np.linspace(0, 1, self.n_pieces + 1)[:, None]
            upper, lower = (
                top_left + at * (top_right - top_left),
                bottom_left + at * (bottom_right - bottom_left),
            )
            for k in range(self.n_pieces):
                boxes.append(TextBox(np.array([upper[k], upper[k + 1], lower[k + 1], lower[k]]), 0.9))
        return boxes

    def close(self) -> None:
        pass


def test_pieces_of_generated_receipts_are_put_together_again() -> None:
    pages = list(generated_pages(6, seed=3))
    whole = score_pages(Oracle([outlines for _, outlines in pages], 1), pages)
    assert whole.n_lines == sum(len(outlines) for _, outlines in pages) > 60
    assert whole.f1 > 0.95
    pieces = score_pages(Oracle([outlines for _, outlines in pages], 3), pages)
    assert pieces.f1 > 0.9
    apart = score_pages(Oracle([outlines for _, outlines in pages], 3), pages, word_gap=0.0)
    assert apart.n_boxes > pieces.n_boxes


def test_a_word_is_found_when_enough_of_its_area_lies_in_boxes() -> None:
    words = [box(0, 0, 100).corners, box(110, 0, 100).corners, box(0, 100, 100).corners]
    line = box(-2, -2, 85, 24).corners
    assert covered_words([line], words) == [True, False, False]
    assert covered_words([box(-2, -2, 80, 24).corners], words) == [False, False, False]
    # Two boxes that cut a word cover it together.
    assert covered_words([line, box(83, 0, 200).corners], words) == [True, True, False]
    assert covered_words([], words) == [False] * 3
