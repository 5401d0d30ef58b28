"""What a user names to be read: pictures, PDFs, and folders of them, as a sequence of pages in a fixed order."""

import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from coursepkg.arguments import check_count
from coursepkg.inputs import Wanted, files_fingerprint, find_inputs
from coursepkg.projects.ocr.data.images import count_pages, read_rgb
from coursepkg.projects.ocr.page.pdf import is_pdf, pdf_pages

PICTURES = (
    ".png",
    ".jpg",
    ".jpeg",
    ".jpe",
    ".jfif",
    ".tif",
    ".tiff",
    ".bmp",
    ".webp",
    ".gif",
    ".ppm",
    ".pgm",
)
ENDINGS = frozenset((*PICTURES, ".pbm", ".pnm", ".pdf", ".heic", ".heif", ".avif"))
"""What a folder is searched for. The last three cannot be read, and reading them says so."""
PAGES = Wanted(
    ENDINGS,
    inputs="pictures, PDFs or folders of them",
    missing="no picture and no PDF in it",
    others="other file",
)


@dataclass(frozen=True)
class Source:
    """One file to read."""

    path: Path
    """As it was given, or as it was found in the folder that was given."""
    name: str
    """Its path in that folder, or the file's name; no two sources of a run have the same."""


@dataclass(frozen=True)
class Sources:
    """The files to read, in order, and what was seen beside them."""

    files: tuple[Source, ...]
    notes: tuple[str, ...]
    """In one line each, what was left alone."""

    @property
    def fingerprint(self) -> str:
        """SHA-256 of names, sizes and times of change: whether these are still the same files."""
        return files_fingerprint(one.path for one in self.files)


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
    """Pixels to the inch at which a PDF's page was drawn; 0 for pictures, which have their own."""

    @property
    def title(self) -> str:
        """What messages call it."""
        return page_title(self.source.path, self.number, self.n_pages)


def find_sources(
    inputs: Sequence[str | Path], *, recursive: bool = False, leave: Iterable[Path] = ()
) -> Sources:
    """Files in the order in which they were given; those of a folder in natural order, page 2 before page 10.

    Args:
        inputs: files of any name, and folders, in which files are known by their ending.
        recursive: whether folders in folders are opened.
        leave: files and folders that are not read, such as what the run itself writes.

    Raises:
        FileNotFoundError: an input does not exist.
        ValueError: there is no input, it is neither file nor folder, or a folder holds nothing to read.
    """
    found, notes = find_inputs(inputs, PAGES, recursive=recursive, leave=leave)
    names: set[str] = set()
    files: list[Source] = []
    for path, inside in found:
        files.append(Source(path, _unused(inside or path.name, names)))
        names.add(files[-1].name)
    return Sources(tuple(files), tuple(notes))


def open_pages(source: Source, *, dpi: int = 200, skip: int = 0) -> Iterator[PagePicture]:
    """The pages of a file, one in memory at a time; what cannot be read is named and the rest follows.

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
        for number in range(skip + 1, n_pages + 1):
            yield _picture(source, number, n_pages)
    except (ValueError, OSError, ImportError) as reason:
        # Of a file that cannot be opened, this is the one page; a run that goes on has it already.
        if not skip:
            yield PagePicture(source, 1, 1, None, str(reason))


def page_title(path: str | Path, number: int, n_pages: int) -> str:
    """The file, and which of its pages where it has several."""
    return f"{path}, page {number}" if n_pages > 1 else str(path)


def _picture(source: Source, number: int, n_pages: int) -> PagePicture:
    name = page_title(source.path, number, n_pages)
    try:
        return PagePicture(source, number, n_pages, read_rgb(source.path, name, frame=number - 1))
    except (ValueError, OSError) as reason:
        return PagePicture(source, number, n_pages, None, str(reason))


def _unused(name: str, names: set[str]) -> str:
    """The name, or with a number where another file has it already."""
    found, number = name, 2
    while found in names:
        stem, ending = os.path.splitext(name)
        found, number = f"{stem} ({number}){ending}", number + 1
    return found
