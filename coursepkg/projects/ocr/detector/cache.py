"""Boxes kept on disk by the pixels they were found in, so that a picture is looked at once.

A file holds the boxes of one picture; its name is the SHA-256 of the pixels, its folder the detector's fingerprint.
Another model, setting or version looks elsewhere. The files used least recently go when there are too many bytes.
"""

import hashlib
import json
import os
import warnings
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from coursepkg.arguments import check_count
from coursepkg.data.location import cache_folder
from coursepkg.projects.ocr.detector.box import Detector, TextBox, check_rgb
from coursepkg.projects.ocr.detector.weights import shared_file

MOST_BYTES = 64 * 2**20
"""Boxes of some thirty thousand pages."""
_KEPT = 0.8
"""When the bound is reached, so much of it stays."""
_HEX = 64


def pixels_sha256(image: np.ndarray) -> str:
    """SHA-256 of a picture's size and pixels, in hexadecimal: no file format or name enters it."""
    digest = hashlib.sha256(repr(image.shape).encode())
    digest.update(np.ascontiguousarray(image).data)
    return digest.hexdigest()


class BoxCache:
    """A folder of found boxes, bounded in size. Several processes may share it.

    Args:
        folder: made when something is first kept; by default one in the user's cache.
        most_bytes: of all files together.
    """

    def __init__(self, folder: str | Path | None = None, most_bytes: int = MOST_BYTES) -> None:
        check_count("most_bytes", most_bytes)
        self.folder = Path(folder) if folder is not None else cache_folder() / "boxes"
        self.most_bytes = most_bytes
        self._n_bytes: int | None = None

    def get(self, pixels: str, fingerprint: str) -> list[TextBox] | None:
        """The boxes of a picture; None where there are none, or where their file is damaged."""
        path = self._path(pixels, fingerprint)
        try:
            content = json.loads(path.read_bytes())
            boxes = [
                TextBox(np.array(one["corners"], dtype=np.float64), one["score"], one["rim"])
                for one in content["boxes"]
            ]
            os.utime(path)
        except (OSError, ValueError, KeyError, TypeError):
            return None
        return boxes

    def put(self, pixels: str, fingerprint: str, boxes: Sequence[TextBox]) -> None:
        """Keep the boxes of a picture.

        Raises:
            OSError: the file cannot be written; the message names it.
        """
        path = self._path(pixels, fingerprint)
        content = {
            "boxes": [{"corners": box.corners.tolist(), "score": box.score, "rim": box.rim} for box in boxes]
        }
        path.parent.mkdir(parents=True, exist_ok=True)
        with shared_file(path) as file:
            written = file.write(json.dumps(content).encode())
        self._n_bytes = written + (self._size() if self._n_bytes is None else self._n_bytes)
        if self._n_bytes > self.most_bytes:
            self._shrink()

    def _path(self, pixels: str, fingerprint: str) -> Path:
        return self.folder / fingerprint[:16] / f"{pixels}.json"

    def _files(self) -> list[tuple[float, int, Path]]:
        """When each was used, its size and its path; files of another kind are left alone."""
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
        """As the detector's own. A folder that cannot be written is said once, and boxes are found all the same."""
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
