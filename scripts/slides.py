"""Writes a deck of slides for every chapter, out of the built pages of the book (`make slides`).

    python scripts/slides.py [--html _build/html]

The decks lie in the folder `slides` beside the pages, and use their pictures, formulas and colours. A deck shows what
can be looked at: the question, the objectives, pictures, formulas, lists, tables, key code, the self-check and the
exercises. Paragraphs become the speaker's notes. Which of a section's blocks fit on one slide is measured in the
browser (book/scripts/slides/deck.js), because only there are the fonts known.
"""

import argparse
import copy
import html as text
import posixpath
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlsplit

import yaml
from lxml import html
from lxml.html import HtmlElement
from setup_cell import ROOT

FOLDER = "slides"
CODE_LINES = 15
"""Most lines of code on a slide."""
SHORTEST = 7
"""Lines after which code may break at an empty line."""
WIDTH, HEIGHT = 1150, 500
"""Largest picture in pixels, on a slide of 1280 by 720."""
ENLARGED = 1.5
"""Most that a picture is enlarged."""
LONGEST_LEAD = 240
"""Characters up to which a paragraph that ends in a colon is shown above what it announces."""
LEFT_OUT = {"further-reading"}
"""Sections that are no part of a deck."""
SENTENCE = re.compile(
    r"(?<![A-Z])(?<!\bal)(?<!\bvs)[.?!][”’)]?(?=\s+[“(]?[A-ZÀ-Ỹ]|\s*$)"
)
"""The end of a sentence."""
NOTE_FORMULA = ".//span[@class='katex']"


@dataclass
class Block:
    """One thing to look at, with what the speaker says about it."""

    element: HtmlElement
    notes: list[HtmlElement] = field(default_factory=list)
    lines: int = 0
    """Lines of code in it."""


@dataclass
class Slide:
    """A heading and its blocks; the browser makes as many slides of them as they need."""

    title: str
    """HTML of the heading."""
    blocks: list[Block] = field(default_factory=list)
    kind: str = ""


def has_class(element: HtmlElement, *names: str) -> bool:
    """Whether an element has one of these classes."""
    return not set(names).isdisjoint(element.get("class", "").split())


def words(element: HtmlElement) -> str:
    """The text of an element as it is read."""
    return " ".join(element.text_content().split())


def new(tag: str, content: str = "", **attributes: str) -> HtmlElement:
    """A new element with plain text in it."""
    element = html.Element(tag, attributes)
    element.text = content
    return element


def inner(element: HtmlElement) -> str:
    """The HTML between the tags of an element."""
    parts = [html.tostring(child, encoding="unicode") for child in element]
    return text.escape(element.text or "", quote=False) + "".join(parts)


def heading_of(section: HtmlElement) -> str:
    """The heading of a section without its number."""
    heading = copy.deepcopy(section.xpath("./h1 | ./h2 | ./h3 | ./h4")[0])
    for extra in heading.xpath(
        ".//*[contains(@class, 'section-number') or @class='headerlink']"
    ):
        extra.drop_tree()
    return inner(heading).strip()


def first_sentence(paragraph: HtmlElement) -> HtmlElement:
    """A copy of a paragraph that ends with its first sentence."""
    short = copy.deepcopy(paragraph)
    found = SENTENCE.search(short.text or "")
    if found:
        short.text = short.text[: found.end()]
        del short[:]
        return short
    for place, child in enumerate(short):
        found = SENTENCE.search(child.tail or "")
        if found:
            child.tail = child.tail[: found.end()]
            del short[place + 1 :]
            break
    return short


def chunks(lines: list[str]) -> Iterator[list[str]]:
    """Code in pieces that fit on a slide, cut at empty lines where that is possible."""
    while len(lines) > CODE_LINES:
        gaps = [at for at in range(SHORTEST, CODE_LINES + 1) if not lines[at].strip()]
        at = gaps[-1] if gaps else CODE_LINES
        yield lines[:at]
        lines = lines[at:]
        while lines and not lines[0].strip():
            lines = lines[1:]
    if lines:
        yield lines


def without_docstrings(code: HtmlElement) -> HtmlElement:
    """A copy of highlighted code without its docstrings, which the notes and the page explain better."""
    short = copy.deepcopy(code)
    for docstring in short.xpath(".//span[@class='sd']"):
        docstring.drop_tree()
    return short


