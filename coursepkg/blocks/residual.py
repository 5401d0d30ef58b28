"""Convolutions of pictures: the pieces of a small CNN that is trained from scratch."""

from collections.abc import Callable

from torch import Tensor, nn
from torch.nn import functional as F


def _as_it_is(x: Tensor) -> Tensor:
    return x


class ConvNormReLU(nn.Module):
    """relu(norm(conv(x)) + added): a 3 x 3 convolution, batch normalisation, what a shortcut brings, ReLU.

    Batch statistics serve in training only. In evaluation mode the normalisation is a fixed scale and shift, so a
    picture's result does not depend on what else is in the batch, and it can be folded into the convolution.

    Source: Ioffe and Szegedy, "Batch Normalization" (arXiv 1502.03167), section 3.1.
    """

    def __init__(self, n_in: int, n_out: int, stride: int | tuple[int, int] = 1) -> None:
        super().__init__()
        self.conv = nn.Conv2d(n_in, n_out, 3, stride, padding=1, bias=False)
        self.norm: nn.Module = nn.BatchNorm2d(n_out)
        nn.init.kaiming_normal_(self.conv.weight, nonlinearity="relu")

    def forward(self, x: Tensor, added: Tensor | None = None) -> Tensor:
        """x (B, C, H, W) and, if anything, what is added (B, C', H', W') -> (B, C', H', W')."""
        normed: Tensor = self.norm(self.conv(x))
        return F.relu(normed if added is None else added + normed, inplace=True)


class ResidualBlock(nn.Module):
    """y = relu(x + f(x)), f two convolutions with a ReLU between them.

    Source: He et al., "Deep Residual Learning for Image Recognition" (arXiv 1512.03385), section 3.
    """

    def __init__(self, n_channels: int) -> None:
        super().__init__()
        self.first, self.second = ConvNormReLU(n_channels, n_channels), ConvNormReLU(n_channels, n_channels)

    def forward(self, x: Tensor, clear: Callable[[Tensor], Tensor] = _as_it_is) -> Tensor:
        """x (B, C, H, W) -> the same shape; `clear` sets padding to zero, where pictures have any."""
        return clear(self.second(clear(self.first(x)), x))
