"""Lines and their order: what a reader of the page expects, however the page was photographed."""

import math
import random

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from coursepkg.projects.ocr.detector.engines import CORE, DetectorSettings
from coursepkg.projects.ocr.detector.lines import PlacedLine, TextBox, fit_straightening, place_lines
from tests.projects.ocr.detector.pages import box, receipt, seen


def layout(lines: list[PlacedLine], boxes: list[TextBox]) -> list[list[list[int]]]:
    """By rows the lines, each the numbers of its boxes, found again by their centres."""
    rows: list[list[list[int]]] = []
    for line in lines:
        if line.row == len(rows):
            rows.append([])
        numbers = []
        for part in line.parts:
            apart = [float(np.hypot(*(part.center - one.center))) for one in boxes]
            assert min(apart) < 1e-6
            numbers.append(int(np.argmin(apart)))
        rows[line.row].append(numbers)
    return rows


@settings(max_examples=10, deadline=None)
@given(st.integers(0, 99), st.floats(-25, 25), st.floats(-0.12, 0.12), st.floats(-2, 7))
@example(0, -25.0, 0.109375, 0.0)
@example(0, -25.0, 0.12, 7.0)
def test_a_receipt_is_read_as_it_was_printed(seed: int, degrees: float, tilt: float, gap: float) -> None:
    words, rows = receipt(gap)
    boxes = seen(words, degrees, tilt)
    shuffled = random.Random(seed).sample(boxes, len(boxes))
    assert layout(place_lines(shuffled), boxes) == rows


@pytest.mark.parametrize("quarter", [1, 2, 3])
def test_a_turned_page_is_read_once_its_direction_is_known(quarter: int) -> None:
    words, rows = receipt()
    boxes = seen(words, 90 * quarter + 3, 0.05)
    if quarter == 1:
        # The one turn that boxes alone suggest: downwards, as PaddleOCR does.
        assert layout(place_lines(boxes), boxes) == rows
    # Corners that begin where the text begins are taken as they are.
    lines = place_lines(boxes, settle=False)
    assert layout(lines, boxes) == rows
    for line in lines:
        assert abs(math.remainder(line.box.angle - math.radians(90 * quarter + 3), 2 * math.pi)) < 0.15


def test_a_page_on_its_head_turns_over() -> None:
    words, rows = receipt()
    boxes = seen(words, 180)
    lines = place_lines([one.turned(2) for one in place_boxes(boxes)], settle=False)
    assert layout(lines, boxes) == rows


def place_boxes(boxes: list[TextBox]) -> list[TextBox]:
    """The boxes as a detector gives them: it takes the page for upright."""
    return [part for line in place_lines(boxes) for part in line.parts]


def test_columns_stay_apart_until_they_are_wanted_together() -> None:
    boxes = [box(0, 0, 100), box(140, 1, 40), box(300, 0, 60)]
    assert [len(line.parts) for line in place_lines(boxes)] == [1, 1, 1]
    assert [line.row for line in place_lines(boxes)] == [0, 0, 0]
    assert [len(line.parts) for line in place_lines(boxes, word_gap=3.0)] == [2, 1]
    assert [len(line.parts) for line in place_lines(boxes, word_gap=math.inf)] == [3]
    for wrong in (-1.0, float("nan")):
        with pytest.raises(ValueError, match="word_gap"):
            place_lines(boxes, word_gap=wrong)


def with_rim(one: TextBox, rim: float) -> TextBox:
    """A box as a detector finds it around this ink."""
    out = rim * one.height
    return TextBox(one.corners + out * np.array([[-1, -1], [1, -1], [1, 1], [-1, 1]]), one.score, rim)


