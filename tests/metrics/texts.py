"""Random texts with all that trips a metric: repeats, signs, numbers, entities, accents in both forms, Chinese."""

import random
import re
import unicodedata

from hypothesis import strategies as st

_LATIN = "a b the The cat cat, 3.5 1,000 - x-y 2-3 $5 it's ... … “yes” &amp; <skipped> _"
_ASIAN = "Xin chào! phở tiếng_Việt ma má mà 我 们 你好 。 你好，世界！ 𠀀 カタ"
_DECOMPOSED = unicodedata.normalize("NFD", "tiếng Việt")
WORDS = tuple(f"{_LATIN} {_ASIAN} {_DECOMPOSED}".split())

sentences = st.lists(st.sampled_from(WORDS), max_size=12).map(" ".join)
few_words = st.lists(st.sampled_from(["a", "b", "c"]), max_size=14).map(" ".join)
"""Three words only, so that everything repeats."""


def random_sentence(rng: random.Random, longest: int = 12) -> str:
    """Of a random part of the words, so that some sentences repeat themselves; now and then spaced oddly."""
    words = WORDS[: rng.randint(2, len(WORDS))]
    blank = rng.choice([" ", " ", " ", "  ", ""])
    return blank.join(rng.choice(words) for _ in range(rng.randint(0, longest)))


def disturb(rng: random.Random, sentence: str) -> str:
    """The sentence with runs moved and words changed."""
    words = sentence.split()
    for _ in range(rng.randint(0, 4) if words else 0):
        start, size = rng.randrange(len(words)), rng.randint(1, 4)
        run = words[start : start + size]
        del words[start : start + size]
        place = rng.randint(0, len(words))
        words[place:place] = run
        if rng.random() < 0.3:
            words[rng.randrange(len(words))] = rng.choice(WORDS)
    return " ".join(words)


def random_corpus(rng: random.Random, longest: int = 12) -> tuple[list[str], list[list[str]]]:
    """1 to 4 hypotheses, each with the same number of references, 1 to 3."""
    n_references = rng.randint(1, 3)
    references = [
        [random_sentence(rng, longest) for _ in range(n_references)] for _ in range(rng.randint(1, 4))
    ]
    hypotheses = [
        disturb(rng, texts[0]) if rng.random() < 0.7 else random_sentence(rng, longest)
        for texts in references
    ]
    return hypotheses, references


def sacrebleu_fields(signature: str) -> str:
    """The fields of one of our signatures that SacreBLEU's has too."""
    return signature.split("|unicode:")[0]


def exactly(message: str) -> str:
    """A pattern for `pytest.raises` that the whole message must match."""
    return f"^{re.escape(message)}$"
