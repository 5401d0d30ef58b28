"""Attention over a film: the frames that a network saw, and above each of them what it weighed in the decision."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from coursepkg.arguments import check_count

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

WIDTH = 7.4
"""Of a figure, in inches."""
FADED = 0.25
"""How much of a frame is left that is no part of the clip."""
_GAP = 0.03
_BARS = 0.6
_CAPTION = 0.16
_NEAR_ONE = 0.02
"""By how much weights may miss a sum of 1: half precision rounds."""


def attention_strip(
    frames: np.ndarray,
    weights: np.ndarray,
    *,
    times: Sequence[float] | np.ndarray | None = None,
    mask: np.ndarray | None = None,
    per_row: int = 8,
    title: str = "",
) -> "Figure":
    """The frames of a clip, above each a bar as high as its attention weight.

    The largest weight has its number; a dotted line says what every frame would weigh if all weighed the same. All
    rows have one scale.

    Args:
        frames: RGB, uint8 (T, height, width, 3), the frames that the network saw.
        weights: (T,), at least 0, 0 at padding, with a sum of 1.
        times: when each is shown, in seconds (T,); it is written under the frame, else the frame's number from 0.
        mask: bool (T,), True where a frame is real; the others are faded.
        per_row: frames side by side.
        title: of the figure.

    Raises:
        ValueError: frames and weights do not fit, or the weights are no shares.
    """
    # Pages of pictures need this module too, and no figure.
    from coursepkg.viz.style import PALETTE

    figure, above, below = _rows_of(frames, per_row)
    real = _draw(below, frames, times, mask, per_row)
    shares = checked_weights(weights, real)
    highest = int(shares.argmax())
    for row, axis in enumerate(above):
        start = row * per_row
        own = shares[start : start + per_row]
        middles = np.arange(len(own)) + 0.5
        colours = [PALETTE[1] if start + i == highest else PALETTE[0] for i in range(len(own))]
        axis.bar(middles, own, width=0.72, color=colours)
        axis.axhline(1 / int(real.sum()), color="#555555", linewidth=0.9, linestyle=":")
        axis.set(xlim=(0, per_row), ylim=(0, 1.3 * float(shares.max())))
        if start <= highest < start + per_row:
            place = (highest - start + 0.5, float(shares[highest]))
            axis.annotate(f"{shares[highest]:.2f}", place, ha="center", va="bottom", fontsize=8)
    figure.suptitle(title, fontsize=11)
    return figure


def strip_picture(frames: np.ndarray, *, height: int = 72, gap: int = 2) -> np.ndarray:
    """The frames of a clip as one picture, for a page: RGB, uint8 (height, T (width + gap), 3), white between them.

    Args:
        frames: RGB, uint8 (T, height, width, 3).
        height: of the picture, in pixels.
        gap: white pixels behind each frame.

    Raises:
        ValueError: frames are of another kind.
    """
    from PIL import Image

    _check_frames(frames)
    check_count("height", height)
    check_count("gap", gap, least=0)
    width = max(1, round(height * frames.shape[2] / frames.shape[1]))
    picture = np.full((height, len(frames) * (width + gap), 3), 255, dtype=np.uint8)
    for number, frame in enumerate(frames):
        small = Image.fromarray(frame).resize((width, height), Image.Resampling.BILINEAR)
        picture[:, number * (width + gap) :][:, :width] = np.asarray(small)
    return picture


def checked_weights(weights: np.ndarray, real: np.ndarray) -> np.ndarray:
    """Attention weights as float64 (T,).

    Args:
        weights: what each frame weighs.
        real: bool (T,), True where a frame is no padding.

    Raises:
        ValueError: they are not one number a frame, one is negative or belongs to padding, or the sum is not 1.
    """
    shares = np.asarray(weights, dtype=np.float64)
    if shares.shape != real.shape:
        raise ValueError(f"weights must be one number a frame, {real.shape}, got {shares.shape}")
    if not bool((shares >= 0).all()) or abs(float(shares.sum()) - 1) > _NEAR_ONE:
        raise ValueError(f"weights must be at least 0 and add up to 1, got a sum of {shares.sum():.4f}")
    if bool((shares[~real] > 0).any()):
        raise ValueError("weights must be 0 at frames that are no part of the clip, as the mask has them")
    return shares


def _rows_of(frames: np.ndarray, per_row: int) -> "tuple[Figure, list[Axes], list[Axes]]":
    """A figure with rows for frames and above each a row for bars."""
    import matplotlib.pyplot as plt

    _check_frames(frames)
    check_count("per_row", per_row)
    n_rows = -(-len(frames) // per_row)
    tall = WIDTH / per_row * frames.shape[1] / frames.shape[2] + _CAPTION
    heights = [_BARS, tall] * n_rows
    size = (WIDTH, sum(heights) + 0.3)
    figure, axes = plt.subplots(len(heights), 1, figsize=size, squeeze=False, height_ratios=heights)
    for axis in axes[:, 0]:
        axis.spines[:].set_visible(False)
        axis.grid(visible=False)
        axis.set_xticks([])
        axis.set_yticks([])
        axis.tick_params(length=0, pad=1)
    return figure, list(axes[::2, 0]), list(axes[1::2, 0])


def _draw(
    axes: "Sequence[Axes]",
    frames: np.ndarray,
    times: Sequence[float] | np.ndarray | None,
    mask: np.ndarray | None,
    per_row: int,
) -> np.ndarray:
    """Put the frames into their rows with a caption each; return which of them are real (T,)."""
    real = np.ones(len(frames), dtype=bool) if mask is None else np.asarray(mask)
    for name, given in (("times", times), ("mask", real)):
        if given is not None and len(given) != len(frames):
            raise ValueError(f"{name} must be {len(frames)}, one for each frame, got {len(given)}")
    if real.dtype != np.bool_ or not real.any():
        raise ValueError("mask must be True or False for each frame, and True for one at least")
    said = [f"{i}" for i in range(len(frames))] if times is None else [f"{float(t):.2f} s" for t in times]
    for row, axis in enumerate(axes):
        own = slice(row * per_row, (row + 1) * per_row)
        _place(axis, frames[own], real[own], per_row)
        captions = [one if shown else "padding" for one, shown in zip(said[own], real[own], strict=True)]
        axis.set_xticks(np.arange(len(captions)) + 0.5, captions, fontsize=7)
    return real


def _place(axis: "Axes", frames: np.ndarray, real: np.ndarray, columns: int) -> None:
    """Frame i stands from i to i + 1 on the horizontal axis."""
    tall = (1 - 2 * _GAP) * frames.shape[1] / frames.shape[2]
    for i, (frame, shown) in enumerate(zip(frames, real.tolist(), strict=True)):
        extent = (i + _GAP, i + 1 - _GAP, 0.0, tall)
        axis.imshow(frame, extent=extent, alpha=1.0 if shown else FADED)
    axis.set(xlim=(0, columns), ylim=(0, tall))
    # What is too much of the row's height stays free below, so that frames keep their shape and their bars.
    axis.set_anchor("N")


def _check_frames(frames: np.ndarray) -> None:
    if frames.dtype != np.uint8 or frames.ndim != 4 or frames.shape[-1] != 3 or 0 in frames.shape:
        raise ValueError(
            "frames must be RGB pictures of one size, uint8 (T, height, width, 3), "
            f"got {frames.dtype} {frames.shape}"
        )
