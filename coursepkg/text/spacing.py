"""Spaces around punctuation: tokenised text has them on both sides (`Xin chào , bạn !`), text for readers has not."""

import re

_MARK = re.compile(
    r"\.{2,}"
    r"|[,:](?!(?<=\d.)\d)"  # not inside 3,5 and 8:30
    r"|\.(?!\w)"  # not inside 3.5 and U.S
    r'|["?!;…%()\[\]{}“”«»]'
)
_BEFORE_CLOSING = re.compile(r" +(?=[.,?!:;…%)\]}”’»])")
_AFTER_OPENING = re.compile(r"(?<=[(\[{“‘«]) +")
_INSIDE_TIME = re.compile(r"(?<=\d) ?: ?(?=\d)")
_BEFORE_CLITIC = re.compile(r"(?<=[^\W\d_]) (?=['’](?:s|t|m|d|re|ve|ll)\b)", re.IGNORECASE)


def detokenize(line: str) -> str:
    """A line of spaced tokens as it is read, in Vietnamese or English.

    Straight double quotes open and close in turn. Where their number is odd a speech goes on over the edge of the
    line: it began before, if the line ends in a quote, and ends later, if not. A comma between digits keeps the space
    after it (`1, 2`), a colon does not (`8:30`).

    Example:
        >>> detokenize('Anh ấy nói : " Xin chào , bạn ! "')
        'Anh ấy nói: "Xin chào, bạn!"'
    """
    line = _attach_quotes(" ".join(line.split()))
    line = _BEFORE_CLITIC.sub("", _INSIDE_TIME.sub(":", line))
    return _AFTER_OPENING.sub("", _BEFORE_CLOSING.sub("", line))


def space_punctuation(text: str) -> str:
    """Text with a space on both sides of every punctuation mark, for a model that was trained on such text.

    Marks inside numbers, times and abbreviations stay; `...` is one mark.

    Example:
        >>> space_punctuation("Xin chào, bạn! Giá 3,5 tệ lúc 8:30.")
        'Xin chào , bạn ! Giá 3,5 tệ lúc 8:30 .'
    """
    return " ".join(_MARK.sub(lambda found: f" {found[0]} ", text).split())


def capitalize(text: str) -> str:
    """The text with its first letter in upper case, unless a number comes first.

    The rest stays as it is; `str.capitalize` would lower it.
    """
    for i, character in enumerate(text):
        if character.isalnum():
            return text[:i] + character.upper() + text[i + 1 :]
    return text


def _attach_quotes(line: str) -> str:
    parts = line.split('"')
    began_before = len(parts) % 2 == 0 and not re.search(r"\w", parts[-1])
    inside = slice(0 if began_before else 1, None, 2)
    parts[inside] = [part.strip() for part in parts[inside]]
    return '"'.join(parts)
