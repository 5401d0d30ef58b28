"""A small CNN for lines of text: strided in height more than in width.

    picture  H x W  ->  H/2 x W/2  ->  H/4 x W/4  ->  H/8 x W/4  ->  H/16 x W/4

A line is read along its width, and CTC needs at least one column a character: the width shrinks by 4 only, which
leaves four to five columns for a letter of a line 40 pixels high. The height is no direction of reading and shrinks by
16.
"""

from torch import Tensor, nn

from coursepkg.blocks.residual import ConvNormReLU, ResidualBlock
from coursepkg.projects.ocr.model.columns import clear_padding, find_padding, strided
from coursepkg.projects.ocr.model.config import ModelConfig

STRIDES = ((2, 2), (2, 2), (2, 1), (2, 1))
"""Of the four stages, in height and width."""


class Stage(nn.Module):
    """A strided convolution, then residual blocks."""

    def __init__(self, n_in: int, n_out: int, n_blocks: int, stride: tuple[int, int]) -> None:
        super().__init__()
        self.stride = stride
        self.down = ConvNormReLU(n_in, n_out, stride)
        self.blocks = nn.ModuleList(ResidualBlock(n_out) for _ in range(n_blocks))

    def forward(self, x: Tensor, widths: Tensor | None) -> tuple[Tensor, Tensor | None]:
        """x (B, C, H, W) and its true columns (B,) -> the same of the next stage."""
        x, widths = self.down(x), strided(widths, self.stride[1])
        padding = find_padding(widths, x.shape[3])
        x = clear_padding(x, padding)
        for block in self.blocks:
            x = block(x, lambda y: clear_padding(y, padding))
        return x, widths


class SmallCNN(nn.Module):
    """Pictures to feature maps by four stages.

    Args:
        config: its channels and blocks.
    """

    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        inputs = (1, *config.channels[:-1])
        sizes = zip(inputs, config.channels, config.n_blocks, STRIDES, strict=True)
        self.stages = nn.ModuleList(Stage(*size) for size in sizes)
        self.out_channels = config.channels[-1]
        self.out_height = config.height
        for stride in STRIDES:
            self.out_height = (self.out_height - 1) // stride[0] + 1
        self.width_stride = 4

    def forward(self, images: Tensor, widths: Tensor | None) -> tuple[Tensor, Tensor | None]:
        """Read pictures.

        Args:
            images: (B, 1, H, W) in [-1, 1], paper is 1.
            widths: true columns (B,); what stands behind them changes nothing. None: no picture has padding.

        Returns:
            features (B, C, H / 16, W / 4) and their true columns (B,).
        """
        ink = (1.0 - images) / 2.0  # paper becomes zero, as what convolutions see beyond the edge
        x = clear_padding(ink, find_padding(widths, images.shape[3]))
        for stage in self.stages:
            x, widths = stage(x, widths)
        return x, widths
