"""The checks of the chapter on the three ways to translate accept what is right and say what is wrong."""

import itertools
from collections import defaultdict

from tests.checks.solutions import solution_tests

PLACES = {"num": 0, "cl": 1, "noun": 2, "adj": 3, "det": 4}


def ordered(words, kinds):
    kept = [(word, kind) for word, kind in zip(words, kinds, strict=True) if kind != "de"]
    return [word for word, kind in sorted(kept, key=lambda pair: PLACES[pair[1]])]


def keeps(words, kinds):
    places = PLACES | {"de": 5}
    pairs = sorted(zip(words, kinds, strict=True), key=lambda pair: places[pair[1]])
    return [word for word, _ in pairs]


def by_letter(words, kinds):
    pairs = sorted((PLACES[kind], word) for word, kind in zip(words, kinds, strict=True) if kind != "de")
    return [word for _, word in pairs]


def em(pairs, table):
    counts, totals = defaultdict(float), defaultdict(float)
    for source, target in pairs:
        for t in target:
            z = sum(table[s, t] for s in source)
            for s in source:
                counts[s, t] += table[s, t] / z
                totals[s] += table[s, t] / z
    return {(s, t): count / totals[s] for (s, t), count in counts.items()}


def whole(pairs, table):
    counts, totals = defaultdict(float), defaultdict(float)
    for source, target in pairs:
        for s, t in itertools.product(source, target):
            counts[s, t] += table[s, t]
            totals[s] += table[s, t]
    return {(s, t): count / totals[s] for (s, t), count in counts.items()}


def other_way(pairs, table):
    counts, totals = defaultdict(float), defaultdict(float)
    for source, target in pairs:
        for t in target:
            z = sum(table[s, t] for s in source)
            for s in source:
                counts[s, t] += table[s, t] / z
                totals[t] += table[s, t] / z
    return {(s, t): count / totals[t] for (s, t), count in counts.items()}


def aer(found, sure, possible):
    return 1 - (len(found & sure) + len(found & possible)) / (len(found) + len(sure))


def viterbi(options, log_p):
    best = {"<s>": (0.0, [])}
    for row in options:
        best = {
            word: max(
                (score + log_p(before, word) + p, [*path, word]) for before, (score, path) in best.items()
            )
            for word, p in row
        }
    return max((score + log_p(word, "</s>"), path) for word, (score, path) in best.items())[1]


def greedy(options, log_p):
    path = ["<s>"]
    for row in options:
        path.append(max(row, key=lambda pair: pair[1] + log_p(path[-1], pair[0]))[0])
    return path[1:]


RIGHT = {
    "vietnamese_order": ordered,
    "vietnamese_order as a tuple": lambda words, kinds: tuple(ordered(words, kinds)),
    "em_round": em,
    "error_rate": aer,
    "best_path": viterbi,
    "lead_of_two_words": "0.405 nats",
    "lead_of_two_words rounded": "0.41 nats",
    "gain_of_twenty_rules": "56 %",
    "gain_of_twenty_rules read roughly": "58%",
}

WRONG = {
    "vietnamese_order reversed": (
        lambda words, kinds: [w for w, k in zip(words, kinds, strict=True) if k != "de"][::-1],
        "number, classifier, noun",
    ),
    "vietnamese_order that sorts the adjectives": (by_letter, "adjectives in their order"),
    "vietnamese_order that keeps de": (keeps, "what is de disappears"),
    "em_round that counts whole pairs": (whole, "share each target word among the source words"),
    "em_round divided by the target word": (other_way, "divide by the sum of the source word"),
    "error_rate without the possible links": (
        lambda a, s, p: 1 - 2 * len(a & s) / (len(a) + len(s)),
        "possible ones for precision",
    ),
    "error_rate of one minus precision": (
        lambda a, s, p: 1 - len(a & p) / max(len(a), 1),
        "sure links count for recall",
    ),
    "best_path greedy": (greedy, "keep the best way to reach it"),
    "best_path that forgets the end": (
        lambda options, log_p: viterbi(options, lambda u, w: 0.0 if w == "</s>" else log_p(u, w)),
        "</s> follows the last one",
    ),
    "best_path without the language model": (
        lambda options, log_p: [max(row, key=lambda pair: pair[1])[0] for row in options],
        "the first word follows <s>",
    ),
    "lead_of_two_words with the whole channel": ("1.10 nats", "half of 0.8"),
    "lead_of_two_words without the new word": ("0.916 nats", "also pays for này"),
    "lead_of_two_words in bits": ("0.585 nats", "natural logarithm"),
    "lead_of_two_words the other way": ("-0.405 nats", "the lead of váy"),
    "lead_of_two_words as a ratio": ("1.5 nats", "its logarithm"),
    "lead_of_two_words without a unit": ("0.405", "without a unit"),
    "gain_of_twenty_rules from zero": ("79 %", "not at 0"),
    "gain_of_twenty_rules counts the rules": ("52.6 %", "share of the rules"),
    "gain_of_twenty_rules the rest": ("43 %", "what the other rules bring"),
    "gain_of_twenty_rules in points": ("19.7 %", "divide by the whole gain"),
    "gain_of_twenty_rules as BLEU": ("56 BLEU", "% is expected"),
}

test_right, test_wrong = solution_tests("approaches", RIGHT, WRONG)
