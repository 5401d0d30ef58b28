"""Two ways to make a sequence of a feature map, both of the text recognition notes (source 001, section 1).

    fold   height goes into the channels: (C, H, W) -> W steps of C * H numbers, projected to E
    grid   every place is a step: (C, H, W) -> W * H steps of C numbers, projected to E; positions in two dimensions

Folding gives short sequences and fits straight lines. A grid keeps apart what lies above and below, which helps with
bent or slanted text; its sequence is H times as long, and the cost of self-attention H^2 times as high.
"""

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from coursepkg.blocks.position import sinusoidal_table


class Fold(nn.Module):
    """One step a column.

    Args:
        n_channels: C of the feature map.
        height: H of the feature map.
        d_model: width of a step (E).
    """

    rows = 1
    """Steps a column."""

    def __init__(self, n_channels: int, height: int, d_model: int) -> None:
        super().__init__()
        self.project = nn.Linear(n_channels * height, d_model)

    def forward(self, features: Tensor) -> Tensor:
        """features (B, C, H, W) -> (B, W, E)."""
        columns = features.permute(0, 3, 1, 2).flatten(2)  # (B, W, C * H)
        return F.relu(self.project(columns))

    def by_column(self, steps: Tensor) -> Tensor:
        """Steps (B, W, E), as they are."""
        return steps


class Grid(nn.Module):
    """One step a place, column after column, so that padding stands behind the line.

        position(row, column) = [sinusoids of the column (E / 2), sinusoids of the row (E / 2)]

    Args:
        n_channels: C of the feature map.
        height: H of the feature map.
        d_model: width of a step (E), a multiple of 4.
        max_columns: most columns.
    """

    table: Tensor

    def __init__(self, n_channels: int, height: int, d_model: int, max_columns: int) -> None:
        super().__init__()
        self.rows = height
        self.project = nn.Linear(n_channels, d_model)
        column = sinusoidal_table(max_columns, d_model // 2)[:, None].expand(-1, height, -1)
        row = sinusoidal_table(height, d_model // 2)[None].expand(max_columns, -1, -1)
        self.register_buffer("table", torch.cat([column, row], dim=-1), persistent=False)  # (W, H, E)

    def forward(self, features: Tensor) -> Tensor:
        """features (B, C, H, W) -> (B, W * H, E)."""
        places = F.relu(self.project(features.permute(0, 3, 2, 1)))  # (B, W, H, E)
        return (places + self.table[: places.shape[1]]).flatten(1, 2)

    def by_column(self, steps: Tensor) -> Tensor:
        """Steps (B, W * H, E) -> the mean of each column (B, W, E)."""
        return steps.unflatten(1, (-1, self.rows)).mean(dim=2)


def make_sequence(kind: str, n_channels: int, height: int, d_model: int, max_columns: int) -> Fold | Grid:
    """`fold` or `grid`."""
    if kind == "fold":
        return Fold(n_channels, height, d_model)
    return Grid(n_channels, height, d_model, max_columns)
