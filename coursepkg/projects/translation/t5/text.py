"""Text for T5: every task as text in, text out, and the filters of its corpus.

    translate Chinese to Vietnamese: 你好。                         -> Xin chào.
    sst2 sentence: a charming film                                -> positive
    stsb sentence1: A man sings. sentence2: A man is singing.     -> 4.8

One model, one loss and one way of decoding serve them all; only the text says which
task it is. So the prefix belongs to training and to prediction alike, and an output
that is none of the labels is simply wrong. Source: Raffel et al. (arXiv 1910.10683),
section 2.4; pretraining: section 3.1.4.

`c4_filters` made C4, the Colossal Clean Crawled Corpus, out of web pages::

    lines   kept if they end in . ! ? or a quotation mark, and have enough words, none
            of them "javascript"
    pages   kept if enough sentences are left, without curly brackets and "lorem ipsum"
    spans   of three sentences that were seen before are removed, wherever they stand

Left out are the list of bad words, language detection, and notices of cookies and
policies. Source: section 2.2; printings differ (5 sentences a page and 3 words a line,
or 3 and 5 as in TensorFlow Datasets, c4_utils).
"""

import random
import re
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from itertools import count

from coursepkg.text.languages import LANGUAGES, PAIRS
from coursepkg.validation import check_at_least, check_count

NAMES = {code: one.name for code, one in LANGUAGES.items()} | {"nom": "Nom"}
"""Languages and scripts that `--from` and `--to` take; Nom is old Vietnamese script."""

_PAIRS = (*PAIRS, "zh-en", "nom-vi")
PREFIXES = {
    (source, target): f"translate {NAMES[source]} to {NAMES[target]}: "
    for one, other in (pair.split("-") for pair in _PAIRS)
    for source, target in ((one, other), (other, one))
}
"""For each direction the text in front of every source, in training and in prediction.
"""

STS_LABELS = tuple(f"{tenths / 10:.1f}" for tenths in range(10, 51, 2))
"""The 21 strings 1.0, 1.2, ... 5.0 that stand for similarities."""

_NUMBER = re.compile(r"\d+(?:\.\d+)?")


def prefix_of(source: str, target: str) -> str:
    """The prefix of a direction.

    Example:
        >>> prefix_of("zh", "vi")
        'translate Chinese to Vietnamese: '

    Raises:
        ValueError: there is no such direction.
    """
    if (source, target) not in PREFIXES:
        known = ", ".join(f"{a} to {b}" for a, b in PREFIXES)
        raise ValueError(
            f"there is no prefix for {source!r} to {target!r}; the directions are"
            f" {known}"
        )
    return PREFIXES[source, target]


def sts_to_text(similarity: int | float) -> str:
    """A similarity of STS-B as one of `STS_LABELS`: the nearest 0.2, halves upwards.

    Twenty-one strings make a regression a classification with 21 classes; the model
    writes the string. Source: Raffel et al. (arXiv 1910.10683), section 2.4, whose
    example is 2.57 -> "2.6".

    Raises:
        ValueError: it lies outside. The data set itself has scores from 0 on; clip them
            first.
    """
    if not 1 <= similarity <= 5:
        raise ValueError(f"similarity must lie in 1..5, got {similarity}")
    return f"{int(similarity * 5 + 0.5) / 5:.1f}"


def text_to_sts(text: str) -> float | None:
    """The similarity that a model wrote; None unless it is a number from 1 to 5."""
    if not _NUMBER.fullmatch(text.strip()):
        return None
    value = float(text)
    return value if 1 <= value <= 5 else None


def label_of(text: str, labels: Collection[str]) -> str | None:
    """The label that a model wrote; None, counted as wrong, unless exactly one of them.

    No nearest label is guessed, and `positive.` is not `positive`: the paper counts it
    so, too.

    Raises:
        ValueError: the labels are one string, or there is none.
    """
    if isinstance(labels, str) or not labels:
        raise ValueError(f"labels must be several words, got {labels!r}")
    return text.strip() if text.strip() in labels else None


def label_accuracy(
    outputs: Sequence[str], truths: Sequence[str], labels: Collection[str]
) -> tuple[float, int]:
    """Share of right outputs, and how many outputs were no label at all.

    Raises:
        ValueError: the lengths differ, there is nothing to judge, or a truth is no
            label.
    """
    if len(outputs) != len(truths) or not outputs:
        raise ValueError(
            f"outputs and truths must be of one length, got {len(outputs)} and"
            f" {len(truths)}"
        )
    stray = [truth for truth in truths if truth not in labels]
    if stray:
        raise ValueError(
            f"truths must be among {', '.join(sorted(labels))}, got {stray[0]!r}"
        )
    predicted = [label_of(output, labels) for output in outputs]
    n_right = sum(ours == truth for ours, truth in zip(predicted, truths, strict=True))
    return n_right / len(truths), predicted.count(None)


def corrupt_spans(
    words: Sequence[str], spans: Sequence[tuple[int, int]]
) -> tuple[str, str]:
    """T5's pretraining task on one text: the target is the spans that are cut out.

    Example:
        >>> words = "Thank you for inviting me to your party last week .".split()
        >>> corrupt_spans(words, [(2, 4), (8, 9)])
        ('Thank you <extra_id_0> me to your party <extra_id_1> week .',
         '<extra_id_0> for inviting <extra_id_1> last <extra_id_2>')

    Args:
        spans: (first, last + 1) of each, in order, with at least one word between two.

    Raises:
        ValueError: a span is empty, lies outside, or touches the one before.
    """
    source: list[str] = []
    target: list[str] = []
    end = 0
    for i, (first, last) in enumerate(spans):
        if not (end + (i > 0) <= first < last <= len(words)):
            raise ValueError(
                f"spans[{i}] must lie behind the one before, with a word between,"
                f" inside 0..{len(words)}, got ({first}, {last})"
            )
        source += [*words[end:first], f"<extra_id_{i}>"]
        target += [f"<extra_id_{i}>", *words[first:last]]
        end = last
    return " ".join([*source, *words[end:]]), " ".join(
        [*target, f"<extra_id_{len(spans)}>"]
    )


