"""The filters that made C4, the Colossal Clean Crawled Corpus, out of web pages: heuristics, each a line or two long.

    lines   kept if they end in . ! ? or a quotation mark, have enough words, and do not say "javascript"
    pages   kept if enough sentences are left, and without a curly bracket or "lorem ipsum"
    spans   of three sentences that were seen before are removed, wherever they stand

The page filters also had a list of bad words, which is not repeated here; pages with one were removed whole, and with
them much harmless text about the people whom such words name. Language detection (English, probability 0.99) and the
notices of cookies and policies are left out, too.
Source: Raffel et al. (arXiv 1910.10683), section 2.2. Printings differ: at least 5 sentences a page and 3 words a line
in one, 3 sentences and 5 words in another and in the program that builds the corpus (TensorFlow Datasets, c4_utils).
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from coursepkg.arguments import check_count

TERMINAL = (".", "!", "?", '"', "”")
"""What a line of prose ends in."""
SPAN = 3
"""Sentences of a span that must not occur twice."""

_BETWEEN_SENTENCES = re.compile(r"(?:(?<=[.!?])|(?<=[.!?][\"”]))\s+")


@dataclass(frozen=True)
class Filtered:
    """A page after the filters."""

    lines: tuple[str, ...]
    """The lines that stay; none if the page was removed."""
    removed: tuple[tuple[str, str], ...]
    """Each removed line and why."""
    page_removed: str
    """Why the whole page was removed; empty if it stays."""


def c4_filters(page: str, *, min_sentences: int = 5, min_words: int = 3) -> Filtered:
    r"""Apply the filters of single pages.

    Example:
        >>> c4_filters("Home | About\nPlease turn on JavaScript to go on.", min_sentences=1).page_removed
        'fewer than 1 sentences'

    Args:
        page: its text, one line a paragraph.
        min_sentences: fewest sentences of a page, at least 1.
        min_words: fewest words of a line, at least 1.

    Raises:
        ValueError: a limit is below 1.
    """
    check_count("min_sentences", min_sentences)
    check_count("min_words", min_words)
    kept, removed = [], []
    for line in filter(None, map(str.strip, page.splitlines())):
        reason = line_fault(line, min_words)
        if reason:
            removed.append((line, reason))
        else:
            kept.append(line)
    fault = page_fault(page, kept, min_sentences)
    return Filtered(() if fault else tuple(kept), tuple(removed), fault)


def line_fault(line: str, min_words: int = 3) -> str:
    """Why a line is removed; empty if it stays."""
    if not line.endswith(TERMINAL):
        return "no terminal punctuation"
    if len(line.split()) < min_words:
        return f"fewer than {min_words} words"
    if "javascript" in line.lower():
        return "says javascript"
    return ""


def page_fault(page: str, kept: Sequence[str], min_sentences: int = 5) -> str:
    """Why a page is removed, judged by its text and by the lines that are left of it; empty if it stays."""
    if "{" in page or "}" in page:
        return "curly bracket"
    if "lorem ipsum" in page.lower():
        return "lorem ipsum"
    if sum(len(split_sentences(line)) for line in kept) < min_sentences:
        return f"fewer than {min_sentences} sentences"
    return ""


def split_sentences(line: str) -> list[str]:
    """The sentences of a line: it is cut at white space behind . ! or ?, so abbreviations are cut, too."""
    return [sentence for sentence in _BETWEEN_SENTENCES.split(line.strip()) if sentence]


def without_repeated_spans(pages: Iterable[Sequence[str]]) -> list[list[list[str]]]:
    """Remove every sentence that lies in a span of three that stood before, in this page or an earlier one.

    Spans are compared without regard to case and spaces, and may reach from one line into the next.

    Args:
        pages: each a list of lines.

    Returns:
        for each page and each of its lines the sentences that stay.
    """
    seen: set[tuple[str, ...]] = set()
    result = []
    for lines in pages:
        places = [(i, sentence) for i, line in enumerate(lines) for sentence in split_sentences(line)]
        folded = [" ".join(sentence.lower().split()) for _, sentence in places]
        repeated: set[int] = set()
        for first in range(len(places) - SPAN + 1):
            span = tuple(folded[first : first + SPAN])
            if span in seen:
                repeated.update(range(first, first + SPAN))
            seen.add(span)
        result.append(
            [
                [sentence for n, (i, sentence) in enumerate(places) if i == at and n not in repeated]
                for at in range(len(lines))
            ]
        )
    return result
