"""The networks that find people and hands: MediaPipe's, run by LiteRT.

They ship with the package under the Apache License 2.0; `models/MODEL_CARDS.md` says
what each does, what it was made for, and where its makers say that it fails.
"""

import os
import sys
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from coursepkg.files import file_sha256
from coursepkg.validation import one_line

MODELS = Path(__file__).parent / "models"
"""Folder of the networks, `NAME.tflite` each."""
SHA256 = {
    "palm_detection_full": (
        "1b14e9422c6ad006cde6581a46c8b90dd573c07ab7f3934b5589e7cea3f89a54"
    ),
    "hand_landmark_full": (
        "11c272b891e1a99ab034208e23937a8008388cf11ed2a9d776ed3d01d0ba00e3"
    ),
    "pose_detection": (
        "9ba9dd3d42efaaba86b4ff0122b06f29c4122e756b329d89dca1e297fd8f866c"
    ),
    "pose_landmark_full": (
        "e9a5c5cb17f736fafd4c2ec1da3b3d331d6edbe8a0d32395855aeb2cdfd64b9f"
    ),
}
"""The networks by name, and the SHA-256 of each file in the wheel of mediapipe 0.10.21.
"""
_STDERR = 2
_DELEGATE = b"INFO: Created TensorFlow Lite XNNPACK delegate"
_REDIRECTION = threading.Lock()


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
        name: one of `SHA256`.
        folder: where the file lies.

    Raises:
        FileNotFoundError: there is no such file.
        ValueError: the file was damaged, or LiteRT cannot run it.
        ImportError: ai-edge-litert is not installed.
    """

    def __init__(self, name: str, folder: Path = MODELS) -> None:
        path = folder / f"{name}.tflite"
        if not path.is_file():
            raise FileNotFoundError(
                f"{path}: the network is missing; install coursepkg again"
            )
        # Bytes that were changed could end the process inside LiteRT, or move landmarks
        # without a word.
        if file_sha256(path) != SHA256[name]:
            raise ValueError(f"{path}: the network is damaged; install coursepkg again")
        litert = import_litert()
        try:
            with _without_delegate_line():
                self._interpreter = litert.Interpreter(str(path), num_threads=1)
                self._interpreter.allocate_tensors()
        except (ValueError, RuntimeError) as reason:
            raise ValueError(
                f"{path}: the installed ai-edge-litert cannot run it"
                f" ({one_line(reason)}); update it"
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
        """Run the network on a picture.

        Args:
            picture: RGB, uint8 (size, size, 3).
            low: value of a black pixel in the network's input; a white one has 1.

        Returns:
            its outputs in order, float32.
        """
        scale = (1 - low) / 255
        values = picture.astype(np.float32) * np.float32(scale) + np.float32(low)
        self._interpreter.set_tensor(self._input["index"], values[None])
        self._interpreter.invoke()
        return [self._interpreter.get_tensor(one["index"]) for one in self._outputs]


def sigmoid(logits: np.ndarray) -> np.ndarray:
    """Probabilities of logits: 1 / (1 + exp(-x)), without overflow."""
    return np.asarray(1 / (1 + np.exp(-logits.clip(-80, 80))))


@contextmanager
def _without_delegate_line() -> Iterator[None]:
    """Keep what LiteRT writes about its delegate off the terminal.

    It writes from C++, past `sys.stderr`, and has no setting against it. Every other
    line that is written meanwhile comes out afterwards.
    """
    with _REDIRECTION, tempfile.TemporaryFile() as caught:
        if sys.stderr is not None:
            sys.stderr.flush()
        try:
            before = os.dup(_STDERR)
        except OSError:  # the process has no standard error
            yield
            return
        try:
            os.dup2(caught.fileno(), _STDERR)
            yield
        finally:
            os.dup2(before, _STDERR)
            os.close(before)
            caught.seek(0)
            for line in caught:
                if not line.startswith(_DELEGATE):
                    os.write(_STDERR, line)
