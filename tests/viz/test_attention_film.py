"""Attention over a film: each frame has its picture, each weight its bar, and what does not fit is named."""

from collections.abc import Iterator

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
import pytest

from coursepkg.viz import attention_strip, figure_html
from coursepkg.viz.attention_film import FADED, checked_weights, strip_picture

FRAMES = np.stack([np.full((12, 16, 3), 10 * i, dtype=np.uint8) for i in range(11)])
WEIGHTS = np.arange(11) / 55


@pytest.fixture(autouse=True)
def plain_matplotlib() -> Iterator[None]:
    with mpl.rc_context():
        mpl.use("agg")
        yield
    plt.close("all")


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
def test_what_does_not_fit_is_named(options: dict, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        attention_strip(**({"frames": FRAMES, "weights": WEIGHTS} | options))
