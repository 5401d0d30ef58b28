"""Clips: attention over the frames of one, and frames side by side."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from coursepkg.validation import check_count

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

WIDTH = 7.4
"""Inches of the figure: that of the page's column."""
GAP = 0.04
"""White between two frames, as a share of a frame's width."""
MARK = "#D55E00"
"""Frame around pictures that are marked."""


def film_strips(
    rows: Sequence[tuple[str, np.ndarray]],
    *,
    captions: Sequence[Sequence[object]] | None = None,
    marked: Sequence[Sequence[bool] | np.ndarray] | None = None,
    fade: float = 0.45,
    width: float = WIDTH,
) -> "Figure":
    """One row of frames under one another for each clip, with its title above.

    All frames are drawn equally wide; a row with fewer of them ends earlier.

    Args:
        rows: title and frames of each clip, uint8 (T, height, width, 3); all clips have
            frames of one size.
        captions: what stands below each frame, a text or a number; None leaves the
            place out.
        marked: True at frames that get a coloured border and are paled; None marks
            none.
        fade: how much of a marked frame is left, in (0, 1].
        width: of the figure in inches.

    Raises:
        ValueError: there is no row, the frames differ in size, or captions or marks do
            not fit.
    """
    import matplotlib.pyplot as plt

    _check(rows, captions, marked)
    most = max(len(frames) for _, frames in rows)
    high, wide = rows[0][1].shape[1:3]
    below = 0.17 if captions is not None else 0.02
    tall = (width - 0.1) / most / (1 + GAP) * high / wide
    figure, axes = plt.subplots(
        len(rows), 1, figsize=(width, len(rows) * (tall + below + 0.27)), squeeze=False
    )
    for i, (axis, (title, frames)) in enumerate(zip(axes[:, 0], rows, strict=True)):
        flags = (
            np.zeros(len(frames), bool)
            if marked is None
            else np.asarray(marked[i], bool)
        )
        _draw_row(axis, frames, flags, fade)
        axis.set_title(title, fontsize=9.5, loc="left", pad=3)
        # Rows that end earlier keep the scale of the longest one.
        axis.set_xlim(0, most * wide * (1 + GAP))
        for number, text in enumerate(captions[i] if captions is not None else ()):
            middle = (number * (1 + GAP) + 0.5) * wide
            axis.text(
                middle,
                high * 1.03,
                str(text),
                ha="center",
                va="top",
                fontsize=8,
                color="#333333",
            )
    return figure


def _draw_row(axis: "Axes", frames: np.ndarray, flags: np.ndarray, fade: float) -> None:
    from matplotlib.patches import Rectangle

    high, wide = frames.shape[1:3]
    for number, (frame, flag) in enumerate(zip(frames, flags, strict=True)):
        left = number * wide * (1 + GAP)
        axis.imshow(
            frame, extent=(left, left + wide, high, 0), alpha=fade if flag else 1.0
        )
        if flag:
            axis.add_patch(
                Rectangle(
                    (left, 0), wide, high, fill=False, edgecolor=MARK, linewidth=2.0
                )
            )
    axis.set_ylim(high, 0)
    axis.set_aspect("equal")
    axis.axis("off")


def _check(
    rows: Sequence[tuple[str, np.ndarray]],
    captions: Sequence[Sequence[object]] | None,
    marked: Sequence[Sequence[bool] | np.ndarray] | None,
) -> None:
    if not rows:
        raise ValueError("rows must hold at least one clip, got none")
    shapes = {frames.shape[1:] for _, frames in rows}
    if len(shapes) > 1 or any(
        frames.ndim != 4 or frames.shape[-1] != 3 or not len(frames)
        for _, frames in rows
    ):
        raise ValueError(
            "rows must hold frames (T, height, width, 3) of one size, got"
            f" {sorted(shapes)}"
        )
    for name, given in (("captions", captions), ("marked", marked)):
        if given is None:
            continue
        lengths, wanted = (
            [len(one) for one in given],
            [len(frames) for _, frames in rows],
        )
        if lengths != wanted:
            raise ValueError(
                f"{name} must have one entry a frame, {wanted} by rows, got {lengths}"
            )


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

    The largest weight has its number; a dotted line says what every frame would weigh
    if all weighed the same. All rows have one scale.

    Args:
        frames: RGB, uint8 (T, height, width, 3), the frames that the network saw.
        weights: (T,), at least 0, 0 at padding, with a sum of 1.
        times: when each is shown, in seconds (T,); it is written under the frame, else
            the frame's number from 0.
        mask: bool (T,), True where a frame is real; the others are faded.
        per_row: frames side by side.
        title: of the figure.

    Raises:
        ValueError: frames and weights do not fit, or the weights are no shares.
    """
    # Pages of pictures need this module too, and no figure.
    from coursepkg.viz.image import PALETTE

    figure, above, below = _rows_of(frames, per_row)
    real = _draw(below, frames, times, mask, per_row)
    shares = checked_weights(weights, real)
    highest = int(shares.argmax())
    for row, axis in enumerate(above):
        start = row * per_row
        own = shares[start : start + per_row]
        middles = np.arange(len(own)) + 0.5
        colours = [
            PALETTE[1] if start + i == highest else PALETTE[0] for i in range(len(own))
        ]
        axis.bar(middles, own, width=0.72, color=colours)
        axis.axhline(1 / int(real.sum()), color="#555555", linewidth=0.9, linestyle=":")
        axis.set(xlim=(0, per_row), ylim=(0, 1.3 * float(shares.max())))
        if start <= highest < start + per_row:
            place = (highest - start + 0.5, float(shares[highest]))
            axis.annotate(
                f"{shares[highest]:.2f}", place, ha="center", va="bottom", fontsize=8
            )
    figure.suptitle(title, fontsize=11)
    return figure


def strip_picture(frames: np.ndarray, *, height: int = 72, gap: int = 2) -> np.ndarray:
    """The frames of a clip side by side: RGB, uint8 (height, T (width + gap), 3).

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
        small = Image.fromarray(frame).resize(
            (width, height), Image.Resampling.BILINEAR
        )
        picture[:, number * (width + gap) :][:, :width] = np.asarray(small)
    return picture


