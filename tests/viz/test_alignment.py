"""Pictures of word alignments: every token is written, every link is drawn, crossings are told apart."""

import numpy as np
import pytest
from matplotlib.patches import Rectangle

from coursepkg.viz import alignment_grid, alignment_lines, figure_html

SOURCE, TARGET = ["这", "本", "书"], ["Quyển", "sách", "này", "ba_lô"]
GOLD = [(0, 2), (1, 0), (2, 1)]


def test_lines_show_tokens_and_links_and_dash_those_that_cross() -> None:
    axis = alignment_lines(SOURCE, TARGET, GOLD, title="book").axes[0]
    assert [text.get_text() for text in axis.texts] == [*SOURCE, "Quyển", "sách", "này", "ba lô"]
    assert axis.get_title() == "book"
    # 这 goes over both others; 本 and 书 keep their order, but both are crossed by 这.
    assert [line.get_linestyle() for line in axis.lines] == ["--", "--", "--"]
    straight = alignment_lines(["a", "b", "c"], ["A", "B", "C"], [(0, 0), (1, 1), (2, 1)]).axes[0]
    assert [line.get_linestyle() for line in straight.lines] == ["-", "-", "-"]


def test_lines_end_at_their_tokens() -> None:
    axis = alignment_lines(SOURCE, TARGET, GOLD).axes[0]
    x = [text.get_position()[0] for text in axis.texts]
    ends = [list(line.get_xdata()) for line in axis.lines]
    assert np.allclose(ends, [(x[s], x[len(SOURCE) + t]) for s, t in GOLD])


def test_lines_of_one_word_and_of_none() -> None:
    assert len(alignment_lines(["a"], ["b"], [(0, 0)]).axes[0].lines) == 1
    assert len(alignment_lines([], [], []).axes[0].texts) == 0


def test_a_grid_frames_the_true_links_in_every_panel() -> None:
    weights = np.eye(4, 3)
    figure = alignment_grid(SOURCE, TARGET, GOLD, [weights, 1 - weights], title=["one", "other"])
    assert [axis.get_title() for axis in figure.axes] == ["one", "other"]
    for axis, grid in zip(figure.axes, (weights, 1 - weights), strict=True):
        frames = [patch for patch in axis.patches if isinstance(patch, Rectangle)]
        middles = [(frame.get_x() + 0.42, frame.get_y() + 0.42) for frame in frames]
        assert np.allclose(middles, GOLD)
        assert np.array_equal(axis.images[0].get_array(), grid)
    labels = [label.get_text() for label in figure.axes[0].get_yticklabels()]
    assert labels == ["Quyển", "sách", "này", "ba lô"]
    assert 'alt="links"' in figure_html(figure, alt="links")


def test_a_grid_without_a_model_shows_the_truth_alone() -> None:
    figure = alignment_grid(SOURCE, TARGET, GOLD)
    assert len(figure.axes) == 1
    assert not figure.axes[0].images[0].get_array().any()


def test_bad_input_is_named() -> None:
    with pytest.raises(ValueError, match=r"\(3, 0\) leads out of a sentence"):
        alignment_lines(SOURCE, TARGET, [(3, 0)])
    with pytest.raises(ValueError, match=r"shape \(3, 4\); need \(T, S\), here \(4, 3\)"):
        alignment_grid(SOURCE, TARGET, GOLD, [np.zeros((3, 4))])
    with pytest.raises(ValueError, match="2 titles for 1 panels"):
        alignment_grid(SOURCE, TARGET, GOLD, title=["a", "b"])
