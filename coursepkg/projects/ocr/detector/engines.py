"""The networks that find text, each behind one call. They run in the worker process, never in that of the user.

Every engine is given a picture already scaled to what the network sees, and answers in its pixels. None of the packages
that they need is imported before an engine is opened, and none of them but PaddlePaddle's needs a network connection.
"""

import os
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from coursepkg.projects.ocr.detector.settings import DetectorSettings, EngineName
from coursepkg.projects.ocr.detector.weights import paddle_folder, rapidocr_weights
from coursepkg.requirements import missing_packages

Found = Iterable[tuple[np.ndarray, float]]
"""Corners (4, 2) in pixels of the picture as the network sees it, and their scores."""
Engine = Callable[[np.ndarray], Found]
"""Takes uint8 RGB (height, width, 3), sides multiples of 32."""

PADDLE_MODEL = "PP-OCRv6_small_det"
"""PaddleOCR's name of the weights in the rapidocr package."""
_FINER = 8
"""rapidocr rounds corners to whole pixels: asked for a picture eight times as large, to an eighth of one."""
_OFF = 1.0
"""rapidocr's boxes lie a pixel of the network too far up and left: half a one because an outline runs through the
middles of pixels, half a one because pyclipper cuts off fractions. On generated receipts the room left and right of
the ink is equal with it."""
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
    """Why an engine cannot run here, in one line with what to do about it; None where it can."""
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
    options.intra_op_num_threads = settings.threads
    options.log_severity_level = 4
    # Planned memory is kept for every size of picture that comes; the arena alone stays below half a gigabyte.
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
    """Pixels as PP-OCRv6's detector was trained on: blue, green, red, each from -1 to 1, float32 (1, 3, H, W)."""
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
        cpu_threads=settings.threads,
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
        cpu_threads=settings.threads,
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
