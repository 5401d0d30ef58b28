"""Byte fallback: 256 tokens, one a byte, which spell in UTF-8 any character that has no token of its own.

SentencePiece's option of this name, which the Llama models use (Touvron et al. 2023, arXiv 2302.13971, section 2.1).
"""

from collections.abc import Sequence
from itertools import groupby

BYTE_TOKENS = tuple(f"<0x{byte:02X}>" for byte in range(256))
_VALUES = {token: byte for byte, token in enumerate(BYTE_TOKENS)}


def to_byte_tokens(character: str) -> list[str]:
    """The bytes of a character in UTF-8: one for ASCII, two or three for Vietnamese letters, three for most Chinese.

    Example:
        >>> to_byte_tokens("ế")
        ['<0xE1>', '<0xBA>', '<0xBF>']
    """
    return [BYTE_TOKENS[byte] for byte in character.encode()]


def join_bytes(tokens: Sequence[str]) -> list[str]:
    """Tokens with each run of byte tokens replaced by the text that it spells.

    A run that is no valid UTF-8, such as a model may write, gives U+FFFD where it breaks.
    """
    joined: list[str] = []
    for is_byte, run in groupby(tokens, key=_VALUES.__contains__):
        if is_byte:
            joined.append(bytes(_VALUES[token] for token in run).decode(errors="replace"))
        else:
            joined.extend(run)
    return joined
