"""The checks of the chapter on the long tail accept what is right and say what is wrong."""

import torch


def shown(counts):
    return [sum(counts) / len(counts) / count for count in counts]


def test_times_shown_right(assert_accepts):
    assert_accepts("sign_long_tail.times_shown", shown)


def test_times_shown_of_the_word(assert_rejects):
    assert_rejects(
        "sign_long_tail.times_shown",
        lambda counts: [sum(counts) / len(counts)] * len(counts),
        "share it evenly",
    )


def test_times_shown_as_probability(assert_rejects):
    assert_rejects(
        "sign_long_tail.times_shown",
        lambda counts: [1 / (len(counts) * count) for count in counts],
        "how often a clip is shown",
    )


def test_times_shown_without_balance(assert_rejects):
    assert_rejects("sign_long_tail.times_shown", lambda counts: [1.0] * len(counts), "60, 4")


def macro(signed, said, words, *, over=None, empty=0.0):
    total, counted = 0.0, 0
    for word in words:
        hits = sum(a == b == word for a, b in zip(signed, said, strict=True))
        both = signed.count(word) + said.count(word)
        if over == "present" and word not in signed:
            continue
        total += 2 * hits / both if both else empty
        counted += 1
    return total / counted


def test_macro_f1_right(assert_accepts):
    assert_accepts("sign_long_tail.macro_f1", macro)


def test_macro_f1_over_the_words_that_occur(assert_rejects):
    assert_rejects(
        "sign_long_tail.macro_f1",
        lambda signed, said, words: macro(signed, said, words, over="present"),
        "all words of the list",
    )


def test_macro_f1_with_one_for_absent_words(assert_rejects):
    assert_rejects(
        "sign_long_tail.macro_f1",
        lambda signed, said, words: macro(signed, said, words, empty=1.0),
        "over the words ABCD",
    )


def test_macro_f1_taken_for_accuracy(assert_rejects):
    def accuracy(signed, said, words):
        return sum(a == b for a, b in zip(signed, said, strict=True)) / len(signed)

    assert_rejects("sign_long_tail.macro_f1", accuracy, "AAABBAC")


def divided(p, counts, tau):
    parts = p / (torch.tensor(counts, dtype=p.dtype) / sum(counts)) ** tau
    return parts / parts.sum(dim=1, keepdim=True)


def test_adjust_right(assert_accepts):
    assert_accepts("sign_long_tail.adjust", divided)


def test_adjust_by_counts_is_the_same(assert_accepts):
    def by_counts(p, counts, tau):
        parts = p / torch.tensor(counts, dtype=p.dtype) ** tau
        return parts / parts.sum(dim=1, keepdim=True)

    assert_accepts("sign_long_tail.adjust", by_counts)


def test_adjust_not_scaled(assert_rejects):
    assert_rejects(
        "sign_long_tail.adjust",
        lambda p, counts, tau: p / (torch.tensor(counts, dtype=p.dtype) / sum(counts)) ** tau,
        "sum of 1",
    )


def test_adjust_that_multiplies(assert_rejects):
    assert_rejects("sign_long_tail.adjust", lambda p, counts, tau: divided(p, counts, -tau), "at tau 1.0")


def test_adjust_without_strength(assert_rejects):
    assert_rejects("sign_long_tail.adjust", lambda p, counts, tau: divided(p, counts, 1.0), "at tau 0.0")


def test_adjust_in_place(assert_rejects):
    def in_place(p, counts, tau):
        p /= (torch.tensor(counts, dtype=p.dtype) / sum(counts)) ** tau
        p /= p.sum(dim=1, keepdim=True)
        return p

    assert_rejects("sign_long_tail.adjust", in_place, "p was changed in place")


def left(counts, exponent):
    parts = [count**exponent for count in counts]
    return [part / sum(parts) for part in parts]


def test_prior_left_right(assert_accepts):
    assert_accepts("sign_long_tail.prior_left", lambda n, s, w, tau: left(n, 1 - s - w - tau))


def test_prior_left_corrected_once_at_most(assert_rejects):
    assert_rejects(
        "sign_long_tail.prior_left",
        lambda n, s, w, tau: left(n, max(0, 1 - s - w - tau)),
        "sampler 1, weights 1",
    )


def test_prior_left_with_adjustment_added(assert_rejects):
    assert_rejects("sign_long_tail.prior_left", lambda n, s, w, tau: left(n, 1 - s - w + tau), "tau 1")


def test_prior_left_not_scaled(assert_rejects):
    assert_rejects(
        "sign_long_tail.prior_left",
        lambda n, s, w, tau: [count ** (1 - s - w - tau) for count in n],
        "sum of 1",
    )
