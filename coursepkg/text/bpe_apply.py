"""Applying learned merges to one word: fast with a heap, at random for BPE-dropout, slowly for a look inside."""

import heapq
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import pairwise
from typing import NamedTuple

Ranks = Mapping[tuple[int, int], int]
"""For each pair of ids that a merge joins, the place of that merge in the order of learning."""


def index_merges(
    front: Sequence[str], alphabet: Sequence[str], merges: Sequence[tuple[str, str, int]]
) -> tuple[tuple[str, ...], dict[tuple[int, int], int]]:
    """All tokens in the order of their ids, and the rank of each pair of ids.

    Args:
        front: tokens that stand for no piece of text, or for bytes; no merge uses them.
        alphabet: the characters.
        merges: left token, right token, frequency.

    Raises:
        ValueError: a token occurs twice, or a merge uses one that is not there before it.
    """
    ids = {character: len(front) + i for i, character in enumerate(alphabet)}
    ranks = {}
    for rank, (left, right, _) in enumerate(merges):
        if left not in ids or right not in ids:
            raise ValueError(f"merges[{rank}] must join earlier tokens, got {left!r} and {right!r}")
        ranks[ids[left], ids[right]] = rank
        ids[left + right] = len(front) + len(alphabet) + rank
    tokens = (*front, *alphabet, *(left + right for left, right, _ in merges))
    if len(set(tokens)) < len(tokens):
        repeated = next(token for i, token in enumerate(tokens) if token in tokens[:i])
        raise ValueError(f"tokens must be distinct, but {repeated!r} occurs more than once")
    return tokens, ranks


class Step(NamedTuple):
    """One merge on the way from the characters of a word to its tokens."""

    rank: int
    ids: list[int]
    """The word after the merge."""


def merge_steps(ids: Sequence[int], ranks: Ranks, first: int) -> Iterator[Step]:
    """Apply the earliest learned merge that fits, at all its places from left to right, until none fits.

    This is the definition; `apply_merges` gives the last of its steps in less time.

    Args:
        ids: the characters of the word.
        ranks: the merges.
        first: id of the token that the merge of rank 0 makes; the others follow it.
    """
    word = list(ids)
    while fitting := [ranks[pair] for pair in pairwise(word) if pair in ranks]:
        rank = min(fitting)
        merged: list[int] = []
        for i in word:
            if merged and ranks.get((merged[-1], i)) == rank:
                merged[-1] = first + rank
            else:
                merged.append(i)
        word = merged
        yield Step(rank, word)


def apply_merges(
    ids: Sequence[int],
    ranks: Ranks,
    first: int,
    *,
    dropout_p: int | float = 0.0,
    draw: Callable[[], float] | None = None,
) -> list[int]:
    """The tokens of a word, in time n log n for n characters.

    BPE-dropout (Provilkov et al. 2020, arXiv 1910.13267, algorithm 1): at each step every merge that fits, place
    by place, is ignored with probability `dropout_p`; the best of the rest is made; the word is done when none is
    left. Drawing in the order of rank until one is kept gives the same distribution with fewer draws.

    Args:
        ids: the characters of the word.
        ranks: the merges.
        first: id of the token that the merge of rank 0 makes.
        dropout_p: 0 makes every merge, 1 none.
        draw: gives a number in [0, 1); needed where `dropout_p` is not 0.
    """
    word = list(ids)
    gone = -1
    after = list(range(1, len(word) + 1))
    before = list(range(-1, len(word) - 1))
    queue = [(ranks[pair], place) for place, pair in enumerate(pairwise(word)) if pair in ranks]
    heapq.heapify(queue)
    ignored: list[tuple[int, int]] = []
    while queue:
        rank, place = heapq.heappop(queue)
        right = after[place]
        if word[place] == gone or right == len(word) or ranks.get((word[place], word[right])) != rank:
            continue
        if draw is not None and draw() < dropout_p:
            ignored.append((rank, place))
            continue
        word[place], word[right] = first + rank, gone
        after[place] = after[right]
        if after[place] < len(word):
            before[after[place]] = place
        for entry in ignored:
            heapq.heappush(queue, entry)
        ignored.clear()
        for left in (before[place], place):
            if left >= 0 and after[left] < len(word):
                pair = (word[left], word[after[left]])
                if pair in ranks:
                    heapq.heappush(queue, (ranks[pair], left))
    return [i for i in word if i != gone]
