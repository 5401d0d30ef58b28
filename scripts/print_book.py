"""Prints the built book as one PDF: title page, contents with page numbers, every chapter in order (`make pdf`).

    python scripts/print_book.py [--html _build/html] [--out FILE] [PAGE ...]

The pages of `make book` are joined into one document, which Chromium prints. Hints and solutions are unfolded; the code
that a page folds (imports, plotting) is left out; of a figure with a slider the position is printed that the page shows
first. PAGE, such as notebooks/attention/rope, prints these pages alone.
"""

import argparse
import html
import posixpath
import re
import shutil
import sys
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

import pypdfium2
import yaml
from bs4 import BeautifulSoup, Tag
from playwright.sync_api import Error, Page, Playwright, sync_playwright
from setup_cell import ROOT

CHROMIUM = ("chromium", "chromium-browser", "google-chrome")
STYLE = Path(__file__).with_suffix(".css")
COLUMN = 680
"""Pixels of the printed column: A4 less the margins of print_book.css, at 96 pixels an inch."""
ON_SCREEN_ONLY = (
    "script, style, a.headerlink, .cell.tag_setup, details.hide:has(.cell_input),"
    " details.toggle-details > summary, button, .try-it, .flipbook-control, .flipbook-page[hidden]"
)
# Shrinks what is wider than the column; nothing is cut off, nothing has to be scrolled.
FIT = """
(column) => {
  const wide = [];
  for (const one of document.querySelectorAll("table, .katex")) {
    const room = one.parentElement.closest("p, li, td, div, section").clientWidth || column;
    const width = Math.max(one.scrollWidth, one.getBoundingClientRect().width);
    if (width > room + 1) wide.push([one, room / width]);
  }
  for (const [one, share] of wide) one.style.zoom = share;
}
"""
WIDER = """
(column) => [...document.querySelectorAll("article :is(pre, table, img, .katex, p)")]
  .filter((one) => one.getBoundingClientRect().right > column + 1
    || (getComputedStyle(one).overflowX !== "visible" && one.scrollWidth > one.clientWidth + 1))
  .map((one) => `${one.closest("section[data-page]")?.dataset.page}: ${one.tagName} ${one.textContent.slice(0, 60)}`)
"""
"""What the paper would cut off, in words."""


@dataclass(frozen=True)
class Part:
    """Pages under one caption of the table of contents."""

    caption: str
    pages: list[str]


def parts(wanted: list[str]) -> list[Part]:
    """The table of contents, or what of it is wanted.

    Raises:
        ValueError: for a page that is not in it.
    """
    toc = yaml.safe_load((ROOT / "_toc.yml").read_text(encoding="utf-8"))
    found = [Part("", [toc["root"]])] + [
        Part(part["caption"], [chapter["file"] for chapter in part["chapters"]])
        for part in toc["parts"]
    ]
    if not wanted:
        return found
    known = {page for part in found for page in part.pages}
    if strange := [page for page in wanted if page not in known]:
        raise ValueError(
            f"{strange[0]}: no page of _toc.yml; need for example {found[0].pages[0]}"
        )
    chosen = [
        Part(part.caption, [page for page in part.pages if page in wanted])
        for part in found
    ]
    return [part for part in chosen if part.pages]


def anchor(page: str, fragment: str = "") -> str:
    """The id that a place of a page has in the joined document."""
    return page.replace("/", "-") + (f"--{fragment}" if fragment else "")


def target_of(page: str, link: str) -> str:
    """Where a relative link of a page leads, from the root of the site."""
    return posixpath.normpath(posixpath.join(posixpath.dirname(page), link))


