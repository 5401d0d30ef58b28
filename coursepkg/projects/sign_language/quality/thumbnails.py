"""Frames as grids of mean colours: what is broken or repeated shows there, and noise of pixels does not.

A mean over a block is the picture through a coarser lens. A cell of the grid is large enough to hide what a camera and
a codec add to each pixel, and small enough that a hand moves from one to the next.
"""

import numpy as np

from coursepkg.arguments import check_count
from coursepkg.projects.sign_language.clip import Clip

GRID = 32
"""Cells of a thumbnail along each side: at 224 pixels 7 x 7 of them make a cell, and a hand covers about 20 cells."""
_AT_ONCE = 32
"""Frames that stand in memory as floating-point numbers at one time."""
LUMA = np.array([0.299, 0.587, 0.114], dtype=np.float32)
"""How bright red, green and blue are to the eye (ITU-R BT.601)."""


def mean_weights(cells: int, pixels: int) -> np.ndarray:
    """Which share of each pixel lies in each cell, so that the product with a row of pixels gives the cells' means.

    Cells are equally wide, so that a border may go through a pixel; every row adds up to 1.

    Args:
        cells: of the grid along one side, from 1.
        pixels: of the picture along that side, from 1; they may be fewer than the cells.

    Returns:
        float32 (cells, pixels).
    """
    check_count("cells", cells)
    check_count("pixels", pixels)
    edges = np.arange(cells + 1) * pixels / cells
    begin = np.maximum(edges[:-1, None], np.arange(pixels))
    end = np.minimum(edges[1:, None], np.arange(1, pixels + 1))
    return (np.clip(end - begin, 0, None) * cells / pixels).astype(np.float32)


def shrink(pictures: np.ndarray, rows: int = GRID, columns: int = GRID) -> np.ndarray:
    """The mean of every channel in every cell of a grid.

    Args:
        pictures: (T, height, width, channels), of any number type.
        rows: of the grid.
        columns: of the grid.

    Returns:
        float32 (T, rows, columns, channels), in the pictures' own gray levels.
    """
    count, height, width, channels = pictures.shape
    down, across = mean_weights(rows, height), mean_weights(columns, width).T
    small = np.empty((count, rows, columns, channels), dtype=np.float32)
    for start in range(0, count, _AT_ONCE):
        some = pictures[start : start + _AT_ONCE].astype(np.float32)
        # (t, height, width * channels) -> (t, rows, width, channels) -> (t, rows, channels, columns)
        tall = (down @ some.reshape(len(some), height, -1)).reshape(len(some), rows, width, channels)
        small[start : start + _AT_ONCE] = (tall.swapaxes(2, 3) @ across).swapaxes(2, 3)
    return small


def thumbnails(clip: Clip) -> np.ndarray:
    """The frames of a clip as grids of mean colours, float32 (T, GRID, GRID, 3) in 0..255."""
    return shrink(clip.frames)


def brightness(thumbs: np.ndarray) -> np.ndarray:
    """How bright each cell is: (..., 3) to (...), in the same gray levels."""
    return thumbs @ LUMA
