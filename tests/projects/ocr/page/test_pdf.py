"""PDFs made with Pillow, drawn again as pages: as many, as large, as legible; and those that cannot be."""

import sys
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from coursepkg.projects.ocr.page.read import Page, read_page
from coursepkg.projects.ocr.page.sources import PagePicture, Source, is_pdf, open_pages, pdf_pages
from tests.projects.ocr.page.pages import LINES, TEXT, InkDetector, Matcher, drawn_page


def pdf(path: Path, pages: list[np.ndarray], dpi: int = 100, **options: object) -> Path:
    first, *others = [Image.fromarray(page) for page in pages]
    first.save(path, "PDF", save_all=True, append_images=others, resolution=dpi, **options)
    return path


def opened(path: Path, **options: int) -> list[PagePicture]:
    return list(open_pages(Source(path, path.name), **options))


def read(picture: PagePicture) -> Page:
    assert picture.image is not None, picture.error
    return read_page(picture.image, InkDetector(), Matcher(LINES))


def test_a_pdf_is_known_by_its_content(tmp_path: Path) -> None:
    (tmp_path / "scan").write_bytes(b"\x00junk%PDF-1.4 ...")
    (tmp_path / "damaged.pdf").write_bytes(b"nothing")
    Image.new("L", (9, 9)).save(tmp_path / "picture.pdf", "PNG")
    Image.new("L", (9, 9)).save(tmp_path / "picture.png")
    found = {path.name for path in tmp_path.iterdir() if is_pdf(path)}
    assert found == {"scan", "damaged.pdf"}
    assert not is_pdf(tmp_path / "none.pdf")


def test_without_the_library_a_line_says_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = pdf(tmp_path / "a.pdf", [drawn_page()[0]])
    monkeypatch.setitem(sys.modules, "pypdfium2", None)
    with pytest.raises(ImportError, match="reading a PDF needs pypdfium2: pip install"):
        next(pdf_pages(path))
    assert ["pip install" in page.error for page in opened(path)] == [True]


def test_pages_are_drawn_at_the_resolution_asked_for(tmp_path: Path) -> None:
    pytest.importorskip("pypdfium2")
    image = drawn_page()[0]
    path = pdf(tmp_path / "scan.pdf", [image, 255 - image, image])
    found = opened(path, dpi=200)
    assert [(page.number, page.n_pages, page.dpi) for page in found] == [
        (1, 3, 200),
        (2, 3, 200),
        (3, 3, 200),
    ]
    for page in found:
        assert page.image is not None
        assert np.abs(np.array(page.image.shape) - [2 * image.shape[0], 2 * image.shape[1], 3]).max() <= 1
    assert found[1].image is not None
    assert found[1].image.mean() < 40
    assert [page.number for page in opened(path, skip=2)] == [3]
    assert read(found[0]).text == read(found[2]).text == TEXT


def test_a_long_pdf_is_read_to_its_end(tmp_path: Path) -> None:
    pytest.importorskip("pypdfium2")
    shades = [np.full((20, 30, 3), 6 * number, np.uint8) for number in range(40)]
    found = opened(pdf(tmp_path / "long.pdf", shades))
    assert [(page.number, page.n_pages) for page in found] == [(number, 40) for number in range(1, 41)]
    seen = [float(page.image.mean()) for page in found if page.image is not None]
    assert np.abs(np.array(seen) - 6 * np.arange(40)).max() < 3


def test_colours_come_in_their_order(tmp_path: Path) -> None:
    pytest.importorskip("pypdfium2")
    red = np.zeros((90, 90, 3), np.uint8)
    red[..., 0] = 255
    (page,) = opened(pdf(tmp_path / "red.pdf", [red]))
    assert page.image is not None
    assert page.image[40, 40, 0] > 200 > 60 > page.image[40, 40, 1:].max()


def test_a_huge_page_is_drawn_smaller(tmp_path: Path) -> None:
    pytest.importorskip("pypdfium2")
    path = pdf(tmp_path / "poster.pdf", [np.full((300, 200, 3), 255, np.uint8)], dpi=1)
    (page,) = opened(path, dpi=200)
    assert page.image is not None
    assert 20_000_000 < page.image.shape[0] * page.image.shape[1] <= 24_100_000


def test_what_cannot_be_drawn_says_why(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pdfium = pytest.importorskip("pypdfium2")
    image = drawn_page()[0]
    path = pdf(tmp_path / "a.pdf", [image, image])
    (tmp_path / "cut.pdf").write_bytes(path.read_bytes()[:200])
    (page,) = opened(tmp_path / "cut.pdf")
    assert "cut.pdf: not a PDF, or a damaged one" in page.error

    def locked(*given: object) -> None:
        raise pdfium.PdfiumError("Incorrect password error", err_code=4)

    found = pdf_pages(path, most_pixels=1000)
    number, n_pages, reason = next(found)
    assert (number, n_pages) == (1, 2)
    assert f"{path}, page 1: holds a picture of {image.shape[1]} x" in str(reason)
    assert "page 2" in str(next(found)[2])
    monkeypatch.setattr(pdfium, "PdfDocument", locked)
    with pytest.raises(ValueError, match="locked by a password"):
        next(pdf_pages(path))


def test_a_page_without_a_size_does_not_stop_the_others(tmp_path: Path) -> None:
    pytest.importorskip("pypdfium2")
    image = drawn_page()[0]
    path = pdf(tmp_path / "a.pdf", [image, image])
    content = path.read_bytes()
    # The objects of the second picture are spoiled in place, so that all offsets stay right.
    where = content.rindex(b"\xff\xd8\xff")
    path.write_bytes(content[:where] + b"\0" * 400 + content[where + 400 :])
    found = opened(path)
    assert [page.number for page in found] == [1, 2]
    assert read(found[0]).text == TEXT
    assert found[1].error or read(found[1]).text == ""
