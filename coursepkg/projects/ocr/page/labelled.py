"""Pages whose words are known: pictures with a file of words, or generated receipts.

    receipt.jpg
    receipt.txt    x1,y1,x2,y2,x3,y3,x4,y4,text    a word a line, corners in order

The text may hold commas. These are the label files of ICDAR's tasks on scene text and
of SROIE.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from coursepkg.app.jobs import natural_key
from coursepkg.data.registry import data_folder
from coursepkg.projects.ocr.data.geometry import area
from coursepkg.projects.ocr.data.images import read_rgb
from coursepkg.projects.ocr.synthetic.receipt_config import RECEIPTS, ReceiptConfig
from coursepkg.projects.ocr.synthetic.receipts import make_receipt, word_outlines
from coursepkg.validation import check_count

SUFFIXES = (".jpg", ".jpeg", ".png", ".tif", ".tiff", ".bmp", ".webp")
REAL = "vi_receipts"
"""The set of real receipts, a folder of the data folder."""
N_GENERATED, SEED = 12, 21
"""Of generated receipts."""


@dataclass(frozen=True, eq=False)
class LabelledPage:
    """A page and what is printed on it."""

    name: str
    image: np.ndarray
    """uint8 (height, width, 3)."""
    words: tuple[str, ...]
    """Its words, in the order of the file."""
    boxes: np.ndarray
    """Float64 (words, 4, 2): their corners in pixels of the picture."""
    n_empty: int = 0
    """Labels without text, which are left out."""

    @property
    def text(self) -> str:
        """All words, in no order that means anything."""
        return "\n".join(self.words)


@dataclass(frozen=True)
class LabelledPages:
    """A set of pages, read one after another."""

    name: str
    pictures: tuple[Path, ...]
    """Each with its label file beside it; none where pages are generated."""
    n_generated: int = 0
    config: ReceiptConfig | None = None
    """Of the receipts that are generated."""

    def __len__(self) -> int:
        return len(self.pictures) or self.n_generated

    def __iter__(self) -> Iterator[LabelledPage]:
        for path in self.pictures:
            labels = read_words(path.with_suffix(".txt"))
            yield LabelledPage(path.stem, read_rgb(path), *labels)
        for number in range(self.n_generated):
            receipt = make_receipt(SEED, number, config=self.config)
            both = zip(receipt.lines, receipt.outlines, strict=True)
            four = [word_outlines(line, corners) for line, corners in both]
            words = tuple(word for line in receipt.lines for word in line.text.split())
            yield LabelledPage(
                f"{number + 1}", receipt.image, words, np.concatenate(four)
            )


def find_labelled_pages(
    name: str, *, generate: int = 0, folder: Path | None = None
) -> LabelledPages:
    """The pages that `--pages` names.

    Args:
        name: `vi_receipts`, `receipts` or `varied-receipts` for generated ones, or the
            path of a folder of pictures with their label files.
        generate: receipts to generate; 0 takes `N_GENERATED`.
        folder: of the real data sets; None is `data_folder()`.

    Raises:
        ValueError: there is no such folder, it holds no picture, or a picture or a
            label file is alone.
    """
    check_count("--generate", generate, least=0)
    if name in RECEIPTS:
        return LabelledPages(name, (), generate or N_GENERATED, RECEIPTS[name])
    generated = " or ".join(RECEIPTS)
    if generate:
        raise ValueError(f"--generate goes with --pages {generated}, not with {name}")
    place = Path(name)
    if name == REAL:
        place = (folder or data_folder()) / REAL
    if not place.is_dir():
        raise ValueError(
            f"--pages must be {', '.join((REAL, *RECEIPTS))} or a folder, and there is"
            f" no folder {place}; put pictures there, each with its words in a"
            f" NAME.txt, or take --pages {generated}"
        )
    return _of_folder(place)


def _of_folder(folder: Path) -> LabelledPages:
    files = sorted(folder.iterdir(), key=natural_key)
    pictures = [one for one in files if one.suffix.lower() in SUFFIXES]
    labels = [one for one in files if one.suffix == ".txt"]
    if not pictures:
        raise ValueError(
            f"--pages {folder}: no picture in it; put pictures there, each with its"
            " words in a NAME.txt"
        )
    stems = [one.stem for one in pictures]
    for one in pictures:
        if stems.count(one.stem) > 1:
            raise ValueError(f"{one}: two pictures have this name; rename one of them")
        if not one.with_suffix(".txt").is_file():
            raise ValueError(
                f"{one}: no {one.stem}.txt with its words beside it; add it, or take"
                " the picture away"
            )
    for one in labels:
        if one.stem not in stems:
            raise ValueError(f"{one}: no picture of this name beside it; add it")
    return LabelledPages(folder.resolve().name, tuple(pictures))


def read_words(path: Path) -> tuple[tuple[str, ...], np.ndarray, int]:
    """Words of a label file, their corners (words, 4, 2), and labels without text.

    Raises:
        ValueError: it is not UTF-8, holds no word, or a line is no label; it is named.
    """
    try:
        # `splitlines` would end a label at rare signs within its text, such as U+2028.
        rows = path.read_text("utf-8-sig").split("\n")
    except UnicodeDecodeError:
        raise ValueError(f"{path}: not UTF-8; save the file as UTF-8") from None
    labels = [
        _label(row, f"{path}, line {number}")
        for number, row in enumerate(rows, start=1)
        if row.strip()
    ]
    found = [(text, corners) for text, corners in labels if text]
    if not found:
        raise ValueError(f"{path}: holds no word; add them, or take the page away")
    words = tuple(text for text, _ in found)
    boxes = np.stack([corners for _, corners in found])
    return words, boxes, len(labels) - len(found)


def _label(row: str, where: str) -> tuple[str, np.ndarray]:
    *numbers, text = row.split(",", 8)
    try:
        corners = np.array(list(map(float, numbers))).reshape(4, 2)
    except ValueError:
        corners = np.full((4, 2), np.nan)
    if not np.isfinite(corners).all():
        raise ValueError(
            f"{where}: must be x1,y1,x2,y2,x3,y3,x4,y4,text, got {row[:60]!r}"
        )
    if area(corners) <= 0:
        raise ValueError(f"{where}: the four corners enclose no area; mend them")
    return text.strip(), corners
