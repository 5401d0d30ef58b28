"""What readers carry away from the built book: a PDF, a zip that opens from a folder, and the links to them."""

import re
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from zipfile import ZipFile

import pypdfium2
import pytest
from bs4 import BeautifulSoup
from playwright.sync_api import Browser

from tests.book.sources import HTML, ROOT, load, toc

CHAPTER = "notebooks/attention/rope"
PAGES = ["book/notation", CHAPTER, "book/glossary"]
"""Prose with tables; a chapter with code, formulas, pictures and sliders; Vietnamese and Chinese."""

sys.path.insert(0, str(ROOT / "scripts"))


printing = load("scripts/print_book.py")
packing = load("scripts/zip_book.py")


@pytest.fixture(scope="module")
def printed(site: str, tmp_path_factory: pytest.TempPathFactory) -> tuple[list[str], pypdfium2.PdfDocument]:
    """Three pages of the book as PDF, and what the paper cuts off."""
    out = tmp_path_factory.mktemp("printed") / "three.pdf"
    try:
        # In a thread of its own: this one may hold the browser of other tests.
        with ThreadPoolExecutor(1) as threads:
            wider = threads.submit(printing.print_book, HTML, out, printing.parts(PAGES)).result()
    except ValueError as error:
        if "no Chromium" in str(error):
            pytest.skip(str(error))
        raise
    assert [path.name for path in out.parent.iterdir()] == [out.name]
    return wider, pypdfium2.PdfDocument(out)


MARGIN = 50
"""Points at the foot of a sheet that hold its number."""


def texts(document: pypdfium2.PdfDocument) -> list[str]:
    """What stands on each sheet above its number, with single spaces."""
    return [" ".join(page.get_textpage().get_text_bounded(bottom=MARGIN).split()) for page in document]


def feet(document: pypdfium2.PdfDocument) -> list[str]:
    """What stands at the foot of each sheet."""
    return [page.get_textpage().get_text_bounded(top=MARGIN).strip() for page in document]


def article(page: str) -> BeautifulSoup:
    found = BeautifulSoup((HTML / f"{page}.html").read_text(encoding="utf-8"), "html.parser")
    holder = found.select_one("article.bd-article")
    assert holder is not None
    return holder


def test_the_contents_name_the_sheet_of_each_chapter(
    printed: tuple[list[str], pypdfium2.PdfDocument],
) -> None:
    sheets = texts(printed[1])
    assert "From attention to applications" in sheets[0]
    assert sheets[1].startswith("Contents")
    numbers = []
    for page in PAGES:
        title = article(page).find("h1").get_text(" ", strip=True).rstrip("# ")
        (found,) = re.findall(rf"{re.escape(title)} (\d+)\b", sheets[1])
        numbers.append(int(found))
        assert sheets[int(found) - 1].startswith(title)
    assert numbers == sorted(set(numbers))


def test_every_sheet_but_the_first_has_its_number(printed: tuple[list[str], pypdfium2.PdfDocument]) -> None:
    document = printed[1]
    assert feet(document) == ["", *(str(number) for number in range(2, len(document) + 1))]


def test_nothing_is_cut_off(printed: tuple[list[str], pypdfium2.PdfDocument]) -> None:
    wider, document = printed
    assert wider == []
    text = "".join("".join(texts(document)).split())
    shown = [
        box
        for box in article(CHAPTER).select("div.highlight pre")
        if not box.find_parent("details", class_="hide")
    ]
    lines = [line for box in shown for line in box.get_text().splitlines()]
    long = sorted(lines, key=len)[-20:]
    assert [line for line in long if "".join(line.split()) not in text] == []


