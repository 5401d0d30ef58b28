"""A pattern with the tiles that a block-sparse implementation makes of it."""

from typing import TYPE_CHECKING

import torch
from torch import Tensor

from coursepkg.attention.pattern import Pattern

if TYPE_CHECKING:
    from matplotlib.axes import Axes

COLOURS = {
    "visible, tile full": (0.00, 0.45, 0.70),
    "visible, tile partial": (0.84, 0.37, 0.00),
    "hidden, tile visited": (0.99, 0.88, 0.72),
    "hidden, tile skipped": (1.00, 1.00, 1.00),
}
"""What each cell of the picture means, as red, green and blue."""


def draw_block_map(axis: "Axes", pattern: Pattern, length: int, block: int, *, legend: bool = True) -> None:
    """Draws the mask of `pattern` cell by cell, coloured by what happens to the tile that the cell lies in.

    Args:
        axis: where to draw.
        pattern: of one sequence and one head.
        length: queries and keys.
        block: rows and columns of a tile.
        legend: name the colours beside the picture.
    """
    from matplotlib.patches import Patch

    kinds = cell_kinds(pattern, length, block)
    palette = torch.tensor(list(COLOURS.values()))
    axis.imshow(palette[kinds].numpy(), interpolation="nearest")
    edges = torch.arange(0, length + 1, block) - 0.5
    axis.set_xticks(edges.tolist(), [])
    axis.set_yticks(edges.tolist(), [])
    axis.tick_params(length=0)
    axis.grid(visible=True, color="#999999", linewidth=0.5)
    axis.spines[:].set_visible(True)
    axis.set(xlabel="keys", ylabel="queries")
    if legend:
        handles = [
            Patch(facecolor=colour, edgecolor="#999999", label=name) for name, colour in COLOURS.items()
        ]
        axis.legend(handles=handles, loc="upper left", bbox_to_anchor=(1.02, 1.0), fontsize=9, frameon=False)


def cell_kinds(pattern: Pattern, length: int, block: int) -> Tensor:
    """Index into `COLOURS` of every (query, key) cell, int64 (T, S)."""
    visible = pattern.mask(length, length)[0, 0]
    may, must = (
        tiles[0, 0].repeat_interleave(block, 0).repeat_interleave(block, 1)[:length, :length]
        for tiles in pattern.block_map(length, length, block, block)
    )
    hidden = torch.where(may, 2, 3)
    return torch.where(visible, torch.where(must, 0, 1), hidden)
