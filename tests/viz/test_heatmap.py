"""The picture of a block map agrees with the pattern cell by cell."""

import matplotlib.pyplot as plt
import torch

from coursepkg.attention import causal, sliding_window
from coursepkg.viz.heatmap import COLOURS, cell_kinds, draw_block_map

SHOWN_FULL, SHOWN_PARTIAL, HIDDEN_VISITED, HIDDEN_SKIPPED = range(4)


def test_kinds_of_a_causal_mask_by_hand():
    full, part, visited, skipped = SHOWN_FULL, SHOWN_PARTIAL, HIDDEN_VISITED, HIDDEN_SKIPPED
    expected = [
        [part, visited, skipped, skipped],
        [part, part, skipped, skipped],
        [full, full, part, visited],
        [full, full, part, part],
    ]
    assert cell_kinds(causal(), 4, 2).tolist() == expected


def test_colours_agree_with_the_mask_where_the_last_tile_is_smaller():
    pattern = causal() & sliding_window(5)
    kinds = cell_kinds(pattern, 11, 4)
    assert torch.equal(kinds <= SHOWN_PARTIAL, pattern.mask(11, 11)[0, 0])


def test_drawing_has_a_colour_for_each_meaning():
    figure, axis = plt.subplots()
    draw_block_map(axis, causal(), 8, 4)
    assert [text.get_text() for text in axis.get_legend().get_texts()] == list(COLOURS)
    plt.close(figure)
