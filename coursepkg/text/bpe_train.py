"""Learning byte-pair encoding: merge the most frequent adjacent pair, repeat.

Sennrich, Haddow and Birch 2016, arXiv 1508.07909. Of equally frequent pairs the one
with the smaller ids wins, the left id first. A character's id is its rank by code point
in the alphabet; a merged token's id is the next free one. This is the rule of Hugging
Face `tokenizers`, whose merges are the same on the same words (tested).
"""

import heapq
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from itertools import pairwise
from typing import NamedTuple

from coursepkg.text.tokenizer import WORD_MARK, normalize

MARK_PLACES = ("start", "end")
"""Where a word carries `WORD_MARK`: in front, as in SentencePiece, or behind, as in the
paper."""


class Merge(NamedTuple):
    """A learned rule: where `right` follows `left` in a word, they become one token."""

    left: str
    right: str
    frequency: int
    """How often the pair stood in the training text when it was chosen."""

    @property
    def token(self) -> str:
        """The token that the merge makes."""
        return self.left + self.right


def split_words(text: str, mark: str) -> list[str]:
    """Words of a normalised text with their marks; no merge crosses a word's end."""
    return [
        WORD_MARK + word if mark == "start" else word + WORD_MARK
        for word in text.split()
    ]


def count_words(
    lines: Iterable[str], *, mark: str = "start", form: str = "NFC"
) -> Counter[str]:
    """How often each marked word occurs in a text.

    Raises:
        ValueError: `lines` is one string, holds no word, or a line cannot be
            normalised.
    """
    if isinstance(lines, str):
        raise ValueError(
            f"lines must be several texts, got the string {lines[:60]!r}; put it in a"
            " list"
        )
    counts: Counter[str] = Counter()
    for number, line in enumerate(lines):
        counts.update(split_words(normalize(line, form, f"lines[{number}]"), mark))
    if not counts:
        raise ValueError("lines must hold at least one word, got none")
    return counts


def learn_bpe(
    lines: Iterable[str],
    *,
    vocab_size: int,
    fixed: Collection[str],
    min_frequency: int,
    limit_alphabet: int | None,
    initial_alphabet: str,
    mark: str,
    form: str,
) -> tuple[list[str], list[Merge]]:
    """Alphabet and merges of a vocabulary with `fixed` tokens; see `BPE.train`."""
    always = {WORD_MARK, *initial_alphabet}
    if min_frequency < 1:
        raise ValueError(f"min_frequency must be at least 1, got {min_frequency}")
    if limit_alphabet is not None and limit_alphabet < len(always):
        raise ValueError(
            f"limit_alphabet must be at least {len(always)}, the characters always"
            f" kept, got {limit_alphabet}"
        )
    words = count_words(lines, mark=mark, form=form)
    alphabet = choose_alphabet(words, always=always, limit=limit_alphabet)
    smallest = len(fixed) + len(alphabet)
    if vocab_size < smallest:
        raise ValueError(
            f"vocab_size must be at least {smallest} ({len(fixed)} special tokens, tags"
            f" and bytes, {len(alphabet)} characters), got {vocab_size}; raise it or"
            " set limit_alphabet"
        )
    n_merges = vocab_size - smallest
    return alphabet, learn_merges(
        words, alphabet, n_merges=n_merges, min_frequency=min_frequency, reserved=fixed
    )


def choose_alphabet(
    word_counts: Mapping[str, int],
    *,
    always: Collection[str] = (),
    limit: int | None = None,
) -> list[str]:
    """The characters that words are spelled with, in the order of their code points.

    Args:
        word_counts: how often each word occurs.
        always: characters to include whether they occur or not.
        limit: keep so many at most: `always`, then the most frequent, of equally
            frequent ones the smaller code point first (`tokenizers` takes equally
            frequent ones in no fixed order). None keeps all.
    """
    counts: Counter[str] = Counter()
    for word, count in word_counts.items():
        for character in word:
            counts[character] += count
    others = sorted(
        counts.keys() - set(always),
        key=lambda character: (-counts[character], character),
    )
    kept = others if limit is None else others[: max(0, limit - len(set(always)))]
    return sorted({*always, *kept})


