"""Gated convolutions over a text in place of a recurrence; those of pictures.

    [a, b] = conv(x)    y = (x + a * sigmoid(b)) * sqrt(1/2)

Every position is computed at once, and a stack of n layers sees n * (k - 1) * dilation
positions back (causal) or around (not causal): the path between two distant words has
as many steps as layers, where an RNN has as many as there are words between them.

Source: Gehring et al. (arXiv 1705.03122), section 3; the gate is by Dauphin et al.
(arXiv 1612.08083).
"""

import math
from collections.abc import Callable

from torch import Tensor, nn
from torch.nn import functional as F

from coursepkg.validation import check_counts

IMAGENET_MEAN = (0.485, 0.456, 0.406)
"""Of red, green and blue, in [0, 1], over ImageNet (Deng et al., CVPR 2009)."""
IMAGENET_STD = (0.229, 0.224, 0.225)
"""Pretrained networks take (pixel - mean) / std."""


class GatedConvolution(nn.Module):
    """Convolution to twice the width, gated linear unit, residual connection.

    Args:
        d_model: width of input and output (E).
        kernel_size: positions that one output sees (k); odd unless the layer is causal.
        causal: see only the position itself and those before it, as a decoder must.
        dilation: distance between two of the positions seen.

    Raises:
        ValueError: a size is not positive, or the kernel of a layer that is not causal
            is even.
    """

    def __init__(
        self, d_model: int, kernel_size: int, *, causal: bool = True, dilation: int = 1
    ) -> None:
        super().__init__()
        check_counts(d_model=d_model, kernel_size=kernel_size, dilation=dilation)
        if not causal and kernel_size % 2 == 0:
            raise ValueError(
                f"kernel_size must be odd where causal is False, got {kernel_size}"
            )
        self.conv = nn.Conv1d(d_model, 2 * d_model, kernel_size, dilation=dilation)
        reach = (kernel_size - 1) * dilation
        self.margins = (reach, 0) if causal else (reach // 2, reach // 2)

    def forward(self, x: Tensor, padding_mask: Tensor | None = None) -> Tensor:
        """Run the layer.

        Args:
            x: (B, T, E).
            padding_mask: bool (B, T), True at a real position. The others are read as
                zeros, like what lies outside the text, and give zeros.

        Returns:
            (B, T, E).

        Raises:
            ValueError: shapes do not fit.
        """
        if x.dim() != 3 or x.shape[-1] != self.conv.in_channels:
            raise ValueError(
                f"x must be (B, T, {self.conv.in_channels}), got shape {tuple(x.shape)}"
            )
        if padding_mask is not None:
            if padding_mask.shape != x.shape[:2]:
                raise ValueError(
                    f"padding_mask must be {tuple(x.shape[:2])}, got shape"
                    f" {tuple(padding_mask.shape)}"
                )
            x = x * padding_mask[..., None]
        padded = F.pad(x.transpose(1, 2), self.margins)  # (B, E, T + reach)
        wide = self.conv(padded).transpose(1, 2)  # (B, T, 2 E)
        y = (x + F.glu(wide, dim=-1)) * math.sqrt(0.5)
        return y if padding_mask is None else y * padding_mask[..., None]


class ConvolutionalEncoder(nn.Module):
    """A stack of `GatedConvolution` layers over embedded tokens.

    Args:
        d_model: width (E).
        kernel_size: positions that one layer sees.
        n_layers: layers.
        causal: whether positions see only the past.
        dropout_p: probability of dropping a component before each layer, in training
            mode only.
    """

    def __init__(
        self,
        d_model: int,
        kernel_size: int,
        n_layers: int,
        *,
        causal: bool = False,
        dropout_p: float = 0.0,
    ) -> None:
        super().__init__()
        check_counts(n_layers=n_layers)
        self.dropout = nn.Dropout(dropout_p)
        self.layers = nn.ModuleList(
            GatedConvolution(d_model, kernel_size, causal=causal)
            for _ in range(n_layers)
        )

    def forward(self, x: Tensor, padding_mask: Tensor | None = None) -> Tensor:
        """x (B, T, E), padding_mask (B, T) True at a real position -> (B, T, E)."""
        for layer in self.layers:
            x = layer(self.dropout(x), padding_mask)
        return x


def receptive_field(n_layers: int, kernel_size: int, dilation: int = 1) -> int:
    """Positions that one output of a stack of causal layers depends on.

    Raises:
        ValueError: an argument is not positive.
    """
    check_counts(n_layers=n_layers, kernel_size=kernel_size, dilation=dilation)
    return 1 + n_layers * (kernel_size - 1) * dilation


def _as_it_is(x: Tensor) -> Tensor:
    return x


class ConvNormReLU(nn.Module):
    """relu(norm(conv(x)) + added): a 3 x 3 convolution, batch normalisation, ReLU.

    Batch statistics serve in training only. In evaluation mode the normalisation is a
    fixed scale and shift, so a picture's result does not depend on what else is in the
    batch, and it can be folded into the convolution.

    Source: Ioffe and Szegedy, "Batch Normalization" (arXiv 1502.03167), section 3.1.
    """

    def __init__(
        self, n_in: int, n_out: int, stride: int | tuple[int, int] = 1
    ) -> None:
        super().__init__()
        self.conv = nn.Conv2d(n_in, n_out, 3, stride, padding=1, bias=False)
        self.norm: nn.Module = nn.BatchNorm2d(n_out)
        nn.init.kaiming_normal_(self.conv.weight, nonlinearity="relu")

    def forward(self, x: Tensor, added: Tensor | None = None) -> Tensor:
        """x (B, C, H, W), what a shortcut adds (B, C', H', W') or None -> the same."""
        normed: Tensor = self.norm(self.conv(x))
        return F.relu(normed if added is None else added + normed, inplace=True)


class ResidualBlock(nn.Module):
    """y = relu(x + f(x)), f two convolutions with a ReLU between them.

    Source: He et al., "Deep Residual Learning for Image Recognition" (arXiv
    1512.03385), section 3.
    """

    def __init__(self, n_channels: int) -> None:
        super().__init__()
        self.first = ConvNormReLU(n_channels, n_channels)
        self.second = ConvNormReLU(n_channels, n_channels)

    def forward(
        self, x: Tensor, clear: Callable[[Tensor], Tensor] = _as_it_is
    ) -> Tensor:
        """x (B, C, H, W) -> the same; `clear` sets the padding of pictures to zero."""
        return clear(self.second(clear(self.first(x)), x))
