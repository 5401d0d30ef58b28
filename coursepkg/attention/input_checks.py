"""Checks of arguments that several mechanisms share. A mistake becomes a ValueError that names the argument."""

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from coursepkg.arguments import describe
from coursepkg.attention.features import FeatureMap


def check_tensor(name: str, x: Any) -> None:
    """Raises a ValueError unless x is a tensor."""
    if not isinstance(x, Tensor):
        raise ValueError(f"{name}: got {describe(x)}, needs a tensor")


def check_integer(name: str, value: Any) -> None:
    """Raises a ValueError unless the value is an integer; True and False are none."""
    if isinstance(value, bool) or not isinstance(value, int):
        raise ValueError(f"{name}: got {describe(value)}, needs an integer")


def check_number(name: str, value: Any) -> None:
    """Raises a ValueError unless the value is an integer or a float; True and False are neither."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise ValueError(f"{name}: got {describe(value)}, needs a number")


def check_grouped_heads(q: Tensor, k: Tensor, v: Tensor) -> None:
    """Raises a ValueError unless q is (B, H, T, D), k (B, G, S, D) and v (B, G, S, any), G a divisor of H."""
    for name, tensor, shape in (("q", q, "(B, H, T, D)"), ("k", k, "(B, G, S, D)"), ("v", v, "(B, G, S, D)")):
        check_tensor(name, tensor)
        if tensor.ndim != 4 or not tensor.is_floating_point():
            raise ValueError(
                f"{name}: got {tuple(tensor.shape)} of {tensor.dtype}, needs {shape} of a float dtype"
            )
        if (tensor.dtype, tensor.device) != (q.dtype, q.device):
            raise ValueError(
                f"{name}: got {tensor.dtype} on {tensor.device}, needs q's {q.dtype} on {q.device}"
            )
    if k.shape[0] != q.shape[0] or k.shape[3] != q.shape[3]:
        raise ValueError(f"k: got {tuple(k.shape)}, needs q's batch {q.shape[0]} and head dim {q.shape[3]}")
    if v.shape[:3] != k.shape[:3]:
        raise ValueError(f"v: got {tuple(v.shape)}, needs k's (B, G, S) = {tuple(k.shape[:3])}")
    if k.shape[1] == 0 or q.shape[1] % k.shape[1]:
        raise ValueError(f"k: got {k.shape[1]} heads, needs a divisor of q's {q.shape[1]} heads")


def checked_map(phi: FeatureMap) -> FeatureMap:
    """`phi`, whose every result is checked: (..., D) -> (..., F), with one F for queries and keys."""
    widths: set[int] = set()

    def checked(function: Callable[[Tensor], Tensor]) -> Callable[[Tensor], Tensor]:
        def run(x: Tensor) -> Tensor:
            features = function(x)
            check_tensor("feature_map's result", features)
            if features.shape[:-1] != x.shape[:-1] or features.ndim != x.ndim or features.dtype != x.dtype:
                raise ValueError(
                    f"feature_map: got {tuple(features.shape)} of {features.dtype} for {tuple(x.shape)}, "
                    f"needs ({', '.join(map(str, x.shape[:-1]))}, F) of {x.dtype}"
                )
            widths.add(features.shape[-1])
            if len(widths) > 1:
                raise ValueError(f"feature_map: got F of {sorted(widths)}, needs one F for queries and keys")
            return features

        return run

    return FeatureMap(keys=checked(phi.keys), queries=checked(phi.queries))


def check_rows(name: str, x: Tensor, width: int, weight: Any) -> None:
    """Raises a ValueError unless x is (B, T, width) and fits `weight`, the first matrix that multiplies it.

    Autocast casts both, so the dtypes may then differ. A layer put in the projection's place may keep no float
    matrix; it is left to that layer then.
    """
    if not isinstance(x, Tensor):
        raise ValueError(f"{name} must be a tensor (B, T, {width}), got {describe(x)}")
    if x.dim() != 3 or x.shape[-1] != width:
        raise ValueError(f"{name} must be (B, T, {width}), got shape {tuple(x.shape)}")
    if not isinstance(weight, Tensor) or not weight.is_floating_point():
        return
    if x.device != weight.device:
        raise ValueError(f"{name} must be on the device of the weights ({weight.device}), got {x.device}")
    autocast = x.is_floating_point() and torch.is_autocast_enabled(x.device.type)
    if x.dtype != weight.dtype and not autocast:
        raise ValueError(f"{name} must have the dtype of the weights ({weight.dtype}), got {x.dtype}")
