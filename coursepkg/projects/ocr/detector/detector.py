"""The detector: bounded in memory and time, with a cache of the boxes that it found.

The cache holds one file a picture; its name is the SHA-256 of the pixels, its folder
the detector's fingerprint. The files used least recently go when there are too many
bytes.
"""

import hashlib
import json
import os
import threading
import warnings
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import cached_property
from pathlib import Path

import numpy as np
from PIL import Image

from coursepkg.files import cache_folder
from coursepkg.projects.ocr.detector.engines import (
    DetectorSettings,
    fingerprint,
    shared_file,
    what_is_missing,
)
from coursepkg.projects.ocr.detector.lines import (
    Detector,
    TextBox,
    check_rgb,
    settle_directions,
)
from coursepkg.projects.ocr.detector.process import MIB, Worker, WorkerEnded
from coursepkg.validation import check_count

MOST_BYTES = 64 * 2**20
"""Boxes of some thirty thousand pages."""
_KEPT = 0.8
"""When the bound is reached, so much of it stays."""
_HEX = 64


def pixels_sha256(image: np.ndarray) -> str:
    """SHA-256 of a picture's size and pixels, whatever its file format."""
    digest = hashlib.sha256(repr(image.shape).encode())
    digest.update(np.ascontiguousarray(image).data)
    return digest.hexdigest()


class BoxCache:
    """A folder of found boxes, bounded in size. Several processes may share it.

    Args:
        folder: made when something is first kept; by default one in the user's cache.
        most_bytes: of all files together.
    """

    def __init__(
        self, folder: str | Path | None = None, most_bytes: int = MOST_BYTES
    ) -> None:
        check_count("most_bytes", most_bytes)
        self.folder = Path(folder) if folder is not None else cache_folder() / "boxes"
        self.most_bytes = most_bytes
        self._n_bytes: int | None = None

    def get(self, pixels: str, fingerprint: str) -> list[TextBox] | None:
        """The boxes of a picture; None where there are none or the file is damaged."""
        path = self._path(pixels, fingerprint)
        try:
            content = json.loads(path.read_bytes())
            boxes = [
                TextBox(np.array(one["corners"]), one["score"], one["rim"])
                for one in content["boxes"]
            ]
        except (OSError, ValueError, KeyError, TypeError):
            return None
        # A cache that may only be read cannot say what was used.
        with suppress(OSError):
            os.utime(path)
        return boxes

    def put(self, pixels: str, fingerprint: str, boxes: Sequence[TextBox]) -> None:
        """Keep the boxes of a picture.

        Raises:
            OSError: the file cannot be written; the message names it.
        """
        path = self._path(pixels, fingerprint)
        records = [
            {"corners": box.corners.tolist(), "score": box.score, "rim": box.rim}
            for box in boxes
        ]
        before = self._size() if self._n_bytes is None else self._n_bytes
        with shared_file(path) as file:
            written = file.write(json.dumps({"boxes": records}).encode())
        self._n_bytes = written + before
        if self._n_bytes > self.most_bytes:
            self._shrink()

    def _path(self, pixels: str, fingerprint: str) -> Path:
        return self.folder / fingerprint[:16] / f"{pixels}.json"

    def _files(self) -> list[tuple[float, int, Path]]:
        """When each file of boxes was used, its size and its path."""
        found = []
        for path in self.folder.glob("*/*.json"):
            if len(path.stem) == _HEX:
                try:
                    stat = path.stat()
                except FileNotFoundError:
                    continue
                found.append((stat.st_mtime, stat.st_size, path))
        return found

    def _size(self) -> int:
        return sum(size for _, size, _ in self._files())

    def _shrink(self) -> None:
        files = sorted(self._files())
        left = sum(size for _, size, _ in files)
        for _, size, path in files:
            if left <= _KEPT * self.most_bytes:
                break
            path.unlink(missing_ok=True)
            left -= size
        self._n_bytes = left


