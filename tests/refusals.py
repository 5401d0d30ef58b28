"""Arguments of another type than the annotated one, while the suite's own check of shapes and types is off."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import jaxtyping
import numpy as np
import torch


@contextmanager
def unchecked() -> Iterator[None]:
    """Functions take what they are given, as in a user's process."""
    jaxtyping.config.update("jaxtyping_disable", True)
    try:
        yield
    finally:
        jaxtyping.config.update("jaxtyping_disable", False)


def assert_refused(preparation: str, messages: Mapping[str, str]) -> None:
    """Each call raises a ValueError with its message, after the same preparation."""
    names: dict[str, Any] = {}
    said = {}
    with unchecked():
        exec(preparation, names)
        for call in messages:
            try:
                said[call] = f"accepted {eval(call, names)}"
            except ValueError as error:
                said[call] = str(error)
    assert said == messages


def assert_equal(preparation: str, pairs: Mapping[str, str]) -> None:
    """Each expression gives what the other one gives; `i64` and `f32` are numpy's scalars."""
    names: dict[str, Any] = {"np": np, "torch": torch, "i64": np.int64, "f32": np.float32}
    with unchecked():
        exec(preparation, names)
        found = {(ours, same): (eval(ours, names), eval(same, names)) for ours, same in pairs.items()}
    for expressions, (a, b) in found.items():
        assert torch.equal(a, b) if isinstance(a, torch.Tensor) else a == b, expressions
