"""Detectors as the rest of the project opens them: bounded in memory and time, and remembering what they found."""

import threading
from collections.abc import Callable
from functools import cached_property
from pathlib import Path

import numpy as np
from PIL import Image

from coursepkg.projects.ocr.detector.box import Detector, TextBox, check_rgb
from coursepkg.projects.ocr.detector.cache import BoxCache, CachedDetector
from coursepkg.projects.ocr.detector.direction import settle_directions
from coursepkg.projects.ocr.detector.engines import what_is_missing
from coursepkg.projects.ocr.detector.process import MIB, Worker, WorkerEnded
from coursepkg.projects.ocr.detector.settings import DetectorSettings
from coursepkg.projects.ocr.detector.weights import fingerprint

_GROWN = 0.75
"""A worker is replaced after a picture when it holds so much of its bound: it leaks."""


def open_detector(
    settings: DetectorSettings | None = None, *, cache: str | Path | BoxCache | bool = True
) -> Detector:
    """The detector of this project. Its process starts with the first picture; close it when you are done.

    Args:
        settings: engine, size, thresholds and bounds.
        cache: True keeps found boxes in the user's cache folder, a path or a `BoxCache` elsewhere, False nowhere.

    Raises:
        ImportError: a package is missing; the line says how to install it.
    """
    settings = settings or DetectorSettings()
    missing = what_is_missing(settings.engine)
    if missing:
        raise ImportError(missing)
    detector = BoundedDetector(settings)
    if cache is False:
        return detector
    if not isinstance(cache, BoxCache):
        cache = BoxCache(None if cache is True else cache)
    return CachedDetector(detector, cache)


class BoundedDetector:
    """A detector in a process of its own.

    A picture at which the process crashes is tried once more in a fresh one, since an earlier picture may have been to
    blame. One that takes too much memory or time is not tried again. Either way the next picture finds a new process.

    Args:
        settings: engine, size, thresholds and bounds.
        start: starts a process.
    """

    def __init__(
        self, settings: DetectorSettings, start: Callable[[DetectorSettings], Worker] = Worker
    ) -> None:
        self.settings, self._start = settings, start
        self.n_starts = 0
        """Processes started so far."""
        self.peak_memory = 0
        """Most resident memory of any of them, in bytes, as far as it was seen."""
        self._worker: Worker | None = None
        self._closed = False
        self._lock = threading.Lock()

    @cached_property
    def fingerprint(self) -> str:
        """SHA-256 of weights, settings and versions."""
        return fingerprint(self.settings)

    def detect(self, image: np.ndarray, name: str = "picture") -> list[TextBox]:
        """The boxes of a picture; those of text that runs downwards begin at its upper right.

        Args:
            image: uint8 (height, width, 3), red, green, blue.
            name: what messages call it.

        Raises:
            ValueError: it is no such picture, or too large, or the detector is closed; the message is one line.
            OSError: the process crashed twice at this picture, or needs too much memory or time.
            ImportError: a package is missing; the line says how to install it.
        """
        check_rgb(image, name)
        height, width = image.shape[:2]
        if height * width > self.settings.most_pixels:
            raise ValueError(
                f"{name}: {width:,} x {height:,} pixels, more than {self.settings.most_pixels:,}; scale it down"
            )
        seen = self.settings.seen_size(width, height)
        scaled = _scaled(image, seen)
        with self._lock:
            found = self._found(scaled, name)
        ratio = np.array([width / seen[0], height / seen[1]])
        boxes = [
            TextBox(
                np.clip(corners * ratio, 0, (width, height)), min(1.0, max(0.0, score)), self.settings.rim
            )
            for corners, score in found
        ]
        return settle_directions(boxes)

    def close(self) -> None:
        """End the process."""
        self._closed = True
        with self._lock:
            self._drop()

    def __enter__(self) -> "BoundedDetector":
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    def _found(self, scaled: np.ndarray, name: str) -> list[tuple[np.ndarray, float]]:
        for last in (False, True):
            try:
                return self._ready().find(scaled)
            except RuntimeError as reason:
                raise OSError(f"{name}: its text could not be found: {reason}") from None
            except WorkerEnded as reason:
                if last or reason.why != "crash":
                    raise OSError(
                        f"{name}: its text could not be found: {reason}; {_ADVICE[reason.why]}"
                    ) from None
            finally:
                self._watch_growth()
        raise AssertionError("the loop returns or raises")

    def _ready(self) -> Worker:
        if self._closed:
            raise ValueError("the detector is closed; open another")
        if self._worker is None:
            self.n_starts += 1
            self._worker = self._start(self.settings)
        return self._worker

    def _watch_growth(self) -> None:
        """Drop a process that is gone or has grown: the next picture gets a new one."""
        worker = self._worker
        if worker is None:
            return
        self.peak_memory = max(self.peak_memory, worker.peak)
        if not worker.alive or worker.memory > _GROWN * self.settings.memory * MIB:
            self._drop()

    def _drop(self) -> None:
        if self._worker is not None:
            self._worker.close()
            self._worker = None


_ADVICE = {
    "memory": "scale it down, or let the detector have more (memory) or see less (side)",
    "time": "scale it down, or let the detector have more (timeout) or see less (side)",
    "crash": "leave it out, and check the installation with `coursepkg doctor`",
}


def _scaled(image: np.ndarray, size: tuple[int, int]) -> np.ndarray:
    if (image.shape[1], image.shape[0]) == size:
        return image
    # A large photograph is first shrunk by whole factors, so that its thin strokes are averaged, not skipped.
    scaled = Image.fromarray(image).resize(size, Image.Resampling.BICUBIC, reducing_gap=2.0)
    return np.asarray(scaled)
