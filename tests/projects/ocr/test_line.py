"""A line of text refuses what would go wrong later, and says which line it was."""

import unicodedata

import numpy as np
import pytest

from coursepkg.projects.ocr.line import TextLine

WHITE = np.full((40, 90), 255, dtype=np.uint8)


def test_a_line_knows_its_size() -> None:
    line = TextLine(WHITE, "Tổng cộng", "receipt 1", "receipt 1, instance 2")
    assert (line.height, line.width) == (40, 90)


@pytest.mark.parametrize("image", [WHITE.astype(np.float32), np.dstack([WHITE] * 3), WHITE[:, :0], WHITE[:0]])
def test_a_picture_that_is_not_gray_is_refused(image: np.ndarray) -> None:
    with pytest.raises(ValueError, match="receipt 1: a line's picture must be grayscale"):
        TextLine(image, "Tổng", "receipt 1", "receipt 1")


def test_a_decomposed_text_is_refused() -> None:
    with pytest.raises(ValueError, match=r"receipt 1: the text .* is in Unicode form NFD"):
        TextLine(WHITE, unicodedata.normalize("NFD", "Tổng"), "receipt 1", "receipt 1")