def lines_of(code: HtmlElement) -> list[str]:
    """The lines of highlighted code as HTML, without empty lines at an end, after a colon and after one another."""
    lines: list[str] = []
    for line in inner(code).replace("<span></span>", "").rstrip().split("\n"):
        if line.strip() or (lines and lines[-1] and not lines[-1].endswith(":")):
            lines.append(line.rstrip())
    return lines


def code_blocks(box: HtmlElement, *, is_code: bool = True) -> list[Block]:
    """Highlighted code or printed text, cut into pieces."""
    blocks = []
    for piece in chunks(lines_of(without_docstrings(box.find(".//pre")))):
        code = "\n".join(piece)
        shown = html.fragment_fromstring(
            f'<div class="highlight"><pre>{code}</pre></div>'
        )
        blocks.append(Block(shown, lines=len(piece) if is_code else 0))
    return blocks


def says_true_only(output: HtmlElement) -> bool:
    """Whether a printed text holds nothing but checks that passed: nothing to look at."""
    return all(
        line.endswith("True")
        for line in output.text_content().split("\n")
        if line.strip()
    )


def shown_picture(image: HtmlElement) -> HtmlElement:
    """A picture in a size that fits on a slide."""
    shown = copy.deepcopy(image)
    shown.tail = None
    for name in ("style", "decoding"):
        shown.attrib.pop(name, None)
    width, height = (float(image.get(side, "0")) for side in ("width", "height"))
    if width and height:
        scale = min(WIDTH / width, HEIGHT / height, ENLARGED)
        shown.set("width", f"{scale * width:.0f}")
        shown.set("height", f"{scale * height:.0f}")
    return shown


def picture_block(images: list[HtmlElement]) -> Block:
    """A picture; its alt text stands in the notes, too."""
    holder = new("p", **{"class": "picture"})
    holder.extend(map(shown_picture, images))
    for image in holder:
        image.attrib.pop("loading", None)
    alt = [image.get("alt", "") for image in images]
    return Block(holder, notes=[new("p", f"Picture: {one}") for one in alt if one])


def flipbook_block(figure: HtmlElement) -> Block:
    """A figure with sliders, which work on the slide."""
    shown = copy.deepcopy(figure)
    for image in list(shown.iter("img")):
        image.getparent().replace(image, shown_picture(image))
    return Block(shown)


