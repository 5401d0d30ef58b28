"""Checks of modern_model: right solutions pass, likely mistakes are rejected with a message that helps."""

import torch


def layer(d_model, n_heads, n_kv_heads, d_ff, *, attentions=2, matrices=3, norms=3):
    attention = 2 * d_model**2 + 2 * d_model * n_kv_heads * (d_model // n_heads)
    return attentions * attention + matrices * d_model * d_ff + norms * d_model


def test_layer_parameters_right(assert_accepts):
    assert_accepts("modern_model.layer_parameters", layer)


def test_layer_parameters_as_many_keys_as_queries(assert_rejects):
    assert_rejects(
        "modern_model.layer_parameters", lambda e, h, g, f: layer(e, h, h, f), "32, 4 and 2 heads, d_ff 64 is"
    )


def test_layer_parameters_of_an_encoder_layer(assert_rejects):
    assert_rejects(
        "modern_model.layer_parameters", lambda *s: layer(*s, attentions=1, norms=2), "two attentions"
    )


def test_layer_parameters_without_the_gate(assert_rejects):
    assert_rejects("modern_model.layer_parameters", lambda *s: layer(*s, matrices=2), "three matrices")


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


def test_widest_right(assert_accepts):
    assert_accepts("modern_model.widest", widest)


def test_widest_goes_over_the_budget(assert_rejects):
    assert_rejects("modern_model.widest", lambda *s: widest(*s) + 128, "is expected")


def test_widest_stays_below_the_budget(assert_rejects):
    assert_rejects("modern_model.widest", lambda v, n, b: widest(v, n, b - 1), "the budget itself")


def test_widest_forgets_the_embedding(assert_rejects):
    assert_rejects(
        "modern_model.widest",
        lambda *s: widest(*s, size=lambda v, n, w: family(0, n, w)),
        "count embedding",
    )


def cache(layers, heads, width, source, written, beams, size):
    return 2 * layers * heads * width * (source + beams * written) * size


def test_cache_bytes_right(assert_accepts):
    assert_accepts("modern_model.cache_bytes", cache)


def test_cache_bytes_of_keys_alone(assert_rejects):
    assert_rejects("modern_model.cache_bytes", lambda *s: cache(*s) // 2, "keys and values")


def test_cache_bytes_with_the_source_for_each_beam(assert_rejects):
    assert_rejects(
        "modern_model.cache_bytes",
        lambda la, h, d, s, t, b, n: cache(la, h, d, s * b, t, b, n),
        "stored once",
    )


def score(q, k, m, n, *, base=10000.0, scale=True, sign=1):
    theta = base ** (-torch.arange(0, len(q), 2, dtype=torch.float64) / len(q))
    turned = torch.view_as_complex(q.reshape(-1, 2)) * torch.polar(
        torch.ones_like(theta), (m - n) * theta * sign
    )
    total = (turned * torch.view_as_complex(k.reshape(-1, 2)).conj()).real.sum()
    return total / len(q) ** 0.5 if scale else total


def test_rotated_score_right(assert_accepts):
    assert_accepts("modern_model.rotated_score", score)


def test_rotated_score_without_the_scale(assert_rejects):
    assert_rejects("modern_model.rotated_score", lambda *a: score(*a, scale=False), "1 / sqrt(D)")


def test_rotated_score_by_the_sum_of_positions(assert_rejects):
    assert_rejects("modern_model.rotated_score", lambda q, k, m, n: score(q, k, m, -n), "a query at 5")


def test_rotated_score_turned_the_wrong_way(assert_rejects):
    assert_rejects("modern_model.rotated_score", lambda *a: score(*a, sign=-1), "a query at 7 and a key at 3")


def test_rotated_score_without_rotation(assert_rejects):
    assert_rejects("modern_model.rotated_score", lambda q, k, m, n: score(q, k, 0, 0), "a query at 7")
