"""Frames of clips side by side, a row a clip: what a still page can show of a film."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

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
        rows: title and frames of each clip, uint8 (T, height, width, 3); all clips have frames of one size.
        captions: what stands below each frame, a text or a number; None leaves the place out.
        marked: True at frames that get a coloured border and are paled; None marks none.
        fade: how much of a marked frame is left, in (0, 1].
        width: of the figure in inches.

    Raises:
        ValueError: there is no row, the frames differ in size, or captions or marks do not fit.
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
        flags = np.zeros(len(frames), bool) if marked is None else np.asarray(marked[i], bool)
        _draw_row(axis, frames, flags, fade)
        axis.set_title(title, fontsize=9.5, loc="left", pad=3)
        # Rows that end earlier keep the scale of the longest one.
        axis.set_xlim(0, most * wide * (1 + GAP))
        for number, text in enumerate(captions[i] if captions is not None else ()):
            middle = (number * (1 + GAP) + 0.5) * wide
            axis.text(middle, high * 1.03, str(text), ha="center", va="top", fontsize=8, color="#333333")
    return figure


def _draw_row(axis: "Axes", frames: np.ndarray, flags: np.ndarray, fade: float) -> None:
    from matplotlib.patches import Rectangle

    high, wide = frames.shape[1:3]
    for number, (frame, flag) in enumerate(zip(frames, flags, strict=True)):
        left = number * wide * (1 + GAP)
        axis.imshow(frame, extent=(left, left + wide, high, 0), alpha=fade if flag else 1.0)
        if flag:
            axis.add_patch(Rectangle((left, 0), wide, high, fill=False, edgecolor=MARK, linewidth=2.0))
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
        frames.ndim != 4 or frames.shape[-1] != 3 or not len(frames) for _, frames in rows
    ):
        raise ValueError(f"rows must hold frames (T, height, width, 3) of one size, got {sorted(shapes)}")
    for name, given in (("captions", captions), ("marked", marked)):
        if given is None:
            continue
        lengths, wanted = [len(one) for one in given], [len(frames) for _, frames in rows]
        if lengths != wanted:
            raise ValueError(f"{name} must have one entry a frame, {wanted} by rows, got {lengths}")
