"""Matrices laid out for the CPU that will multiply by them: faster inference from the same weights.

A matrix product walks through its matrix in tiles. oneDNN, which comes with PyTorch, can store a weight in the order of
those tiles once, where an ordinary `nn.Linear` hands over plain rows at every call. The numbers are the same up to
rounding; how much time it saves depends on the processor (`coursepkg bench decoding`).
"""

import copy
from typing import TypeVar

import torch
from torch import Tensor, nn

from coursepkg.blocks.language_model import LanguageModel
from coursepkg.blocks.transformer import Transformer
from coursepkg.processor import multiplies_bfloat16

M = TypeVar("M", bound=nn.Module)


class PackedLinear(nn.Module):
    """y = x W^T + b with a weight in oneDNN's own order; no gradient, no state dict.

    Args:
        weight: (outputs, inputs), float32 or bfloat16 on the CPU.
        bias: (outputs,) of the same type, or None.
    """

    def __init__(self, weight: Tensor, bias: Tensor | None = None) -> None:
        super().__init__()
        self.out_features, self.in_features = weight.shape
        self._weight = torch.ops.mkldnn._reorder_linear_weight(weight.detach())
        self._bias = None if bias is None else bias.detach()

    def forward(self, x: Tensor) -> Tensor:
        """x (..., inputs) -> (..., outputs)."""
        y: Tensor = torch.ops.mkldnn._linear_pointwise(x, self._weight, self._bias, "none", [], "")
        return y

    def extra_repr(self) -> str:
        """What print(module) shows."""
        return f"{self.in_features} -> {self.out_features}"


def can_pack(model: nn.Module) -> bool:
    """Whether `pack_linears` takes the model: weights of one type on a CPU, in a PyTorch with oneDNN for it.

    The type is float32, or bfloat16 where the processor multiplies that itself.
    """
    weights = list(model.parameters())
    has_kernel = torch.backends.mkldnn.is_available() and hasattr(torch.ops.mkldnn, "_linear_pointwise")
    types = {weight.dtype for weight in weights}
    fits = types <= {torch.float32} or (types == {torch.bfloat16} and multiplies_bfloat16())
    return has_kernel and fits and all(weight.device.type == "cpu" for weight in weights)


def pack_linears(model: M) -> M:
    """A copy of the model, in eval mode, whose linear layers and output projection are packed.

    It shares all other weights with the model, which stays as it is. Changes of the model's matrices after this do not
    reach the copy.

    Raises:
        ValueError: `can_pack` says no.
    """
    if not can_pack(model):
        raise ValueError(
            "linear layers can be packed only in float32, or in bfloat16 on a CPU that multiplies it, with a PyTorch "
            "that has oneDNN; use the model as it is"
        )
    packed = copy.deepcopy(model, {id(p): p for p in model.parameters()}).eval()
    if isinstance(packed, Transformer | LanguageModel) and packed.output_head is None:
        # The projection to the vocabulary may be the embedding's matrix, which stays as it is for looking up.
        packed.output_head = PackedLinear(packed.output_weight, packed.output_bias)
        packed.output = None
    for module in list(packed.modules()):
        for name, child in list(module.named_children()):
            if type(child) is nn.Linear:
                setattr(module, name, PackedLinear(child.weight, child.bias))
    return packed


def pack_where_possible(model: M) -> M:
    """The packed copy, or the model itself where it cannot be packed."""
    return pack_linears(model) if can_pack(model) else model
