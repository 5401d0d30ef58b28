"""The detector's weights: the file inside the rapidocr package, and the folder that PaddleOCR wants of it."""

import hashlib
import json
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import BinaryIO

from coursepkg.data.location import cache_folder
from coursepkg.files import file_sha256, whole_file
from coursepkg.projects.ocr.detector.settings import DetectorSettings
from coursepkg.requirements import installed

_PATTERN = "*v6_det_small.onnx"
_FORMAT = 3
"""Version of what is done around the network: scaling, normalising, order of corners, rim."""
_PACKAGES = ("onnxruntime", "rapidocr", "paddleocr", "paddlex", "paddlepaddle")


def rapidocr_weights() -> Path:
    """The ONNX file of PP-OCRv6's small detector as it lies in the installed rapidocr package, which is not imported.

    Raises:
        FileNotFoundError: rapidocr is not installed, or carries other weights.
    """
    spec = find_spec("rapidocr")
    if spec is None or spec.origin is None:
        raise FileNotFoundError("rapidocr is not installed: pip install 'coursepkg[ocr]'")
    folder = Path(spec.origin).parent / "models"
    found = sorted(folder.glob(_PATTERN))
    if not found:
        raise FileNotFoundError(
            f"{folder}: no {_PATTERN} in it; rapidocr 3.10 carries one: pip install 'rapidocr>=3.10'"
        )
    return found[0]


def paddle_folder(model: str, folder: Path | None = None) -> Path:
    """A folder with these weights as `inference.onnx` and with the `inference.yml` that PaddleOCR wants beside it.

    Args:
        model: PaddleOCR's name of the network.
        folder: where folders of models stand; by default the user's cache.

    Raises:
        OSError: the weights are not there, or the folder cannot be written.
    """
    weights = rapidocr_weights()
    target = (folder or cache_folder() / "detector") / f"{model}-{file_sha256(weights)[:16]}"
    target.mkdir(parents=True, exist_ok=True)
    onnx, description = target / "inference.onnx", target / "inference.yml"
    if not onnx.exists():
        with shared_file(onnx) as file, weights.open("rb") as source:
            shutil.copyfileobj(source, file)
    if not description.exists():
        with shared_file(description) as file:
            file.write(_description(model).encode())
    return target


@contextmanager
def shared_file(path: Path) -> Iterator[BinaryIO]:
    """A file to write into where other processes may write the same one: each writes its own, and the last one stays.

    Raises:
        OSError: it cannot be written; the message names it.
    """
    own = path.with_name(f"{path.name}.{os.getpid()}")
    with whole_file(own) as file:
        yield file
    os.replace(own, path)


def fingerprint(settings: DetectorSettings) -> str:
    """SHA-256 of all that decides which boxes are found: weights, settings, versions of the packages that run them."""
    parts = {"format": _FORMAT, "settings": settings.of_boxes(), "packages": _versions()}
    if settings.engine != "paddle-vi":
        parts["weights"] = file_sha256(rapidocr_weights())
    return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()


def _versions() -> dict[str, str]:
    return {name: found for name in _PACKAGES if (found := installed(name))}


def _description(model: str) -> str:
    """What PaddleX reads of a model: its name and what is done before and after the network."""
    return f"""Global:
  model_name: {model}
PreProcess:
  transform_ops:
  - DetResizeForTest:
      resize_long: 960
  - NormalizeImage:
      mean: [0.5, 0.5, 0.5]
      std: [0.5, 0.5, 0.5]
      scale: 1./255.
      order: hwc
  - ToCHWImage: null
PostProcess:
  name: DBPostProcess
  thresh: 0.3
  box_thresh: 0.6
  max_candidates: 3000
  unclip_ratio: 1.5
"""
