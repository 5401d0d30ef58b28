"""The built pages in a real browser: desktop in the light, phone in the dark."""

from collections.abc import Callable
from functools import cache

import pytest
from playwright.sync_api import Browser, Locator, expect

from tests.book.browser import Visit, opened, visit_page
from tests.book.sources import HTML, documents

pytestmark = pytest.mark.browser

WIDEST = 88
"""Columns of the longest line of code in the package and in the notebooks."""
TALLEST = 40_000
"""Pixels of the longest page on a desktop."""
MOST_BYTES, MOST_SHARED_BYTES, MOST_PROSE_BYTES = 1_500_000, 280_000, 300_000
LONG_PROSE = {"book/corrections"}
"""Pages whose text and formulas alone take 220 kB."""
DESKTOP, PHONE = (1280, "light"), (390, "dark")
PAGES = [*documents(), "search", "genindex", "404"]
SAMPLE = {
    "book/intro",
    "book/notation",
    "book/bibliography",
    "notebooks/attention/self_attention",
    "notebooks/translation/zh_vi_baseline",
    "search",
}
"""Pages that axe-core judges on both screens and with their colours. It judges the others on the phone alone: their
frame, which a phone folds away, is that of the sample."""
FLIPBOOKS = [
    document
    for document in documents()
    if (HTML / f"{document}.html").is_file()
    and 'class="flipbook"' in (HTML / f"{document}.html").read_text(encoding="utf-8")
]


@pytest.fixture(scope="module")
def visit(browser: Browser, site: str):
    """Opens a page once for all tests that ask about it."""
    return cache(
        lambda document, width, scheme: visit_page(
            browser,
            site,
            document,
            width,
            scheme,
            axe=document in SAMPLE or width == PHONE[0],
            colours=document in SAMPLE,
        )
    )


@pytest.fixture(params=PAGES)
def visits(visit, request: pytest.FixtureRequest) -> list[Visit]:
    """A page as it looks on a desktop in the light and on a phone in the dark."""
    return [visit(request.param, *screen) for screen in (DESKTOP, PHONE)]


def test_nothing_goes_wrong_while_a_page_loads(visits: list[Visit]) -> None:
    for seen in visits:
        assert (seen.errors, seen.failed) == ([], []), seen.scheme


def test_nothing_is_asked_of_another_host(visits: list[Visit]) -> None:
    for seen in visits:
        assert seen.foreign == []


def test_the_page_follows_the_color_scheme_of_the_system(visits: list[Visit]) -> None:
    assert [seen.found["theme"] for seen in visits] == ["light", "dark"]


def test_the_page_is_no_wider_than_the_screen(visits: list[Visit]) -> None:
    for seen in visits:
        assert seen.found["overflow"] <= 0, f"{seen.width} px wide: {seen.found['wide']}"


def test_a_page_has_no_serious_fault_of_accessibility(visits: list[Visit]) -> None:
    for seen in visits:
        assert seen.faults == [], seen.scheme


def test_links_in_text_are_underlined(visits: list[Visit]) -> None:
    for seen in visits:
        assert seen.found["plainLinks"] == [], seen.scheme


@pytest.mark.parametrize("document", documents())
def test_a_page_is_light(visit: Callable[[str, int, str], Visit], document: str) -> None:
    loaded = visit(document, *DESKTOP).loaded
    own = {url for url in loaded if "/_images/" in url or url.endswith(f"{document}.html")}
    assert min(loaded.values()) > 0
    assert sum(loaded.values()) <= MOST_BYTES
    assert sum(size for url, size in loaded.items() if url not in own) <= MOST_SHARED_BYTES
    if not document.startswith("notebooks/") and document not in LONG_PROSE:
        assert sum(size for url, size in loaded.items() if "/_images/" not in url) <= MOST_PROSE_BYTES
    assert not [url for url in loaded if "search_index" in url], "the index is for the search page alone"


def test_a_desktop_shows_whole_lines_of_code(browser: Browser, site: str) -> None:
    with opened(browser, site, "notebooks/attention/rope", *DESKTOP) as (page, _):
        columns = page.locator("div.cell_input pre:visible").first.evaluate(
            """pre => {
                const ruler = document.createElement("span"), style = getComputedStyle(pre);
                ruler.textContent = "x".repeat(100);
                pre.append(ruler);
                const column = ruler.getBoundingClientRect().width / 100;
                const room = pre.clientWidth - parseFloat(style.paddingLeft) - parseFloat(style.paddingRight);
                return room / column;
            }"""
        )
    assert columns >= WIDEST


@pytest.mark.parametrize("document", ["book/glossary", "book/corrections"])
def test_a_phone_shows_every_column_of_a_table_of_text(
    visit: Callable[[str, int, str], Visit], document: str
) -> None:
    assert visit(document, *PHONE).found["scrolledTables"] == []


def test_no_page_is_endless(visits: list[Visit]) -> None:
    assert visits[0].found["height"] <= TALLEST


def test_text_stands_out_from_its_background(visits: list[Visit]) -> None:
    for seen in visits:
        assert seen.found["faint"] == [], seen.scheme


def test_every_formula_is_typeset(visits: list[Visit]) -> None:
    for seen in visits:
        assert (seen.found["raw"], seen.found["mathErrors"]) == ([], [])


def test_no_formula_is_cut(visits: list[Visit]) -> None:
    for seen in visits:
        assert seen.found["cutFormulas"] == [], seen.width


def test_no_code_needs_sideways_scrolling(visits: list[Visit]) -> None:
    for seen in visits:
        assert seen.found["wideCode"] == [], seen.width


def test_every_picture_has_its_size_before_it_is_there(visits: list[Visit]) -> None:
    assert visits[0].found["unsized"] == []


def test_every_picture_loads_and_has_alt_text(visits: list[Visit]) -> None:
    for seen in visits:
        assert (seen.found["broken"], seen.found["unnamed"]) == ([], [])


def test_figures_lie_on_a_white_card_in_the_dark(visits: list[Visit]) -> None:
    assert visits[1].found["uncarded"] == []


def test_every_widget_is_played(visits: list[Visit]) -> None:
    assert [seen.found["unplayed"] for seen in visits] == [0, 0]


def pictures(figure: Locator) -> list[str]:
    """What an interactive figure shows now."""
    return figure.locator("img, svg").evaluate_all(
        "all => all.filter(e => e.checkVisibility()).map(e => (e.alt ?? '') + (e.src ?? e.outerHTML))"
    )


@pytest.mark.parametrize("document", FLIPBOOKS)
def test_every_slider_turns_its_figure(browser: Browser, site: str, document: str) -> None:
    with opened(browser, site, document, *DESKTOP) as (page, _):
        for figure in page.locator(".flipbook").all():
            assert len(pictures(figure)) == 1
            for slider in figure.get_by_role("slider").all():
                before, said = pictures(figure), slider.get_attribute("aria-valuetext")
                at_end = slider.input_value() == slider.get_attribute("max")
                slider.press("ArrowLeft" if at_end else "ArrowRight")
                expect(slider).not_to_have_attribute("aria-valuetext", said or "")
                now = pictures(figure)
                assert len(now) == 1
                assert now != before


def test_the_front_door_leads_to_the_preface(browser: Browser, site: str) -> None:
    with opened(browser, site, "index", *DESKTOP) as (page, _):
        page.wait_for_url("**/book/intro.html", timeout=10_000)
