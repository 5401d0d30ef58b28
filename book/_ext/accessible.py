"""Mends what screen readers and the keyboard stumble over in the HTML of Sphinx and the theme."""

import re
import unicodedata
from collections.abc import Iterator

from lxml import html

HAN = re.compile(
    "[\u3400-\u9fff\uf900-\ufaff]"
    "(?:[\u3000-\u303f\uff00-\uffef\u3400-\u9fff\uf900-\ufaff\\d\\s]*[\u3400-\u9fff\uf900-\ufaff])?"
)
WORD = re.compile(r"[^\W\d_]+", re.UNICODE)
MARKS = set("\u0300\u0301\u0302\u0303\u0306\u0309\u031b\u0323")
"""The marks of Vietnamese letters."""
OWN_MARKS = set("\u0309\u031b\u0323")
"""Hook above, horn, dot below: no other language of the book has them, nor two marks on one letter, nor đ and ă."""
ENGLISH = "a|an|and|are|as|by|for|from|has|in|is|not|of|on|or|the|to|was|with"
BETWEEN = re.compile(
    rf"[ ,]{{1,2}}(?:(?!(?:{ENGLISH})\b)[A-Za-z]{{1,6}}[ ,]{{1,2}}){{0,2}}"
)
"""What may stand between two marked syllables of one phrase: up to two syllables without marks."""
SPOKEN = "[not(ancestor::*[@class='katex-mathml'])]"
"""Text of a formula counts once."""
WORDY = 65
"""Letters in a row of a table, on average, from which its last column would lie beyond the edge of a phone."""
UNSPOKEN = {"script", "style", "math", "svg", "textarea", "title"}


def mend(page: html.HtmlElement) -> None:
    """All repairs of one page, in place."""
    mend_table_headers(page)
    mark_wordy_tables(page)
    mend_bibliography(page)
    mend_buttons(page)
    for article in page.iterfind(".//article"):
        is_english = article.find("div[@lang='en']") is not None
        mark_languages(article, "en" if is_english else page.get("lang", "en"))


def mend_table_headers(page: html.HtmlElement) -> None:
    """An empty header names nothing: it becomes a cell."""
    for header in page.xpath("//table//th"):
        if not header.text_content().strip() and not header.xpath(".//img | .//input"):
            header.tag = "td"


def mark_wordy_tables(page: html.HtmlElement) -> None:
    """A table of four columns of text is shown row below row on a phone; its cells then name their columns.

    The roles keep it a table for screen readers when the style sheet shows its rows as blocks.
    """
    for table in page.xpath("//article//table[thead/tr and tbody/tr]"):
        names = [one.text_content().strip() for one in table.xpath("./thead/tr[1]/*")]
        rows = table.xpath("./tbody/tr")
        n_letters = sum(
            len(text.strip()) for text in table.xpath(f"./tbody//text(){SPOKEN}")
        )
        if len(names) != 4 or not all(names) or n_letters < WORDY * len(rows):
            continue
        table.set("class", f"{table.get('class', '')} wordy".strip())
        table.set("role", "table")
        for group in table.xpath("./thead | ./tbody"):
            group.set("role", "rowgroup")
        for row in table.iter("tr"):
            row.set("role", "row")
        for header in table.xpath("./thead/tr/th"):
            header.set("role", "columnheader")
        for row in rows:
            for place, cell in enumerate(row):
                cell.set("role", "cell")
                # The first cell is the title of its row.
                if place:
                    cell.set("data-column", names[place])


def mend_bibliography(page: html.HtmlElement) -> None:
    """The entries of a list of references are its items."""
    for entry in page.xpath("//*[@role='doc-biblioentry']"):
        entry.set("role", "listitem")


def mend_buttons(page: html.HtmlElement) -> None:
    """A button that shows text is called by it; a button that shows a sign is called by its title."""
    for button in page.xpath("//button | //summary | //a[@data-bs-toggle]"):
        for key in button.iterfind(".//span[@class='search-button__kbd-shortcut']"):
            key.set("aria-hidden", "true")
        shown = "".join(
            button.xpath(".//text()[not(ancestor::*[@aria-hidden='true'])]")
        )
        if shown.strip():
            button.attrib.pop("aria-label", None)
        elif not button.get("aria-label"):
            button.set("aria-label", button.get("title") or "")
    for sign in page.xpath("//*[contains(@class, 'fa-')]"):
        sign.set("aria-hidden", "true")


def mark_languages(article: html.HtmlElement, own: str = "en") -> None:
    """Wrap Vietnamese and Chinese phrases in elements that name their language, if it is not that of the page."""
    for element in list(article.iter()):
        if not isinstance(element.tag, str):
            continue
        hidden = element.tag in UNSPOKEN or any(
            above.tag in UNSPOKEN for above in element.iterancestors()
        )
        if element.text and not hidden and not element.get("lang"):
            first, spans = _split(element.text, own)
            if spans:
                element.text = first
                for place, span in enumerate(spans):
                    element.insert(place, span)
        if element.tail and element is not article:
            if any(above.tag in UNSPOKEN for above in element.iterancestors()):
                continue
            first, spans = _split(element.tail, own)
            if spans:
                element.tail = first
                parent = element.getparent()
                place = parent.index(element) + 1
                for offset, span in enumerate(spans):
                    parent.insert(place + offset, span)


def _split(text: str, own: str) -> tuple[str, list[html.HtmlElement]]:
    """The text before the first foreign phrase, and the phrases with what follows each."""
    if text.isascii():
        return text, []
    first, spans, end = "", [], 0
    for start, stop, language in phrases(text):
        if language == own:
            continue
        if spans:
            spans[-1].tail = text[end:start]
        else:
            first = text[:start]
        span = html.Element("span", lang=language)
        span.text = text[start:stop]
        spans.append(span)
        end = stop
    if spans:
        spans[-1].tail = text[end:]
    return first, spans


def phrases(text: str) -> list[tuple[int, int, str]]:
    """Where the foreign phrases of a text begin and end, and their languages.

    A Vietnamese phrase runs from its first to its last marked syllable, over at most two unmarked ones. It has a mark
    that only Vietnamese has, or two marked syllables, since a single é may be a French name.
    """
    found = [(match.start(), match.end(), "zh") for match in HAN.finditer(text)]
    found += [(start, end, "vi") for start, end in _vietnamese(text)]
    return sorted(found)


def _vietnamese(text: str) -> Iterator[tuple[int, int]]:
    words = [word for word in WORD.finditer(text) if _may_be_vietnamese(word[0])]
    run: list[re.Match[str]] = []
    for word in words:
        if run and not BETWEEN.fullmatch(text, run[-1].end(), word.start()):
            yield from _certain(run)
            run = []
        run.append(word)
    yield from _certain(run)


def _certain(run: list[re.Match[str]]) -> Iterator[tuple[int, int]]:
    if len(run) > 1 or any(_is_vietnamese(word[0]) for word in run):
        yield run[0].start(), run[-1].end()


def _letters(word: str) -> list[str]:
    return [
        unicodedata.normalize("NFD", letter)
        for letter in unicodedata.normalize("NFC", word)
    ]


def _may_be_vietnamese(word: str) -> bool:
    if word.isascii():
        return False
    return all(
        (letter[0].isascii() or letter in "đĐ") and set(letter[1:]) <= MARKS
        for letter in _letters(word)
    )


def _is_vietnamese(word: str) -> bool:
    return any(
        len(letter) > 2 or letter in "đĐ" or set(letter[1:]) & {*OWN_MARKS, "\u0306"}
        for letter in _letters(word)
    )