def test_pictures_are_in_place_and_solutions_are_open(
    printed: tuple[list[str], pypdfium2.PdfDocument],
) -> None:
    _, document = printed
    pictures = [n for n, page in enumerate(document) for one in page.get_objects() if one.type == 3]
    shown = [one for one in article(CHAPTER).select("img") if not one.find_parent(hidden=True)]
    # A drawing is printed as lines, not as a picture.
    photographs = [one for one in shown if not one["src"].endswith(".svg")]
    assert len(pictures) >= len(photographs) > 0
    text = " ".join(texts(document))
    boxes = [box for box in article(CHAPTER).select("details") if "Solution" in box.get_text()[:40]]
    assert boxes
    for box in boxes:
        first = next(line for line in box.find("pre").get_text().splitlines() if line.strip())
        assert " ".join(first.split()) in text
    assert "On the screen a slider turns this picture." in text
    assert "Installs the course's package" not in text, "the setup cell is no text to read"


def test_the_pdf_has_an_outline_and_links_that_stay_inside(
    printed: tuple[list[str], pypdfium2.PdfDocument],
) -> None:
    titles = [item.get_title() for item in printed[1].get_toc()]
    for page in PAGES:
        assert article(page).find("h1").get_text(" ", strip=True).rstrip("# ") in titles
    joined = BeautifulSoup(printing.join(HTML, printing.parts(PAGES)), "html.parser")
    ids = [one["id"] for one in joined.find_all(id=True)]
    assert len(ids) == len(set(ids))
    inner = {link["href"][1:] for link in joined.select("a[href^='#']")}
    assert inner <= set(ids)
    assert joined.select("article a[href$='.html'], article a[href*='.html#']") == []
    for one in joined.select("img[src], link[rel=stylesheet]"):
        address = str(one.get("src") or one.get("href")).partition("?")[0]
        assert address.startswith("data:") or (HTML.parent / address).is_file(), address


def test_a_page_that_does_not_exist_is_named(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"notebooks/none: no page of _toc\.yml"):
        printing.parts(["notebooks/none"])
    with pytest.raises(ValueError, match="no such page; run `make book` first"):
        printing.print_book(tmp_path, tmp_path / "out.pdf", printing.parts(["book/notation"]))
    assert list(tmp_path.iterdir()) == []


def test_the_whole_book_is_printed_in_the_order_of_the_contents() -> None:
    contents = toc()
    files = [contents["root"]] + [one["file"] for part in contents["parts"] for one in part["chapters"]]
    assert [page for part in printing.parts([]) for page in part.pages] == files


def test_the_zip_opens_from_a_folder(site: str, browser: Browser, tmp_path: Path) -> None:
    out = tmp_path / "book.zip"
    packing.zip_book(HTML, out)
    with ZipFile(out) as archive:
        assert {name.partition("/")[0] for name in archive.namelist()} == {packing.FOLDER}
        assert not [name for name in archive.namelist() if "/downloads/" in name or "/models/" in name]
        archive.extractall(tmp_path)
    folder = tmp_path / packing.FOLDER
    lost: list[str] = []
    page = browser.new_context().new_page()
    page.on(
        "request",
        lambda asked: (
            lost.append(asked.url) if not asked.url.startswith(("file:", "data:", "blob:")) else None
        ),
    )
    page.on("requestfailed", lambda asked: lost.append(asked.url))
    page.on("pageerror", lambda error: lost.append(str(error)))
    page.goto((folder / "index.html").as_uri(), wait_until="load")
    page.wait_for_url("**/book/intro.html")
    # Going on earlier would break off what the first page still asks for.
    page.wait_for_load_state("networkidle")
    page.goto((folder / f"{CHAPTER}.html").as_uri(), wait_until="load")
    assert "Rotary" in page.locator("h1").first.inner_text()
    assert page.locator("article img").first.evaluate("one => one.naturalWidth") > 0
    page.context.close()
    assert lost == []
    how = BeautifulSoup((folder / "book/how_to_run.html").read_text(encoding="utf-8"), "html.parser")
    assert how.select(".downloads, a[href*='/downloads/']") == []


def test_no_book_no_zip(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"no index\.html; run `make book` first"):
        packing.zip_book(tmp_path, tmp_path / "book.zip")
    assert list(tmp_path.iterdir()) == []