def learn_merges(
    word_counts: Mapping[str, int],
    alphabet: Sequence[str],
    *,
    n_merges: int,
    min_frequency: int = 1,
    reserved: Collection[str] = (),
) -> list[Merge]:
    """Learn merges in the order in which encoding applies them.

    Overlapping pairs all count (`aaa` holds the pair `a a` twice); merging goes from
    left to right. A character outside the alphabet is left out of its word, as in
    `tokenizers`. Each merge makes a new token: no two pairs ever spell the same one,
    since whatever spells it between the same borders was cut the same way.

    Cost: a pair's merge touches the words that hold it and no other; the best pair
    comes from a heap whose outdated counts are put right when they surface.

    Args:
        word_counts: how often each word occurs, with its mark in it.
        alphabet: the characters, in the order of their ids.
        n_merges: stop after so many.
        min_frequency: stop when the best pair is rarer.
        reserved: tokens that no merge may make, such as `<eos>` spelled in the text.
    """
    tokens = list(alphabet)
    ids = {character: i for i, character in enumerate(tokens)}
    table = _PairTable(
        [
            [ids[character] for character in word if character in ids]
            for word in word_counts
        ],
        list(word_counts.values()),
    )
    merges: list[Merge] = []
    while len(merges) < n_merges:
        pair, count = table.pop_best()
        if count < max(min_frequency, 1):
            break
        merge = Merge(tokens[pair[0]], tokens[pair[1]], count)
        if merge.token in reserved:
            continue
        table.merge(pair, len(tokens))
        merges.append(merge)
        tokens.append(merge.token)
    return merges


class _PairTable:
    """Words as token ids, and for each adjacent pair its count and its words."""

    def __init__(self, words: list[list[int]], word_counts: list[int]) -> None:
        self.words = words
        self.word_counts = word_counts
        self.pair_counts: Counter[tuple[int, int]] = Counter()
        self.places: defaultdict[tuple[int, int], set[int]] = defaultdict(set)
        for place, (word, count) in enumerate(zip(words, word_counts, strict=True)):
            for pair in pairwise(word):
                self.pair_counts[pair] += count
                self.places[pair].add(place)
        self.heap = [(-count, pair) for pair, count in self.pair_counts.items()]
        heapq.heapify(self.heap)

    def pop_best(self) -> tuple[tuple[int, int], int]:
        """The most frequent pair and its count; count 0 where no pair is left."""
        while self.heap:
            minus_count, pair = heapq.heappop(self.heap)
            count = self.pair_counts[pair]
            if count == -minus_count:
                return pair, count
            if count > 0:
                heapq.heappush(self.heap, (-count, pair))
        return (0, 0), 0

    def merge(self, pair: tuple[int, int], new: int) -> None:
        """Replace a pair by a new token in all words; update counts, places, heap."""
        changes: Counter[tuple[int, int]] = Counter()
        for place in self.places.pop(pair):
            before, count = self.words[place], self.word_counts[place]
            after = _replace(before, pair, new)
            for old_pair in pairwise(before):
                changes[old_pair] -= count
            for new_pair in pairwise(after):
                changes[new_pair] += count
                self.places[new_pair].add(place)
            self.words[place] = after
        for changed, change in changes.items():
            self.pair_counts[changed] += change
            if change > 0:
                heapq.heappush(self.heap, (-self.pair_counts[changed], changed))


def _replace(word: list[int], pair: tuple[int, int], new: int) -> list[int]:
    """The word with every occurrence of the pair replaced, from left to right."""
    after: list[int] = []
    i = 0
    while i < len(word):
        found = word[i] == pair[0] and i + 1 < len(word) and word[i + 1] == pair[1]
        after.append(new if found else word[i])
        i += 1 + found
    return after
