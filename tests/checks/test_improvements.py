"""The checks of the chapter on the improvements accept what is right and say what is wrong."""

import math

import torch
from torch.nn import functional as F

from coursepkg.projects.translation.errors.labelled import labelled_errors
from tests.checks.solutions import solution_tests


def ends(before, after, draws, low=0.025):
    differences = (after[draws] - before[draws]).mean(dim=1)
    return differences.quantile(torch.tensor([low, 1 - low], dtype=differences.dtype)).tolist()


def decide(before, after, draws, low=0.025):
    lower, upper = ends(before, after, draws, low)
    return "better" if lower > 0 else "worse" if upper < 0 else "undecided"


def higher_wins(before, after, draws):
    return "better" if after.mean() > before.mean() else "worse"


def unpaired(before, after, draws):
    mixed = draws[torch.arange(len(draws) - 1, -1, -1)]
    differences = after[draws].mean(dim=1) - before[mixed].mean(dim=1)
    lower, upper = differences.quantile(torch.tensor([0.025, 0.975], dtype=differences.dtype)).tolist()
    return "better" if lower > 0 else "worse" if upper < 0 else "undecided"


def writes(before, after, draws):
    found = decide(before, after, draws)
    before.sub_(after)
    return found


def r_drop(first, second, targets, alpha, share=0.5):
    log_p, log_q = first.log_softmax(-1), second.log_softmax(-1)
    rows = torch.arange(len(targets))
    ce = -(log_p[rows, targets] + log_q[rows, targets]) / 2
    kl = ((log_p.exp() - log_q.exp()) * (log_p - log_q)).sum(-1) * share
    return (ce + alpha / 2 * kl).mean()


def one_way(first, second, targets, alpha):
    log_p, log_q = first.log_softmax(-1), second.log_softmax(-1)
    kl = (log_p.exp() * (log_p - log_q)).sum(-1).mean()
    return r_drop(first, second, targets, 0.0) + alpha / 2 * kl


def rerank(n_best, alpha, channel, lm):
    scores = [(p + channel * back + lm * fluent) / n**alpha for p, fluent, back, n in n_best]
    return sorted(range(len(scores)), key=lambda i: -scores[i])


def divides_one(n_best, alpha, channel, lm):
    scores = [p / n**alpha + channel * back + lm * fluent for p, fluent, back, n in n_best]
    return sorted(range(len(scores)), key=lambda i: -scores[i])


def of_the_task(first, second, targets, alpha):
    log_p, log_q = first.log_softmax(dim=-1), second.log_softmax(dim=-1)
    cross_entropy = F.nll_loss((log_p + log_q) / 2, targets)
    divergence = F.kl_div(log_q, log_p, log_target=True, reduction="batchmean")
    return cross_entropy + alpha / 2 * divergence


LABELS = [one.label for one in labelled_errors()]


RIGHT = {
    "decide": decide,
    "r_drop": r_drop,
    "epochs_until_all": lambda n, share: math.ceil(n / round(n * share)),
    "noisy_channel": rerank,
    "classify_errors": LABELS,
    "classify_errors with ten that differ": ["grammar"] * 10 + LABELS[10:],
}

WRONG = {
    "decide by the score alone": (higher_wins, "much noise"),
    "decide unpaired": (unpaired, "the same draws"),
    "decide with a narrow interval": (lambda b, a, d: decide(b, a, d, 0.1), "1.75 standard errors"),
    "decide writes into its input": (writes, "changed in place"),
    "r_drop adds both divergences": (
        lambda f, s, t, a: r_drop(f, s, t, a, share=1.0),
        "the mean of both divergences",
    ),
    "r_drop one divergence": (one_way, "KL(p || q) and KL(q || p) differ"),
    "r_drop sums": (lambda f, s, t, a: r_drop(f, s, t, a) * len(t), "alpha 0"),
    "epochs_until_all forgets rounding": (lambda n, share: math.ceil(1 / share), "round"),
    "epochs_until_all rounds down": (lambda n, share: n // round(n * share), "a share of 0.7"),
    "epochs_until_all takes one epoch": (lambda n, share: 1, "how many windows"),
    "noisy_channel worst first": (lambda *given: rerank(*given)[::-1], "the order at alpha 0"),
    "noisy_channel divides the first part only": (divides_one, "add the three log-probabilities first"),
    "noisy_channel swaps the weights": (lambda n, a, c, lm: rerank(n, a, lm, c), "channel 1"),
    "noisy_channel not attempted gives no order": (lambda n, a, c, lm: [0], "[0]"),
    "r_drop of the task": (of_the_task, "when the passes are exchanged"),
    "classify_errors all alike": (["omission"] * 50, "8 of 50 agree, Cohen's kappa 0.00"),
    "classify_errors by chance": (LABELS[1:] + LABELS[:1], "0.6 is needed; item 2 is"),
    "classify_errors one too few": (LABELS[1:], "49 labels; 50 are expected"),
    "classify_errors of another list": (["mistranslation", *LABELS[1:]], "label 1 is 'mistranslation'"),
}

test_right, test_wrong = solution_tests("improvements", RIGHT, WRONG)
