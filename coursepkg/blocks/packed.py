"""Layers made ready for the CPU that will run them: faster inference, the same weights.

A matrix product walks through its matrix in tiles. oneDNN, which comes with PyTorch,
can store a weight in the order of those tiles once, where an ordinary `nn.Linear` hands
over plain rows at every call. And what follows a product element by element, a ReLU or
a sum, it does while the numbers are still at hand, not in a walk through memory of its
own. The numbers are the same up to rounding; how much time it saves depends on the
processor (`coursepkg bench decoding`).
"""

import copy
from typing import Any, TypeVar

import torch
from torch import Tensor, nn

from coursepkg.blocks.convolution import ConvNormReLU
from coursepkg.blocks.feedforward import FeedForward
from coursepkg.blocks.language_model import LanguageModel
from coursepkg.blocks.transformer import Transformer
from coursepkg.processor import multiplies_bfloat16

M = TypeVar("M", bound=nn.Module)


class PackedLinear(nn.Module):
    """y = f(x W^T + b) with a weight in oneDNN's own order; no gradient, no state dict.

    Args:
        weight: (outputs, inputs), float32 or bfloat16 on the CPU.
        bias: (outputs,) of the same type, or None.
        activation: f, "relu", or "none" for the product as it is.
    """

    def __init__(
        self, weight: Tensor, bias: Tensor | None = None, activation: str = "none"
    ) -> None:
        super().__init__()
        self.activation = activation
        self.out_features, self.in_features = weight.shape
        self._weight = torch.ops.mkldnn._reorder_linear_weight(weight.detach())
        self._bias = None if bias is None else bias.detach()

    def forward(self, x: Tensor) -> Tensor:
        """x (..., inputs) -> (..., outputs)."""
        y: Tensor = torch.ops.mkldnn._linear_pointwise(
            x, self._weight, self._bias, self.activation, [], ""
        )
        return y

    def __getstate__(self) -> dict[str, Any]:
        """Plain rows in place of oneDNN's order, which is copied by no one."""
        return self.__dict__ | {"_weight": self._weight.to_dense()}

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)
        self._weight = torch.ops.mkldnn._reorder_linear_weight(self._weight)

    def extra_repr(self) -> str:
        """What print(module) shows."""
        return (
            f"{self.in_features} -> {self.out_features}, activation={self.activation!r}"
        )


class PackedConvReLU(nn.Module):
    """relu(conv(x) + added) in one walk through memory; no gradient, no state dict.

    The kernel has its channels side by side, and so has the output. It is not stored in
    oneDNN's own order: which one is best depends on the size of the pictures, and with
    a wrong one a convolution takes half as long again.

    Args:
        conv: with zeros beyond the edge, as many as its numbers say, float32 or
            bfloat16 on the CPU.

    Raises:
        ValueError: the convolution pads otherwise.
    """

    def __init__(self, conv: nn.Conv2d) -> None:
        super().__init__()
        if conv.padding_mode != "zeros" or isinstance(conv.padding, str):
            raise ValueError(
                f"conv must pad with a number of zeros, got padding {conv.padding!r} of"
                f" {conv.padding_mode}"
            )
        self._n_out, self._kernel_size = conv.out_channels, conv.kernel_size
        weight = conv.weight.detach()
        # Copied, since `contiguous` leaves a kernel of one input channel as it is.
        memory = torch.empty_like(weight, memory_format=torch.channels_last)
        self._weight = memory.copy_(weight)
        self._bias = None if conv.bias is None else conv.bias.detach()
        self._options = (
            list(conv.padding),
            list(conv.stride),
            list(conv.dilation),
            conv.groups,
        )

    def forward(self, x: Tensor, added: Tensor | None = None) -> Tensor:
        """x (B, C, H, W), what a shortcut adds (B, C', H', W') or None -> the same.

        Raises:
            ValueError: what is added has another shape.
        """
        convolve = torch.ops.mkldnn._convolution_pointwise
        weights = (self._weight, self._bias, *self._options)
        if added is None:
            y: Tensor = convolve(x, *weights, "relu", [], "")
            return y
        if added.shape != self._shape(x):  # oneDNN would read whatever lies there
            raise ValueError(
                f"added must have shape {self._shape(x)}, got {tuple(added.shape)}"
            )
        y = convolve(x, added, *weights, "add", None, "relu", [], "")
        return y

    def _shape(self, x: Tensor) -> tuple[int, ...]:
        """Of the output for x (B, C, H, W)."""
        sides = zip(x.shape[2:], self._kernel_size, *self._options[:3], strict=True)
        sizes = (
            (size + 2 * pad - spread * (kernel - 1) - 1) // step + 1
            for size, kernel, pad, step, spread in sides
        )
        return (len(x), self._n_out, *sizes)


