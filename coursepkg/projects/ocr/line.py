"""One line of text: its picture, what it says, and what a reader answers."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

import numpy as np
import torch
from torch import Tensor

from coursepkg.projects.ocr.recipe import STEP
from coursepkg.text.vietnamese import unicode_form
from coursepkg.text.vocabulary import SPECIALS, Vocabulary
from coursepkg.validation import counted


@dataclass(frozen=True, eq=False)
class TextLine:
    """A picture of one line with what it says. Lines are not compared by fields.

    Raises:
        ValueError: the picture is no grayscale one, or the text is not in NFC; the line
            is named.
    """

    image: np.ndarray
    """Grayscale, uint8 (height, width): 0 is black, 255 white."""
    text: str
    """What the line says, in Unicode form NFC."""
    group: str
    """Receipt, document or generator seed: lines of one group never stand on both sides
    of a split."""
    name: str
    """Where the line is from: file and instance."""

    def __post_init__(self) -> None:
        check_gray(self.image, self.name)
        check_nfc(self.text, self.name)

    @property
    def height(self) -> int:
        """In pixels."""
        return int(self.image.shape[0])

    @property
    def width(self) -> int:
        """In pixels."""
        return int(self.image.shape[1])


def check_gray(image: np.ndarray, name: str) -> None:
    """Raises a ValueError unless this is a picture uint8 (height, width)."""
    if image.dtype != np.uint8 or image.ndim != 2 or 0 in image.shape:
        raise ValueError(
            f"{name}: a line's picture must be grayscale, uint8 (height, width), got"
            f" {image.dtype} {tuple(image.shape)}; read it with"
            " coursepkg.projects.ocr.data.read_gray"
        )


def check_nfc(text: str, name: str) -> None:
    """Raises a ValueError unless the text is in Unicode form NFC."""
    if unicode_form(text) not in ("NFC", "either"):
        raise ValueError(
            f"{name}: the text {text!r} is in Unicode form {unicode_form(text)}, not"
            " NFC; compose it with coursepkg.text.vietnamese.compose"
        )


@dataclass(frozen=True)
class Alternative:
    """One of several readings of a line."""

    text: str
    """What the line may say."""
    confidence: float
    """Geometric mean of the probabilities of its characters and of the end behind them,
    and of all looks, in [0, 1]."""
    score: float
    """What ranks it."""


@dataclass(frozen=True)
class LineReading:
    """A line and what it says."""

    n_best: tuple[Alternative, ...]
    """Readings, best first; empty where the picture could not be read."""
    error: str | None = None
    """Why it could not be read, in one line."""

    @property
    def text(self) -> str:
        """The best reading; empty where there is none."""
        return self.n_best[0].text if self.n_best else ""

    @property
    def confidence(self) -> float:
        """That of the best reading; 0 where nothing was read."""
        return self.n_best[0].confidence if self.text.strip() else 0.0

    def is_doubtful(self, below: float) -> bool:
        """Whether something was read, and with less confidence than this."""
        return bool(self.text.strip()) and self.confidence < below


@dataclass(frozen=True)
class Unreadable:
    """A line with a text but without a picture; a score counts it as wrong."""

    name: str
    """File and instance."""
    text: str
    group: str
    reason: str
    """Why, in one line."""


@dataclass
class Sorted:
    """Lines with a picture and lines without one."""

    lines: list[TextLine] = field(default_factory=list)
    unreadable: list[Unreadable] = field(default_factory=list)

    def summary(self) -> str:
        """How many there are of both, and the first reasons."""
        text = f"{counted(len(self.lines), 'line')} read"
        if not self.unreadable:
            return text
        reasons = Counter(one.reason for one in self.unreadable)
        first = "; ".join(list(reasons)[:3]) + ("; ..." if len(reasons) > 3 else "")
        return f"{text}, {len(self.unreadable):,} not: {first}"


def sort_lines(found: Iterable[TextLine | Unreadable]) -> Sorted:
    """Put the lines that could be read apart from those that could not."""
    both = Sorted()
    for one in found:
        if isinstance(one, TextLine):
            both.lines.append(one)
        else:
            both.unreadable.append(one)
    return both


def decode_text(ids: Sequence[int], vocabulary: Vocabulary) -> str:
    """The text of some ids up to the first EOS; unknown characters are U+FFFD."""
    unknown = SPECIALS[-1]
    return "".join(
        "\ufffd" if token == unknown else token for token in vocabulary.decode(ids)
    )


WHITE = 255


def bucket_width(width: int, step: int = STEP) -> int:
    """The width that a line is padded to: the next multiple of `step`."""
    return -(-width // step) * step


def pad_images(images: Sequence[np.ndarray], width: int) -> tuple[Tensor, Tensor]:
    """Pictures of one height as a network takes them.

    Args:
        images: uint8 (height, width) each.
        width: to pad to, at least the widest.

    Returns:
        images (B, 1, height, width), float32 in [-1, 1], and widths (B,).
    """
    room = np.full((len(images), 1, images[0].shape[0], width), WHITE, dtype=np.uint8)
    for row, image in zip(room, images, strict=True):
        row[0, :, : image.shape[1]] = image
    widths = torch.tensor([image.shape[1] for image in images])
    return torch.from_numpy(room).to(torch.float32).div_(127.5).sub_(1.0), widths


@runtime_checkable
class LineRecognizer(Protocol):
    """What reads lines and can say how: a `Recognizer`, or an `ExportedReader`."""

    def read_lines(
        self,
        pictures: Sequence[str | Path | np.ndarray],
        *,
        batch_size: int = 64,
        reader: str | None = None,
        beam_size: int | None = None,
        second_look: int | float | None = None,
        keep_going: bool = False,
        names: Sequence[str] | None = None,
    ) -> list[LineReading]:
        """One reading a picture, in order, see `Recognizer.read_lines`."""

    def reading_settings(
        self,
        reader: str | None = None,
        beam_size: int | None = None,
        second_look: int | float | None = None,
    ) -> dict[str, Any]:
        """Reader, beam_size, second_look and dtype of `read_lines` with these options.

        Raises:
            ValueError: an option is out of range, or it cannot read so.
        """

    def describe_reading(
        self,
        reader: str | None = None,
        beam_size: int | None = None,
        second_look: int | float | None = None,
    ) -> str:
        """How `read_lines` reads with these options, for the signature of a score."""