def checked_weights(weights: np.ndarray, real: np.ndarray) -> np.ndarray:
    """Attention weights as float64 (T,).

    Raises:
        ValueError: they are not one number a frame, one is negative or belongs to
            padding, or the sum is not 1.
    """
    shares = np.asarray(weights, dtype=np.float64)
    if shares.shape != real.shape:
        raise ValueError(
            f"weights must be one number a frame, {real.shape}, got {shares.shape}"
        )
    if not bool((shares >= 0).all()) or abs(float(shares.sum()) - 1) > _NEAR_ONE:
        raise ValueError(
            "weights must be at least 0 and add up to 1, got a sum of"
            f" {shares.sum():.4f}"
        )
    if bool((shares[~real] > 0).any()):
        raise ValueError(
            "weights must be 0 at frames that are no part of the clip, as the mask has"
            " them"
        )
    return shares


def _rows_of(
    frames: np.ndarray, per_row: int
) -> "tuple[Figure, list[Axes], list[Axes]]":
    """A figure with rows for frames and above each a row for bars."""
    import matplotlib.pyplot as plt

    _check_frames(frames)
    check_count("per_row", per_row)
    n_rows = -(-len(frames) // per_row)
    tall = WIDTH / per_row * frames.shape[1] / frames.shape[2] + _CAPTION
    heights = [_BARS, tall] * n_rows
    size = (WIDTH, sum(heights) + 0.3)
    figure, axes = plt.subplots(
        len(heights), 1, figsize=size, squeeze=False, height_ratios=heights
    )
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
    """Put the captioned frames into their rows; returns which of them are real (T,)."""
    real = np.ones(len(frames), dtype=bool) if mask is None else np.asarray(mask)
    for name, given in (("times", times), ("mask", real)):
        if given is not None and len(given) != len(frames):
            raise ValueError(
                f"{name} must be {len(frames)}, one for each frame, got {len(given)}"
            )
    if real.dtype != np.bool_ or not real.any():
        raise ValueError(
            "mask must be True or False for each frame, and True for one at least"
        )
    said = (
        [f"{i}" for i in range(len(frames))]
        if times is None
        else [f"{float(t):.2f} s" for t in times]
    )
    for row, axis in enumerate(axes):
        own = slice(row * per_row, (row + 1) * per_row)
        _place(axis, frames[own], real[own], per_row)
        captions = [
            one if shown else "padding"
            for one, shown in zip(said[own], real[own], strict=True)
        ]
        axis.set_xticks(np.arange(len(captions)) + 0.5, captions, fontsize=7)
    return real


def _place(axis: "Axes", frames: np.ndarray, real: np.ndarray, columns: int) -> None:
    """Frame i stands from i to i + 1 on the horizontal axis."""
    tall = (1 - 2 * _GAP) * frames.shape[1] / frames.shape[2]
    for i, (frame, shown) in enumerate(zip(frames, real.tolist(), strict=True)):
        extent = (i + _GAP, i + 1 - _GAP, 0.0, tall)
        axis.imshow(frame, extent=extent, alpha=1.0 if shown else FADED)
    axis.set(xlim=(0, columns), ylim=(0, tall))
    # What is too much of the row's height stays free below, so that frames keep their
    # shape and their bars.
    axis.set_anchor("N")


def _check_frames(frames: np.ndarray) -> None:
    if (
        frames.dtype != np.uint8
        or frames.ndim != 4
        or frames.shape[-1] != 3
        or 0 in frames.shape
    ):
        raise ValueError(
            "frames must be RGB pictures of one size, uint8 (T, height, width, 3), "
            f"got {frames.dtype} {frames.shape}"
        )
