"""The second language of the book: one build for each language, a switch on every page.

`language` in _config.yml names the language of a build. Its message catalogues lie in book/locale, one for each
page; `sphinx.po` holds the words of the interface. A page without a translation says so and stays English.
"""

from typing import Any

from docutils import nodes
from sphinx import addnodes
from sphinx.application import Sphinx
from sphinx.config import Config
from sphinx.locale import _
from sphinx.transforms import SphinxTransform
from sphinx.util.nodes import extract_messages

LANGUAGES = {"en": "English", "vi": "Tiếng Việt"}
"""Code and own name of each language. The first is the source and lies at the top of the site, the others in a
folder named by their code."""
SOURCE = next(iter(LANGUAGES))
FIXED_WORDS = (
    "Answer",
    "Hint",
    "Solution",
    "Common mistakes",
    *(
        f"{verb} code cell {part}"
        for verb in ("Show", "Hide")
        for part in ("source", "output", "content")
    ),
)
"""What stands in the HTML of chapters and in no catalogue of a page."""


def counterpart(page: str, language: str, other: str) -> str:
    """The relative address of a page in another language."""
    up = "../" * (page.count("/") + (language != SOURCE))
    folder = "" if other == SOURCE else f"{other}/"
    return f"{up}{folder}{page}.html"


def translate_interface(app: Sphinx, config: Config) -> None:
    """Give the words of _config.yml in the language of the build."""
    options = config.html_theme_options
    config.html_title = _(config.html_title)
    options["logo"] = {key: _(text) for key, text in options["logo"].items()}
    options["search_bar_text"] = _(options["search_bar_text"])
    options["extra_footer"] = _(options["extra_footer"].strip())
    if config.language != SOURCE and config.html_baseurl:
        config.html_baseurl += f"{config.language}/"
    options["article_header_end"] = [
        "language-switch.html",
        "article-header-buttons.html",
    ]


class MarkEnglish(SphinxTransform):
    """Mark what is still English on a page that is partly translated."""

    default_priority = 30
    """Behind the transform that puts the translations in."""

    def apply(self, **kwargs: Any) -> None:
        """Give the nodes of one page their language."""
        found = [node for node, _ in extract_messages(self.document)]
        if not any(node.get("translated") for node in found):
            return
        for node in found:
            if isinstance(node, nodes.TextElement) and not node.get("translated"):
                node["classes"].append(f"language-{SOURCE}")


def translate_captions(app: Sphinx, doctree: nodes.document) -> None:
    """Give the parts of the table of contents their translated names; _toc.yml enters behind the catalogues."""
    for contents in doctree.findall(addnodes.toctree):
        if contents.get("caption"):
            contents["caption"] = _(contents["caption"])


def is_translated(doctree: nodes.document) -> bool:
    """Whether at least half of a page's messages have a translation."""
    progress = doctree["translation_progress"]
    return 0 < progress["total"] <= 2 * progress["translated"]


def offer_languages(
    app: Sphinx,
    page: str,
    template: str,
    context: dict[str, Any],
    doctree: nodes.document | None,
) -> None:
    """Give the page its links to the other languages, and a note where it is not translated."""
    language = app.config.language
    context["other_languages"] = [
        {"code": code, "name": name, "href": counterpart(page, language, code)}
        for code, name in LANGUAGES.items()
        if code != language
    ]
    context["metatags"] = context.get("metatags", "") + "".join(
        f'\n<link rel="alternate" hreflang="{other["code"]}" href="{other["href"]}">'
        for other in context["other_languages"]
    )
    if language == SOURCE or doctree is None:
        return
    if is_translated(doctree):
        for words in FIXED_WORDS:
            context["body"] = context["body"].replace(f">{words}<", f">{_(words)}<")
        return
    note = _("This page has not been translated yet. It is shown in English.")
    context["body"] = (
        f'<div class="not-translated" role="note">{note}</div>\n'
        f'<div lang="{SOURCE}">\n{context["body"]}\n</div>'
    )


def setup(app: Sphinx) -> dict[str, bool]:
    app.add_transform(MarkEnglish)
    app.connect("config-inited", translate_interface)
    app.connect("doctree-read", translate_captions, priority=900)
    app.connect("html-page-context", offer_languages)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
