"""Attention weights and masks as grids (queries down, keys across), with tiles."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor

from coursepkg.attention.pattern import Pattern
from coursepkg.viz.image import one_title_a_panel

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

WRITE_NUMBERS_UP_TO = 12
"""Largest number of rows and columns for which each cell has its number written in
it."""


def attention_heatmap(
    weights: Tensor,
    rows: Sequence[str],
    columns: Sequence[str],
    *,
    title: str | Sequence[str] = "",
    numbers: bool | None = None,
    limit: float | None = None,
) -> "Figure":
    """Draws attention weights with the tokens beside them, one panel a head.

    Args:
        weights: (T, S) for one panel, (H, T, S) for H of them side by side.
        rows: the T query tokens, in any language.
        columns: the S key tokens.
        title: one title, or one a panel.
        numbers: write each weight into its cell; by default where the grid is small.
        limit: the weight that gets the darkest colour; by default the largest one.
            Colours in all panels agree.

    Raises:
        ValueError: for weights that do not fit the tokens.
    """
    import matplotlib.pyplot as plt

    grids = weights.detach().float().cpu()
    grids = grids[None] if grids.dim() == 2 else grids
    if grids.dim() != 3 or grids.shape[1:] != (len(rows), len(columns)):
        raise ValueError(
            f"weights: shape {tuple(weights.shape)}; need (T, S) or (H, T, S) with T"
            f" {len(rows)} rows and S {len(columns)} columns"
        )
    titles = one_title_a_panel(title, len(grids))
    small = max(len(rows), len(columns)) <= WRITE_NUMBERS_UP_TO and len(grids) == 1
    size = 0.55 if small or numbers else 0.4
    width = len(grids) * (size * len(columns) + 1.4)
    figure, axes = plt.subplots(
        1,
        len(grids),
        figsize=(max(width, 3.2), max(size * len(rows) + 1.4, 2.4)),
        squeeze=False,
    )
    top = float(limit if limit is not None else grids.max().clamp_min(1e-9))
    for axis, grid, name in zip(axes[0], grids, titles, strict=True):
        picture = axis.imshow(
            grid.numpy(), cmap="Blues", vmin=0.0, vmax=top, aspect="equal"
        )
        _label(axis, rows, columns, name)
        if small if numbers is None else numbers:
            _write_numbers(axis, grid, top)
    figure.colorbar(picture, ax=list(axes[0]), shrink=0.8, label="weight")
    return figure


def mask_grid(
    masks: Mapping[str, Tensor], *, columns: int = 4, cell: float = 2.2
) -> "Figure":
    """Draws patterns side by side: dark where the query may attend to the key.

    Args:
        masks: title -> bool (T, S), or anything that `Pattern.mask` returned for one
            batch entry and one head.
        columns: panels in a row.
        cell: width of a panel, inches.

    Raises:
        ValueError: for no mask, or for one that is not a single grid.
    """
    import matplotlib.pyplot as plt

    if not masks:
        raise ValueError("masks: none given; need at least one title with its mask")
    n_rows = -(-len(masks) // columns)
    across = min(columns, len(masks))
    figure, axes = plt.subplots(
        n_rows, across, figsize=(cell * across, (cell + 0.5) * n_rows), squeeze=False
    )
    for axis in axes.flat:
        axis.set_axis_off()
    for axis, (name, mask) in zip(axes.flat, masks.items(), strict=False):
        grid = (
            mask.reshape(mask.shape[-2:])
            if mask.numel() == mask.shape[-2:].numel()
            else mask
        )
        if grid.dim() != 2:
            raise ValueError(
                f"masks: {name!r} has shape {tuple(mask.shape)}; need one (T, S) grid,"
                " one batch entry and one head"
            )
        axis.set_axis_on()
        axis.imshow(
            grid.to(torch.uint8).cpu().numpy(),
            cmap="Blues",
            vmin=0,
            vmax=1.25,
            aspect="equal",
            interpolation="nearest",
        )
        axis.set(xticks=[], yticks=[], xlabel="keys", ylabel="queries")
        axis.set_title(
            f"{name}\n{100 * grid.float().mean().item():.0f}% of cells", fontsize=10
        )
        axis.spines[:].set_visible(True)
    return figure


def _label(
    axis: "Axes", rows: Sequence[str], columns: Sequence[str], title: str
) -> None:
    slanted: dict[str, Any] = {"rotation": 45, "ha": "left", "rotation_mode": "anchor"}
    axis.set_xticks(range(len(columns)), columns, **slanted)
    axis.set_yticks(range(len(rows)), rows)
    axis.xaxis.tick_top()
    axis.tick_params(length=0)
    axis.grid(visible=False)
    axis.spines[:].set_visible(False)
    axis.set_ylabel("query")
    axis.set_xlabel("key")
    if title:
        axis.set_title(title)


def _write_numbers(axis: "Axes", grid: Tensor, top: float) -> None:
    for i, row in enumerate(grid.tolist()):
        for j, weight in enumerate(row):
            colour = "white" if weight > 0.55 * top else "#333333"
            axis.text(
                j,
                i,
                f"{weight:.2f}",
                ha="center",
                va="center",
                fontsize=8,
                color=colour,
            )


COLOURS = {
    "visible, tile full": (0.00, 0.45, 0.70),
    "visible, tile partial": (0.84, 0.37, 0.00),
    "hidden, tile visited": (0.99, 0.88, 0.72),
    "hidden, tile skipped": (1.00, 1.00, 1.00),
}
"""What each cell of the picture means, as red, green and blue."""


def draw_block_map(
    axis: "Axes", pattern: Pattern, length: int, block: int, *, legend: bool = True
) -> None:
    """Draws a mask cell by cell, coloured by what happens to the cell's tile."""
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
            Patch(facecolor=colour, edgecolor="#999999", label=name)
            for name, colour in COLOURS.items()
        ]
        axis.legend(
            handles=handles,
            loc="upper left",
            bbox_to_anchor=(1.02, 1.0),
            fontsize=9,
            frameon=False,
        )


def cell_kinds(pattern: Pattern, length: int, block: int) -> Tensor:
    """Index into `COLOURS` of every (query, key) cell, int64 (T, S)."""
    visible = pattern.mask(length, length)[0, 0]
    may, must = (
        tiles[0, 0]
        .repeat_interleave(block, 0)
        .repeat_interleave(block, 1)[:length, :length]
        for tiles in pattern.block_map(length, length, block, block)
    )
    hidden = torch.where(may, 2, 3)
    return torch.where(visible, torch.where(must, 0, 1), hidden)