def joined_page(folder: Path, page: str, pages: set[str]) -> Tag:
    """The article of a built page, with ids and links that hold in the joined document.

    Raises:
        ValueError: for a page that was not built.
    """
    path = folder / f"{page}.html"
    if not path.is_file():
        raise ValueError(f"{path}: no such page; run `make book` first")
    soup = BeautifulSoup(path.read_text(encoding="utf-8"), "html.parser")
    article = soup.select_one("article.bd-article")
    if article is None:
        raise ValueError(f"{path}: no article in it; run `make book` again")
    for one in article.select(ON_SCREEN_ONLY):
        one.decompose()
    for box in article.find_all("details"):
        box["open"] = ""
    for one in article.find_all(re.compile("^h[1-5]$")):
        one.name = f"h{int(one.name[1]) + 1}"
    for one in article.find_all(id=True):
        one["id"] = anchor(page, str(one["id"]))
    for link in article.find_all("a", href=True):
        _redirect(link, page, pages)
    for one in article.find_all(src=True):
        if not urlsplit(str(one["src"])).scheme:
            one["src"] = f"{folder.name}/{target_of(page, str(one['src']))}"
    section = soup.new_tag("section", attrs={"id": anchor(page), "data-page": page})
    section.extend(list(article.children))
    return section


def _redirect(link: Tag, page: str, pages: set[str]) -> None:
    """Leads a link to its place in the joined document; one that leads out of it becomes plain text."""
    target = urlsplit(str(link["href"]))
    if target.scheme or target.netloc:
        return
    other = target_of(page, target.path).removesuffix(".html") if target.path else page
    if other in pages:
        link["href"] = "#" + anchor(other, target.fragment)
    else:
        del link["href"]


def front_matter(contents: list[Part], titles: dict[str, str], title: str) -> str:
    """The title page, and the contents with room for the page numbers."""
    rows = []
    for part in contents:
        rows += (
            [f"<li class='part'>{html.escape(part.caption)}</li>"]
            if part.caption
            else []
        )
        rows += [
            f"<li><a href='#{anchor(page)}'>{html.escape(titles[page])}</a>"
            f"<span class='page-number' data-page='{page}'></span></li>"
            for page in part.pages
        ]
    return (
        f"<section class='title-page'><h1>{html.escape(title)}</h1>"
        "<p>Hints and solutions are printed in full. Code that the pages on the screen fold, such as imports and"
        " plotting, is left out.</p><p>Code: Apache License 2.0. Text and figures: CC BY 4.0.</p></section>"
        f"<nav class='book-contents'><h1>Contents</h1><ol>{''.join(rows)}</ol></nav>"
    )


def join(folder: Path, contents: list[Part]) -> str:
    """The whole book as one HTML document, to lie beside the folder of the built pages."""
    pages = [page for part in contents for page in part.pages]
    book = yaml.safe_load((ROOT / "_config.yml").read_text(encoding="utf-8"))["title"]
    sections = {page: joined_page(folder, page, set(pages)) for page in pages}
    first = BeautifulSoup(
        (folder / f"{pages[0]}.html").read_text(encoding="utf-8"), "html.parser"
    )
    titles = {
        page: section.find("h2").get_text(" ", strip=True)
        for page, section in sections.items()
    }
    body = [front_matter(contents, titles, book)]
    for part in contents:
        body += (
            [f"<h1 class='part'>{html.escape(part.caption)}</h1>"]
            if part.caption
            else []
        )
        body += [str(sections[page]) for page in part.pages]
    head = _head(first, folder, pages[0])
    style = STYLE.read_text(encoding="utf-8")
    return (
        "<!doctype html><html lang='en' data-theme='light' data-mode='light'>"
        f"<head><meta charset='utf-8'><title>{html.escape(book)}</title>{head}"
        f"<style>{style}</style></head><body><div class='bd-content'>"
        "<div class='bd-article-container'><article class='bd-article'>"
        f"{''.join(body)}</article></div></div></body></html>"
    )


def _head(soup: BeautifulSoup, folder: Path, page: str) -> str:
    """The style sheets of a page."""
    styles = soup.select("link[rel=stylesheet]")
    for one in styles:
        one["href"] = f"{folder.name}/{target_of(page, str(one['href']))}"
    return "".join(map(str, styles))


