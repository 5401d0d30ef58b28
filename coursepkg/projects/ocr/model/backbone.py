"""The CNN in front of the encoder, and its columns as a sequence.

    picture  H x W  ->  H/2 x W/2  ->  H/4 x W/4  ->  H/8 x W/4  ->  H/16 x W/4  small
    picture  H x W  ->  H/4 x W/4  ->  H/4 x W/4  ->  H/8 x W/8  ->  H/8 x W/8   ResNet

A line is read along its width, and CTC needs at least one column a character: the small
CNN shrinks the width by 4 only, which leaves four to five columns for a letter of a
line 40 pixels high. The ResNet of the text recognition notes keeps H/8, so its last
stages have stride 1.

A convolution would carry padding back into the line. Here padding is set to zero before
every convolution, so a padded line gives exactly the numbers of an unpadded one.

    fold   height goes into the channels: (C, H, W) -> W steps of C * H numbers
    grid   every place is a step: (C, H, W) -> W * H steps of C, positions in 2-D

Source: the text recognition notes (section 1); He et al., "Deep Residual
Learning for Image Recognition" (arXiv 1512.03385), table 1.
"""

from typing import Any, NamedTuple

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from coursepkg.blocks.config import TransformerConfig
from coursepkg.blocks.convolution import (
    IMAGENET_MEAN,
    IMAGENET_STD,
    ConvNormReLU,
    ResidualBlock,
)
from coursepkg.blocks.position import sinusoidal_table
from coursepkg.projects.ocr.recipe import ModelConfig


def transformer_config(
    config: ModelConfig, max_len: int, position: str = "sinusoidal"
) -> TransformerConfig:
    """The Transformer layers of one side, for at most `max_len` steps."""
    return TransformerConfig(
        config.vocab_size,
        d_model=config.d_model,
        n_heads=config.n_heads,
        n_encoder_layers=config.n_encoder_layers,
        n_decoder_layers=config.n_decoder_layers,
        d_ff=config.d_ff,
        dropout_p=config.dropout,
        attention_dropout_p=config.attention_dropout,
        norm_first=config.norm_first,
        final_norm=config.norm_first,
        max_len=max_len,
        position=position,
    )


def strided(widths: Tensor | None, stride: int) -> Tensor | None:
    """Columns (B,) that a strided convolution leaves of `widths` (B,), rounded up.

    A kernel of odd size k with padding (k - 1) / 2 gives floor((w - 1) / stride) + 1
    columns. None stays None.
    """
    if widths is None:
        return None
    return torch.div(widths - 1, stride, rounding_mode="floor") + 1


class Padding(NamedTuple):
    """The columns of a batch behind its shortest picture."""

    first: int
    """The first of them."""
    is_real: Tensor
    """bool (B, columns from there on), False at padding."""


def find_padding(widths: Tensor | None, n_columns: int) -> Padding | None:
    """Padding in a batch of n_columns; None where no line has any."""
    if widths is None:
        return None
    # Where a GPU would have to be waited for, all columns are looked at.
    first = int(widths.min()) if widths.device.type == "cpu" else 0
    if first >= n_columns:
        return None
    columns = torch.arange(first, n_columns, device=widths.device)
    return Padding(first, columns < widths[:, None])


def clear_padding(x: Tensor, padding: Padding | None) -> Tensor:
    """x (B, C, H, W) with zeros at padding, in place unless x requires a gradient."""
    if padding is None:
        return x
    keep = padding.is_real[:, None, None].to(x.dtype)
    if x.requires_grad:
        return x * F.pad(keep, (padding.first, 0), value=1.0)
    x[..., padding.first :].mul_(keep)
    return x


def put_channels_last(part: nn.Module) -> None:
    """Lay the channels of kernels side by side in memory, as a CPU wants them."""
    for one in part.parameters():
        if one.dim() == 4:
            one.data = one.data.contiguous(memory_format=torch.channels_last)