class CachedDetector:
    """A detector that remembers: pictures it has seen cost a hash and a small file.

    Args:
        detector: what finds the boxes of new pictures; it is closed with this one.
        cache: where boxes are kept.
    """

    def __init__(self, detector: Detector, cache: BoxCache) -> None:
        self.detector, self.cache = detector, cache
        self._writable = True

    @property
    def fingerprint(self) -> str:
        """That of the detector: remembered boxes are its own."""
        return self.detector.fingerprint

    def detect(self, image: np.ndarray, name: str = "picture") -> list[TextBox]:
        """The boxes of a picture, looked up or found and kept."""
        check_rgb(image, name)
        pixels = pixels_sha256(image)
        known = self.cache.get(pixels, self.fingerprint)
        if known is not None:
            return known
        boxes = self.detector.detect(image, name)
        if self._writable:
            try:
                self.cache.put(pixels, self.fingerprint, boxes)
            except OSError as reason:
                self._writable = False
                warnings.warn(f"found boxes are not kept: {reason}", stacklevel=2)
        return boxes

    def close(self) -> None:
        """Close the detector."""
        self.detector.close()


_GROWN = 0.75
"""A worker is replaced after a picture when it holds so much of its bound: it leaks."""


def open_detector(
    settings: DetectorSettings | None = None,
    *,
    cache: str | Path | BoxCache | bool = True,
) -> Detector:
    """The detector of this project; its process starts with the first picture.

    Args:
        settings: engine, size, thresholds and bounds.
        cache: True keeps found boxes in the user's cache folder, a path or a `BoxCache`
            elsewhere, False nowhere.

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

    A picture at which the process crashes is tried once more in a fresh one, since an
    earlier picture may have been to blame. One that takes too much memory or time is
    not tried again. Either way the next picture finds a new process.

    Args:
        settings: engine, size, thresholds and bounds.
        start: starts a process.
    """

    def __init__(
        self,
        settings: DetectorSettings,
        start: Callable[[DetectorSettings], Worker] = Worker,
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
        """The boxes of a picture; text that runs downwards begins at its upper right.

        Args:
            image: uint8 (height, width, 3), red, green, blue.
            name: what messages call it.

        Raises:
            ValueError: it is no such picture, or too large, or the detector is closed;
                the message is one line.
            OSError: the process crashed twice at this picture, or needs too much memory
                or time.
            ImportError: a package is missing; the line says how to install it.
        """
        check_rgb(image, name)
        height, width = image.shape[:2]
        if height * width > self.settings.most_pixels:
            raise ValueError(
                f"{name}: {width:,} x {height:,} pixels, more than"
                f" {self.settings.most_pixels:,}; scale it down"
            )
        seen = self.settings.seen_size(width, height)
        scaled = _scaled(image, seen)
        with self._lock:
            found = self._found(scaled, name)
        ratio = np.array([width / seen[0], height / seen[1]])
        boxes = []
        for corners, score in found:
            inside = np.clip(corners * ratio, 0, (width, height))
            sure = min(1.0, max(0.0, score))
            boxes.append(TextBox(inside, sure, self.settings.rim))
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
        what = f"{name}: its text could not be found"
        for last in (False, True):
            try:
                return self._ready().find(scaled)
            except RuntimeError as reason:
                raise OSError(f"{what}: {reason}") from None
            except WorkerEnded as reason:
                if last or reason.why != "crash":
                    advice = _ADVICE[reason.why]
                    raise OSError(f"{what}: {reason}; {advice}") from None
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
    "memory": (
        "scale it down, or let the detector have more (memory) or see less (side)"
    ),
    "time": "scale it down, or let the detector have more (timeout) or see less (side)",
    "crash": "leave it out, and check the installation with `coursepkg doctor`",
}


def _scaled(image: np.ndarray, size: tuple[int, int]) -> np.ndarray:
    if (image.shape[1], image.shape[0]) == size:
        return image
    # A large photograph is first shrunk by whole factors, so that its thin strokes are
    # averaged, not skipped.
    scaled = Image.fromarray(image).resize(
        size, Image.Resampling.BICUBIC, reducing_gap=2.0
    )
    return np.asarray(scaled)
