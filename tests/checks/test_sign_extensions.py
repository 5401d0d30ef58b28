"""The checks of the chapter on extensions accept what is right and say what is wrong."""

import math

import torch


def losses(p, truths, *, members=None, mean=None):
    right = p[:, torch.arange(len(truths)), truths]
    of_mean, of_members = -right.mean(0).log().mean(), -right.log().mean()
    return (of_mean if mean is None else mean(p, right)), (of_members if members is None else members(right))


def test_two_losses_right(assert_accepts):
    assert_accepts("sign_extensions.two_losses", losses)


def test_two_losses_as_numbers(assert_accepts):
    assert_accepts("sign_extensions.two_losses", lambda p, t: tuple(one.item() for one in losses(p, t)))


def test_two_losses_the_other_way_round(assert_rejects):
    assert_rejects("sign_extensions.two_losses", lambda p, t: losses(p, t)[::-1], "average the probabilities")


def test_two_losses_of_the_mean_of_logarithms(assert_rejects):
    def geometric(p, truths):
        log_p = p.log().mean(0).log_softmax(1)
        return -log_p[torch.arange(len(truths)), truths].mean(), losses(p, truths)[1]

    assert_rejects("sign_extensions.two_losses", geometric, "the log loss of the mean")


def test_two_losses_summed(assert_rejects):
    def summed(p, truths):
        first, second = losses(p, truths)
        return first, second * len(p)

    assert_rejects("sign_extensions.two_losses", summed, "the mean log loss")


def until(q, smoothing, threshold):
    if q < threshold or (q == threshold and smoothing):
        return 0
    p, windows = 0.0, 0
    while p < threshold:
        p = smoothing * p + (1 - smoothing) * q
        windows += 1
    return windows


def test_windows_until_sure_right(assert_accepts):
    assert_accepts("sign_extensions.windows_until_sure", until)


def test_windows_until_sure_by_the_formula(assert_accepts):
    def formula(q, smoothing, threshold):
        if q < threshold or (q == threshold and smoothing > 0):
            return 0
        return 1 if smoothing == 0 else max(1, math.ceil(math.log(1 - threshold / q) / math.log(smoothing)))

    assert_accepts("sign_extensions.windows_until_sure", formula)


def test_windows_until_sure_that_begins_with_the_first(assert_rejects):
    assert_rejects(
        "sign_extensions.windows_until_sure", lambda q, s, t: max(0, until(q, s, t) - 1), "q (1 - s^k)"
    )


def test_windows_until_sure_with_shares_exchanged(assert_rejects):
    assert_rejects("sign_extensions.windows_until_sure", lambda q, s, t: until(q, 1 - s, t), "smoothing 0.8")


def test_windows_until_sure_that_always_comes(assert_rejects):
    assert_rejects("sign_extensions.windows_until_sure", lambda q, s, t: until(q, s, t) or 1, "q 0.5")


def test_windows_until_sure_that_gives_up(assert_rejects):
    def impatient(q, smoothing, threshold):
        windows = until(q, smoothing, threshold)
        return windows if windows <= 7 else 0

    assert_rejects("sign_extensions.windows_until_sure", impatient, "smoothing 0.95")


def rates(losses, lr, patience, factor, *, least=1, forgets=False):
    best, bad, found = float("inf"), 0, []
    for loss in losses:
        best, bad = (loss, 0) if loss < best else (best, bad + 1)
        if bad >= patience + least and bad:
            lr, bad = lr * factor, 0
            best = float("inf") if forgets else best
        found.append(lr)
    return found


def test_plateau_rates_right(assert_accepts):
    assert_accepts("sign_extensions.plateau_rates", rates)


def test_plateau_rates_cut_one_early(assert_rejects):
    assert_rejects("sign_extensions.plateau_rates", lambda *a: rates(*a, least=0), "MORE than patience")


def test_plateau_rates_that_forget_the_best(assert_rejects):
    assert_rejects("sign_extensions.plateau_rates", lambda *a: rates(*a, forgets=True), "the best stays")


def test_plateau_rates_against_the_last_loss(assert_rejects):
    def last(losses, lr, patience, factor):
        before, bad, found = float("inf"), 0, []
        for loss in losses:
            bad = 0 if loss < before else bad + 1
            before = loss
            if bad > patience:
                lr, bad = lr * factor, 0
            found.append(lr)
        return found

    assert_rejects("sign_extensions.plateau_rates", last, "with patience 3")


def test_plateau_rates_that_count_on_after_a_new_best(assert_rejects):
    def counts_on(losses, lr, patience, factor):
        best, bad, found = float("inf"), 0, []
        for loss in losses:
            best, bad = (loss, bad) if loss < best else (best, bad + 1)
            if bad > patience:
                lr, bad = lr * factor, 0
            found.append(lr)
        return found

    assert_rejects("sign_extensions.plateau_rates", counts_on, "begins the counting again")


def found(said, threshold, pause, *, lies=1, strictly=False):
    events = []
    for window, (word, p) in enumerate(said):
        if p < threshold or (strictly and p == threshold):
            continue
        if events and events[-1][0] == word and window - events[-1][2] - lies <= pause:
            events[-1] = (word, events[-1][1], window)
        else:
            events.append((word, window, window))
    return events


def test_events_right(assert_accepts):
    assert_accepts("sign_extensions.events", found)


def test_events_with_lists(assert_accepts):
    assert_accepts("sign_extensions.events", lambda *a: [list(event) for event in found(*a)])


def test_events_that_count_the_pause_by_one_too_many(assert_rejects):
    assert_rejects("sign_extensions.events", lambda *a: found(*a, lies=0), "between windows 4 and")


def test_events_strictly_above(assert_rejects):
    assert_rejects("sign_extensions.events", lambda *a: found(*a, strictly=True), "('Mẹ', 0.5)")


def test_events_without_pause(assert_rejects):
    assert_rejects(
        "sign_extensions.events", lambda said, threshold, pause: found(said, threshold, 0), "pause 2"
    )


def test_events_over_other_words(assert_rejects):
    def joined(said, threshold, pause):
        kept = {}
        for word, first, last in found(said, threshold, pause):
            kept[word] = (word, kept.get(word, (word, first, last))[1], last)
        return list(kept.values())

    assert_rejects("sign_extensions.events", joined, "pause 1")


def test_events_that_count_the_pause_from_the_first_window(assert_rejects):
    def from_the_first(said, threshold, pause):
        events = []
        for window, (word, p) in enumerate(said):
            if p < threshold:
                continue
            if events and events[-1][0] == word and window - events[-1][1] - 1 <= pause:
                events[-1] = (word, events[-1][1], window)
            else:
                events.append((word, window, window))
        return events

    assert_rejects("sign_extensions.events", from_the_first, "LAST window")


def test_events_that_end_with_an_unsure_word(assert_rejects):
    def ended(said, threshold, pause):
        events, going = [], None
        for window, (word, p) in enumerate(said):
            if p < threshold:
                going = going if word == going else None
            elif word == going and window - events[-1][2] - 1 <= pause:
                events[-1] = (word, events[-1][1], window)
            else:
                events.append((word, window, window))
                going = word
        return events

    assert_rejects("sign_extensions.events", ended, "pause 1")
