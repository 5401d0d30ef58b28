"""The last hand on every page of the site, and the files that belong to the site as a whole.

A page passes through here as the theme has rendered it. `PageBridge` is Sphinx's own place for that
(`template_bridge` in _config.yml).
"""

import re
from collections.abc import Iterator
from functools import cache
from html import escape
from pathlib import Path
from typing import Any

import accessible
import page_assets
from flipbooks import VIEW, flipbook_html, read_flipbook, widget_states
from lxml import html
from pictures import move_pictures
from search_index import write_index
from sphinx.application import Sphinx
from sphinx.builders.html import StandaloneHTMLBuilder
from sphinx.jinja2glue import BuiltinTemplateLoader
from sphinx.util import logging
from stylesheet import write_stylesheet

THEME_STYLES = ("styles/theme.css", "styles/pydata-sphinx-theme.css")
DESCRIPTION = 200
"""Characters of a page's description in a link preview."""
NOT_FOUND = (
    "<section><h1>This page does not exist</h1><p>The address may be old or mistyped. "
    '<a href="{home}">The landing page</a> has the map of the course, and '
    '<a href="{search}">the search</a> finds a word in all chapters.</p></section>'
)
FIRST_THEME = """{
const mode = localStorage.getItem("mode") || "auto";
const dark = mode === "auto" ? matchMedia("(prefers-color-scheme: dark)").matches : mode === "dark";
Object.assign(document.documentElement.dataset, { mode, theme: dark ? "dark" : "light" });
}
"""
"""Chooses the colours before the first paint. The theme's own script leaves them open until all scripts have run."""
NO_SEARCH = (
    "The search runs in your browser and needs JavaScript, which is switched off."
)
SPOKEN = ".//text()[not(ancestor::*[@class='katex-mathml'])]"
"""The text of an element without the second form of its formulas."""
logger = logging.getLogger(__name__)


class PageBridge(BuiltinTemplateLoader):
    """Renders pages as Sphinx does, and finishes them."""

    builder: StandaloneHTMLBuilder

    def init(self, builder: Any, theme: Any = None, dirs: Any = None) -> None:
        """Keep the builder, which knows where pages lie."""
        super().init(builder, theme, dirs)
        self.builder = builder

    def render(self, template: str, context: dict[str, Any]) -> str:  # type: ignore[override]
        """A page of the site; other files as they are."""
        text = super().render(template, context)
        return finished(text, context, self.builder) if "</html>" in text else text


def finished(text: str, context: dict[str, Any], builder: StandaloneHTMLBuilder) -> str:
    """The HTML of a page with its figures, scripts, styles, names and description in order."""
    name, outdir = context["pagename"], Path(builder.outdir)
    page = html.document_fromstring(page_assets.without_plain_spans(text))
    root = page.get("data-content_root", "./")
    write_flipbooks(page, name, Path(builder.srcdir))
    source = Path(builder.srcdir)
    later = {file.name: file for file in (source / "book/_static").glob("*.svg")}
    later |= {to: source / image for image, to in builder.images.items()}
    move_pictures(page, root, outdir, outdir / f"{name}.html", later)
    add_script(page, f"{root}_static/flipbook.js")
    add_script(page, f"{root}_static/site.js")
    if name == "search":
        prepare_search(page, root)
    choose_theme(page)
    page_assets.lighten(
        page, root, [Path(style).name for style in site_styles(builder)]
    )
    accessible.mend(page)
    describe(page, name, builder.config.html_baseurl)
    offer_citation(page, builder.config.html_theme_options.get("repository_url", ""))
    body = html.tostring(page, encoding="unicode", method="html")
    return f"<!DOCTYPE html>\n{body}\n"


def site_styles(builder: StandaloneHTMLBuilder) -> list[str]:
    """The style sheets that every page of the theme and its extensions loads."""
    own = [str(style.filename) for style in builder._css_files]
    names = [name.removeprefix("_static/") for name in own if ":" not in name]
    return list(dict.fromkeys([*THEME_STYLES, *names]))


def write_flipbooks(page: html.HtmlElement, name: str, source: Path) -> None:
    """Put plain HTML in the place of each view of widgets."""
    views = page.xpath(f"//script[@type='{VIEW}']")
    for index, view in enumerate(views):
        model = re.findall(r'"model_id":\s*"(\w+)"', view.text or "")[0]
        try:
            figure = read_flipbook(states_of(source / f"{name}.ipynb"), model)
        except ValueError as error:
            logger.warning(
                "%s: the page cannot play interactive figure %d: %s; need coursepkg.viz.flipbook",
                name,
                index,
                error,
            )
            continue
        drawn = html.fragment_fromstring(flipbook_html(figure, f"figure-{index + 1}"))
        drawn.tail = view.tail
        view.getparent().replace(view, drawn)


