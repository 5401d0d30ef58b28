"""Attention over a text line's picture: where a decoder looks at each character."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


def line_attention(
    image: np.ndarray,
    weights: np.ndarray,
    characters: Sequence[str],
    *,
    stride: int,
    title: str = "",
) -> "Figure":
    """The line above, and a row for each character: dark where the model looked.

    Both share the pixels of the line as their horizontal axis. Column j of a feature
    map stands at pixel j * stride.

    Args:
        image: uint8 (height, width), the picture that the network read.
        weights: (T, columns), a row for each character.
        characters: the T characters, in the order of writing.
        stride: pixels from column to column.
        title: of the figure.

    Raises:
        ValueError: weights, characters and picture do not fit.
    """
    import matplotlib.pyplot as plt

    grid = _checked(image, weights, len(characters), stride)
    height = 0.19 * len(grid) + 1.3
    figure, (above, below) = plt.subplots(
        2, 1, figsize=(7.4, height), sharex=True, height_ratios=(0.9, height - 0.9)
    )
    _draw_line(above, image)
    edges = stride * (np.arange(grid.shape[1] + 1) - 0.5)
    below.pcolormesh(
        edges, np.arange(len(grid) + 1) - 0.5, grid, cmap="Blues", vmin=0.0
    )
    below.set_yticks(
        range(len(grid)), [_visible(one) for one in characters], fontsize=9
    )
    below.invert_yaxis()
    below.tick_params(length=0)
    below.grid(visible=False)
    below.set(
        xlabel="pixel of the line", ylabel="character written", xlim=(0, image.shape[1])
    )
    if title:
        above.set_title(title, fontsize=11)
    return figure


def lit_line(
    image: np.ndarray, weights: np.ndarray, *, stride: int, title: str = ""
) -> "Figure":
    """The line with the ink dark where one character looked, and pale elsewhere.

    Raises:
        ValueError: weights and picture do not fit.
    """
    import matplotlib.pyplot as plt

    row = _checked(image, np.asarray(weights)[None], 1, stride)[0]
    figure, axis = plt.subplots(figsize=(7.4, 1.2))
    _draw_line(axis, image)
    centres = stride * np.arange(len(row))
    light = np.interp(
        np.arange(image.shape[1]), centres, row / max(float(row.max()), 1e-9)
    )
    veil = np.zeros((*image.shape, 4))
    veil[...] = (1.0, 0.85, 0.3, 0.0)
    veil[..., 3] = 0.75 * light
    axis.imshow(veil, aspect="auto", extent=(0, image.shape[1], image.shape[0], 0))
    if title:
        axis.set_title(title, fontsize=11)
    return figure


def _draw_line(axis: "Axes", image: np.ndarray) -> None:
    axis.imshow(
        image,
        cmap="gray",
        vmin=0,
        vmax=255,
        aspect="auto",
        extent=(0, image.shape[1], image.shape[0], 0),
    )
    axis.set_yticks([])
    axis.grid(visible=False)
    axis.spines[:].set_visible(False)
    axis.tick_params(length=0, labelbottom=False)


def _checked(
    image: np.ndarray, weights: np.ndarray, n_characters: int, stride: int
) -> np.ndarray:
    grid = np.asarray(weights, dtype=float)
    n_columns = -(-image.shape[1] // stride)
    if grid.shape != (n_characters, n_columns):
        raise ValueError(
            f"weights must be (T, columns), here {(n_characters, n_columns)}: a row a"
            f" character, a column every {stride} of the {image.shape[1]} pixels; got"
            f" {grid.shape}"
        )
    return grid


def _visible(character: str) -> str:
    return "␣" if character == " " else character
