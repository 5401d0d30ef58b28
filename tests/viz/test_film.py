"""Clips as pictures: each frame in its place, each weight its bar, and what does not fit is named."""

from itertools import pairwise

import numpy as np
import pytest

from coursepkg.viz import attention_strip, figure_html, film_strips
from coursepkg.viz.film import FADED, checked_weights, strip_picture

LONG = np.arange(4, dtype=np.uint8)[:, None, None, None] * np.ones((4, 20, 10, 3), np.uint8)
SHORT = LONG[:2]


def test_frames_stand_in_order_without_overlap() -> None:
    figure = film_strips([("one", LONG), ("other", SHORT)])
    above, below = figure.axes
    assert (above.get_title("left"), below.get_title("left")) == ("one", "other")
    assert [int(image.get_array().max()) for image in above.images] == [0, 1, 2, 3]
    edges = [image.get_extent()[:2] for image in above.images]
    assert all(right <= left for (_, right), (left, _) in pairwise(edges))
    assert all(np.isclose(right - left, 10) for left, right in edges)
    assert "<img" in figure_html(figure, alt="two clips")


def test_a_shorter_row_keeps_the_scale_of_the_longest() -> None:
    above, below = film_strips([("one", LONG), ("other", SHORT)]).axes
    assert above.get_xlim() == below.get_xlim()
    assert len(below.images) == 2


def test_captions_and_marks_belong_to_their_frames() -> None:
    figure = film_strips([("one", LONG)], captions=[[0, 3, 5, "end"]], marked=[[False, True, False, True]])
    (axis,) = figure.axes
    assert [text.get_text() for text in axis.texts] == ["0", "3", "5", "end"]
    for text, image in zip(axis.texts, axis.images, strict=True):
        left, right = image.get_extent()[:2]
        assert left < text.get_position()[0] < right
    assert [patch.get_x() for patch in axis.patches] == [axis.images[i].get_extent()[0] for i in (1, 3)]
    assert [image.get_alpha() < 1 for image in axis.images] == [False, True, False, True]
    (whole,) = film_strips([("one", LONG)], marked=[[True] * 4], fade=1.0).axes
    assert [image.get_alpha() for image in whole.images] == [1.0] * 4
    assert len(whole.patches) == 4