def check_images(
    images: Tensor, widths: Tensor | None, height: int, max_width: int
) -> None:
    """Raises a ValueError unless images (B, 1, height, W) and widths (B,) fit a model.

    Values are read only where that waits for no GPU.
    """
    is_batch = images.dim() == 4 and images.shape[1:3] == (1, height)
    if not is_batch or not images.is_floating_point():
        raise ValueError(
            f"images must be floating point (B, 1, {height}, W), got {images.dtype}"
            f" {tuple(images.shape)}"
        )
    if images.shape[3] > max_width:
        raise ValueError(
            f"images must be at most max_width = {max_width} pixels wide, got"
            f" {images.shape[3]}; narrow them first"
        )
    if images.shape[0] == 0:  # `len` would fix the size of an exported program
        raise ValueError("images must hold at least one picture, got none")
    if widths is None:
        return
    if widths.shape != images.shape[:1] or widths.is_floating_point():
        raise ValueError(
            f"widths must be one integer a picture ({len(images)},), got {widths.dtype}"
            f" {tuple(widths.shape)}"
        )
    if widths.device.type != "cpu":
        return
    low, high = (int(end) for end in widths.aminmax())
    if low < 1 or high > images.shape[3]:
        raise ValueError(
            f"widths must lie in 1..{images.shape[3]}, the width of the batch, got"
            f" {low}..{high}"
        )


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

        position(row, column) = [sinusoids of the column (E / 2), sinusoids of the row
        (E / 2)]

    Args:
        n_channels: C of the feature map.
        height: H of the feature map.
        d_model: width of a step (E), a multiple of 4.
        max_columns: most columns.
    """

    table: Tensor

    def __init__(
        self, n_channels: int, height: int, d_model: int, max_columns: int
    ) -> None:
        super().__init__()
        self.rows = height
        self.project = nn.Linear(n_channels, d_model)
        column = sinusoidal_table(max_columns, d_model // 2)[:, None].expand(
            -1, height, -1
        )
        row = sinusoidal_table(height, d_model // 2)[None].expand(max_columns, -1, -1)
        self.register_buffer(
            "table", torch.cat([column, row], dim=-1), persistent=False
        )  # (W, H, E)

    def forward(self, features: Tensor) -> Tensor:
        """features (B, C, H, W) -> (B, W * H, E)."""
        places = F.relu(self.project(features.permute(0, 3, 2, 1)))  # (B, W, H, E)
        return (places + self.table[: places.shape[1]]).flatten(1, 2)

    def by_column(self, steps: Tensor) -> Tensor:
        """Steps (B, W * H, E) -> the mean of each column (B, W, E)."""
        return steps.unflatten(1, (-1, self.rows)).mean(dim=2)


def make_sequence(
    kind: str, n_channels: int, height: int, d_model: int, max_columns: int
) -> Fold | Grid:
    """`fold` or `grid`."""
    if kind == "fold":
        return Fold(n_channels, height, d_model)
    return Grid(n_channels, height, d_model, max_columns)


STRIDES = ((2, 2), (2, 2), (2, 1), (2, 1))
"""Of the four stages, in height and width."""


class Stage(nn.Module):
    """A strided convolution, then residual blocks."""

    def __init__(
        self, n_in: int, n_out: int, n_blocks: int, stride: tuple[int, int]
    ) -> None:
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

    def forward(
        self, images: Tensor, widths: Tensor | None
    ) -> tuple[Tensor, Tensor | None]:
        """Read pictures.

        Args:
            images: (B, 1, H, W) in [-1, 1], paper is 1.
            widths: true columns (B,); what stands behind them changes nothing. None: no
                picture has padding.

        Returns:
            features (B, C, H / 16, W / 4) and their true columns (B,).
        """
        # Paper becomes zero, as what convolutions see beyond the edge.
        ink = (1.0 - images) / 2.0
        x = clear_padding(ink, find_padding(widths, images.shape[3]))
        for stage in self.stages:
            x, widths = stage(x, widths)
        return x, widths


STEM_CHANNELS = 64


class ResNetBackbone(nn.Module):
    """Pictures to feature maps by a bottleneck ResNet and a 1 x 1 convolution.

    Args:
        config: its `channels` and `n_blocks` make the ResNet; (256, 512, 1024, 2048)
            and (3, 4, 6, 3) are ResNet-50.

    Raises:
        ImportError: transformers is not installed.
    """

    mean: Tensor
    deviation: Tensor

    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        self.network: Any = _library().ResNetModel(_resnet_config(config))
        for stage in self.network.encoder.stages[2:]:
            for module in stage.layers[0].modules():
                if isinstance(module, nn.Conv2d):
                    module.stride = (1, 1)
        self.reduce = nn.Conv2d(config.channels[-1], config.d_model, 1)
        for name, values in (("mean", IMAGENET_MEAN), ("deviation", IMAGENET_STD)):
            self.register_buffer(
                name, torch.tensor(values)[:, None, None], persistent=False
            )
        self.out_channels = config.d_model
        self.out_height, self.width_stride = config.height // 8, 8

    def forward(
        self, images: Tensor, widths: Tensor | None
    ) -> tuple[Tensor, Tensor | None]:
        """Read pictures.

        Args:
            images: (B, 1, H, W) in [-1, 1], paper is 1.
            widths: true columns (B,); what stands behind them changes nothing. None: no
                picture has padding.

        Returns:
            features (B, E, H / 8, W / 8) and their true columns (B,).
        """
        colours = ((images + 1.0) / 2.0 - self.mean) / self.deviation  # (B, 3, H, W)
        x, widths = self._stem(
            clear_padding(colours, find_padding(widths, images.shape[3])), widths
        )
        for stage in self.network.encoder.stages:
            for layer in stage.layers:
                x, widths = _bottleneck(layer, x, widths)
        return F.relu(self.reduce(x)), widths

    def _stem(self, x: Tensor, widths: Tensor | None) -> tuple[Tensor, Tensor | None]:
        embedder, widths = self.network.embedder, strided(widths, 2)
        x = embedder.embedder(x)
        # Behind a ReLU nothing is below the zeros of padding, so that they win no
        # maximum that matters.
        x = embedder.pooler(clear_padding(x, find_padding(widths, x.shape[3])))
        widths = strided(widths, 2)
        return clear_padding(x, find_padding(widths, x.shape[3])), widths


def load_pretrained(backbone: ResNetBackbone, name: str) -> None:
    """Give a backbone the weights of a ResNet from the Hub or a folder.

    Raises:
        ValueError: it has other sizes.
        OSError: it cannot be read or fetched.
    """
    found = _library().ResNetModel.from_pretrained(name)
    ours = backbone.network.config
    for field in ("layer_type", "embedding_size", "hidden_sizes", "depths"):
        if getattr(found.config, field) != getattr(ours, field):
            raise ValueError(
                f"--pretrained {name} has {field} {getattr(found.config, field)}, the"
                f" recipe asks for {getattr(ours, field)}; choose another ResNet, or"
                " change --channels and --n-blocks"
            )
    backbone.network.load_state_dict(found.state_dict())


def _bottleneck(
    layer: Any, x: Tensor, widths: Tensor | None
) -> tuple[Tensor, Tensor | None]:
    """One layer of the library's, with padding cleared before its 3 x 3 convolution."""
    narrow, middle, wide = layer.layer
    inner = middle(clear_padding(narrow(x), find_padding(widths, x.shape[3])))
    widths = strided(widths, middle.convolution.stride[1])
    return layer.activation(wide(inner) + layer.shortcut(x)), widths


def _resnet_config(config: ModelConfig) -> Any:
    return _library().ResNetConfig(
        embedding_size=STEM_CHANNELS,
        hidden_sizes=list(config.channels),
        depths=list(config.n_blocks),
        layer_type="bottleneck",
        hidden_act="relu",
    )


def _library() -> Any:
    try:
        import transformers
    except ImportError as reason:
        raise ImportError(
            "--backbone resnet needs transformers: pip install 'coursepkg[t5]'"
        ) from reason
    return transformers