@pytest.mark.parametrize("rim", [-0.1, 0.0, DetectorSettings().rim, 0.3])
@pytest.mark.parametrize(("gap", "n_lines"), [(12, 1), (16, 2)])
def test_a_column_stays_a_column_however_far_boxes_reach(rim: float, gap: int, n_lines: int) -> None:
    inks = [box(0, 0, 100), box(100 + gap, 1, 60)]  # a gap of 0.6 heights, and one of 0.8
    lines = place_lines([with_rim(one, rim) for one in inks])
    assert len(lines) == n_lines
    assert {line.row for line in lines} == {0}
    assert all(line.box.rim == rim for line in lines)


def test_a_rim_follows_the_unclip_ratio() -> None:
    assert DetectorSettings().rim == pytest.approx(0.13, abs=0.005)
    # Without it, the box is the core.
    assert 1 + 2 * DetectorSettings(unclip=1e-9).rim == pytest.approx(CORE)


def test_scores_that_are_all_the_highest_stay_in_range() -> None:
    for widths in np.random.default_rng(0).uniform(30, 90, (200, 3)):
        lefts = np.cumsum([0.0, *widths[:2]])
        (line,) = place_lines([box(a, 0, w, score=1.0) for a, w in zip(lefts, widths, strict=True)])
        assert line.box.score <= 1.0


def test_large_letters_beside_small_ones_stay_their_own_line() -> None:
    lines = place_lines([box(0, 0, 120, 60), box(124, 20, 60, 20)])
    assert [len(line.parts) for line in lines] == [1, 1]
    assert [line.row for line in lines] == [0, 0]


def test_close_rows_are_not_chained_by_a_tall_box_between_them() -> None:
    boxes = [box(0, 0, 80), box(0, 22, 80), box(100, 2, 60, 38), box(200, 0, 80), box(200, 22, 80)]
    rows = layout(place_lines(boxes), boxes)
    for row in rows:
        numbers = {number for line in row for number in line}
        assert not {0, 1} <= numbers
        assert not {3, 4} <= numbers


def test_a_line_goes_around_its_words_and_weighs_their_scores() -> None:
    words = seen([box(0, 0, 100, score=0.9), box(104, 0, 50, score=0.6)], 10)
    (line,) = place_lines(words)
    assert line.box.score == pytest.approx((0.9 * 100 + 0.6 * 50) / 150)
    assert math.degrees(line.box.angle) == pytest.approx(10)
    assert (line.box.width, line.box.height) == (pytest.approx(154), pytest.approx(20))
    np.testing.assert_allclose(line.box.corners[[0, 3]], words[0].corners[[0, 3]], atol=1e-6)
    np.testing.assert_allclose(line.box.corners[[1, 2]], words[1].corners[[1, 2]], atol=1e-6)


def test_digits_stay_upright_and_long_text_along_a_side_is_read_downwards() -> None:
    words, _ = receipt()
    margin = TextBox(np.array([[470, 50], [490, 50], [490, 350], [470, 350]], float), 0.8)
    lines = place_lines([*words, margin])
    turned = [line for line in lines if abs(math.degrees(line.box.angle) - 90) < 1]
    assert len(turned) == 1
    np.testing.assert_allclose(turned[0].box.center, margin.center)
    assert turned[0].box.width == pytest.approx(300)
    digit = next(line for line in lines if abs(line.box.width - 14) < 1e-6)
    assert digit.box.angle == 0


@pytest.mark.parametrize("tilt", [0.0, 0.1, -0.1])
def test_rows_are_level_on_the_straightened_page(tilt: float) -> None:
    words = [box(x, y, 60) for y in range(0, 440, 40) for x in (0, 130, 260, 390)]
    boxes = seen(words, 12, tilt)
    heights = fit_straightening(boxes)(np.array([one.center for one in boxes]))[:, 1].reshape(-1, 4)
    assert np.ptp(heights, axis=1).max() < 6
    assert np.diff(heights.mean(axis=1)).min() > 20


def test_nothing_found_is_no_line() -> None:
    assert place_lines([]) == []
    (line,) = place_lines([box(5, 5, 0.0, 0.0)])
    assert line.row == 0