class Deck:
    """Collects the slides of one chapter."""

    def __init__(self, article: HtmlElement) -> None:
        # An untranslated page of another language has its text one level down.
        chapter = next(article.iter("section"))
        self.title = heading_of(chapter)
        self.slides: list[Slide] = []
        self._pending: list[HtmlElement] = []
        self._opening(chapter)
        for section in chapter.findall("section"):
            if not LEFT_OUT & {section.get("id")}:
                self._section(section)

    def _opening(self, chapter: HtmlElement) -> None:
        """The slides before the first section: the question, the picture of the idea, the objectives."""
        front = Slide(self.title, kind="front")
        objectives = Slide("After this chapter you can")
        idea = Slide("The idea")
        for element in chapter:
            if element.tag == "section":
                break
            if element.tag == "p" and not front.blocks:
                front.blocks.append(Block(copy.deepcopy(element)))
            elif element.tag == "ul":
                objectives.blocks.append(Block(copy.deepcopy(element)))
            elif element.tag == "p" and not words(element).startswith("Objectives."):
                front.blocks[0].notes.append(element)
            elif element.tag == "div":
                idea.blocks += self._cell(element)
        self.slides += [slide for slide in (front, idea, objectives) if slide.blocks]

    def _section(self, section: HtmlElement) -> None:
        """The slides of a section and of those inside it."""
        slide = Slide(heading_of(section))
        self.slides.append(slide)
        is_task = section.get("id", "").startswith("exercise-")
        is_shown = is_task or section.get("id") == "self-check"
        paragraphs: list[HtmlElement] = []
        self._pending = []
        for element in section:
            if element.tag == "section":
                self._close(slide, paragraphs)
                paragraphs = []
                self._section(element)
            elif element.tag == "p" and is_shown:
                self._add(slide, [Block(copy.deepcopy(element))])
            elif element.tag == "p":
                paragraphs.append(element)
                self._pending.append(element)
            elif has_class(element, "admonition") and element.tag == "div":
                self._box(element)
            elif not (is_task and has_class(element, "tag_exercise")):
                self._add(slide, self._blocks(element, is_shown))
        self._close(slide, paragraphs)
        if not slide.blocks:
            self.slides.remove(slide)

    def _close(self, slide: Slide, paragraphs: list[HtmlElement]) -> None:
        """End a section: a list of first sentences where it has nothing else to look at."""
        if not slide.blocks and paragraphs:
            points = new("ul")
            for paragraph in paragraphs:
                point = first_sentence(paragraph)
                point.tag = "li"
                points.append(point)
            slide.blocks.append(Block(points, notes=self._pending))
        elif slide.blocks:
            slide.blocks[-1].notes += self._pending
        self._pending = []

    def _add(self, slide: Slide, blocks: list[Block]) -> None:
        """Put blocks on a slide, with the paragraphs before them as notes."""
        if not blocks:
            return
        said = [one for one in self._pending if one.tag == "p"]
        if (
            said
            and words(said[-1]).endswith(":")
            and len(words(said[-1])) <= LONGEST_LEAD
        ):
            slide.blocks.append(Block(copy.deepcopy(said[-1])))
        elif said:
            slide.blocks.append(Block(first_sentence(said[-1 if slide.blocks else 0])))
        blocks[0].notes = self._pending + blocks[0].notes
        slide.blocks += blocks
        self._pending = []

    def _box(self, box: HtmlElement) -> None:
        """A box such as "Common mistakes": a slide of its own."""
        title = box.find("p")
        slide = Slide(inner(title))
        for element in box:
            if element is not title:
                slide.blocks += self._blocks(element, True) or [
                    Block(copy.deepcopy(element))
                ]
        self.slides.append(slide)

    def _blocks(self, element: HtmlElement, is_shown: bool) -> list[Block]:
        """What of one element of a page is to be looked at."""
        if element.tag == "details":
            title = words(element.find("summary"))
            if is_shown and not title.startswith("Solution"):
                self._pending.append(element)
            return []
        if has_class(element, "cell"):
            return self._cell(element)
        if "highlight" in element.get("class", ""):
            return code_blocks(element)
        if element.tag == "figure":
            return [picture_block(element.findall(".//img"))]
        is_visible = element.tag in ("ul", "ol", "table", "dl") or has_class(
            element, "math", "pst-scrollable-table-container", "table"
        )
        return [Block(copy.deepcopy(element))] if is_visible else []

    def _cell(self, cell: HtmlElement) -> list[Block]:
        """Short code that the page shows, and what it gave; shown sources and pictures of any cell."""
        if not has_class(cell, "cell") or has_class(cell, "tag_hide-cell"):
            return []
        code = cell.find("./div[@class='cell_input docutils container']")
        blocks = code_blocks(code) if code is not None else []
        is_source = code is not None and "show_source(" in words(code)
        if len(blocks) > 1 or is_source:
            blocks = []
        for output in cell.xpath("./div[contains(@class, 'cell_output')]/*"):
            blocks += self._output(output)
        return blocks

    def _output(self, output: HtmlElement) -> list[Block]:
        """One output of a cell."""
        figures = output.xpath("descendant-or-self::div[@class='flipbook']")
        if figures:
            return [flipbook_block(figures[0])]
        images = list(output.iter("img"))
        if images:
            return [picture_block(images)]
        if output.find(".//pre") is not None:
            is_code = not has_class(output, "output")
            return (
                [] if says_true_only(output) else code_blocks(output, is_code=is_code)
            )
        tables = output.xpath("descendant-or-self::table")
        return [Block(copy.deepcopy(one)) for one in tables]


def target_of(page: str, link: str) -> str:
    """Where a relative link of a page leads, seen from a deck."""
    if not link or link.startswith("#"):
        return f"../{page}.html{link}"
    parts = urlsplit(link)
    if parts.scheme or parts.netloc:
        return link
    path = posixpath.normpath(posixpath.join(posixpath.dirname(page), parts.path))
    return f"../{path}" + (f"#{parts.fragment}" if parts.fragment else "")


