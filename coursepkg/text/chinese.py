"""Chinese text: joining what was segmented, splitting into characters, the width of punctuation.

Chinese is written without spaces. Corpora come with a space after each word; a reader wants none, except between
words of Latin letters. Nom, the old script of Vietnamese, uses the same characters and many of the extension planes.
"""

import re

HAN = "\u3005-\u3007\u3021-\u3029\u3038-\u303b\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003fffd"
"""Han characters as ranges of a regular expression: 々 〆 〇 and numerals, Extension A, the unified block,
compatibility characters, and planes 2 and 3 as a whole, where Extensions B and later lie."""
PRIVATE = "\ue000-\uf8ff\U000f0000-\U000ffffd\U00100000-\U0010fffd"
"""Private use: Nom fonts keep characters there that Unicode does not have."""

_VARIATIONS = "\ufe00-\ufe0f\U000e0100-\U000e01ef"
_IDEOGRAPH = f"[{HAN}{PRIVATE}]"
_LETTER = rf"(?:(?![{HAN}])[^\W_][\u0300-\u036f]*)"
_TOKEN = re.compile(
    rf"{_IDEOGRAPH}[{_VARIATIONS}]*"
    rf"|{_LETTER}+(?:(?:(?<=\d)[.,:](?=\d)|['’-]){_LETTER}+)*"  # 3.5  8:30  don't  e-mail
    r"|\S"
)
_WIDE = f"{HAN}{PRIVATE}{_VARIATIONS}\u3000-\u3004\u3008-\u3020\u3030\uff01-\uff60"
_OPENING, _CLOSING = "“‘(\\[", "”’)\\]…,.?!:;%"
_NO_SPACE = re.compile(rf"(?<=[{_WIDE}{_OPENING}])\s+|\s+(?=[{_WIDE}{_CLOSING}])")

FULL_WIDTH = {code: code - 0xFEE0 for code in range(0xFF01, 0xFF5F)}
"""Full-width forms of ASCII (！ to ～) and the code points that they stand for."""

_TO_HALF = FULL_WIDTH | {0x3000: " ", 0x3001: ",", 0x3002: "."}
_TO_FULL = str.maketrans(",.?!:;()", "，。？！：；（）")
_FULL_LETTERS = re.compile("[０-９Ａ-Ｚａ-ｚ]")
_BESIDE_HAN = re.compile(rf"(?<=[{_WIDE}”’])(?:[,?!:;)]+|\.(?!\.))|\((?={_IDEOGRAPH})")


def is_han(character: str) -> bool:
    """Whether this is one Han character, of any plane."""
    return re.fullmatch(f"[{HAN}]", character) is not None


def remove_spaces(line: str) -> str:
    """A segmented line as it is read: no space beside a Han character or Chinese punctuation.

    Spaces between Latin words and numbers stay, one each.

    Example:
        >>> remove_spaces("我 想 改变 JAL 4002 航班 。")
        '我想改变JAL 4002航班。'
    """
    return " ".join(_NO_SPACE.sub("", line.strip()).split())


def split_characters(line: str) -> list[str]:
    """The characters of a line; a Latin word or a number is one token, and so is every punctuation mark.

    A variation selector stays with its character.

    Example:
        >>> split_characters("我想改变JAL 4002航班。")
        ['我', '想', '改', '变', 'JAL', '4002', '航', '班', '。']
    """
    return _TOKEN.findall(line)


def to_half_width(text: str) -> str:
    """Full-width letters, digits and punctuation as ASCII; 。 as a full stop, 、 as a comma, U+3000 as a space.

    Book quotation marks and title marks (《》) have no half-width form and stay.
    """
    return text.translate(_TO_HALF)


def to_full_width(text: str) -> str:
    """Punctuation that follows a Han character in its Chinese form; full-width letters and digits as ASCII.

    Punctuation inside and after Latin words and numbers (3.5, 8:30) stays.

    Example:
        >>> to_full_width("你好,我是３号!")
        '你好，我是3号！'
    """
    ascii_letters = _FULL_LETTERS.sub(lambda found: found[0].translate(FULL_WIDTH), text)
    return _BESIDE_HAN.sub(lambda found: found[0].translate(_TO_FULL), ascii_letters)
