"""The checks of the chapter on decoding accept what is right and say what is wrong."""

import torch

from coursepkg.checks.error_lists import read_labels
from tests.checks.solutions import solution_tests


def nucleus(probs, p, strict=True):
    order = probs.argsort(descending=True, stable=True)
    held = probs[order].cumsum(0) - probs[order]
    kept = torch.zeros_like(probs, dtype=torch.bool)
    kept[order[held < p if strict else held + probs[order] <= p]] = True
    return kept


def sorted_mask(probs, p):
    held = probs.sort(descending=True).values
    return held.cumsum(0) - held < p


def with_all_ties(probs, p):
    return probs >= probs[nucleus(probs, p)].min()


def larger_id_first(probs, p):
    return nucleus(probs.flip(0), p).flip(0)


def in_place(probs, p):
    kept = nucleus(probs, p)
    probs[~kept] = 0.0
    return kept


def beam_step(totals, log_probs, size, eos, *, first=None, rows_apart=False, forget=False):
    grown = [
        ((0.0 if forget else totals[row]) + log_probs[row, token].item(), row, token)
        for row in range(len(totals))
        for token in range(log_probs.shape[1])
    ]
    best = sorted(grown, reverse=True)[: 2 * size]
    ended = [(row, total) for total, row, token in best[: first or size] if token == eos]
    alive = [(row, token, total) for total, row, token in best if token != eos]
    if rows_apart:
        alive = [one for i, one in enumerate(alive) if one[0] not in [other[0] for other in alive[:i]]]
    return ended, alive[:size]


def beam_step_ends_anywhere(*arguments):
    return beam_step(*arguments, first=4)


def beam_step_one_child_a_row(*arguments):
    return beam_step(*arguments, rows_apart=True)


def beam_step_forgets_the_past(*arguments):
    return beam_step(*arguments, forget=True)


def can_stop(alive, finished, now, limit, alpha, lengths=None):
    lp = [((5 + n) / 6) ** alpha for n in (lengths or (now + 1, limit))]
    return min(finished) >= alive / max(lp)


def can_stop_by_the_present_length(alive, finished, now, limit, alpha):
    return can_stop(alive, finished, now, limit, alpha, (now,))


def can_stop_by_the_limit_alone(alive, finished, now, limit, alpha):
    return can_stop(alive, finished, now, limit, alpha, (limit,))


def can_stop_by_the_best_finished(alive, finished, now, limit, alpha):
    return can_stop(alive, [max(finished)], now, limit, alpha)


def best_of(hypotheses, alpha, *, sign=-1, end=1, score=None):
    def penalised(pair):
        return pair[1] * ((5 + len(pair[0]) + end) / 6) ** (sign * alpha)

    return max(hypotheses, key=score or penalised)[0]


def best_of_by_the_plain_length(hypotheses, alpha):
    return best_of(hypotheses, alpha, score=lambda pair: pair[1] / (len(pair[0]) + 1) ** alpha)


def n_kept(probs, temperature, p):
    shaped = probs ** (1 / temperature)
    ordered = (shaped / shaped.sum()).sort(descending=True).values
    return int((ordered.cumsum(0) - ordered < p).sum())


def n_kept_without_the_crossing(probs, temperature, p):
    shaped = (probs ** (1 / temperature)).sort(descending=True).values
    return int(((shaped / shaped.sum()).cumsum(0) <= p).sum())


LABELS, _ = read_labels("greedy_translations")

RIGHT = {
    "penalised": lambda s, n, alpha: s / ((5 + n) / 6) ** alpha,
    "nucleus": nucleus,
    "beam_step": beam_step,
    "can_stop": can_stop,
    "best_of": best_of,
    "kept_tokens": ({0.5: 1, 1.0: 2, 2.0: 5}, n_kept),
    "kept_tokens predicted nearly": ({0.5: 2, 1.0: 3, 2.0: 4}, n_kept),
    "greedy_errors": lambda: LABELS,
    "greedy_errors with ten that differ": lambda: ["one word"] * 10 + LABELS[10:],
    "beam_step as a list": lambda *a: list(beam_step(*a)),
    "kept_tokens predicted as floats": ({0.5: 1.0, 1.0: 2.0, 2.0: 5.0}, n_kept),
}