def relocated(element: HtmlElement, page: str) -> str:
    """The HTML of an element with links that hold in the folder of the decks."""
    shown = copy.deepcopy(element)
    shown.tail = None
    for extra in shown.xpath(".//a[@class='headerlink'] | .//button | .//script"):
        extra.drop_tree()
    for link in shown.xpath("descendant-or-self::*[@href]"):
        link.set("href", target_of(page, link.get("href")))
    for source in shown.xpath("descendant-or-self::*[@src]"):
        source.set("src", target_of(page, source.get("src")))
    for named in shown.xpath(
        "descendant-or-self::*[@id][not(ancestor-or-self::*[@class='flipbook'] or ancestor-or-self::svg)]"
    ):
        del named.attrib["id"]
    return html.tostring(shown, encoding="unicode")


def spoken(element: HtmlElement, page: str) -> str:
    """A paragraph of the notes; its formulas are MathML, which needs no style in the speaker's window."""
    note = copy.deepcopy(element)
    for formula in note.xpath(NOTE_FORMULA):
        plain = formula.find(".//math")
        plain.tail = formula.tail
        formula.getparent().replace(formula, plain)
    return relocated(note, page)


def slide_html(slide: Slide, page: str) -> str:
    """The HTML of a slide before it is divided."""
    blocks = "".join(
        f'<div class="block" data-lines="{block.lines}">{relocated(block.element, page)}'
        + "".join(
            f'<aside class="notes">{spoken(n, page)}</aside>' for n in block.notes
        )
        + "</div>"
        for block in slide.blocks
    )
    level = "h1" if slide.kind else "h2"
    return f'<section class="{slide.kind}"><{level}>{slide.title}</{level}>{blocks}</section>'


def deck_html(deck: Deck, page: str, language: str, root: str) -> str:
    """A whole deck.

    Args:
        deck: its slides.
        page: path of the chapter's page without suffix.
        language: of the page.
        root: leads from the deck to the folder with `_static`.
    """
    title = html.fragment_fromstring(deck.title, create_parent=True).text_content()
    static = f"{root}_static"
    styles = (
        "reveal/reveal.css",
        "katex/katex.min.css",
        "pygments.css",
        "slides/deck.css",
    )
    scripts = (
        "reveal/reveal.js",
        "reveal/plugin/notes.js",
        "flipbook.js",
        "slides/deck.js",
    )
    return "\n".join(
        [
            "<!DOCTYPE html>",
            f'<html lang="{language}"><head><meta charset="utf-8">',
            '<meta name="viewport" content="width=device-width, initial-scale=1">',
            f"<title>{text.escape(title)}</title>",
            f'<link rel="icon" href="{static}/logo.svg">',
            *(f'<link rel="stylesheet" href="{static}/{style}">' for style in styles),
            '</head><body><div class="reveal"><div class="slides">',
            *(slide_html(slide, page) for slide in deck.slides),
            f'</div></div><a class="chapter" href="../{page}.html">{text.escape(title)}</a>',
            *(f'<script src="{static}/{script}"></script>' for script in scripts),
            "</body></html>",
            "",
        ]
    )


def chapters() -> list[str]:
    """The chapters of the book, by path without suffix."""
    toc = yaml.safe_load((ROOT / "_toc.yml").read_text(encoding="utf-8"))
    files = [one["file"] for part in toc["parts"] for one in part["chapters"]]
    return [file for file in files if file.startswith("notebooks/")]


def write_decks(folder: Path) -> int:
    """Write the decks of a built book; returns how many.

    Raises:
        ValueError: for a chapter that was not built.
    """
    decks = {}
    for page in chapters():
        path = folder / f"{page}.html"
        if not path.is_file():
            raise ValueError(f"{path}: no such page; run `make book` first")
        document = html.fromstring(path.read_text(encoding="utf-8"))
        article = document.xpath("//article[contains(@class, 'bd-article')]")[0]
        language = document.get("lang", "en")
        decks[posixpath.basename(page)] = deck_html(
            Deck(article), page, language, "../"
        )
    target = folder / FOLDER
    target.mkdir(exist_ok=True)
    for old in target.glob("*.html"):
        old.unlink()
    for name, content in decks.items():
        (target / f"{name}.html").write_text(content, encoding="utf-8")
    return len(decks)


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--html", type=Path, default=ROOT / "_build/html", help="the built book"
    )
    options = parser.parse_args()
    try:
        count = write_decks(options.html)
    except ValueError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    print(f"{options.html / FOLDER}: {count} decks")
    return 0


if __name__ == "__main__":
    sys.exit(main())
