"""The checks of the chapter on the three ways to translate accept what is right and say what is wrong."""

import itertools
from collections import defaultdict

PLACES = {"num": 0, "cl": 1, "noun": 2, "adj": 3, "det": 4}


def ordered(words, kinds):
    kept = [(word, kind) for word, kind in zip(words, kinds, strict=True) if kind != "de"]
    return [word for word, kind in sorted(kept, key=lambda pair: PLACES[pair[1]])]


def test_vietnamese_order_right(assert_accepts):
    assert_accepts("approaches.vietnamese_order", ordered)


def test_vietnamese_order_reversed(assert_rejects):
    assert_rejects(
        "approaches.vietnamese_order",
        lambda words, kinds: [w for w, k in zip(words, kinds, strict=True) if k != "de"][::-1],
        "number, classifier, noun",
    )


def test_vietnamese_order_that_keeps_de(assert_rejects):
    def keeps(words, kinds):
        places = PLACES | {"de": 5}
        pairs = sorted(zip(words, kinds, strict=True), key=lambda pair: places[pair[1]])
        return [word for word, _ in pairs]

    assert_rejects("approaches.vietnamese_order", keeps, "what is de disappears")


def em(pairs, table):
    counts, totals = defaultdict(float), defaultdict(float)
    for source, target in pairs:
        for t in target:
            z = sum(table[s, t] for s in source)
            for s in source:
                counts[s, t] += table[s, t] / z
                totals[s] += table[s, t] / z
    return {(s, t): count / totals[s] for (s, t), count in counts.items()}


def test_em_round_right(assert_accepts):
    assert_accepts("approaches.em_round", em)


def test_em_round_that_counts_whole_pairs(assert_rejects):
    def whole(pairs, table):
        counts, totals = defaultdict(float), defaultdict(float)
        for source, target in pairs:
            for s, t in itertools.product(source, target):
                counts[s, t] += table[s, t]
                totals[s] += table[s, t]
        return {(s, t): count / totals[s] for (s, t), count in counts.items()}

    assert_rejects("approaches.em_round", whole, "share each target word among the source words")


def test_em_round_divided_by_the_target_word(assert_rejects):
    def other_way(pairs, table):
        counts, totals = defaultdict(float), defaultdict(float)
        for source, target in pairs:
            for t in target:
                z = sum(table[s, t] for s in source)
                for s in source:
                    counts[s, t] += table[s, t] / z
                    totals[t] += table[s, t] / z
        return {(s, t): count / totals[t] for (s, t), count in counts.items()}

    assert_rejects("approaches.em_round", other_way, "divide by the sum of the source word")


def aer(found, sure, possible):
    return 1 - (len(found & sure) + len(found & possible)) / (len(found) + len(sure))


def test_error_rate_right(assert_accepts):
    assert_accepts("approaches.error_rate", aer)


def test_error_rate_without_the_possible_links(assert_rejects):
    assert_rejects(
        "approaches.error_rate",
        lambda a, s, p: 1 - 2 * len(a & s) / (len(a) + len(s)),
        "possible ones for precision",
    )


def test_error_rate_of_one_minus_precision(assert_rejects):
    assert_rejects(
        "approaches.error_rate",
        lambda a, s, p: 1 - len(a & p) / max(len(a), 1),
        "sure links count for recall",
    )


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


def test_best_path_right(assert_accepts):
    assert_accepts("approaches.best_path", viterbi)


def test_best_path_greedy(assert_rejects):
    def greedy(options, log_p):
        path = ["<s>"]
        for row in options:
            path.append(max(row, key=lambda pair: pair[1] + log_p(path[-1], pair[0]))[0])
        return path[1:]

    assert_rejects("approaches.best_path", greedy, "keep the best way to reach it")


def test_best_path_that_forgets_the_end(assert_rejects):
    assert_rejects(
        "approaches.best_path",
        lambda options, log_p: viterbi(options, lambda u, w: 0.0 if w == "</s>" else log_p(u, w)),
        "</s> follows the last one",
    )


def test_best_path_without_the_language_model(assert_rejects):
    assert_rejects(
        "approaches.best_path",
        lambda options, log_p: [max(row, key=lambda pair: pair[1])[0] for row in options],
        "the first word follows <s>",
    )
