"""Film strips: every frame stands in its place, short rows keep the scale, what does not fit is named."""

from collections.abc import Iterator
from itertools import pairwise

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
import pytest

from coursepkg.viz import figure_html, film_strips

LONG = np.arange(4, dtype=np.uint8)[:, None, None, None] * np.ones((4, 20, 10, 3), np.uint8)
SHORT = LONG[:2]


@pytest.fixture(autouse=True)
def plain_matplotlib() -> Iterator[None]:
    with mpl.rc_context():
        mpl.use("agg")
        yield
    plt.close("all")


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
