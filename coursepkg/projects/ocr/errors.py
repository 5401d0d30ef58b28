"""What kinds of mistakes a reading makes, by an alignment of the characters.

A Vietnamese letter is a base letter with at most one vowel mark and at most one tone mark, so a wrong letter can be
almost right: `ấ` read as `â` is a wrong tone, as `á` a wrong vowel mark, as `Ấ` a wrong case.
"""

import unicodedata
from collections import Counter
from collections.abc import Sequence
from html import escape

from coursepkg.metrics.alignment import Edit, align
from coursepkg.text.vietnamese import TONES

KINDS = ("tone", "vowel mark", "case", "digit", "punctuation", "other")
"""Every edit is of one of them. `other` are wrong base letters, and letters and spaces left out or put in."""


def letter_parts(character: str) -> tuple[str, str, str, bool]:
    """Base letter, vowel mark (or the bar of đ), tone, and whether it is a capital; other signs are their own base.

    Example:
        >>> letter_parts("Ấ"), letter_parts("đ")
        (('a', '̂', 'sắc', True), ('d', 'đ', 'ngang', False))
    """
    vowel, tone = TONES.get(character, (character, "ngang"))
    is_capital = vowel != vowel.lower()
    plain = vowel.lower()
    if plain == "đ":
        return "d", "đ", tone, is_capital
    spelled = unicodedata.normalize("NFD", plain)
    return spelled[:1], spelled[1:], tone, is_capital


def edit_kind(edit: Edit) -> str:
    """The kind of an edit that is no `equal`.

    Where a letter differs in several ways at once, the first of vowel mark, tone and case counts.
    """
    symbols = [symbol for symbol in (edit.reference, edit.hypothesis) if symbol is not None]
    if len(symbols) == 2:
        (base, mark, tone, case), other = letter_parts(symbols[0]), letter_parts(symbols[1])
        if base == other[0]:
            for kind, differs in (
                ("vowel mark", mark != other[1]),
                ("tone", tone != other[2]),
                ("case", case != other[3]),
            ):
                if differs:
                    return kind
    if any(symbol.isdigit() for symbol in symbols):
        return "digit"
    if any(unicodedata.category(symbol)[0] in "PS" for symbol in symbols):
        return "punctuation"
    return "other"


def error_kinds(hypotheses: Sequence[str], references: Sequence[str]) -> Counter[str]:
    """How many edits of each kind of `KINDS` lead from the references to the hypotheses, all lines together.

    Both sides are read in NFC and without spaces at their ends, as the CER reads them; the sum is its edits.
    """
    counts: Counter[str] = Counter(dict.fromkeys(KINDS, 0))
    for hypothesis, reference in zip(hypotheses, references, strict=True):
        counts.update(edit_kind(edit) for edit in line_edits(hypothesis, reference) if edit.kind != "equal")
    return counts


def line_edits(hypothesis: str, reference: str) -> list[Edit]:
    """A shortest alignment of one line, both sides in NFC and without spaces at their ends."""
    ours, right = (unicodedata.normalize("NFC", text).strip() for text in (hypothesis, reference))
    return align(ours, right)


def marked_html(hypothesis: str, reference: str) -> tuple[str, str]:
    """Hypothesis and reference as HTML with their differences marked: `ins` what is too much, `del` what is missing.

    What nobody would see as a mark is written out there, see `visible`.

    Example:
        >>> marked_html("22 .000", "22.000")
        ('22<ins>␣</ins>.000', '22.000')
    """
    ours: list[str] = []
    right: list[str] = []
    for edit in line_edits(hypothesis, reference):
        for parts, symbol, tag in ((ours, edit.hypothesis, "ins"), (right, edit.reference, "del")):
            if symbol is not None:
                is_equal = edit.kind == "equal"
                parts.append(escape(symbol) if is_equal else f"<{tag}>{escape(visible(symbol))}</{tag}>")
    return "".join(ours), "".join(right)


def visible(symbol: str) -> str:
    r"""A character so that it can be seen by itself: a space as ␣, others without a shape of their own by their number.

    Example:
        >>> visible("a"), visible(" "), visible("\u00a0")
        ('a', '␣', 'U+00A0')
    """
    if symbol == " ":
        return "␣"
    # Other spaces, controls, and marks that have lost their letter.
    has_shape = unicodedata.category(symbol)[0] not in "ZCM"
    return symbol if has_shape else f"U+{ord(symbol):04X}"
