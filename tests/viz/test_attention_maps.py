"""Attention over a line: columns stand at their pixels, characters are written, what does not fit is named."""

import numpy as np
import pytest

from coursepkg.viz import figure_html, line_attention, lit_line

LINE = np.full((40, 61), 255, np.uint8)
WEIGHTS = np.eye(3, 16)


def test_each_character_has_a_row_and_each_column_its_pixels() -> None:
    figure = line_attention(LINE, WEIGHTS, ["P", " ", "ở"], stride=4, title="a line")
    above, below = figure.axes
    assert above.get_title() == "a line"
    assert [label.get_text() for label in below.get_yticklabels()] == ["P", "␣", "ở"]
    (mesh,) = below.collections
    edges = mesh.get_coordinates()[0, :, 0]
    assert (edges[0], edges[1], edges[-1]) == (-2, 2, 62)
    assert np.array_equal(mesh.get_array().reshape(3, 16), WEIGHTS)
    low, high = below.get_ylim()
    assert low > high, "the first character stands on top"
    assert below.get_xlim() == (0, 61)
    assert "<img" in figure_html(figure, alt="rows")


def test_light_is_brightest_at_the_column_that_weighs_most() -> None:
    axis = lit_line(LINE, WEIGHTS[2], stride=4).axes[0]
    veil = axis.images[1].get_array()
    assert veil.shape == (40, 61, 4)
    assert int(veil[0, :, 3].argmax()) == 8
    assert float(veil[0, 16:, 3].max()) == 0.0


@pytest.mark.parametrize(
    "given",
    [(LINE, WEIGHTS, ["a", "b"]), (LINE[:, :50], WEIGHTS, ["a", "b", "c"]), (LINE, WEIGHTS[0], ["a"])],
)
def test_what_does_not_fit_is_named(given: tuple) -> None:
    with pytest.raises(ValueError, match="weights must be"):
        line_attention(*given, stride=4)
    with pytest.raises(ValueError, match="weights must be"):
        lit_line(LINE, np.ones(15), stride=4)
