"""The networks that find people and hands: MediaPipe's, run by LiteRT.

They ship with the package under the Apache License 2.0; `models/MODEL_CARDS.md` says
what each does, what it was made for, and where its makers say that it fails.
"""

from pathlib import Path
from typing import Any

import numpy as np

MODELS = Path(__file__).parent / "models"
"""Folder of the networks, `NAME.tflite` each."""


def import_litert() -> Any:
    """The interpreter of LiteRT, or an ImportError of one line."""
    try:
        from ai_edge_litert import interpreter
    except ImportError as reason:
        raise ImportError(
            "landmarks need ai-edge-litert: pip install 'coursepkg[landmarks]'"
        ) from reason
    return interpreter


class Network:
    """One network from a square picture to arrays; not for several threads at once.

    Args:
        name: of its file in `MODELS`, without the ending.
        folder: where the file lies.

    Raises:
        FileNotFoundError: there is no such file.
        ValueError: it is no network that LiteRT can run.
        ImportError: ai-edge-litert is not installed.
    """

    def __init__(self, name: str, folder: Path = MODELS) -> None:
        path = folder / f"{name}.tflite"
        if not path.is_file():
            raise FileNotFoundError(
                f"{path}: the network is missing; install coursepkg again"
            )
        litert = import_litert()
        try:
            self._interpreter = litert.Interpreter(str(path), num_threads=1)
            self._interpreter.allocate_tensors()
        except (ValueError, RuntimeError) as reason:
            raise ValueError(
                f"{path}: no network that can be run; install coursepkg again"
            ) from reason
        (self._input,) = self._interpreter.get_input_details()
        outputs = self._interpreter.get_output_details()
        # Identity, Identity_1, ...: the order in which the network was saved.
        self._outputs = sorted(outputs, key=lambda one: str(one["name"]))

    @property
    def size(self) -> int:
        """Side of the picture that it takes, in pixels."""
        return int(self._input["shape"][1])

    def run(self, picture: np.ndarray, *, low: float = 0.0) -> list[np.ndarray]:
        """What the network says of a picture.

        Args:
            picture: RGB, uint8 (size, size, 3).
            low: what black is to the network; white is 1.

        Returns:
            its outputs in order, float32.
        """
        scale = (1 - low) / 255
        values = picture.astype(np.float32) * np.float32(scale) + np.float32(low)
        self._interpreter.set_tensor(self._input["index"], values[None])
        self._interpreter.invoke()
        return [self._interpreter.get_tensor(one["index"]) for one in self._outputs]
