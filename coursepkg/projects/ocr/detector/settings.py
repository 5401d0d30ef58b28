"""How text is found: which engine, how large it sees the picture, and what it may cost."""

import math
from dataclasses import asdict, dataclass
from typing import Any, Literal

from coursepkg.arguments import check_choices, check_count, check_field, check_finite
from coursepkg.projects.ocr.data.bounds import MOST_PIXELS

MULTIPLE = 32
"""The network halves its picture five times, so sides are multiples of this."""

CORE = 0.485
"""Height of what the network marks of a line, in heights of its ink: at the usual `unclip`, boxes of generated receipts
reach 0.11 beyond the ink at the ends, and 0.17 above and below."""

EngineName = Literal["onnxruntime", "paddleocr", "paddle-vi"]


@dataclass(frozen=True)
class DetectorSettings:
    """Settings of a detector. Those of the engine and of the boxes enter its fingerprint, the bounds do not."""

    engine: EngineName = "onnxruntime"
    """onnxruntime: PP-OCRv6's detector on ONNX Runtime, the weights of the rapidocr package. paddleocr: the same
    weights through PaddleOCR's `TextDetection`. paddle-vi: `PaddleOCR(lang="vi")` on PaddlePaddle, which fetches its
    own weights the first time."""
    side: int = 1280
    """Longer side of the picture as the network sees it, in pixels; smaller pictures are enlarged to it, at most
    `enlarge` times."""
    enlarge: float = 2.0
    """A picture is enlarged at most by this factor, 1 or more."""
    pixel_threshold: float = 0.3
    """A pixel belongs to text from this probability on, in (0, 1)."""
    box_threshold: float = 0.5
    """A box is kept if the mean probability in it is at least this, in (0, 1)."""
    unclip: float = 1.6
    """Boxes are widened by area / perimeter times this: the network marks the core of a text, not its rim."""
    threads: int = 2
    """Threads of the network."""
    memory: int = 1024
    """Most memory of the worker process, in MiB; one that needs more is ended, and one that has grown past three
    quarters of it after a picture is replaced."""
    timeout: float = 120.0
    """Longest time for one picture, in seconds, with the start of the worker."""
    most_pixels: int = MOST_PIXELS
    """Larger pictures are refused."""

    def __post_init__(self) -> None:
        check_choices(self)
        check_count("--side", self.side, 2 * MULTIPLE, 8192)
        check_count("--threads", self.threads, 1, 256)
        check_count("--memory", self.memory, 64)
        check_count("--most-pixels", self.most_pixels)
        for name in ("pixel_threshold", "box_threshold", "enlarge", "unclip", "timeout"):
            check_finite(name, getattr(self, name))
        for name in ("pixel_threshold", "box_threshold"):
            check_field(self, name, 0 < getattr(self, name) < 1, "in (0, 1)")
        check_field(self, "enlarge", self.enlarge >= 1, "1 or more")
        check_field(self, "unclip", self.unclip > 0, "above 0")
        check_field(self, "timeout", self.timeout > 0, "above 0")

    @property
    def rim(self) -> float:
        """How far boxes reach beyond the ink, in heights of the ink.

        Area over perimeter of a long core is half its height, so a box is 1 + unclip cores high.
        """
        return (CORE * (1 + self.unclip) - 1) / 2

    def of_boxes(self) -> dict[str, Any]:
        """The settings that decide which boxes are found."""
        bounds = ("threads", "memory", "timeout", "most_pixels")
        return {name: value for name, value in asdict(self).items() if name not in bounds}

    def seen_size(self, width: int, height: int) -> tuple[int, int]:
        """Width and height of a picture as the network sees it: multiples of 32, proportions kept within that."""
        scale = min(self.side / max(width, height), self.enlarge)
        most = math.ceil(self.side / MULTIPLE) * MULTIPLE
        wide, high = (
            min(most, max(MULTIPLE, round(length * scale / MULTIPLE) * MULTIPLE))
            for length in (width, height)
        )
        return wide, high