WRONG = {
    "penalised by the plain length": (lambda s, n, alpha: s / n**alpha, "((5 + length) / 6)"),
    "penalised times the penalty": (lambda s, n, alpha: s * ((5 + n) / 6) ** alpha, "divide by"),
    "nucleus without the token that crosses": (
        lambda probs, p: nucleus(probs, p, strict=False),
        "the one that crosses",
    ),
    "nucleus by a threshold": (lambda probs, p: probs >= 1 - p, "the fewest"),
    "nucleus in the sorted order": (sorted_mask, "kept tokens"),
    "nucleus with all tokens as likely as the last": (
        with_all_ties,
        "probs = [0.1, 0.3, 0.3, 0.3], p = 0.5 is [1, 2, 3], [1, 2] is expected; the fewest",
    ),
    "nucleus with the larger id first": (larger_id_first, "the one with the smaller id is kept first"),
    "nucleus that writes to its input": (in_place, "changed in place"),
    "beam_step ends anywhere": (beam_step_ends_anywhere, "only among the best K"),
    "beam_step one child a row": (beam_step_one_child_a_row, "two may share a row"),
    "beam_step forgets the past": (beam_step_forgets_the_past, "for totals"),
    "can_stop by the present length": (can_stop_by_the_present_length, "lp(limit)"),
    "can_stop by the limit alone": (can_stop_by_the_limit_alone, "lp(now + 1)"),
    "can_stop by the best finished": (can_stop_by_the_best_finished, "the worst of the n best"),
    "best_of as it was": (lambda h, alpha: best_of(h, alpha, sign=1, end=0), "is divided by the penalty"),
    "best_of with the wrong sign": (lambda h, alpha: best_of(h, alpha, sign=1), "is divided by the penalty"),
    "best_of without the end token": (lambda h, alpha: best_of(h, alpha, end=0), "counts the end token"),
    "best_of by the plain length": (best_of_by_the_plain_length, "not |y|^alpha"),
    "best_of returns a score": (lambda h, alpha: 0.5, "the tokens are expected"),
    "kept_tokens expects no change": (({0.5: 2, 1.0: 2, 2.0: 2}, n_kept), "a high one flattens"),
    "kept_tokens multiplies by the temperature": (
        ({0.5: 1, 1.0: 2, 2.0: 5}, lambda probs, tau, p: n_kept(probs, 1 / tau, p)),
        "1 / temperature",
    ),
    "kept_tokens drops the token that crosses": (
        ({0.5: 1, 1.0: 2, 2.0: 5}, n_kept_without_the_crossing),
        "the token that crosses p",
    ),
    "greedy_errors all alike": (
        lambda: ["one word"] * 50,
        "Cohen's kappa 0.00; 0.6 is needed; item 2 is 'shorter'",
    ),
    "greedy_errors shifted by one": (lambda: LABELS[1:] + LABELS[:1], "0.6 is needed"),
    "greedy_errors one too few": (lambda: LABELS[1:], "49 labels; 50 are expected"),
    "greedy_errors of another list": (
        lambda: ["grammar", *LABELS[1:]],
        "label 1 is 'grammar'; need one of search error",
    ),
    "greedy_errors without the numbers": (
        lambda: [
            {"search error": "repetition", "other order": "several words"}.get(one, one) for one in LABELS
        ][::-1],
        "0.6 is needed",
    ),
    "beam_step that returns one list": (lambda *a: beam_step(*a)[1][:1], "two lists are expected"),
}

test_right, test_wrong = solution_tests("decoding", RIGHT, WRONG)
