"""The checks of the chapter on metrics accept what is right and say what is wrong."""

import math
import unicodedata
from collections import Counter

from coursepkg.metrics import edit_distance
from tests.checks.solutions import solution_tests


def ngrams(tokens, n):
    return Counter(zip(*(tokens[i:] for i in range(n)), strict=False))


def clipped_precision_right(hypothesis, references, n):
    counts = ngrams(hypothesis, n)
    best = Counter()
    for reference in references:
        best |= ngrams(reference, n)
    return (counts & best).total(), counts.total()


def unclipped(hypothesis, references, n):
    known = set().union(*(ngrams(reference, n) for reference in references))
    counts = ngrams(hypothesis, n)
    return sum(count for gram, count in counts.items() if gram in known), counts.total()


def added(hypothesis, references, n):
    total = Counter()
    for reference in references:
        total += ngrams(reference, n)
    counts = ngrams(hypothesis, n)
    return (counts & total).total(), counts.total()


def f_scores(matrix):
    size = range(len(matrix))
    totals = [sum(matrix[i]) + sum(row[i] for row in matrix) for i in size]
    return [2 * matrix[i][i] / totals[i] if totals[i] else 0.0 for i in size], totals


def macro_f1_right(matrix):
    scores, _ = f_scores(matrix)
    return sum(scores) / len(scores)


def present(matrix):
    scores, totals = f_scores(matrix)
    return sum(scores) / sum(total > 0 for total in totals)


def accuracy(matrix):
    return sum(matrix[i][i] for i in range(len(matrix))) / sum(map(sum, matrix))


def nfc(text):
    return unicodedata.normalize("NFC", text)


def corpus_cer_right(hypotheses, references):
    pairs = [(nfc(h), nfc(r)) for h, r in zip(hypotheses, references, strict=True)]
    return sum(edit_distance(h, r) for h, r in pairs) / sum(len(r) for _, r in pairs)


def mean(hypotheses, references):
    rates = [
        edit_distance(nfc(h), nfc(r)) / max(len(nfc(r)), 1)
        for h, r in zip(hypotheses, references, strict=True)
    ]
    return sum(rates) / len(rates)


def raw(hypotheses, references):
    edits = sum(edit_distance(h, r) for h, r in zip(hypotheses, references, strict=True))
    return edits / sum(map(len, references))


def length_before(hypotheses, references):
    edits = sum(edit_distance(nfc(h), nfc(r)) for h, r in zip(hypotheses, references, strict=True))
    return edits / sum(map(len, references))


def precision(stats, draw):
    return sum(stats[i][0] for i in draw) / sum(stats[i][1] for i in draw)


def share_higher_right(first, second, draws):
    return sum(precision(second, draw) > precision(first, draw) for draw in draws) / len(draws)


def ties(first, second, draws):
    return sum(precision(second, draw) >= precision(first, draw) for draw in draws) / len(draws)


def means(first, second, draws):
    def mean(stats, draw):
        return sum(stats[i][0] / stats[i][1] for i in draw) / len(draw)

    return sum(mean(second, draw) > mean(first, draw) for draw in draws) / len(draws)


def bleu(rows, *, mean_penalty=False, arithmetic=False, penalised=True):
    def penalty(some):
        return min(1.0, math.exp(1 - sum(row[1] for row in some) / sum(row[0] for row in some)))

    p = [sum(row[2][n] for row in rows) / sum(row[3][n] for row in rows) for n in range(4)]
    mean = sum(p) / 4 if arithmetic else math.prod(p) ** 0.25
    brevity = sum(penalty([row]) for row in rows) / len(rows) if mean_penalty else penalty(rows)
    return 100 * (brevity if penalised else 1.0) * mean


RIGHT = {
    "clipped_precision": clipped_precision_right,
    "macro_f1": macro_f1_right,
    "corpus_cer": corpus_cer_right,
    "share_higher": share_higher_right,
    "sentences_needed": "6,400 sentences",
    "corpus_bleu": bleu,
    "clipped_precision as a list": lambda *a: list(clipped_precision_right(*a)),
}

WRONG = {
    "clipped_precision without clipping": (unclipped, "at most as often"),
    "clipped_precision adds references up": (added, "at most as often"),
    "macro_f1 over present classes": (present, "same weight"),
    "macro_f1 is not accuracy": (accuracy, "same weight"),
    "corpus_cer as a mean of lines": (mean, "divide once"),
    "corpus_cer without normalisation": (raw, "NFC"),
    "share_higher counts ties": (ties, "then compare"),
    "share_higher by means of sentences": (means, "sums of matches"),
    "sentences_needed by the width": ("3200 sentences", "the root of 2"),
    "sentences_needed in the wrong direction": ("400 sentences", "wider"),
    "sentences_needed for twice the width": ("800 sentences", "wider"),
    "sentences_needed without a unit": ("6400", "without a unit"),
    "sentences_needed in points": ("6400 points", "sentences is expected"),
    "corpus_bleu as it was": (
        lambda rows: bleu(rows, mean_penalty=True, arithmetic=True),
        "from sums of lengths; and the mean of the precisions is geometric",
    ),
    "corpus_bleu with a mean penalty": (
        lambda rows: bleu(rows, mean_penalty=True),
        "the brevity penalty is one of the corpus",
    ),
    "corpus_bleu with an arithmetic mean": (lambda rows: bleu(rows, arithmetic=True), "is geometric"),
    "corpus_bleu without a penalty": (
        lambda rows: bleu(rows, penalised=False),
        "there is no brevity penalty",
    ),
    "corpus_cer by the length before the normalisation": (length_before, "both sides to NFC"),
}

test_right, test_wrong = solution_tests("metrics", RIGHT, WRONG)
