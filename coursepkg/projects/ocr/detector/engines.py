"""The networks that find text, their settings and their weights.

Engines run in the worker process. Each is given a picture already scaled to what the
network sees, and answers in its pixels. None of the packages that they need is imported
before an engine is opened, and none but PaddlePaddle's needs a network connection.
"""

import hashlib
import json
import math
import os
import shutil
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any, BinaryIO, Literal

import numpy as np

from coursepkg.files import cache_folder
from coursepkg.processor import check_threads, useful_threads
from coursepkg.requirements import installed, missing_packages
from coursepkg.validation import check_choices, check_count, check_field, check_finite

MULTIPLE = 32
"""The network halves its picture five times, so sides are multiples of this."""

CORE = 0.485
"""Height of what the network marks of a line, in heights of its ink: at the usual
`unclip`, boxes of generated receipts reach 0.11 beyond the ink at the ends, and 0.17
above and below."""

EngineName = Literal["onnxruntime", "paddleocr", "paddle-vi"]


@dataclass(frozen=True)
class DetectorSettings:
    """Settings of a detector; its bounds do not enter its fingerprint."""

    engine: EngineName = "onnxruntime"
    """onnxruntime: PP-OCRv6's detector on ONNX Runtime, the weights of the rapidocr
    package. paddleocr: the same weights through PaddleOCR's `TextDetection`. paddle-vi:
    `PaddleOCR(lang="vi")` on PaddlePaddle, which fetches its own weights the first
    time."""
    side: int = 1280
    """Longer side of the picture as the network sees it, in pixels; smaller pictures
    are enlarged to it, at most `enlarge` times."""
    enlarge: float = 2.0
    """A picture is enlarged at most by this factor, 1 or more."""
    pixel_threshold: float = 0.3
    """A pixel belongs to text from this probability on, in (0, 1)."""
    box_threshold: float = 0.5
    """A box is kept if the mean probability in it is at least this, in (0, 1)."""
    unclip: float = 1.6
    """Boxes are widened by area / perimeter times this: the network marks the core of a
    text, not its rim."""
    threads: int = 0
    """Threads of the network; 0 is as many as help, at most two."""
    memory: int = 1024
    """Most memory of the worker process, in MiB; one that needs more is ended, and one
    that has grown past three quarters of it after a picture is replaced."""
    timeout: float = 120.0
    """Longest time for one picture, in seconds, with the start of the worker."""
    most_pixels: int = 64_000_000
    """Larger pictures are refused, as by `data.images`, whose library the worker must
    not load."""

    def __post_init__(self) -> None:
        check_choices(self)
        check_count("--side", self.side, 2 * MULTIPLE, 8192)
        check_threads(self.threads)
        check_count("--memory", self.memory, 64)
        check_count("--most-pixels", self.most_pixels)
        thresholds = ("pixel_threshold", "box_threshold")
        for name in (*thresholds, "enlarge", "unclip", "timeout"):
            check_finite(name, getattr(self, name))
        for name in thresholds:
            check_field(self, name, 0 < getattr(self, name) < 1, "in (0, 1)")
        check_field(self, "enlarge", self.enlarge >= 1, "1 or more")
        check_field(self, "unclip", self.unclip > 0, "above 0")
        check_field(self, "timeout", self.timeout > 0, "above 0")

    @property
    def rim(self) -> float:
        """How far boxes reach beyond the ink, in heights of the ink.

        Area over perimeter of a long core is half its height, so a box is 1 + unclip
        cores high.
        """
        return (CORE * (1 + self.unclip) - 1) / 2

    @property
    def n_threads(self) -> int:
        """Threads that the network gets on this machine."""
        return self.threads or min(2, useful_threads().number)

    def of_boxes(self) -> dict[str, Any]:
        """The settings that decide which boxes are found."""
        settings = asdict(self)
        for bound in ("threads", "memory", "timeout", "most_pixels"):
            del settings[bound]
        return settings

    def seen_size(self, width: int, height: int) -> tuple[int, int]:
        """Width and height that the network sees: multiples of 32."""
        scale = min(self.side / max(width, height), self.enlarge)
        most = math.ceil(self.side / MULTIPLE) * MULTIPLE
        wide, high = (
            min(most, max(MULTIPLE, round(length * scale / MULTIPLE) * MULTIPLE))
            for length in (width, height)
        )
        return wide, high