@pytest.mark.parametrize(
    ("rows", "more", "message"),
    [
        ([], {}, "at least one clip"),
        ([("one", LONG), ("other", SHORT[:, :5])], {}, "of one size"),
        ([("one", LONG[0])], {}, r"frames \(T, height, width, 3\)"),
        ([("one", LONG[:0])], {}, r"frames \(T, height, width, 3\)"),
        ([("one", LONG)], {"captions": [[1, 2]]}, r"captions must have one entry a frame, \[4\]"),
        ([("one", LONG)], {"marked": [[True]]}, "marked must have one entry a frame"),
        ([("one", LONG)], {"captions": []}, "captions must have one entry"),
    ],
)
def test_what_does_not_fit_is_named(rows: list, more: dict, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        film_strips(rows, **more)


FRAMES = np.stack([np.full((12, 16, 3), 10 * i, dtype=np.uint8) for i in range(11)])
WEIGHTS = np.arange(11) / 55


def pictures(axes: list) -> list[np.ndarray]:
    return [image.get_array() for axis in axes for image in axis.images]


def captions(axes: list) -> list[str]:
    return [label.get_text() for axis in axes for label in axis.get_xticklabels()]


def test_every_frame_stands_in_its_place() -> None:
    figure = attention_strip(FRAMES, WEIGHTS, per_row=4, title="a clip")
    assert len(figure.axes) == 6
    below = figure.axes[1::2]
    assert np.array_equal(np.stack(pictures(below)), FRAMES)
    assert captions(below) == [str(i) for i in range(11)]
    assert [round(image.get_extent()[0]) for image in below[2].images] == [0, 1, 2]
    left, right, bottom, top = below[2].images[1].get_extent()
    assert (top - bottom) / (right - left) == pytest.approx(12 / 16), "frames keep their shape"
    assert below[2].get_aspect() == 1
    assert below[2].get_xlim() == (0, 4), "frames of a short row are no wider"
    assert figure.get_suptitle() == "a clip"
    assert "<img" in figure_html(figure, alt="eleven frames")


def test_each_weight_has_its_bar_over_its_frame() -> None:
    figure = attention_strip(FRAMES, WEIGHTS, per_row=8, times=np.arange(11) / 4)
    above, below = figure.axes[::2], figure.axes[1::2]
    assert len(pictures(below)) == 11
    bars = [bar for axis in above for bar in axis.patches]
    heights = [bar.get_height() for bar in bars]
    assert heights == pytest.approx(WEIGHTS.tolist())
    assert sum(heights) == pytest.approx(1.0)
    middles = [bar.get_x() + bar.get_width() / 2 for bar in bars]
    assert middles == pytest.approx([i % 8 + 0.5 for i in range(11)])
    assert all(axis.get_xlim() == (0, 8) for axis in (*above, *below))
    assert len({axis.get_ylim() for axis in above}) == 1, "one scale for all rows"
    assert [text.get_text() for axis in above for text in axis.texts] == ["0.18"]
    even = [line.get_ydata()[0] for axis in above for line in axis.lines]
    assert even == pytest.approx([1 / 11, 1 / 11])
    assert captions(below)[:2] == ["0.00 s", "0.25 s"]


def test_padding_is_faded_and_weighs_nothing() -> None:
    mask = np.arange(11) < 4
    weights = np.where(mask, 0.25, 0.0)
    figure = attention_strip(FRAMES, weights, mask=mask, per_row=11)
    images = figure.axes[1].images
    assert [image.get_alpha() for image in images] == [1.0] * 4 + [FADED] * 7
    assert captions(figure.axes[1:])[3:5] == ["3", "padding"]
    assert figure.axes[0].lines[0].get_ydata()[0] == 0.25, "a quarter each of the real ones"
    with pytest.raises(ValueError, match="must be 0 at frames that are no part of the clip"):
        attention_strip(FRAMES, WEIGHTS, mask=mask)


def test_a_strip_is_one_picture() -> None:
    picture = strip_picture(FRAMES, height=24, gap=3)
    assert picture.shape == (24, 11 * (32 + 3), 3)
    assert picture[:, 32:35].min() == 255
    assert [int(picture[5, 35 * i + 9, 0]) for i in range(11)] == [10 * i for i in range(11)]


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        (WEIGHTS[:10], r"one number a frame, \(11,\), got \(10,\)"),
        (WEIGHTS * 2, "add up to 1, got a sum of 2.0000"),
        (WEIGHTS * np.nan, "add up to 1"),
        (np.array([-1.0, 2.0] + [0.0] * 9), "at least 0"),
    ],
)
def test_what_is_no_shares_is_refused(weights: np.ndarray, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        attention_strip(FRAMES, weights)


def test_half_precision_is_near_enough() -> None:
    assert checked_weights(np.full(3, 0.334), np.ones(3, dtype=bool)).dtype == np.float64


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"frames": FRAMES[0]}, "frames must be RGB pictures"),
        ({"frames": FRAMES / 255}, "frames must be RGB pictures"),
        ({"times": [0.0]}, "times must be 11, one for each frame, got 1"),
        ({"mask": np.ones(3, dtype=bool)}, "mask must be 11"),
        ({"mask": np.zeros(11, dtype=bool)}, "True for one at least"),
        ({"per_row": 0}, "per_row must be an integer"),
    ],
)
def test_what_does_not_fit_a_strip_is_named(options: dict, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        attention_strip(**({"frames": FRAMES, "weights": WEIGHTS} | options))
