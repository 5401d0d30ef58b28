"""The checks of the chapter on metrics accept what is right and say what is wrong."""

import unicodedata
from collections import Counter

from coursepkg.metrics import edit_distance


def ngrams(tokens, n):
    return Counter(zip(*(tokens[i:] for i in range(n)), strict=False))


def test_clipped_precision_right(assert_accepts):
    def right(hypothesis, references, n):
        counts = ngrams(hypothesis, n)
        best = Counter()
        for reference in references:
            best |= ngrams(reference, n)
        return (counts & best).total(), counts.total()

    assert_accepts("metrics.clipped_precision", right)


def test_clipped_precision_without_clipping(assert_rejects):
    def unclipped(hypothesis, references, n):
        known = set().union(*(ngrams(reference, n) for reference in references))
        counts = ngrams(hypothesis, n)
        return sum(count for gram, count in counts.items() if gram in known), counts.total()

    assert_rejects("metrics.clipped_precision", unclipped, "at most as often")


def test_clipped_precision_adds_references_up(assert_rejects):
    def added(hypothesis, references, n):
        total = Counter()
        for reference in references:
            total += ngrams(reference, n)
        counts = ngrams(hypothesis, n)
        return (counts & total).total(), counts.total()

    assert_rejects("metrics.clipped_precision", added, "at most as often")


def f_scores(matrix):
    size = range(len(matrix))
    totals = [sum(matrix[i]) + sum(row[i] for row in matrix) for i in size]
    return [2 * matrix[i][i] / totals[i] if totals[i] else 0.0 for i in size], totals


def test_macro_f1_right(assert_accepts):
    def right(matrix):
        scores, _ = f_scores(matrix)
        return sum(scores) / len(scores)

    assert_accepts("metrics.macro_f1", right)


def test_macro_f1_over_present_classes(assert_rejects):
    def present(matrix):
        scores, totals = f_scores(matrix)
        return sum(scores) / sum(total > 0 for total in totals)

    assert_rejects("metrics.macro_f1", present, "same weight")


def test_macro_f1_is_not_accuracy(assert_rejects):
    def accuracy(matrix):
        return sum(matrix[i][i] for i in range(len(matrix))) / sum(map(sum, matrix))

    assert_rejects("metrics.macro_f1", accuracy, "same weight")


def nfc(text):
    return unicodedata.normalize("NFC", text)


def test_corpus_cer_right(assert_accepts):
    def right(hypotheses, references):
        pairs = [(nfc(h), nfc(r)) for h, r in zip(hypotheses, references, strict=True)]
        return sum(edit_distance(h, r) for h, r in pairs) / sum(len(r) for _, r in pairs)

    assert_accepts("metrics.corpus_cer", right)


def test_corpus_cer_as_a_mean_of_lines(assert_rejects):
    def mean(hypotheses, references):
        rates = [
            edit_distance(nfc(h), nfc(r)) / max(len(nfc(r)), 1)
            for h, r in zip(hypotheses, references, strict=True)
        ]
        return sum(rates) / len(rates)

    assert_rejects("metrics.corpus_cer", mean, "divide once")


def test_corpus_cer_without_normalisation(assert_rejects):
    def raw(hypotheses, references):
        edits = sum(edit_distance(h, r) for h, r in zip(hypotheses, references, strict=True))
        return edits / sum(map(len, references))

    assert_rejects("metrics.corpus_cer", raw, "NFC")


def precision(stats, draw):
    return sum(stats[i][0] for i in draw) / sum(stats[i][1] for i in draw)


def test_share_higher_right(assert_accepts):
    def right(first, second, draws):
        return sum(precision(second, draw) > precision(first, draw) for draw in draws) / len(draws)

    assert_accepts("metrics.share_higher", right)


def test_share_higher_counts_ties(assert_rejects):
    def ties(first, second, draws):
        return sum(precision(second, draw) >= precision(first, draw) for draw in draws) / len(draws)

    assert_rejects("metrics.share_higher", ties, "then compare")


def test_share_higher_by_means_of_sentences(assert_rejects):
    def means(first, second, draws):
        def mean(stats, draw):
            return sum(stats[i][0] / stats[i][1] for i in draw) / len(draw)

        return sum(mean(second, draw) > mean(first, draw) for draw in draws) / len(draws)

    assert_rejects("metrics.share_higher", means, "sums of matches")
