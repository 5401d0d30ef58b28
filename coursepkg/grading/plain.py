"""Plain values as bytes: what crosses the wall between grader and sandbox.

Numbers, strings, lists, tuples, dicts, sets, dtypes, tensors and arrays; no pickle, no
code. Tensors lie in one safetensors block, the rest in the JSON text of its metadata.
What comes out of a sandbox is hostile until `decode` has read it.
"""

import json
import struct
from typing import Any

import numpy as np
import torch
from safetensors import SafetensorError
from safetensors.torch import load, save
from torch import Tensor

DEEPEST = 50
"""Levels of lists in lists that are taken."""

KINDS = (
    "numbers, strings, lists, tuples, dicts, sets, tensors and NumPy arrays"
    " without objects"
)


def encode(value: Any) -> bytes:
    """A plain value as bytes.

    Raises:
        ValueError: something in it is not plain; names its type.
    """
    tensors: dict[str, Tensor] = {}
    text = json.dumps(_to_tree(value, tensors, 0), ensure_ascii=False)
    return save(tensors, {"value": text})


def decode(data: bytes) -> Any:
    """The value that `encode` wrote; every part is exactly of its plain type.

    Raises:
        ValueError: the bytes are anything else.
    """
    try:
        (length,) = struct.unpack_from("<Q", data)
        header = json.loads(data[8 : 8 + length].decode())
        tree = json.loads(header["__metadata__"]["value"])
        return _from_tree(tree, load(data), 0)
    except (
        ArithmeticError,
        AttributeError,
        LookupError,
        MemoryError,
        RecursionError,
        RuntimeError,
        SafetensorError,
        TypeError,
        ValueError,
        struct.error,
    ) as reason:
        raise ValueError(f"no plain value ({type(reason).__name__})") from reason


def _to_tree(value: Any, tensors: dict[str, Tensor], depth: int) -> Any:
    if depth > DEEPEST:
        raise ValueError(f"lists lie more than {DEEPEST} deep in one another")
    if value is None or isinstance(value, bool | str):
        return value if value is None or isinstance(value, bool) else str(value)
    if isinstance(value, int):
        return {"int": str(int(value))}
    if isinstance(value, float):
        return {"float": float(value).hex()}
    if isinstance(value, np.generic) and not isinstance(value, np.void):
        return _to_tree(value.item(), tensors, depth)
    if isinstance(value, Tensor | np.ndarray):
        return _tensor_to_tree(value, tensors)
    if isinstance(value, torch.dtype):
        return {"dtype": str(value).removeprefix("torch.")}
    for name, kind in (("list", list), ("tuple", tuple), ("set", set | frozenset)):
        if isinstance(value, kind):
            return {name: [_to_tree(one, tensors, depth + 1) for one in value]}
    if isinstance(value, dict):
        rows = [[key, item] for key, item in value.items()]
        return {
            "dict": [[_to_tree(x, tensors, depth + 1) for x in row] for row in rows]
        }
    raise ValueError(f"a {type(value).__name__} is no plain value; plain are {KINDS}")


def _tensor_to_tree(value: Tensor | np.ndarray, tensors: dict[str, Tensor]) -> Any:
    kind = "tensor" if isinstance(value, Tensor) else "array"
    if isinstance(value, np.ndarray):
        if value.dtype.hasobject or value.dtype.kind not in "biuf":
            raise ValueError(f"an array of {value.dtype} is no plain value")
        value = torch.from_numpy(np.ascontiguousarray(value).reshape(value.shape))
    if value.layout != torch.strided or value.is_complex() or value.is_quantized:
        raise ValueError("a tensor that is sparse, complex or quantized is not plain")
    name = str(len(tensors))
    tensors[name] = value.detach().cpu().contiguous().clone()
    return {kind: name}


def _from_tree(tree: Any, tensors: dict[str, Tensor], depth: int) -> Any:
    if depth > 2 * DEEPEST:
        raise ValueError("too deep")
    if tree is None or isinstance(tree, bool | str):
        return tree
    ((kind, inside),) = tree.items()
    if kind == "int":
        return int(inside)
    if kind == "float":
        return float.fromhex(inside)
    if kind in ("tensor", "array"):
        found = tensors[inside]
        return found if kind == "tensor" else found.numpy()
    if kind == "dtype":
        found = getattr(torch, inside)
        if not isinstance(found, torch.dtype):
            raise ValueError("no dtype")
        return found
    if kind == "dict":
        return {
            _from_tree(key, tensors, depth + 1): _from_tree(item, tensors, depth + 1)
            for key, item in inside
        }
    return {"list": list, "tuple": tuple, "set": set}[kind](
        _from_tree(one, tensors, depth + 1) for one in inside
    )
