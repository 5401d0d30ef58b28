"""Pages of a PDF as pictures, one at a time: memory does not grow with their number.

PDFium draws them, the library of the Chromium browser, through pypdfium2 (both BSD-3-Clause or Apache-2.0).
"""

from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

from coursepkg.projects.ocr.data.bounds import MOST_PIXELS
from coursepkg.wording import one_line

POINTS = 72
"""Units of a PDF page to the inch."""
MOST_DRAWN = 24_000_000
"""Largest picture of a page, in pixels; a larger page is drawn at a lower resolution. A4 at 500 dpi fits."""
TOGETHER = 16
"""Pages that are drawn before the file is opened anew: PDFium keeps what it has read of an open file."""
_WRONG_PASSWORD = 4
"""PDFium's code of a document that asks for a password."""


def pdf_pages(
    path: Path, *, dpi: int = 200, skip: int = 0, most_pixels: int = MOST_PIXELS
) -> Iterator[tuple[int, int, np.ndarray | str]]:
    """The pages of a PDF behind the first `skip`, each with its number from 1.

    A page that cannot be drawn gives the reason in one line, and the next ones follow.

    Args:
        path: of the file.
        dpi: pixels to the inch.
        skip: pages to leave out at the beginning; they are not drawn.
        most_pixels: a page that holds a larger picture is refused before it is decoded.

    Yields:
        number, pages of the file, and uint8 (height, width, 3) or a reason.

    Raises:
        ImportError: pypdfium2 is not installed.
        ValueError: the file is no PDF, damaged, or locked by a password.
    """
    pdfium = _pdfium()
    with _opened(pdfium, path) as document:
        n_pages = len(document)
    for first in range(skip, n_pages, TOGETHER):
        with _opened(pdfium, path) as document:
            for index in range(first, min(first + TOGETHER, n_pages)):
                try:
                    drawn: np.ndarray | str = _draw(pdfium, document, index, dpi, most_pixels)
                except (pdfium.PdfiumError, ValueError, MemoryError) as reason:
                    drawn = f"{path}, page {index + 1}: {one_line(reason)}"
                yield index + 1, n_pages, drawn


def is_pdf(path: Path) -> bool:
    """Whether a file is a PDF, by its first bytes, or by its name where it is too damaged to tell."""
    try:
        with path.open("rb") as file:
            head = file.read(1024)
    except OSError:
        return False
    # Some programs write a few bytes of their own before the header.
    return b"%PDF-" in head or (
        path.suffix.lower() == ".pdf" and not head.startswith((b"\xff\xd8", b"\x89PNG"))
    )


def _pdfium() -> Any:
    try:
        return import_module("pypdfium2")
    except ImportError as reason:
        raise ImportError("reading a PDF needs pypdfium2: pip install 'coursepkg[ocr]'") from reason


def _opened(pdfium: Any, path: Path) -> Any:
    try:
        document = pdfium.PdfDocument(path)
    except pdfium.PdfiumError as reason:
        if getattr(reason, "err_code", None) == _WRONG_PASSWORD:
            raise ValueError(f"{path} is locked by a password; save it without one") from None
        raise ValueError(f"{path}: not a PDF, or a damaged one ({one_line(reason)})") from None
    # What was typed into a form is drawn only where forms are made ready before the first page.
    document.init_forms()
    return document


def _draw(pdfium: Any, document: Any, index: int, dpi: int, most_pixels: int) -> np.ndarray:
    page = document[index]
    try:
        _check_pictures(pdfium, page, most_pixels)
        width, height = page.get_size()
        if min(width, height) <= 0:
            raise ValueError("the page has no size")
        scale = min(dpi / POINTS, (MOST_DRAWN / (width * height)) ** 0.5)
        bitmap = page.render(scale=scale, rev_byteorder=True, limit_image_cache=True)
        try:
            return np.array(bitmap.to_numpy()[..., :3])
        finally:
            bitmap.close()
    finally:
        page.close()


def _check_pictures(pdfium: Any, page: Any, most_pixels: int) -> None:
    for one in page.get_objects(filter=[pdfium.raw.FPDF_PAGEOBJ_IMAGE]):
        width, height = one.get_px_size()
        if width * height > most_pixels:
            raise ValueError(
                f"holds a picture of {width:,} x {height:,} pixels, more than {most_pixels:,}; scale it down"
            )
