"""Whom the pages reach: readers with a keyboard only, with large type, without JavaScript, from a folder, and those
who search."""

from typing import Any
from urllib.parse import quote

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.book.browser import opened
from tests.book.sources import HTML

pytestmark = pytest.mark.browser


def test_the_theme_switch_keeps_the_focus(browser: Browser, site: str) -> None:
    with opened(browser, site, "book/notation", 1280, "light") as (page, _):
        switch = page.locator(".theme-switch-button:visible").first
        switch.focus()
        before = page.evaluate("document.documentElement.dataset.mode")
        page.keyboard.press("Enter")
        assert page.evaluate("document.documentElement.dataset.mode") != before
        expect(switch).to_be_focused()


def test_the_menu_of_the_header_opens_and_closes_by_keyboard(browser: Browser, site: str) -> None:
    with opened(browser, site, "notebooks/attention/gqa", 1280, "light") as (page, _):
        button = page.locator("[data-bs-toggle=dropdown]").first
        button.press("Enter")
        expect(button.locator("+ ul")).to_be_visible()
        page.keyboard.press("Escape")
        expect(button.locator("+ ul")).to_be_hidden()
        expect(button).to_be_focused()


def test_large_type_leaves_the_page_within_the_screen(browser: Browser, site: str) -> None:
    with opened(browser, site, "notebooks/attention/gqa", 640, "light") as (page, _):
        page.add_style_tag(content="html { font-size: 200% }")
        assert page.evaluate("document.documentElement.scrollWidth - innerWidth") <= 0


def no_script(browser: Browser, address: str) -> Any:
    context = browser.new_context(java_script_enabled=False, viewport={"width": 1280, "height": 900})
    page = context.new_page()
    page.goto(address)
    return page


def test_without_javascript_formulas_and_figures_are_there(browser: Browser, site: str) -> None:
    page = no_script(browser, f"{site}notebooks/attention/self_attention.html")
    expect(page.locator(".katex-html").first).to_be_visible()
    figure = page.locator(".flipbook").first
    expect(figure.locator("img:visible")).to_have_count(1)
    expect(figure.get_by_role("slider")).to_have_count(0)
    page.context.close()


def test_without_javascript_the_search_says_why_it_is_silent(browser: Browser, site: str) -> None:
    page = no_script(browser, f"{site}search.html")
    expect(page.get_by_text("needs JavaScript")).to_be_visible()
    page.context.close()


def results(page: Page, address: str, query: str) -> list[str]:
    """Addresses of the pages that a search lists, in order."""
    page.goto(f"{address}search.html?q={quote(query)}")
    page.locator(".search-summary").wait_for(timeout=10_000)
    links = page.locator("#search-results > ul > li > a").evaluate_all("all => all.map(e => e.href)")
    return [link.removeprefix(address).removesuffix(".html") for link in links]


@pytest.fixture(scope="module", params=["server", "folder"])
def search_place(request: pytest.FixtureRequest, site: str) -> str:
    """Where the book lies: behind a server, or in a folder."""
    return site if request.param == "server" else f"{HTML.as_uri()}/"


@pytest.mark.parametrize(
    ("query", "first"),
    [
        ("attention", "notebooks/attention/self_attention"),
        ("GQA", "notebooks/attention/gqa"),
        ("flash attention", "notebooks/attention/flash_attention"),
        ("rope", "notebooks/attention/rope"),
        ("beam search", "notebooks/transformer/decoding"),
        ("glossary", "book/glossary"),
        ("注意力", "notebooks/attention/self_attention"),
        ("chú ý", "notebooks/attention/self_attention"),
        ("chu y", "notebooks/attention/self_attention"),
    ],
)
def test_a_search_puts_the_page_on_the_subject_first(
    browser: Browser, search_place: str, query: str, first: str
) -> None:
    with browser.new_context() as context:
        assert results(context.new_page(), search_place, query)[0] == first


@pytest.mark.parametrize(
    ("query", "page_with_it"),
    [
        ("bộ giải mã", "book/glossary"),
        ("bo giai ma", "book/glossary"),
        ("编码器", "book/glossary"),
        ("show_source", "notebooks/attention/gqa"),
        ("_fold_groups", "notebooks/attention/gqa"),
    ],
)
def test_a_search_finds_every_language_and_names_of_code(
    browser: Browser, search_place: str, query: str, page_with_it: str
) -> None:
    with browser.new_context() as context:
        assert page_with_it in results(context.new_page(), search_place, query)


def test_an_excerpt_shows_the_words_and_no_markup(browser: Browser, site: str) -> None:
    with browser.new_context() as context:
        page = context.new_page()
        results(page, site, "bo giai ma")
        text = page.locator(".search-section").first.inner_text()
        assert page.locator(".search-section mark").first.inner_text().lower() == "bộ giải mã"
        assert not [mark for mark in ("<", "$", "\\(", "**", "¶") if mark in text]
        results(page, site, "zzzxqy")
        expect(page.locator(".search-summary")).to_contain_text("No page has")


def test_a_page_works_from_a_folder(browser: Browser) -> None:
    with browser.new_context() as context:
        page, wrong = context.new_page(), []
        page.on("console", lambda line: wrong.append(line.text) if line.type == "error" else None)
        page.on("requestfailed", lambda request: wrong.append(request.url))
        page.goto(f"{HTML.as_uri()}/notebooks/attention/self_attention.html")
        slider = page.locator(".flipbook").first.get_by_role("slider").first
        said = slider.get_attribute("aria-valuetext")
        slider.press("ArrowRight")
        expect(slider).not_to_have_attribute("aria-valuetext", said or "")
        assert wrong == []
