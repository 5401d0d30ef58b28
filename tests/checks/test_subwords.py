"""The checks of the chapter on subwords accept what is right and say what is wrong."""

from collections import Counter
from itertools import pairwise
from unicodedata import normalize

from tests.checks.solutions import solution_tests


def count(words, weight=True):
    pairs = Counter()
    for word, n in words.items():
        for pair in pairwise(word):
            pairs[pair] += n if weight else 1
    return pairs


def unweighted(words):
    return min(count(words, weight=False).items(), key=lambda item: (-item[1], item[0]))


def once(words):
    pairs = Counter()
    for word, n in words.items():
        for pair in set(pairwise(word)):
            pairs[pair] += n
    return min(pairs.items(), key=lambda item: (-item[1], item[0]))


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


def first_place(word, merges):
    tokens = list(word)
    for pair in merges:
        for i, found in enumerate(pairwise(tokens)):
            if found == pair:
                tokens[i : i + 2] = ["".join(pair)]
                break
    return tokens


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


def longest_first(text, log_probs):
    pieces = []
    while text:
        piece = next(text[:n] for n in range(len(text), 0, -1) if text[:n] in log_probs)
        pieces.append(piece)
        text = text[len(piece) :]
    return pieces


def n_bytes(text, form):
    return len(normalize(form, text).encode())


def guesses(composed, decomposed, chinese, emoji):
    return {"phở in NFC": composed, "phở in NFD": decomposed, "感冒": chinese, "🙂": emoji}


RIGHT = {
    "best_pair": lambda w: min(count(w).items(), key=lambda item: (-item[1], item[0])),
    "encode_word": apply,
    "viterbi": solve,
    "cheapest_cut": "18 bits",
    "byte_counts": (guesses(5, 7, 6, 4), n_bytes),
}

WRONG = {
    "best_pair forgets the counts of words": (unweighted, "as often as its word occurs"),
    "best_pair takes the largest of equals": (
        lambda w: max(count(w).items(), key=lambda item: (item[1], item[0])),
        "the smaller one wins",
    ),
    "best_pair counts a pair once a word": (once, "a a a holds the pair a a twice"),
    "encode_word merges from left to right instead of by rank": (greedy, "learned first goes first"),
    "encode_word merges one place only": (first_place, "every place"),
    "viterbi takes the longest piece first": (longest_first, "need not be part of the best whole"),
    "viterbi of single characters": (lambda text, log_probs: list(text), "is better"),
    "cheapest_cut with the longest piece": ("19 bits", "est at the end is cheaper"),
    "cheapest_cut of letters": ("31 bits", "single letters"),
    "cheapest_cut without the first letter": ("14 bits", "the first letter"),
    "cheapest_cut in bytes": ("18 bytes", "bits is expected"),
    "cheapest_cut without a unit": ("18", "without a unit"),
    "byte_counts of characters": (
        (guesses(5, 7, 6, 4), lambda text, form: len(normalize(form, text))),
        "count bytes, not characters",
    ),
    "byte_counts without the form": (
        (guesses(5, 7, 6, 4), lambda text, form: len(text.encode())),
        "normalise to the form first",
    ),
    "byte_counts expects characters": ((guesses(3, 5, 2, 1), n_bytes), "U+1EDF three"),
    "byte_counts expects one byte for a Chinese character": ((guesses(5, 7, 2, 4), n_bytes), "three bytes"),
    "byte_counts expects equal forms": ((guesses(5, 5, 6, 4), n_bytes), "a mark two"),
}

test_right, test_wrong = solution_tests("subwords", RIGHT, WRONG)
