"""The characters of a recogniser: those of its training part and a declared Vietnamese alphabet, nothing of the test.

With the declared alphabet every letter has an id even where a small training part lacks it. A character outside the
vocabulary becomes UNK; it is counted and named before training, not met as a `KeyError` within.
"""

from collections import Counter
from collections.abc import Collection, Iterable, Sequence

from coursepkg.data.audit_sides import WRITTEN
from coursepkg.text.alphabet import UnknownCharacter, find_unknown
from coursepkg.text.vocabulary import SPECIALS, Vocabulary

DECLARED = "".join(dict.fromkeys(WRITTEN["vi"] + "•·±²³≤≥′″©®™§→"))
"""All 67 accented letters and 26 plain ones in both cases, digits, ASCII punctuation, the space, and signs of print."""


def character_vocabulary(train_texts: Iterable[str], declared: Collection[str] = DECLARED) -> Vocabulary:
    """A vocabulary of single characters, in the order of their code points.

    Args:
        train_texts: texts of the training part, in Unicode form NFC.
        declared: characters that get an id in any case.

    Raises:
        ValueError: the texts are one string.
    """
    if isinstance(train_texts, str):
        raise ValueError("train_texts must be a list of texts, got one string; put it into a list")
    found = set(declared).union(*map(set, train_texts))
    return Vocabulary((*SPECIALS, *sorted(found)))


def characters_outside(
    texts: Iterable[str], known: Vocabulary | Collection[str] = DECLARED
) -> list[UnknownCharacter]:
    """Characters that a vocabulary or an alphabet lacks, most frequent first, with count, place and advice."""
    alphabet = known.tokens[len(SPECIALS) :] if isinstance(known, Vocabulary) else known
    return sorted(find_unknown(texts, alphabet), key=lambda one: -one.count)


def encode_text(text: str, vocabulary: Vocabulary) -> list[int]:
    """Ids of the characters of a text, without BOS and EOS; UNK for one that the vocabulary lacks."""
    return vocabulary.encode(list(text))


def decode_text(ids: Sequence[int], vocabulary: Vocabulary) -> str:
    """The text of some ids up to the first EOS; an unknown character is written as U+FFFD."""
    unknown = SPECIALS[-1]
    return "".join("\ufffd" if token == unknown else token for token in vocabulary.decode(ids))


def seen_texts(train_texts: Iterable[str], texts: Iterable[str]) -> list[bool]:
    """For each text whether exactly it stands in the training part.

    A recogniser may know such a line by heart: its character error rate is to be reported apart.
    """
    known = set(train_texts)
    return [text in known for text in texts]


def character_counts(texts: Iterable[str]) -> Counter[str]:
    """How often each character occurs."""
    counts: Counter[str] = Counter()
    for text in texts:
        counts.update(text)
    return counts
