"""Word alignments: lines between two sentences, grids of found against true links."""

from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from coursepkg.viz.image import one_title_a_panel

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

STRAIGHT, CROSSED = "#56B4E9", "#D55E00"
"""Lines that cross no other one, and lines that do."""

Links = Iterable[tuple[int, int]]


def alignment_lines(
    source: Sequence[str], target: Sequence[str], links: Links, *, title: str = ""
) -> "Figure":
    """Source above, target below, a line for each link; crossing ones are dashed.

    Raises:
        ValueError: a link leads out of a sentence.
    """
    import matplotlib.pyplot as plt

    pairs = _checked(links, len(source), len(target))
    tops, bottoms = _places(source), _places(target)
    width = max([*tops, *bottoms, 1.0])
    tops, bottoms = (
        [x * width / places[-1] for x in places] for places in (tops, bottoms)
    )
    figure, axis = plt.subplots(figsize=(min(9.6, max(4.0, 0.16 * width + 1.6)), 2.1))
    for s, t in pairs:
        crosses = any((s - a) * (t - b) < 0 for a, b in pairs)
        axis.plot(
            [tops[s], bottoms[t]],
            [0.86, 0.14],
            color=CROSSED if crosses else STRAIGHT,
            linestyle="--" if crosses else "-",
            linewidth=1.8,
        )
    for y, row, places in ((1.0, source, tops), (0.0, target, bottoms)):
        for text, x in zip(row, places, strict=True):
            axis.text(
                x, y, text.replace("_", " "), ha="center", va="center", fontsize=11
            )
    axis.set(xlim=(-3, width + 3), ylim=(-0.15, 1.15), title=title)
    axis.axis("off")
    return figure


def alignment_grid(
    source: Sequence[str],
    target: Sequence[str],
    gold: Links,
    panels: Sequence[np.ndarray] = (),
    *,
    title: str | Sequence[str] = "",
) -> "Figure":
    """Source across, target down; true links framed, a model's belief shaded.

    Args:
        source: the S source tokens.
        target: the T target tokens.
        gold: pairs (source position, target position) that are true.
        panels: weights (T, S) of some models, one grid each; none draws the true links
            alone.
        title: one title, or one a panel.

    Raises:
        ValueError: weights or titles do not fit, or a link leads out of a sentence.
    """
    import matplotlib.pyplot as plt

    pairs = _checked(gold, len(source), len(target))
    grids = [np.asarray(panel, dtype=float) for panel in panels] or [
        np.zeros((len(target), len(source)))
    ]
    for grid in grids:
        if grid.shape != (len(target), len(source)):
            raise ValueError(
                f"panels: shape {grid.shape}; need (T, S), here"
                f" {(len(target), len(source))}: a row a target token"
            )
    titles = one_title_a_panel(title, len(grids))
    size = (len(grids) * (0.38 * len(source) + 0.5) + 1.4, 0.41 * len(target) + 1.6)
    figure, axes = plt.subplots(1, len(grids), figsize=size, squeeze=False, sharey=True)
    for axis, grid, name in zip(axes[0], grids, titles, strict=True):
        axis.imshow(grid, cmap="Blues", vmin=0.0, vmax=1.25, aspect="equal")
        _frame(axis, pairs)
        _label(axis, source, target, name)
    return figure


def _frame(axis: "Axes", pairs: Sequence[tuple[int, int]]) -> None:
    from matplotlib.patches import Rectangle

    for s, t in pairs:
        axis.add_patch(
            Rectangle(
                (s - 0.42, t - 0.42),
                0.84,
                0.84,
                fill=False,
                edgecolor=CROSSED,
                linewidth=1.8,
            )
        )


def _label(
    axis: "Axes", source: Sequence[str], target: Sequence[str], title: str
) -> None:
    upright: dict[str, Any] = {"rotation": 45, "ha": "left", "rotation_mode": "anchor"}
    axis.set_xticks(range(len(source)), source, **upright)
    axis.set_yticks(range(len(target)), [text.replace("_", " ") for text in target])
    axis.xaxis.tick_top()
    axis.tick_params(length=0)
    axis.grid(visible=False)
    axis.set_xticks(np.arange(-0.5, len(source)), minor=True)
    axis.set_yticks(np.arange(-0.5, len(target)), minor=True)
    axis.grid(visible=True, which="minor", color="#DDDDDD", linewidth=0.6)
    axis.tick_params(which="minor", length=0)
    axis.spines[:].set_visible(False)
    if title:
        axis.set_title(title, fontsize=11)


def _places(tokens: Sequence[str]) -> list[float]:
    """Middles of the tokens on a line; Chinese characters are two letters wide."""
    widths = [
        sum(2.0 if sign > "\u2e7f" else 1.0 for sign in token) + 2.5 for token in tokens
    ]
    edges = np.cumsum([0.0, *widths])
    return [float(left + right) / 2 for left, right in pairwise(edges)]


def _checked(links: Links, n_source: int, n_target: int) -> list[tuple[int, int]]:
    pairs = sorted(links)
    for s, t in pairs:
        if not (0 <= s < n_source and 0 <= t < n_target):
            raise ValueError(
                f"links: {(s, t)} leads out of a sentence; need source positions below"
                f" {n_source} and target positions below {n_target}"
            )
    return pairs
