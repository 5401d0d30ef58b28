"""Word-segmentation underscores: the syllables of one Vietnamese word joined by `_`, as in `khách_sạn`.

Vietnamese writes a space after every syllable, so a space does not say where a word ends. Word segmenters join the
syllables of a word; a reader wants the spaces back.

An underscore that belongs to the text (`file_name`) looks the same. `join_words` writes it as the full-width low line
＿ (U+FF3F), and `split_words` turns that back. In files that others segmented nothing tells the two apart.
"""

import re
from collections.abc import Sequence

_ESCAPED = "＿"
_JOINT = re.compile(r"(?<=[^\s_])_(?=[^\s_])")


def join_words(words: Sequence[str]) -> str:
    """Words, whose syllables are separated by spaces, as one segmented line.

    Example:
        >>> join_words(["Khách sạn", "ở", "đâu", "?"])
        'Khách_sạn ở đâu ?'

    Raises:
        ValueError: the words are one string, or a word is empty, begins or ends with a space, or has ＿ in it.
    """
    if isinstance(words, str):
        raise ValueError(f"words must be a list of words, got the string {words!r}")
    for word in words:
        if not word or " ".join(word.split()) != word:
            raise ValueError(f"words must hold syllables separated by single spaces, got {word!r}")
        if _ESCAPED in word:
            raise ValueError(f"words must not hold {_ESCAPED} (U+FF3F), which stands for _, got {word!r}")
    return " ".join(word.replace("_", _ESCAPED).replace(" ", "_") for word in words)


def split_words(line: str) -> list[str]:
    """A segmented line as its words, whose syllables are separated by spaces: the inverse of `join_words`."""
    return [unjoin(word) for word in line.split()]


def unjoin(text: str) -> str:
    """The text without word-segmentation underscores.

    A single underscore inside a word is a joint and becomes a space. Any other one stays: alone, doubled, or at the
    edge of a word (see `stray_underscores`).

    Example:
        >>> unjoin("Khách_sạn JAL_21 ở đâu ?")
        'Khách sạn JAL 21 ở đâu ?'
    """
    return _JOINT.sub(" ", text).replace(_ESCAPED, "_")


def stray_underscores(lines: Sequence[str]) -> list[tuple[int, str]]:
    """The words with an underscore that joins nothing, with their line numbers from 1."""
    return [
        (number, word)
        for number, line in enumerate(lines, start=1)
        for word in line.split()
        if "_" in _JOINT.sub(" ", word)
    ]
