"""The built pages as files: links, references to other hosts, folded solutions."""

from functools import cache
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest

from tests.book.sources import HTML, documents, parsed

PAGES = [*documents(), "search", "genindex"]


@pytest.fixture(scope="module", params=PAGES)
def page(site: str, request: pytest.FixtureRequest) -> Path:
    """A built page."""
    path = HTML / f"{request.param}.html"
    assert path.is_file(), f"{request.param} is in the contents but was not built: run `make book`"
    return path


def test_internal_links_lead_somewhere(page: Path) -> None:
    lost = []
    for link in parsed(page).select("a[href]"):
        target = urlsplit(str(link["href"]))
        if target.scheme or target.netloc:
            continue
        path = (page.parent / unquote(target.path)).resolve() if target.path else page
        missing = not path.is_file()
        if missing or (
            target.fragment and path.suffix == ".html" and unquote(target.fragment) not in anchors(path)
        ):
            lost.append(link["href"])
    assert lost == []


@cache
def anchors(path: Path) -> frozenset[str]:
    return frozenset(str(tag["id"]) for tag in parsed(path).select("[id]"))


def test_scripts_styles_and_pictures_come_with_the_book(page: Path) -> None:
    soup = parsed(page)
    named = [str(tag.get("src") or tag.get("href")) for tag in soup.select("[src], link[href]")]
    assert [name for name in named if name.startswith(("http:", "https:", "//"))] == []
    loaders = [script.get_text() for script in soup.select("script:not([type])")]
    assert [text for text in loaders if "https://" in text] == []


def test_solutions_stay_folded(page: Path) -> None:
    opened = [box for box in parsed(page).select("details[open]") if "Solution" in box.get_text()[:40]]
    assert opened == []


def test_no_markdown_was_left_unread(page: Path) -> None:
    article = parsed(page).select_one("main")
    assert article is not None
    text = "".join(
        string
        for string in article.strings
        if not string.find_parent(["pre", "code", "script", "style"])
        and not string.find_parent(class_="math")
    )
    assert [mark for mark in ("$$", "```", "**", "\\frac", ":::", "](") if mark in text] == []