def can_pack(model: nn.Module) -> bool:
    """Whether `pack` takes the model: finite weights of one type on a CPU, and oneDNN.

    The type is float32, or bfloat16 where the processor multiplies that itself.
    oneDNN's ReLU makes 0 of NaN: a broken model is not packed, so that its results
    still show that it is broken. Nor is one that is packed already.
    """
    weights = list(model.parameters())
    if any(isinstance(module, PackedLinear) for module in model.modules()):
        return False
    if not all(bool(weight.isfinite().all()) for weight in weights):
        return False
    if not torch.backends.mkldnn.is_available():
        return False
    kinds = {(weight.device.type, weight.dtype) for weight in weights}
    can_run = kinds <= {("cpu", torch.float32)} or (
        kinds == {("cpu", torch.bfloat16)} and multiplies_bfloat16()
    )
    return can_run and hasattr(torch.ops.mkldnn, "_linear_pointwise")


def pack(model: M) -> M:
    """A copy in eval mode whose linear layers and folded convolutions are packed.

    It shares all other weights with the model, which stays as it is. Changes of the
    model's matrices and kernels after this do not reach the copy. A convolution is
    folded where an identity stands for its normalisation.

    Raises:
        ValueError: `can_pack` says no.
    """
    if not can_pack(model):
        raise ValueError(
            "layers can be packed only once, with finite weights, in float32, or in"
            " bfloat16 on a CPU that multiplies it, with a PyTorch that has oneDNN; use"
            " the model as it is"
        )
    return _packed_copy(model)


def pack_where_possible(model: M) -> M:
    """The packed copy, or the model itself where it cannot be packed."""
    return _packed_copy(model) if can_pack(model) else model


def _packed_copy(model: M) -> M:
    packed = copy.deepcopy(model, {id(p): p for p in model.parameters()}).eval()
    if isinstance(packed, Transformer | LanguageModel) and packed.output_head is None:
        # The projection to the vocabulary may be the embedding's matrix, which stays as
        # it is for looking up.
        packed.output_head = PackedLinear(packed.output_weight, packed.output_bias)
        packed.output = None
    _pack_children(packed)
    return packed


def _pack_children(module: nn.Module) -> None:
    for name, child in list(module.named_children()):
        packed = _packed(child)
        if packed is None:
            _pack_children(child)
        else:
            setattr(module, name, packed)


def _packed(layer: nn.Module) -> nn.Module | None:
    """The packed form of a layer that has one."""
    if type(layer) is nn.Linear:
        return PackedLinear(layer.weight, layer.bias)
    if type(layer) is ConvNormReLU and isinstance(layer.norm, nn.Identity):
        return PackedConvReLU(layer.conv)
    if type(layer) is FeedForward and layer.activation == "relu":
        up, down = layer.up_proj, layer.down_proj
        if type(up) is nn.Linear and type(down) is nn.Linear:
            return nn.Sequential(
                PackedLinear(up.weight, up.bias, "relu"),
                PackedLinear(down.weight, down.bias),
            )
    return None
