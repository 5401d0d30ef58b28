"""Spaces in Chinese, Vietnamese and English text: around punctuation, between words.

Chinese is written without spaces; corpora come with one after each word. Nom, the old
script of Vietnamese, uses the same characters and many of the extension planes.

Vietnamese writes a space after every syllable, so word segmenters join the syllables of
a word by `_` (`khách_sạn`). An underscore of the text itself (`file_name`) looks the
same: `join_words` writes it as ＿ (U+FF3F), and `split_words` turns that back. In files
that others segmented nothing tells the two apart.
"""

import re
from collections.abc import Sequence

HAN = (
    "\u3005-\u3007\u3021-\u3029\u3038-\u303b\u3400-\u4dbf"
    "\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003fffd"
)
"""Han characters as ranges of a regular expression: 々 〆 〇 and numerals, Extension A,
the unified block, compatibility characters, and planes 2 and 3 as a whole, where
Extensions B and later lie."""
PRIVATE = "\ue000-\uf8ff\U000f0000-\U000ffffd\U00100000-\U0010fffd"
"""Private use: Nom fonts keep characters there that Unicode does not have."""

_VARIATIONS = "\ufe00-\ufe0f\U000e0100-\U000e01ef"
_IDEOGRAPH = f"[{HAN}{PRIVATE}]"
_LETTER = rf"(?:(?![{HAN}])[^\W_][\u0300-\u036f]*)"
_TOKEN = re.compile(
    rf"{_IDEOGRAPH}[{_VARIATIONS}]*"
    rf"|{_LETTER}+(?:(?:(?<=\d)[.,:](?=\d)|['’-]){_LETTER}+)*"  # 3.5  8:30  don't
    r"|\S"
)
_WIDE = f"{HAN}{PRIVATE}{_VARIATIONS}\u3001-\u3004\u3008-\u3020\u3030\uff01-\uff60"
_OPENING, _CLOSING = "“‘(\\[", "”’)\\]…,.?!:;%"
_NO_SPACE = re.compile(rf"(?<=[{_WIDE}{_OPENING}])\s+|\s+(?=[{_WIDE}{_CLOSING}])")

FULL_WIDTH = {code: code - 0xFEE0 for code in range(0xFF01, 0xFF5F)}
"""Full-width forms of ASCII (！ to ～) and the code points that they stand for."""


def is_han(character: str) -> bool:
    """Whether this is one Han character, of any plane."""
    return re.fullmatch(f"[{HAN}]", character) is not None


def remove_spaces(line: str) -> str:
    """The line without spaces beside Han characters and Chinese punctuation.

    Spaces between Latin words and numbers stay, one each.

    Example:
        >>> remove_spaces("我 想 改变 JAL 4002 航班 。")
        '我想改变JAL 4002航班。'
    """
    return " ".join(_NO_SPACE.sub("", line.strip()).split())


def split_characters(line: str) -> list[str]:
    """The characters of a line; a Latin word or number is one token.

    A variation selector stays with its character.

    Example:
        >>> split_characters("我想改变JAL 4002航班。")
        ['我', '想', '改', '变', 'JAL', '4002', '航', '班', '。']
    """
    return _TOKEN.findall(line)


_ESCAPED = "＿"
_JOINT = re.compile(r"(?<=[^\s_])_(?=[^\s_])")


def join_words(words: Sequence[str]) -> str:
    """Words, whose syllables are separated by spaces, as one segmented line.

    Example:
        >>> join_words(["Khách sạn", "ở", "đâu", "?"])
        'Khách_sạn ở đâu ?'

    Raises:
        ValueError: the words are one string, or a word is empty, begins or ends with a
            space, or has ＿ in it.
    """
    if isinstance(words, str):
        raise ValueError(f"words must be a list of words, got the string {words!r}")
    for word in words:
        if not word or " ".join(word.split()) != word:
            raise ValueError(
                f"words must hold syllables separated by single spaces, got {word!r}"
            )
        if _ESCAPED in word:
            raise ValueError(
                f"words must not hold {_ESCAPED} (U+FF3F), which stands for _, got"
                f" {word!r}"
            )
    return " ".join(word.replace("_", _ESCAPED).replace(" ", "_") for word in words)


def split_words(line: str) -> list[str]:
    """A segmented line as its words: the inverse of `join_words`."""
    return [unjoin(word) for word in line.split()]


def unjoin(text: str) -> str:
    """The text without word-segmentation underscores.

    A single underscore inside a word is a joint and becomes a space. Any other one
    stays: alone, doubled, or at the edge of a word (see `stray_underscores`).

    Example:
        >>> unjoin("Khách_sạn JAL_21 ở đâu ?")
        'Khách sạn JAL 21 ở đâu ?'
    """
    return _JOINT.sub(" ", text).replace(_ESCAPED, "_")


def stray_underscores(lines: Sequence[str]) -> list[tuple[int, str]]:
    """Words with an underscore that joins nothing, and their line numbers from 1."""
    return [
        (number, word)
        for number, line in enumerate(lines, start=1)
        for word in line.split()
        if "_" in _JOINT.sub(" ", word)
    ]


_MARK = re.compile(
    r"\.{2,}"
    r"|[,:](?!(?<=\d.)\d)"  # not inside 3,5 and 8:30
    r"|\.(?!\w)"  # not inside 3.5 and U.S
    r'|["?!;…%()\[\]{}“”«»]'
)
_BEFORE_CLOSING = re.compile(r" +(?=[.,?!:;…%)\]}”’»])")
_AFTER_OPENING = re.compile(r"(?<=[(\[{“‘«]) +")
_INSIDE_TIME = re.compile(r"(?<=\d) ?: ?(?=\d)")
_BEFORE_CLITIC = re.compile(
    r"(?<=[^\W\d_]) (?=['’](?:s|t|m|d|re|ve|ll)\b)", re.IGNORECASE
)


def detokenize(line: str) -> str:
    """A line of spaced tokens as it is read, in Vietnamese or English.

    Straight double quotes open and close in turn. Where their number is odd a speech
    goes on over the edge of the line: it began before, if the line ends in a quote, and
    ends later, if not. A comma between digits keeps the space after it (`1, 2`), a
    colon does not (`8:30`).

    Example:
        >>> detokenize('Anh ấy nói : " Xin chào , bạn ! "')
        'Anh ấy nói: "Xin chào, bạn!"'
    """
    line = _attach_quotes(" ".join(line.split()))
    line = _BEFORE_CLITIC.sub("", _INSIDE_TIME.sub(":", line))
    return _AFTER_OPENING.sub("", _BEFORE_CLOSING.sub("", line))


def space_punctuation(text: str) -> str:
    """Text with a space on both sides of every punctuation mark.

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
