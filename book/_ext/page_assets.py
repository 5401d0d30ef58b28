"""Gives a page only the scripts and styles that it uses, and none that holds up its first paint."""

import re
from collections.abc import Iterable
from pathlib import PurePosixPath

from lxml import html

SITE_STYLE = "_static/site.css"
"""Written by `stylesheet.py` out of all the style sheets that every page would load."""
FORMULA_STYLE = "_static/katex/katex.min.css"
UNUSED_SCRIPTS = {
    "bootstrap.js",
    "doctools.js",
    "fontawesome.js",
    "language_data.js",
    "searchindex.js",
    "searchtools.js",
    "sphinx-book-theme.js",
    "sphinx_highlight.js",
    "translations.js",
}
"""What book/_static/site.js, search.js and the style sheet stand for."""
SCRIPT_NEEDS = {
    "clipboard.min.js": "//pre",
    "copybutton.js": "//pre",
    "togglebutton.js": "//*[contains(@class, 'toggle-') or contains(@class, 'dropdown')][@class='admonition']",
    "design-tabs.js": "//*[contains(@class, 'sd-tab-set')]",
    "flipbook.js": "//*[@class='flipbook']",
}
"""Scripts that only some pages need, and what such a page holds."""
INLINE = re.compile(
    r"DOCUMENTATION_OPTIONS\.|toggleHint|toggleOpenOnPrint|togglebuttonSelector|window\.MathJax"
)
"""Settings of scripts that are not loaded."""
PLAIN_CODE = re.compile(r'<span class="(?:n|nn|nx|p|w)">([^<]*)</span>')
"""Names, punctuation and space of highlighted code: in both styles they have the colour of the text around."""
WIDGETS = "application/vnd.jupyter.widget-"
LIVE_CODE = re.compile("thebe", re.IGNORECASE)
"""In the type, the address or the text of what loads live code cells, from another host: Jupyter Book adds it to every
page."""


def without_plain_spans(text: str) -> str:
    """The HTML of a page without the elements around code that nothing colours: a fifth of a chapter."""
    return PLAIN_CODE.sub(r"\1", text)


def lighten(page: html.HtmlElement, root: str, styles: Iterable[str]) -> None:
    """Drop what the page does not use and defer the rest.

    Args:
        page: the parsed page, changed in place.
        root: leads from the page to the root of the site.
        styles: names of the style sheets that stand in the site's own.
    """
    for script in list(page.iter("script")):
        address = script.get("src")
        kind, text = script.get("type", ""), script.text or ""
        if LIVE_CODE.search(f"{kind} {address} {text}"):
            _drop(script)
            continue
        if address is None:
            if kind.startswith(WIDGETS) or INLINE.search(text):
                _drop(script)
            continue
        name = file_name(address)
        need = SCRIPT_NEEDS.get(name)
        if name in UNUSED_SCRIPTS or (need and not page.xpath(need)):
            _drop(script)
        else:
            script.set("defer", "defer")
    head = page.find("head")
    bundled = set(styles)
    for link in list(head.iter("link")):
        name = file_name(link.get("href", ""))
        if name in UNUSED_SCRIPTS or (
            link.get("rel") == "stylesheet" and name in bundled
        ):
            _drop(link)
    for style in (SITE_STYLE, FORMULA_STYLE):
        if style == SITE_STYLE or page.xpath("//*[@class='katex']"):
            _add_style(head, root + style)


def file_name(address: str) -> str:
    """The last part of an address, without its query."""
    return PurePosixPath(address.partition("?")[0]).name


def _add_style(head: html.HtmlElement, address: str) -> None:
    link = html.Element("link", rel="stylesheet", href=address)
    link.tail = "\n"
    others = head.xpath("link[@rel='stylesheet']")
    if others:
        others[0].addprevious(link)
    else:
        head.append(link)


def _drop(element: html.HtmlElement) -> None:
    element.drop_tree()
