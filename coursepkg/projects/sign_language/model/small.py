"""A small CNN that is trained from scratch on a CPU: one vector a frame.

    frame  3 or 6 channels, H x W  ->  H/2 x W/2  ->  H/4 x W/4  ->  H/8 x W/8  ->  H/16 x W/16  ->  vector

Two things help it where ImageNet's weights are not at hand. It sees what moves and not what stands still: what a frame
has other than the mean of its clip, and what changed since the frame before. And it may keep places apart when it makes
a vector of its last map: a sign at the chin and the same sign at the chest have the same mean.
"""

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from coursepkg.blocks.residual import ConvNormReLU, ResidualBlock
from coursepkg.projects.sign_language.model.config import ModelConfig


class Stage(nn.Module):
    """A convolution that halves height and width, then residual blocks."""

    def __init__(self, n_in: int, n_out: int, n_blocks: int) -> None:
        super().__init__()
        self.down = ConvNormReLU(n_in, n_out, stride=2)
        self.blocks = nn.Sequential(*(ResidualBlock(n_out) for _ in range(n_blocks)))

    def forward(self, x: Tensor) -> Tensor:
        """x (N, C, H, W) -> (N, C', H / 2, W / 2), halves rounded up."""
        y: Tensor = self.blocks(self.down(x))
        return y


class SmallCNN(nn.Module):
    """Frames to vectors by strided stages.

    Args:
        config: its channels, blocks, size, `motion` and `places`.
    """

    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        inputs = (3 if config.motion == "none" else 6, *config.stage_channels[:-1])
        sizes = zip(inputs, config.stage_channels, config.stage_blocks, strict=True)
        self.stages = nn.ModuleList(Stage(*size) for size in sizes)
        last, side = config.stage_channels[-1], config.size
        for _ in self.stages:
            side = (side + 1) // 2
        self.fold = nn.Linear(last * side * side, config.d_model) if config.places == "fold" else None
        self.out_channels = last if self.fold is None else config.d_model

    @property
    def depths(self) -> list[str]:
        """Names of its parts, from the frame to the vector."""
        stages = [f"stages.{i}" for i in range(len(self.stages))]
        return stages if self.fold is None else [*stages, "fold"]

    def forward(self, frames: Tensor) -> Tensor:
        """frames (N, 3 or 6, H, W) -> (N, out_channels)."""
        x = frames
        for stage in self.stages:
            x = stage(x)
        if self.fold is None:
            return x.mean(dim=(2, 3))
        vectors: Tensor = self.fold(x.flatten(1))
        return vectors


def with_motion(frames: Tensor, mask: Tensor | None, motion: str) -> Tensor:
    """Frames as the network is to see them.

    With `beside` three channels more hold the change since the frame before, zero at the first frame. With `alone` the
    frame itself gives way to what it has other than the mean of its clip: walls and clothes that stand still are zero
    then, and nobody can be known by them. It asks for a camera that stands still.

    Args:
        frames: (B, T, 3, H, W).
        mask: bool (B, T), True at a real frame; padding does not enter the mean. None: all are real.
        motion: one of `config.MOTION`.

    Returns:
        (B, T, 3, H, W) for `none`, otherwise (B, T, 6, H, W).
    """
    if motion == "none":
        return frames
    changed = F.pad(frames[:, 1:] - frames[:, :-1], (0, 0, 0, 0, 0, 0, 1, 0))  # (B, T, 3, H, W)
    shown = frames if motion == "beside" else frames - mean_frame(frames, mask)
    return torch.cat([shown, changed], dim=2)


def mean_frame(frames: Tensor, mask: Tensor | None) -> Tensor:
    """The mean of the real frames of each clip, (B, T, 3, H, W) -> (B, 1, 3, H, W)."""
    if mask is None:
        return frames.mean(dim=1, keepdim=True)
    real = mask.to(frames.dtype)[:, :, None, None, None]
    return (frames * real).sum(dim=1, keepdim=True) / real.sum(dim=1, keepdim=True)
