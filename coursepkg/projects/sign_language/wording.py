"""Words that several reports share: numbers with their nouns, words that a part lacks, signers that are not known."""

from collections.abc import Sequence

SHOWN = 8
"""Words that a line names at most."""


def counted(n: int, what: str) -> str:
    """A number with its noun.

    Example:
        >>> [counted(n, "clip") for n in (0, 1, 3875)]
        ['0 clips', '1 clip', '3,875 clips']
    """
    return f"{n:,} {what}" if n == 1 else f"{n:,} {what}s"


def lacking(absent: Sequence[str]) -> str:
    """What a part lacks of the words of the data.

    Example:
        >>> lacking(["Tôi"])
        'lacks 1 word: Tôi'
        >>> lacking([])
        'every word'
    """
    if not absent:
        return "every word"
    more = ", ..." if len(absent) > SHOWN else ""
    return f"lacks {counted(len(absent), 'word')}: {', '.join(absent[:SHOWN])}{more}"
