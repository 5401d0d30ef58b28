"""Pictures, PDFs and folders of them as a sequence of pages in a fixed order.

PDFium draws the pages of PDFs one at a time, through pypdfium2 (both BSD-3-Clause or
Apache-2.0): memory does not grow with their number.
"""

import os
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

from coursepkg.app.jobs import FoundInputs, InputFile, InputKind, find_inputs
from coursepkg.projects.ocr.data.images import MOST_PIXELS, count_pages, read_rgb
from coursepkg.validation import check_count, one_line

POINTS = 72
"""Units of a PDF page to the inch."""
MOST_DRAWN = 24_000_000
"""Largest picture of a page, in pixels; a larger page is drawn at a lower resolution.
A4 at 500 dpi fits."""
MOST_PAGES = 20_000
"""Of one file; one that says it has more is damaged, or would take days."""
TOGETHER = 16
"""Pages that are drawn before the file is opened anew: PDFium keeps what it has read of
an open file."""
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
    _check_pages(path, n_pages)
    for first in range(skip, n_pages, TOGETHER):
        with _opened(pdfium, path) as document:
            for index in range(first, min(first + TOGETHER, n_pages)):
                try:
                    drawn: np.ndarray | str = _draw(
                        pdfium, document, index, dpi, most_pixels
                    )
                except (pdfium.PdfiumError, ValueError, MemoryError) as reason:
                    drawn = f"{path}, page {index + 1}: {one_line(reason)}"
                yield index + 1, n_pages, drawn


def is_pdf(path: Path) -> bool:
    """Whether a file is a PDF, by its first bytes, or by its name if damaged."""
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
        raise ImportError(
            "reading a PDF needs pypdfium2: pip install 'coursepkg[ocr]'"
        ) from reason


def _opened(pdfium: Any, path: Path) -> Any:
    try:
        document = pdfium.PdfDocument(path)
    except pdfium.PdfiumError as reason:
        if getattr(reason, "err_code", None) == _WRONG_PASSWORD:
            raise ValueError(
                f"{path} is locked by a password; save it without one"
            ) from None
        raise ValueError(
            f"{path}: not a PDF, or a damaged one ({one_line(reason)})"
        ) from None
    # What was typed into a form is drawn only where forms are made ready before the
    # first page.
    document.init_forms()
    return document


def _draw(
    pdfium: Any, document: Any, index: int, dpi: int, most_pixels: int
) -> np.ndarray:
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
                f"holds a picture of {width:,} x {height:,} pixels, more than"
                f" {most_pixels:,}; scale it down"
            )


ENDINGS = frozenset({
    ".png", ".jpg", ".jpeg", ".jpe", ".jfif", ".tif", ".tiff", ".bmp", ".webp", ".gif",
    ".ppm", ".pgm", ".pbm", ".pnm", ".pdf", ".heic", ".heif", ".avif",
})  # fmt: skip
"""What a folder is searched for. The last three cannot be read, and reading them says
so."""
PAGES = InputKind(
    ENDINGS,
    inputs="pictures, PDFs or folders of them",
    missing="no picture and no PDF in it",
)

Source = InputFile
"""A file to read; no two of a run have the same name."""


@dataclass(frozen=True, eq=False)
class PagePicture:
    """A page to be read, or why there is none."""

    source: Source
    number: int
    """Of the page in its file, from 1."""
    n_pages: int
    """Of the file; 1 where it cannot be opened."""
    image: np.ndarray | None
    """uint8 (height, width, 3), upright; None where it cannot be read."""
    error: str = ""
    """Why it cannot be read, in one line that names the file."""
    dpi: int = 0
    """Pixels to the inch at which a PDF's page was drawn; 0 for pictures, which have
    their own."""

    @property
    def title(self) -> str:
        """What messages call it."""
        return page_title(self.source.path, self.number, self.n_pages)


def find_sources(
    inputs: Sequence[str | Path], *, recursive: bool = False, leave: Iterable[Path] = ()
) -> FoundInputs:
    """Files as they were given; those of a folder in natural order.

    No two of them have the same name: a file that was given by itself is called by its
    name without folders, and a number is added where another one has it already.

    Args:
        inputs: files of any name, and folders, in which files are known by their
            ending.
        recursive: whether folders in folders are opened.
        leave: files and folders that are not read, such as what the run itself writes.

    Raises:
        FileNotFoundError: an input does not exist.
        ValueError: there is no input, it is neither file nor folder, or a folder holds
            nothing to read.
    """
    found = find_inputs(inputs, PAGES, recursive=recursive, leave=leave)
    names: dict[str, Path] = {}
    for path, inside in found.files:
        names[_unused(inside or path.name, names)] = path
    files = tuple(Source(path, name) for name, path in names.items())
    return FoundInputs(files, found.notes)


def open_pages(
    source: Source, *, dpi: int = 200, skip: int = 0
) -> Iterator[PagePicture]:
    """The pages of a file, one in memory at a time, or why one is not there.

    Args:
        source: the file.
        dpi: pixels to the inch for the pages of a PDF.
        skip: pages to leave out at the beginning.
    """
    check_count("--dpi", dpi, least=36, most=1200)
    try:
        if is_pdf(source.path):
            for number, n_pages, drawn in pdf_pages(source.path, dpi=dpi, skip=skip):
                image, error = (None, drawn) if isinstance(drawn, str) else (drawn, "")
                yield PagePicture(source, number, n_pages, image, error, dpi)
            return
        n_pages = count_pages(source.path)
        _check_pages(source.path, n_pages)
        for number in range(skip + 1, n_pages + 1):
            yield _picture(source, number, n_pages)
    except (ValueError, OSError, ImportError) as reason:
        # Of a file that cannot be opened, this is the one page; a run that goes on has
        # it already.
        if not skip:
            yield PagePicture(source, 1, 1, None, str(reason))


def page_title(path: str | Path, number: int, n_pages: int) -> str:
    """The file, and which of its pages where it has several."""
    return f"{path}, page {number}" if n_pages > 1 else str(path)


def _picture(source: Source, number: int, n_pages: int) -> PagePicture:
    name = page_title(source.path, number, n_pages)
    try:
        return PagePicture(
            source, number, n_pages, read_rgb(source.path, name, frame=number - 1)
        )
    except (ValueError, OSError) as reason:
        return PagePicture(source, number, n_pages, None, str(reason))


def _check_pages(path: Path, n_pages: int) -> None:
    if n_pages > MOST_PAGES:
        raise ValueError(
            f"{path} says that it has {n_pages:,} pages, more than {MOST_PAGES:,};"
            " split it"
        )


def _unused(name: str, names: Collection[str]) -> str:
    """The name, or with a number where another file has it already."""
    found, number = name, 2
    while found in names:
        stem, ending = os.path.splitext(name)
        found, number = f"{stem} ({number}){ending}", number + 1
    return found
