"""Dropout that a processor without a fast random generator can afford.

PyTorch draws one random number for every component, on one thread (on processors that are not Intel's). In a training
step of a small Transformer that takes long enough to be seen. Here a component takes one byte: eight masks from each
64-bit number.
"""

import torch
from torch import Tensor, nn


class ByteDropout(nn.Dropout):
    """`nn.Dropout` with the probability rounded to a multiple of 1/256, at least 1/256; drawn bytewise on a CPU.

    What is kept is divided by the rounded probability of keeping, so the mean stays. On other devices, and in
    evaluation mode, it is `nn.Dropout` itself.
    """

    def forward(self, input: Tensor) -> Tensor:
        """Drop components of a tensor of any shape."""
        if not self.training or not self.p or self.p == 1 or self.inplace or input.device.type != "cpu":
            return super().forward(input)
        dropped = max(1, min(255, round(self.p * 256)))
        words = torch.empty(-(-input.numel() // 8), dtype=torch.int64).random_(-(2**63), None)
        kept = words.view(torch.uint8)[: input.numel()].view(input.shape) >= dropped
        return input * (kept.to(input.dtype) * (256 / (256 - dropped)))


def draw_bytewise(model: nn.Module) -> None:
    """Put `ByteDropout` in the place of every `nn.Dropout` of a model."""
    for parent in model.modules():
        for name, child in parent.named_children():
            if type(child) is nn.Dropout:
                setattr(parent, name, ByteDropout(child.p, child.inplace))