_PATTERN = "*v6_det_small.onnx"
_FORMAT = 3
"""Version of what is done around the network: scaling, normalising, order of corners,
rim."""
_PACKAGES = ("onnxruntime", "rapidocr", "paddleocr", "paddlex", "paddlepaddle")


def rapidocr_weights() -> Path:
    """The ONNX file of PP-OCRv6's small detector in the rapidocr package.

    Raises:
        FileNotFoundError: rapidocr is not installed, or carries other weights.
    """
    spec = find_spec("rapidocr")
    if spec is None or spec.origin is None:
        raise FileNotFoundError(
            "rapidocr is not installed: pip install 'coursepkg[ocr]'"
        )
    folder = Path(spec.origin).parent / "models"
    found = sorted(folder.glob(_PATTERN))
    if not found:
        raise FileNotFoundError(
            f"{folder}: no {_PATTERN} in it; rapidocr 3.10 carries one: pip install"
            " 'rapidocr>=3.10'"
        )
    return found[0]


def paddle_folder(model: str, folder: Path | None = None) -> Path:
    """A folder with the weights and the `inference.yml` that PaddleOCR wants.

    Args:
        model: PaddleOCR's name of the network.
        folder: where folders of models stand; by default the user's cache.

    Raises:
        OSError: the weights are not there, or the folder cannot be written.
    """
    from coursepkg.files import file_sha256  # it loads torch

    weights = rapidocr_weights()
    target = folder or cache_folder() / "detector"
    target = target / f"{model}-{file_sha256(weights)[:16]}"
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
    """A file to write that other processes may write, too; the last one stays.

    Raises:
        OSError: it cannot be written; the message names it.
    """
    from coursepkg.files import whole_file

    own = path.with_name(f"{path.name}.{os.getpid()}")
    with whole_file(own) as file:
        yield file
    os.replace(own, path)


def fingerprint(settings: DetectorSettings) -> str:
    """SHA-256 of weights, settings and versions: what decides the boxes."""
    from coursepkg.files import file_sha256

    versions = {name: found for name in _PACKAGES if (found := installed(name))}
    parts = {
        "format": _FORMAT,
        "settings": settings.of_boxes(),
        "packages": versions,
    }
    if settings.engine != "paddle-vi":
        parts["weights"] = file_sha256(rapidocr_weights())
    return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()


def _description(model: str) -> str:
    """What PaddleX reads of a model: its name, and what surrounds the network."""
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


Found = Iterable[tuple[np.ndarray, float]]
"""Corners (4, 2) in pixels of the picture as the network sees it, and their scores."""
Engine = Callable[[np.ndarray], Found]
"""Takes uint8 RGB (height, width, 3), sides multiples of 32."""

PADDLE_MODEL = "PP-OCRv6_small_det"
"""PaddleOCR's name of the weights in the rapidocr package."""
_FINER = 8
"""rapidocr rounds corners to whole pixels: asked for a picture eight times as large, to
an eighth of one."""
_OFF = 1.0
"""rapidocr's boxes lie a pixel of the network too far up and left: half a one because
an outline runs through the middles of pixels, half a one because pyclipper cuts off
fractions. On generated receipts the room left and right of the ink is equal with it."""
_MOST_BOXES = 3000
_NEEDS: dict[EngineName, tuple[str, ...]] = {
    "onnxruntime": ("onnxruntime", "rapidocr"),
    "paddleocr": ("onnxruntime", "rapidocr", "paddleocr"),
    "paddle-vi": ("paddleocr", "paddle"),
}
_INSTALL: dict[EngineName, str] = {
    "onnxruntime": "pip install 'coursepkg[ocr]'",
    "paddleocr": "pip install 'coursepkg[ocr,ocr-paddle]'",
    "paddle-vi": "pip install paddleocr paddlepaddle",
}


def what_is_missing(engine: EngineName = "onnxruntime") -> str | None:
    """Why an engine cannot run here, and what to do; None where it can."""
    if missing := missing_packages(_NEEDS[engine]):
        return f"finding text with {engine} needs {missing}: {_INSTALL[engine]}"
    if engine != "paddle-vi":
        try:
            rapidocr_weights()
        except OSError as reason:
            return str(reason)
    return None


