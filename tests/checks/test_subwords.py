"""The checks of the chapter on subwords accept what is right and say what is wrong."""

from collections import Counter
from itertools import pairwise


def count(words, weight=True):
    pairs = Counter()
    for word, n in words.items():
        for pair in pairwise(word):
            pairs[pair] += n if weight else 1
    return pairs


def test_best_pair_right(assert_accepts):
    assert_accepts(
        "subwords.best_pair", lambda w: min(count(w).items(), key=lambda item: (-item[1], item[0]))
    )


def test_best_pair_forgets_the_counts_of_words(assert_rejects):
    def unweighted(words):
        return min(count(words, weight=False).items(), key=lambda item: (-item[1], item[0]))

    assert_rejects("subwords.best_pair", unweighted, "as often as its word occurs")


def test_best_pair_takes_the_largest_of_equals(assert_rejects):
    assert_rejects(
        "subwords.best_pair",
        lambda w: max(count(w).items(), key=lambda item: (item[1], item[0])),
        "the smaller one wins",
    )


def test_best_pair_counts_a_pair_once_a_word(assert_rejects):
    def once(words):
        pairs = Counter()
        for word, n in words.items():
            for pair in set(pairwise(word)):
                pairs[pair] += n
        return min(pairs.items(), key=lambda item: (-item[1], item[0]))

    assert_rejects("subwords.best_pair", once, "a a a holds the pair a a twice")


def apply(word, merges):
    tokens = list(word)
    for left, right in merges:
        merged = []
        for token in tokens:
            if merged and merged[-1] == left and token == right:
                merged[-1] = left + right
            else:
                merged.append(token)
        tokens = merged
    return tokens


def test_encode_word_right(assert_accepts):
    assert_accepts("subwords.encode_word", apply)


def test_encode_word_merges_from_left_to_right_instead_of_by_rank(assert_rejects):
    def greedy(word, merges):
        tokens, rules = list(word), set(merges)
        i = 0
        while i + 1 < len(tokens):
            if (tokens[i], tokens[i + 1]) in rules:
                tokens[i : i + 2] = [tokens[i] + tokens[i + 1]]
                i = 0
            else:
                i += 1
        return tokens

    assert_rejects("subwords.encode_word", greedy, "learned first goes first")


def test_encode_word_merges_one_place_only(assert_rejects):
    def first_place(word, merges):
        tokens = list(word)
        for pair in merges:
            for i, found in enumerate(pairwise(tokens)):
                if found == pair:
                    tokens[i : i + 2] = ["".join(pair)]
                    break
        return tokens

    assert_rejects("subwords.encode_word", first_place, "every place")


def test_cut_right(assert_accepts):
    assert_accepts("subwords.cut", lambda ids, max_len: [*ids[: max_len - 1], 2])


def test_cut_after_adding_eos(assert_rejects):
    assert_rejects("subwords.cut", lambda ids, max_len: [*ids, 2][:max_len], "cut first, then add EOS")


def test_cut_one_too_long(assert_rejects):
    assert_rejects("subwords.cut", lambda ids, max_len: [*ids[:max_len], 2], "cut([7, 8, 9], 3)")


def solve(text, log_probs):
    best = [(0.0, [])]
    for j in range(1, len(text) + 1):
        found = [
            (best[i][0] + log_probs[text[i:j]], [*best[i][1], text[i:j]])
            for i in range(j)
            if text[i:j] in log_probs and best[i] is not None
        ]
        best.append(max(found, default=None))
    return best[-1][1]


def test_viterbi_right(assert_accepts):
    assert_accepts("subwords.viterbi", solve)


def test_viterbi_takes_the_longest_piece_first(assert_rejects):
    def longest_first(text, log_probs):
        pieces = []
        while text:
            piece = next(text[:n] for n in range(len(text), 0, -1) if text[:n] in log_probs)
            pieces.append(piece)
            text = text[len(piece) :]
        return pieces

    assert_rejects("subwords.viterbi", longest_first, "need not be part of the best whole")


def test_viterbi_of_single_characters(assert_rejects):
    assert_rejects("subwords.viterbi", lambda text, log_probs: list(text), "is better")
