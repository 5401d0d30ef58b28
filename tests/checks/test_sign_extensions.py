"""The checks of the chapter on extensions accept what is right and say what is wrong."""

import math

import torch

from coursepkg.checks.error_lists import read_labels
from tests.checks.solutions import solution_tests


def losses(p, truths, *, members=None, mean=None):
    right = p[:, torch.arange(len(truths)), truths]
    of_mean, of_members = -right.mean(0).log().mean(), -right.log().mean()
    return (of_mean if mean is None else mean(p, right)), (of_members if members is None else members(right))


def geometric(p, truths):
    log_p = p.log().mean(0).log_softmax(1)
    return -log_p[torch.arange(len(truths)), truths].mean(), losses(p, truths)[1]


def summed(p, truths):
    first, second = losses(p, truths)
    return first, second * len(p)


def until(q, smoothing, threshold):
    if q < threshold or (q == threshold and smoothing):
        return 0
    p, windows = 0.0, 0
    while p < threshold:
        p = smoothing * p + (1 - smoothing) * q
        windows += 1
    return windows


def formula(q, smoothing, threshold):
    if q < threshold or (q == threshold and smoothing > 0):
        return 0
    return 1 if smoothing == 0 else max(1, math.ceil(math.log(1 - threshold / q) / math.log(smoothing)))


def impatient(q, smoothing, threshold):
    windows = until(q, smoothing, threshold)
    return windows if windows <= 7 else 0


def rates(losses, lr, patience, factor, *, least=1, forgets=False):
    best, bad, found = float("inf"), 0, []
    for loss in losses:
        best, bad = (loss, 0) if loss < best else (best, bad + 1)
        if bad >= patience + least and bad:
            lr, bad = lr * factor, 0
            best = float("inf") if forgets else best
        found.append(lr)
    return found


def last(losses, lr, patience, factor):
    before, bad, found = float("inf"), 0, []
    for loss in losses:
        bad = 0 if loss < before else bad + 1
        before = loss
        if bad > patience:
            lr, bad = lr * factor, 0
        found.append(lr)
    return found


def counts_on(losses, lr, patience, factor):
    best, bad, found = float("inf"), 0, []
    for loss in losses:
        best, bad = (loss, bad) if loss < best else (best, bad + 1)
        if bad > patience:
            lr, bad = lr * factor, 0
        found.append(lr)
    return found


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


def joined(said, threshold, pause):
    kept = {}
    for word, first, last in found(said, threshold, pause):
        kept[word] = (word, kept.get(word, (word, first, last))[1], last)
    return list(kept.values())


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


CAUSES, _ = read_labels("wrong_signs")

RIGHT = {
    "two_losses": losses,
    "two_losses as numbers": lambda p, t: tuple(one.item() for one in losses(p, t)),
    "windows_until_sure": until,
    "windows_until_sure by the formula": formula,
    "plateau_rates": rates,
    "events": found,
    "events with lists": lambda *a: [list(event) for event in found(*a)],
    "wrong_answers": lambda: CAUSES,
    "wrong_answers mostly": lambda: ["other" if one.startswith("same") else one for one in CAUSES],
}

WRONG = {
    "two_losses the other way round": (lambda p, t: losses(p, t)[::-1], "average the probabilities"),
    "two_losses of the mean of logarithms": (geometric, "the log loss of the mean"),
    "two_losses summed": (summed, "the mean log loss"),
    "windows_until_sure that begins with the first": (
        lambda q, s, t: max(0, until(q, s, t) - 1),
        "q (1 - s^k)",
    ),
    "windows_until_sure with shares exchanged": (lambda q, s, t: until(q, 1 - s, t), "smoothing 0.8"),
    "windows_until_sure that always comes": (lambda q, s, t: until(q, s, t) or 1, "q 0.5"),
    "windows_until_sure that gives up": (impatient, "smoothing 0.95"),
    "plateau_rates cut one early": (lambda *a: rates(*a, least=0), "MORE than patience"),
    "plateau_rates that always halve": (
        lambda losses, lr, patience, factor: rates(losses, lr, patience, 0.5),
        "factor 0.1",
    ),
    "plateau_rates that forget the best": (lambda *a: rates(*a, forgets=True), "the best stays"),
    "plateau_rates against the last loss": (last, "with patience 3"),
    "plateau_rates that count on after a new best": (counts_on, "begins the counting again"),
    "events that count the pause by one too many": (lambda *a: found(*a, lies=0), "between windows 4 and"),
    "events strictly above": (lambda *a: found(*a, strictly=True), "('Mẹ', 0.5)"),
    "events without pause": (lambda said, threshold, pause: found(said, threshold, 0), "pause 2"),
    "events over other words": (joined, "pause 1"),
    "events that count the pause from the first window": (from_the_first, "LAST window"),
    "events that end with an unsure word": (ended, "pause 1"),
    "wrong_answers all alike": (lambda: ["hidden hand"] * 50, "Cohen's kappa 0.00; 0.6 is needed; item 2"),
    "wrong_answers in reverse": (lambda: CAUSES[::-1], "0.6 is needed"),
    "wrong_answers too many": (lambda: [*CAUSES, "other"], "51 labels; 50 are expected"),
    "wrong_answers of another name": (lambda: ["wall", *CAUSES[1:]], "label 1 is 'wall'; need one of"),
    "wrong_answers films forgotten": (
        lambda: ["other" if one in ("hidden hand", "too few frames") else one for one in CAUSES],
        "half of the film is covered",
    ),
}

test_right, test_wrong = solution_tests("sign_extensions", RIGHT, WRONG)
