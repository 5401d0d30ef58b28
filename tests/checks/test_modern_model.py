"""Checks of modern_model: right solutions pass, likely mistakes are rejected with a message that helps."""

import torch

from tests.checks.solutions import solution_tests


def layer(d_model, n_heads, n_kv_heads, d_ff, *, attentions=2, matrices=3, norms=3):
    attention = 2 * d_model**2 + 2 * d_model * n_kv_heads * (d_model // n_heads)
    return attentions * attention + matrices * d_model * d_ff + norms * d_model


def family(vocab_size, n_layers, width):
    d_ff = -(-8 * width // 24) * 8
    attention = 2 * width**2 + 2 * width * width // 4
    both = 3 * attention + 2 * 3 * width * d_ff + 5 * width
    return vocab_size * width + n_layers * both + 2 * width


def widest(vocab_size, n_layers, budget, size=family):
    width = 0
    while size(vocab_size, n_layers, width + 128) <= budget:
        width += 128
    return width


def test_the_family_holds_small():
    assert family(8000, 4, 256) == 8_246_784


def cache(layers, heads, width, source, written, beams, size):
    return 2 * layers * heads * width * (source + beams * written) * size


def score(q, k, m, n, *, base=10000.0, scale=True, sign=1):
    theta = base ** (-torch.arange(0, len(q), 2, dtype=torch.float64) / len(q))
    turned = torch.view_as_complex(q.reshape(-1, 2)) * torch.polar(
        torch.ones_like(theta), (m - n) * theta * sign
    )
    total = (turned * torch.view_as_complex(k.reshape(-1, 2)).conj()).real.sum()
    return total / len(q) ** 0.5 if scale else total


RIGHT = {
    "layer_parameters": layer,
    "widest": widest,
    "cache_bytes": cache,
    "rotated_score": score,
    "epochs_in_an_hour": "11.25 epochs",
    "epochs_in_an_hour rounded": "11.3 epochs",
}

WRONG = {
    "layer_parameters as many keys as queries": (
        lambda e, h, g, f: layer(e, h, h, f),
        "32, 4 and 2 heads, d_ff 64 is",
    ),
    "layer_parameters of an encoder layer": (lambda *s: layer(*s, attentions=1, norms=2), "two attentions"),
    "layer_parameters without the gate": (lambda *s: layer(*s, matrices=2), "three matrices"),
    "widest goes over the budget": (lambda *s: widest(*s) + 128, "is expected"),
    "widest stays below the budget": (lambda v, n, b: widest(v, n, b - 1), "the budget itself"),
    "widest forgets the embedding": (
        lambda *s: widest(*s, size=lambda v, n, w: family(0, n, w)),
        "count embedding",
    ),
    "cache_bytes of keys alone": (lambda *s: cache(*s) // 2, "keys and values"),
    "cache_bytes with the source for each beam": (
        lambda la, h, d, s, t, b, n: cache(la, h, d, s * b, t, b, n),
        "stored once",
    ),
    "rotated_score without the scale": (lambda *a: score(*a, scale=False), "1 / sqrt(D)"),
    "rotated_score by the sum of positions": (lambda q, k, m, n: score(q, k, m, -n), "a query at 5"),
    "rotated_score turned the wrong way": (lambda *a: score(*a, sign=-1), "a query at 7 and a key at 3"),
    "rotated_score without rotation": (lambda q, k, m, n: score(q, k, 0, 0), "a query at 7"),
    "epochs_in_an_hour whole ones": ("11 epochs", "the part of it that is done"),
    "epochs_in_an_hour one way": ("22.5 epochs", "two examples"),
    "epochs_in_an_hour without batches": ("0.28 epochs", "a batch of 80"),
    "epochs_in_an_hour multiplies the seconds": ("1.8 epochs", "divide the hour"),
    "epochs_in_an_hour counts steps": ("9000 epochs", "those are the steps"),
    "epochs_in_an_hour in steps": ("9000 steps", "epochs is expected"),
}

test_right, test_wrong = solution_tests("modern_model", RIGHT, WRONG)