def open_engine(settings: DetectorSettings) -> Engine:
    """Load a network.

    Raises:
        ImportError: a package is missing; the line says how to install it.
        OSError: its weights are not there, or cannot be fetched.
    """
    missing = what_is_missing(settings.engine)
    if missing:
        raise ImportError(missing)
    return _OPEN[settings.engine](settings)


def _open_onnxruntime(settings: DetectorSettings) -> Engine:
    import onnxruntime
    from rapidocr.ch_ppocr_det.utils import DBPostProcess

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = settings.n_threads
    # Threads that spin while they wait take the time of those that work.
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    # Of the weights, 256,000 are subnormal numbers, which a processor multiplies many
    # times as slowly as others; with 0 in their place the boxes are the same.
    options.add_session_config_entry("session.set_denormal_as_zero", "1")
    options.log_severity_level = 4
    # Planned memory is kept for every size of picture that comes; the arena alone stays
    # below half a gigabyte.
    options.enable_mem_pattern = False
    session = onnxruntime.InferenceSession(
        str(rapidocr_weights()), options, providers=["CPUExecutionProvider"]
    )
    entry = session.get_inputs()[0].name
    boxes_of = DBPostProcess(
        thresh=settings.pixel_threshold,
        box_thresh=settings.box_threshold,
        max_candidates=_MOST_BOXES,
        unclip_ratio=settings.unclip,
        use_dilation=False,
    )

    def find(image: np.ndarray) -> Found:
        height, width = image.shape[:2]
        probability = session.run(None, {entry: network_input(image)})[0]
        corners, scores = boxes_of(probability, (height * _FINER, width * _FINER))
        return [
            (np.asarray(four, np.float64) / _FINER + _OFF, float(score))
            for four, score in zip(corners, scores, strict=True)
        ]

    return find


def network_input(image: np.ndarray) -> np.ndarray:
    """Pixels as the network wants them: BGR in [-1, 1], float32 (1, 3, H, W)."""
    scaled = image[..., ::-1].transpose(2, 0, 1)[None].astype(np.float32)
    scaled *= np.float32(2 / 255)
    scaled -= np.float32(1)
    return np.ascontiguousarray(scaled)


def _open_paddleocr(settings: DetectorSettings) -> Engine:
    _stay_offline()
    from paddleocr import TextDetection

    model = TextDetection(
        model_name=PADDLE_MODEL,
        model_dir=str(paddle_folder(PADDLE_MODEL)),
        engine="onnxruntime",
        cpu_threads=settings.n_threads,
        # The picture comes in the size it is to be seen in.
        limit_side_len=8192,
        limit_type="max",
        thresh=settings.pixel_threshold,
        box_thresh=settings.box_threshold,
        unclip_ratio=settings.unclip,
    )

    def find(image: np.ndarray) -> Found:
        result = model.predict(np.ascontiguousarray(image[..., ::-1]))[0]
        return _pairs(result["dt_polys"], result["dt_scores"])

    return find


def _open_paddle_vi(settings: DetectorSettings) -> Engine:
    from paddleocr import PaddleOCR

    pipeline = PaddleOCR(
        lang="vi",
        use_doc_orientation_classify=False,
        use_doc_unwarping=False,
        use_textline_orientation=False,
        cpu_threads=settings.n_threads,
        text_det_limit_side_len=8192,
        text_det_limit_type="max",
        text_det_thresh=settings.pixel_threshold,
        text_det_box_thresh=settings.box_threshold,
        text_det_unclip_ratio=settings.unclip,
    )

    def find(image: np.ndarray) -> Found:
        result = pipeline.predict(np.ascontiguousarray(image[..., ::-1]))[0]
        # The pipeline keeps no score of its boxes but that of what it read in them.
        return _pairs(result["rec_polys"], result["rec_scores"])

    return find


def _pairs(corners: Iterable[Any], scores: Iterable[Any]) -> Found:
    return [
        (np.asarray(four, np.float64).reshape(-1, 2), float(score))
        for four, score in zip(corners, scores, strict=True)
        if len(four) == 4
    ]


def _stay_offline() -> None:
    """Keep PaddleX from asking four hosts for models that it does not need."""
    os.environ["PADDLE_PDX_DISABLE_MODEL_SOURCE_CHECK"] = "True"


_OPEN: dict[EngineName, Callable[[DetectorSettings], Engine]] = {
    "onnxruntime": _open_onnxruntime,
    "paddleocr": _open_paddleocr,
    "paddle-vi": _open_paddle_vi,
}
