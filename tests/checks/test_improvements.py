"""The checks of the chapter on the improvements accept what is right and say what is wrong."""

import math

import torch


def ends(before, after, draws, low=0.025):
    differences = (after[draws] - before[draws]).mean(dim=1)
    return differences.quantile(torch.tensor([low, 1 - low], dtype=differences.dtype)).tolist()


def decide(before, after, draws, low=0.025):
    lower, upper = ends(before, after, draws, low)
    return "better" if lower > 0 else "worse" if upper < 0 else "undecided"


def test_decide_right(assert_accepts):
    assert_accepts("improvements.decide", decide)


def test_decide_by_the_score_alone(assert_rejects):
    def higher_wins(before, after, draws):
        return "better" if after.mean() > before.mean() else "worse"

    assert_rejects("improvements.decide", higher_wins, "much noise")


def test_decide_unpaired(assert_rejects):
    def unpaired(before, after, draws):
        mixed = draws[torch.arange(len(draws) - 1, -1, -1)]
        differences = after[draws].mean(dim=1) - before[mixed].mean(dim=1)
        lower, upper = differences.quantile(torch.tensor([0.025, 0.975], dtype=differences.dtype)).tolist()
        return "better" if lower > 0 else "worse" if upper < 0 else "undecided"

    assert_rejects("improvements.decide", unpaired, "the same draws")


def test_decide_with_a_narrow_interval(assert_rejects):
    assert_rejects("improvements.decide", lambda b, a, d: decide(b, a, d, 0.1), "1.75 standard errors")


def test_decide_writes_into_its_input(assert_rejects):
    def writes(before, after, draws):
        found = decide(before, after, draws)
        before.sub_(after)
        return found

    assert_rejects("improvements.decide", writes, "changed in place")


def r_drop(first, second, targets, alpha, share=0.5):
    log_p, log_q = first.log_softmax(-1), second.log_softmax(-1)
    rows = torch.arange(len(targets))
    ce = -(log_p[rows, targets] + log_q[rows, targets]) / 2
    kl = ((log_p.exp() - log_q.exp()) * (log_p - log_q)).sum(-1) * share
    return (ce + alpha / 2 * kl).mean()


def test_r_drop_right(assert_accepts):
    assert_accepts("improvements.r_drop", r_drop)


def test_r_drop_adds_both_divergences(assert_rejects):
    assert_rejects(
        "improvements.r_drop",
        lambda f, s, t, a: r_drop(f, s, t, a, share=1.0),
        "the mean of both divergences",
    )


def test_r_drop_one_divergence(assert_rejects):
    def one_way(first, second, targets, alpha):
        log_p, log_q = first.log_softmax(-1), second.log_softmax(-1)
        kl = (log_p.exp() * (log_p - log_q)).sum(-1).mean()
        return r_drop(first, second, targets, 0.0) + alpha / 2 * kl

    assert_rejects("improvements.r_drop", one_way, "alpha 1")


def test_r_drop_sums(assert_rejects):
    assert_rejects("improvements.r_drop", lambda f, s, t, a: r_drop(f, s, t, a) * len(t), "alpha 0")


def test_epochs_until_all_right(assert_accepts):
    assert_accepts("improvements.epochs_until_all", lambda n, share: math.ceil(n / round(n * share)))


def test_epochs_until_all_forgets_rounding(assert_rejects):
    assert_rejects("improvements.epochs_until_all", lambda n, share: math.ceil(1 / share), "round")


def test_epochs_until_all_rounds_down(assert_rejects):
    assert_rejects("improvements.epochs_until_all", lambda n, share: n // round(n * share), "a share of 0.7")


def test_epochs_until_all_takes_one_epoch(assert_rejects):
    assert_rejects("improvements.epochs_until_all", lambda n, share: 1, "how many windows")


def rerank(n_best, alpha, channel, lm):
    scores = [(p + channel * back + lm * fluent) / n**alpha for p, fluent, back, n in n_best]
    return sorted(range(len(scores)), key=lambda i: -scores[i])


def test_noisy_channel_right(assert_accepts):
    assert_accepts("improvements.noisy_channel", rerank)


def test_noisy_channel_worst_first(assert_rejects):
    assert_rejects("improvements.noisy_channel", lambda *given: rerank(*given)[::-1], "the order at alpha 0")


def test_noisy_channel_divides_the_first_part_only(assert_rejects):
    def divides_one(n_best, alpha, channel, lm):
        scores = [p / n**alpha + channel * back + lm * fluent for p, fluent, back, n in n_best]
        return sorted(range(len(scores)), key=lambda i: -scores[i])

    assert_rejects("improvements.noisy_channel", divides_one, "add the three log-probabilities first")


def test_noisy_channel_swaps_the_weights(assert_rejects):
    assert_rejects("improvements.noisy_channel", lambda n, a, c, lm: rerank(n, a, lm, c), "channel 1")


def test_noisy_channel_not_attempted_gives_no_order(assert_rejects):
    assert_rejects("improvements.noisy_channel", lambda n, a, c, lm: [0], "[0]")