states_of = cache(widget_states)


def add_script(page: html.HtmlElement, address: str) -> None:
    """Load a script when the page has been read, before the theme's."""
    script = html.Element("script", src=address)
    script.tail = "\n"
    page.find("head").append(script)


def choose_theme(page: html.HtmlElement) -> None:
    """Light without scripts; with them what the reader or the system has chosen, from the first paint on."""
    page.set("data-theme", "light")
    for script in page.xpath("//script[contains(text(), 'dataset.theme')]"):
        script.text = FIRST_THEME


def prepare_search(page: html.HtmlElement, root: str) -> None:
    """The search page has a search of its own, and a sentence in its place where scripts do not run."""
    add_script(page, f"{root}_static/search_index.js")
    add_script(page, f"{root}_static/search.js")
    for warning in page.xpath(
        "//article//noscript | //div[@id='search-results']/../noscript"
    ):
        warning.drop_tree()
    for results in page.xpath("//div[@id='search-results']"):
        results.text = NO_SEARCH


def describe(page: html.HtmlElement, name: str, base: str) -> None:
    """What a search engine and the preview of a link show of a page."""
    paragraphs = page.xpath(
        "//article//p[not(ancestor::table or contains(@class, 'title'))]"
    )
    read = paragraphs[0].xpath(SPOKEN) if paragraphs else []
    text = " ".join("".join(read).split())
    if len(text) > DESCRIPTION:
        text = text[:DESCRIPTION].rpartition(" ")[0] + " …"
    title = page.findtext(".//title") or ""
    values = {
        "og:type": "article",
        "og:title": title.partition(" — ")[0],
        "og:description": text,
        "og:site_name": title.rpartition(" — ")[2],
    }
    if base:
        values["og:url"] = f"{base}{name}.html"
        values["og:image"] = f"{base}_static/attention_patterns.png"
    head = page.find("head")
    if text:
        head.append(html.Element("meta", name="description", content=text))
    for key, value in values.items():
        if value:
            head.append(html.Element("meta", property=key, content=value))
    if name == "404" and base:
        head.insert(0, html.Element("base", href=base))


def offer_citation(page: html.HtmlElement, repository: str) -> None:
    """A link to the citation file in the footer, once the repository has an address."""
    for footer in page.xpath("//div[@class='extra_footer']") if repository else []:
        address = f"{repository}/blob/main/CITATION.cff"
        link = f'<p><a href="{escape(address)}">How to cite this book</a></p>'
        footer.append(html.fragment_fromstring(link))


def not_found_page(app: Sphinx) -> Iterator[tuple[str, dict[str, Any], str]]:
    """The page that a server shows for an address that leads nowhere."""
    links = {"home": f"{app.config.root_doc}.html", "search": "search.html"}
    yield "404", {"title": "Not found", "body": NOT_FOUND.format(**links)}, "page.html"


def sitemap(base: str, names: list[str]) -> str:
    """The list of all pages for search engines."""
    lines = [f"<url><loc>{escape(f'{base}{name}.html')}</loc></url>" for name in names]
    space = "http://www.sitemaps.org/schemas/sitemap/0.9"
    text = "\n".join(lines)
    return f'<?xml version="1.0" encoding="UTF-8"?>\n<urlset xmlns="{space}">\n{text}\n</urlset>\n'


def write_site_files(app: Sphinx, error: Exception | None) -> None:
    """The style sheet, the search index and, where the site has an address, the map of it."""
    if error is not None or app.builder.name != "html":
        return
    site = Path(app.outdir)
    names = sorted(app.env.found_docs)
    write_stylesheet(site, site_styles(app.builder))  # type: ignore[arg-type]
    write_index(site, names, Path(app.srcdir) / "book" / "_data" / "search_aliases.yml")
    base = app.config.html_baseurl
    if base:
        (site / "sitemap.xml").write_text(sitemap(base, names), encoding="utf-8")


def setup(app: Sphinx) -> dict[str, bool]:
    app.connect("html-collect-pages", not_found_page)
    # After the theme, which writes the colours of code when the build is finished.
    app.connect("build-finished", write_site_files, priority=900)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