def page_numbers(pdf: bytes, names: list[str]) -> dict[str, int]:
    """The printed page, from 1, on which each of these ids stands."""
    document = pypdfium2.PdfDocument(pdf)
    raw = pypdfium2.raw
    found = {}
    for name in names:
        target = raw.FPDF_GetNamedDestByName(document.raw, name.encode())
        if target:
            found[name] = raw.FPDFDest_GetDestPageIndex(document.raw, target) + 1
    document.close()
    return found


def open_joined(page: Page, file: Path) -> None:
    """Opens the joined document as it will be printed, everything fitted to the column."""
    page.set_viewport_size({"width": COLUMN, "height": 1000})
    page.emulate_media(media="print", color_scheme="light")
    page.goto(file.resolve().as_uri(), wait_until="load", timeout=300_000)
    page.evaluate("() => document.fonts.ready")
    page.evaluate(FIT, COLUMN)


def print_joined(page: Page, pages: list[str]) -> bytes:
    """The open document as PDF; laid out twice, since the contents name the pages of the first time."""
    names = {anchor(name): name for name in pages}
    for _ in range(2):
        pdf = page.pdf(
            prefer_css_page_size=True, print_background=True, outline=True, tagged=True
        )
        found = page_numbers(pdf, list(names))
        page.evaluate(
            "(numbers) => { for (const one of document.querySelectorAll('.page-number'))"
            " one.textContent = numbers[one.dataset.page] ?? ''; }",
            {names[name]: number for name, number in found.items()},
        )
    return pdf


def chromium(playwright: Playwright) -> str:
    """The system's Chromium, or Playwright's own.

    Raises:
        ValueError: for a machine without one.
    """
    own = playwright.chromium.executable_path
    found = next(filter(None, map(shutil.which, (*CHROMIUM, own))), None)
    if found is None:
        raise ValueError(
            "no Chromium on this machine: install the system package `chromium`"
        )
    return found


def print_book(folder: Path, out: Path, contents: list[Part]) -> list[str]:
    """Writes the PDF; returns what the paper cuts off, which should be nothing.

    Raises:
        ValueError: for a page that was not built, a machine without Chromium, or a document that it does not print.
    """
    joined = folder.parent / "print.html"
    try:
        joined.write_text(join(folder, contents), encoding="utf-8")
        with sync_playwright() as playwright:
            browser = playwright.chromium.launch(
                executable_path=chromium(playwright),
                args=["--no-sandbox", "--disable-gpu"],
            )
            page = browser.new_page()
            page.set_default_timeout(600_000)
            open_joined(page, joined)
            wider = page.evaluate(WIDER, COLUMN)
            pdf = print_joined(page, [name for part in contents for name in part.pages])
            browser.close()
    except Error as error:
        raise ValueError(
            f"{joined}: Chromium does not print it: {error.message}"
        ) from error
    finally:
        joined.unlink(missing_ok=True)
    out.parent.mkdir(parents=True, exist_ok=True)
    part = out.with_suffix(".part")
    part.write_bytes(pdf)
    part.replace(out)
    return wider


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--html", type=Path, default=ROOT / "_build/html", help="the built book"
    )
    parser.add_argument(
        "--out",
        type=Path,
        default=ROOT / "_build/downloads/from-attention-to-applications.pdf",
    )
    parser.add_argument(
        "pages", nargs="*", metavar="PAGE", help="the whole book when none is named"
    )
    options = parser.parse_args()
    try:
        wider = print_book(options.html, options.out, parts(options.pages))
    except ValueError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    for place in wider:
        print(f"wider than the paper: {place}")
    count = len(pypdfium2.PdfDocument(options.out))
    print(f"{options.out}: {count} pages, {options.out.stat().st_size / 1e6:.1f} MB")
    return 0


if __name__ == "__main__":
    sys.exit(main())
