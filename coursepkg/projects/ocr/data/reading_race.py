"""The race between packed lines and one picture file a line: how many lines a second either way brings to a batch."""

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from PIL import Image
from torch import Tensor

from coursepkg.bench.race import Comparison, Contest, Gate
from coursepkg.projects.ocr.data.images import read_gray, resize_to_height
from coursepkg.projects.ocr.data.packed import PackedLines
from coursepkg.projects.ocr.data.packing import pack_lines
from coursepkg.projects.ocr.line import TextLine
from coursepkg.wording import counted

TARGET = 5.0
"""How many times faster packed lines are promised to be."""


@dataclass(frozen=True)
class Ways:
    """The same lines in the same order, read in both ways."""

    files: Callable[[], list[np.ndarray]]
    """Decode each PNG and scale it to the height."""
    packed: Callable[[], list[np.ndarray]]
    """Slice each picture out of the packed file."""
    n_lines: int


def reading_ways(lines: Sequence[TextLine], folder: str | Path, *, height: int = 40, seed: int = 0) -> Ways:
    """Write some lines as PNG files and packed, and return what reads them, in one random order.

    The PNG files hold the pictures as they are, as a data set comes; the packed ones are scaled already, which is
    part of what packing is for.

    Args:
        lines: to write.
        folder: an empty one.
        height: of the pictures that come out, in pixels.
        seed: of the order.
    """
    folder = Path(folder)
    paths = [folder / f"{number:06}.png" for number in range(len(lines))]
    for path, line in zip(paths, lines, strict=True):
        Image.fromarray(line.image).save(path)
    packed = pack_lines(lines, folder / "packed", heights=(height,))
    if len(packed) != len(lines):
        raise ValueError(
            f"{counted(len(packed.left_out), 'line')} cannot be packed: {packed.left_out[0].reason}"
        )
    order = list(range(len(lines)))
    random.Random(seed).shuffle(order)
    return Ways(
        files=lambda: [resize_to_height(read_gray(paths[i]), height) for i in order],
        packed=lambda: _touched(packed, order),
        n_lines=len(lines),
    )


def reading_contest(lines: Sequence[TextLine], folder: str | Path, *, height: int = 40) -> Contest:
    """The race for `coursepkg bench`; its gate asks for equal pixels.

    Args:
        lines: to read.
        folder: an empty one, which must last as long as the contest.
        height: of the pictures, in pixels.
    """
    ways = reading_ways(lines, folder, height=height)

    def pixels(read: Callable[[], list[np.ndarray]]) -> Callable[[], list[Tensor]]:
        return lambda: [torch.from_numpy(image.astype(np.float64)) for image in read()]

    return Contest(
        name=f"{ways.n_lines} lines at height {height}",
        variants={"packed": ways.packed, "image files": ways.files},
        comparisons=[Comparison("packed", "image files", target=TARGET)],
        gates=[Gate("packed", pixels(ways.packed), pixels(ways.files), pixels(ways.files))],
    )


def _touched(packed: PackedLines, order: Sequence[int]) -> list[np.ndarray]:
    """Copies, as a batch makes them: a view alone would read nothing."""
    return [packed.image(i).copy() for i in order]
