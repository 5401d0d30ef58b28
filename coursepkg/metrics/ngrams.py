"""Counting n-grams and their matches: what BLEU, chrF and ROUGE-N have in common.

    matches(hypothesis, reference) = sum over n-grams g of min(count of g in the one, count of g in the other)

The minimum is the clipping of Papineni et al. (2002): "the the the" matches a reference with one "the" once.
"""

from collections import Counter
from collections.abc import Sequence
from functools import reduce
from operator import or_

Ngrams = Counter[tuple[str, ...]]
"""How often each n-gram occurs."""


def ngrams(tokens: Sequence[str], n: int) -> Ngrams:
    """Counts of the n-grams of some tokens.

    Example:
        >>> ngrams(["a", "b", "a", "b"], 2)
        Counter({('a', 'b'): 2, ('b', 'a'): 1})
    """
    return Counter(zip(*(tokens[i:] for i in range(n)), strict=False))


def n_matches(counts: Ngrams, others: Ngrams) -> int:
    """Size of the intersection, repeated n-grams included."""
    fewer, more = (counts, others) if len(counts) <= len(others) else (others, counts)
    return sum(min(count, more[gram]) for gram, count in fewer.items() if gram in more)


def most(several: Sequence[Ngrams]) -> Ngrams:
    """For each n-gram the largest of its counts: what a hypothesis may use of several references."""
    return several[0] if len(several) == 1 else reduce(or_, several)
