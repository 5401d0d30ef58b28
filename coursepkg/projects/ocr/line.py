"""One line of text and its picture: what data sets, generators and models of this project hand to one another."""

from dataclasses import dataclass

import numpy as np

from coursepkg.text.vietnamese import unicode_form


@dataclass(frozen=True, eq=False)
class TextLine:
    """A picture of one line with what it says. Two lines are never equal by their fields: compare what you mean.

    Raises:
        ValueError: the picture is no grayscale one, or the text is not in NFC; the line is named.
    """

    image: np.ndarray
    """Grayscale, uint8 (height, width): 0 is black, 255 white."""
    text: str
    """What the line says, in Unicode form NFC."""
    group: str
    """Receipt, document or generator seed: lines of one group never stand on both sides of a split."""
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
    """Raises a ValueError unless this is a grayscale picture: uint8 (height, width), neither of them 0."""
    if image.dtype != np.uint8 or image.ndim != 2 or 0 in image.shape:
        raise ValueError(
            f"{name}: a line's picture must be grayscale, uint8 (height, width), "
            f"got {image.dtype} {tuple(image.shape)}; read it with coursepkg.projects.ocr.data.read_gray"
        )


def check_nfc(text: str, name: str) -> None:
    """Raises a ValueError unless the text is in Unicode form NFC."""
    if unicode_form(text) not in ("NFC", "either"):
        raise ValueError(
            f"{name}: the text {text!r} is in Unicode form {unicode_form(text)}, not NFC; "
            "compose it with coursepkg.text.vietnamese.compose"
        )