CUT_SHARE = 0.15
"""Share of the words that pretraining cuts out."""
SPAN_LENGTH = 3
"""Words of a span on average."""


def draw_spans(
    n_words: int,
    draw: random.Random,
    *,
    share: float = CUT_SHARE,
    mean_length: int | float = SPAN_LENGTH,
) -> list[tuple[int, int]]:
    """Spans for `corrupt_spans`, drawn as T5 draws them: how many, how long, where.

        words cut out = share * words       at least 1, and one stays at least
        spans         = words cut out / mean_length       at least 1

    Both are rounded. Every way to cut so many words into so many spans is as likely as
    any other, and so is every way to spread the words that stay. Source: Raffel et al.
    (arXiv 1910.10683), sections 3.1.4 and 3.3.4. In the authors' code the last span
    always ends the text, which matters in single sentences; here it need not.

    Example:
        >>> draw_spans(24, random.Random(1))
        [(4, 8)]

    Args:
        n_words: words of the text, at least 2.
        draw: what is drawn from.
        share: of the words, above 0 and below 1.
        mean_length: of a span, at least 1.

    Raises:
        ValueError: an argument is out of range.
    """
    check_count("n_words", n_words, least=2)
    check_at_least("mean_length", mean_length, 1)
    if not 0 < share < 1:
        raise ValueError(f"share must be above 0 and below 1, got {share}")
    n_cut = min(max(1, round(share * n_words)), n_words - 1)
    n_kept = n_words - n_cut
    # Between two spans stands a word at least.
    n_spans = min(max(1, round(n_cut / mean_length)), n_kept + 1)
    lengths = _parts(n_cut, n_spans, draw)
    # Two words more, as in front of the first span and behind the last none need stand.
    gaps = _parts(n_kept + 2, n_spans + 1, draw)
    spans = []
    end = -1
    for gap, length in zip(gaps, lengths, strict=False):
        spans.append((end + gap, end + gap + length))
        end += gap + length
    return spans


def _parts(total: int, n: int, draw: random.Random) -> list[int]:
    """A number as a sum of n numbers of at least 1, each such sum as likely."""
    ends = [*sorted(draw.sample(range(1, total), n - 1)), total]
    return [end - first for first, end in zip([0, *ends], ends, strict=False)]


TERMINAL = (".", "!", "?", '"', "”")
"""What a line of prose ends in."""
SPAN = 3
"""Sentences of a span that must not occur twice."""

_BETWEEN_SENTENCES = re.compile(r"(?:(?<=[.!?])|(?<=[.!?][\"”]))\s+")


@dataclass(frozen=True)
class FilteredPage:
    """A page after the filters."""

    lines: tuple[str, ...]
    """The lines that stay; none if the page was removed."""
    removed: tuple[tuple[str, str], ...]
    """Each removed line and why."""
    page_removed: str
    """Why the whole page was removed; empty if it stays."""


def c4_filters(
    page: str, *, min_sentences: int = 5, min_words: int = 3
) -> FilteredPage:
    r"""Apply the filters of single pages.

    Example:
        >>> page = "Home | About\nPlease turn on JavaScript to go on."
        >>> c4_filters(page, min_sentences=1).page_removed
        'fewer than 1 sentences'

    Raises:
        ValueError: a limit is below 1.
    """
    check_count("min_sentences", min_sentences)
    check_count("min_words", min_words)
    lines = filter(None, map(str.strip, page.splitlines()))
    judged = [(line, line_fault(line, min_words)) for line in lines]
    kept = [line for line, reason in judged if not reason]
    removed = [one for one in judged if one[1]]
    fault = page_fault(page, kept, min_sentences)
    return FilteredPage(() if fault else tuple(kept), tuple(removed), fault)


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
    """Why a page is removed, by its text and what is left; empty if it stays."""
    if "{" in page or "}" in page:
        return "curly bracket"
    if "lorem ipsum" in page.lower():
        return "lorem ipsum"
    if sum(len(split_sentences(line)) for line in kept) < min_sentences:
        return f"fewer than {min_sentences} sentences"
    return ""


def split_sentences(line: str) -> list[str]:
    """The sentences of a line: it is cut at white space behind . ! or ?."""
    return [sentence for sentence in _BETWEEN_SENTENCES.split(line.strip()) if sentence]


def without_repeated_spans(pages: Iterable[Sequence[str]]) -> list[list[list[str]]]:
    """Remove every sentence that lies in a span of three that stood before.

    Spans are compared without regard to case and spaces, and may reach from one line
    into the next.

    Returns:
        for each page and each of its lines the sentences that stay.
    """
    seen: set[tuple[str, ...]] = set()
    result = []
    for page in pages:
        lines = [split_sentences(line) for line in page]
        folded = [" ".join(one.lower().split()) for line in lines for one in line]
        repeated: set[int] = set()
        for first in range(len(folded) - SPAN + 1):
            span = tuple(folded[first : first + SPAN])
            if span in seen:
                repeated.update(range(first, first + SPAN))
            seen.add(span)
        numbers = count()
        result.append(
            [[one for one in line if next(numbers) not in repeated] for line in lines]
        )
    return result
