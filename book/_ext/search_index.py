"""The index that book/_static/search.js looks into: the text of every section of every page.

The pages are few enough to be read through in the browser, so the index is plain text. It is a script, not data
to fetch, so that the search also works from a folder.
"""

import json
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import yaml
from lxml import html

SKIPPED = "|".join(
    f".//*[contains(@class, '{name}')]"
    for name in ("headerlink", "katex-mathml", "katex-display")
)
"""Signs, and what of a formula stands twice or cannot be read as a line."""
NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]{2,}(?:\.[A-Za-z_]\w+)*")
ENTRY = tuple[str, str, str, str]
"""Anchor, heading, prose and the names of the code of one section."""


def sections(article: html.HtmlElement) -> Iterator[ENTRY]:
    """The sections of a page, each without those inside it; the article is changed."""
    for waste in article.xpath(SKIPPED):
        waste.drop_tree()
    found = article.xpath(".//section[h1 or h2 or h3 or h4]")
    for section in reversed(found):
        parent = section.getparent()
        names = {
            name
            for code in section.iter("pre")
            for name in NAME.findall(code.text_content())
        }
        for code in list(section.iter("pre")):
            code.drop_tree()
        heading = next(
            child for child in section if child.tag in ("h1", "h2", "h3", "h4")
        )
        title = _plain(heading)
        section.remove(heading)
        prose = _plain(section)
        parent.remove(section)
        yield section.get("id", ""), title, prose, " ".join(sorted(names))


def _plain(element: html.HtmlElement) -> str:
    return " ".join(element.text_content().split())


def page_entry(name: str, text: str, aliases: Sequence[str]) -> list[Any] | None:
    """One page of the index: address, title, aliases, sections in reading order."""
    article = html.document_fromstring(text).find(".//article")
    if article is None:
        return None
    found = list(sections(article))[::-1]
    if not found:
        return None
    title = re.sub(r"^[\d.]+ ", "", found[0][1])
    return [f"{name}.html", title, list(aliases), found]


def write_index(site: Path, names: Sequence[str], aliases_file: Path) -> None:
    """Write the index of the named pages as a script."""
    aliases = yaml.safe_load(aliases_file.read_text(encoding="utf-8"))
    pages = [
        page_entry(
            name,
            (site / f"{name}.html").read_text(encoding="utf-8"),
            aliases.get(name, []),
        )
        for name in names
    ]
    data = json.dumps([page for page in pages if page], ensure_ascii=False)
    script = f"window.courseIndex = {data};\n"
    (site / "_static" / "search_index.js").write_text(script, encoding="utf-8")
