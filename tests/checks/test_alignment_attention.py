"""The checks of the chapter on additive and multiplicative attention accept what is right and say what is wrong."""

import torch

from coursepkg.attention import AdditiveAttention, MultiplicativeAttention
from coursepkg.bench.measure import peak_bytes
from coursepkg.checks.error_lists import read_labels
from tests.checks.solutions import solution_tests


def scored(query, keys, W, U, v):
    return torch.tanh((query @ W.T)[:, None] + (keys @ U.T)[None]) @ v


def apart(query, keys, W, U, v):
    return (torch.tanh(query @ W.T)[:, None] + torch.tanh(keys @ U.T)[None]) @ v


def right(scores, is_real):
    return scores.masked_fill(~is_real[:, None], -1e30).softmax(-1) * is_real[:, None]


def counted(weights, pairs, *, swap=False, check=True):
    partners = {}
    for s, t in pairs:
        if check and t >= len(weights):
            raise ValueError("outside")
        s, t = (t, s) if swap else (s, t)
        partners.setdefault(t, set()).add(s)
    return sum(int(weights[t].argmax()) in p for t, p in partners.items() if t < len(weights)), len(partners)


def peak(n, m):
    q, k = torch.randn(2, 1, n, 16)
    layer = AdditiveAttention(16, 16, m)
    with torch.no_grad():
        return peak_bytes(lambda: layer(q, k))


def dot_peak(n, m):
    q, k = torch.randn(2, 1, n, 16)
    return peak_bytes(lambda: MultiplicativeAttention(16, 16, "dot")(q, k))


def chosen(E, T, S, max_parameters, max_bytes, *, mind=("parameters", "bytes"), fewest=16):
    by_parameters = max_parameters // (2 * E + 1) if "parameters" in mind else 10**6
    m = min(by_parameters, max_bytes // (4 * T * S) if "bytes" in mind else 10**6)
    if m >= fewest:
        return "additive", m
    return ("general", 0) if max_parameters >= E * E else ("dot", 0)


LABELS, _ = read_labels("gru_translations")

RIGHT = {
    "additive_scores": scored,
    "padded_weights": right,
    "general_matrix": lambda W_q, W_k: W_q @ W_k.T / W_q.shape[1] ** 0.5,
    "alignment_hits": counted,
    "memory_growth": ((4, 2), peak),
    "choose_score": chosen,
    "wrong_translations": lambda: LABELS,
    "wrong_translations with ten that differ": lambda: ["one place"] * 10 + LABELS[10:],
}

WRONG = {
    "additive_scores with tanh of each part": (apart, "tanh of the sum"),
    "additive_scores with a softmax": (lambda *x: scored(*x).softmax(-1), "no softmax"),
    "additive_scores keys first": (lambda *x: scored(*x).T, "(3, 5)"),
    "padded_weights masked after the softmax": (
        lambda scores, is_real: scores.softmax(-1) * is_real[:, None],
        "before the softmax",
    ),
    "padded_weights with scores of zero": (
        lambda scores, is_real: (scores * is_real[:, None]).softmax(-1),
        "weights at padding",
    ),
    "padded_weights nan without a real key": (
        lambda scores, is_real: scores.masked_fill(~is_real[:, None], -torch.inf).softmax(-1),
        "NaN",
    ),
    "general_matrix without the root": (lambda W_q, W_k: W_q @ W_k.T, "root"),
    "general_matrix transposed": (lambda W_q, W_k: W_k @ W_q.T / 3**0.5, "W_q comes first"),
    "alignment_hits with all words counted": (
        lambda weights, pairs: (counted(weights, pairs)[0], len(weights)),
        "two of four",
    ),
    "alignment_hits that counts pairs": (
        lambda weights, pairs: (counted(weights, pairs)[0], len(pairs)),
        "count words, not pairs",
    ),
    "alignment_hits without the error": (
        lambda weights, pairs: counted(weights, pairs, check=False),
        "ValueError",
    ),
    "memory_growth guessed linear in the length": (((2, 2), peak), "T and S both double"),
    "memory_growth guessed quadratic in the width": (((4, 4), peak), "its width counts once"),
    "memory_growth of the dot product": (((4, 2), dot_peak), "with 32 hidden units"),
    "memory_growth of one length": (((4, 2), lambda n, m: peak(64, m)), "twice the length is 1.0"),
    "memory_growth of one width": (((4, 2), lambda n, m: peak(n, 32)), "twice the hidden units is 1.0"),
    "choose_score by parameters alone": (
        lambda *a: chosen(*a, mind=("parameters",)),
        "stores 3,080,000 bytes",
    ),
    "choose_score by bytes alone": (lambda *a: chosen(*a, mind=("bytes",)), "20,000 are allowed"),
    "choose_score with too few units": (lambda *a: chosen(*a, fewest=1), "general fits and is asked"),
    "choose_score one unit short": (
        lambda *a: ("additive", chosen(*a)[1] - 1) if chosen(*a)[1] else chosen(*a),
        "52 is the largest",
    ),
    "choose_score always general": (lambda *a: ("general", 0), "additive fits and is asked"),
    "wrong_translations all alike": (
        lambda: ["one place"] * 50,
        "Cohen's kappa 0.00; 0.6 is needed; item 1 is 'repetition'",
    ),
    "wrong_translations shifted by one": (lambda: LABELS[1:] + LABELS[:1], "0.6 is needed"),
    "wrong_translations one too few": (lambda: LABELS[1:], "49 labels; 50 are expected"),
    "wrong_translations of another list": (
        lambda: ["grammar", *LABELS[1:]],
        "label 1 is 'grammar'; need one of number",
    ),
    "wrong_translations omissions and additions by length": (
        lambda: [{"one place": "omission", "several places": "addition"}.get(one, one) for one in LABELS],
        "is 'one place' and not 'omission': ngày_mai for chiều mai",
    ),
    "alignment_hits with source and target exchanged": (
        lambda weights, pairs: counted(weights, pairs, swap=True),
        "when one of two words hits is 0, 1 is expected; pairs have the source position first",
    ),
    "choose_score by the target's length alone": (
        lambda E, T, S, *budgets: chosen(E, T, T, *budgets),
        "T = 50, S = 200 additive with m = 77 stores",
    ),
    "choose_score from more than 16 units on": (
        lambda *a: chosen(*a, fewest=17),
        "T = 125, S = 256 the score is general; additive fits",
    ),
    "choose_score with units for general": (
        lambda *a: (chosen(*a)[0], chosen(*a)[1] or 3),
        "0 is expected for general",
    ),
}

test_right, test_wrong = solution_tests("alignment_attention", RIGHT, WRONG)
