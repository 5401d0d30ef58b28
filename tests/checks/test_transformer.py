"""The checks of the chapter on the Transformer accept what is right and say what is wrong."""

import torch


def normal(x, weight, bias, eps):
    centred = x - x.mean(-1, keepdim=True)
    return centred / (centred.square().mean(-1, keepdim=True) + eps).sqrt() * weight + bias


def test_normalize_right(assert_accepts):
    assert_accepts("transformer.normalize", normal)


def test_normalize_over_the_batch(assert_rejects):
    def over_batch(x, weight, bias, eps):
        return (x - x.mean(0)) / (x.var(0, unbiased=False) + eps).sqrt() * weight + bias

    assert_rejects("transformer.normalize", over_batch, "over the last dimension")


def test_normalize_with_unbiased_variance(assert_rejects):
    def unbiased(x, weight, bias, eps):
        return (x - x.mean(-1, keepdim=True)) / (x.var(-1, keepdim=True) + eps).sqrt() * weight + bias

    assert_rejects("transformer.normalize", unbiased, "divides by E")


def test_normalize_with_eps_outside_the_root(assert_rejects):
    def outside(x, weight, bias, eps):
        deviation = x.std(-1, keepdim=True, unbiased=False)
        return (x - x.mean(-1, keepdim=True)) / (deviation + eps) * weight + bias

    assert_rejects("transformer.normalize", outside, "inside the root")


def count(vocab, E, F, n):
    attention, network, norm = 4 * (E * E + E), 2 * E * F + F + E, 2 * E
    return vocab * E + n * (3 * attention + 2 * network + 5 * norm)


def test_n_parameters_right(assert_accepts):
    assert_accepts("transformer.n_parameters", count)


def test_n_parameters_without_biases(assert_rejects):
    assert_rejects(
        "transformer.n_parameters",
        lambda V, E, F, n: V * E + n * (12 * E * E + 4 * E * F + 10 * E),
        "4 (E^2 + E)",
    )


def test_n_parameters_with_a_second_embedding(assert_rejects):
    assert_rejects(
        "transformer.n_parameters", lambda V, E, F, n: count(V, E, F, n) + V * E, "vocabulary 37000"
    )


def right_bridge(y, m, lengths, W_q, W_k, W_v):
    scores = (y @ W_q) @ (m @ W_k).transpose(1, 2) / W_q.shape[1] ** 0.5
    real = torch.arange(m.shape[1]) < lengths[:, None]
    return scores.masked_fill(~real[:, None], float("-inf")).softmax(-1) @ (m @ W_v)


def test_bridge_right(assert_accepts):
    assert_accepts("transformer.bridge", right_bridge)


def test_bridge_without_mask(assert_rejects):
    def unmasked(y, m, lengths, *weights):
        return right_bridge(y, m, torch.full_like(lengths, m.shape[1]), *weights)

    assert_rejects("transformer.bridge", unmasked, "no weight at or behind")


def test_bridge_with_sides_exchanged(assert_rejects):
    def exchanged(y, m, lengths, W_q, W_k, W_v):
        return right_bridge(m, y, lengths.clamp(max=y.shape[1]), W_q, W_k, W_v)

    assert_rejects("transformer.bridge", exchanged, "(2, 3, 4)")


def test_bridge_without_scale(assert_rejects):
    def unscaled(y, m, lengths, W_q, W_k, W_v):
        return right_bridge(y, m, lengths, W_q * W_q.shape[1] ** 0.5, W_k, W_v)

    assert_rejects("transformer.bridge", unscaled, "sqrt(D)")


def right_cache(q, k, v, past, shift=1):
    if past is not None:
        k, v = torch.cat([past[0], k], 1), torch.cat([past[1], v], 1)
    n_new, n_all = q.shape[1], k.shape[1]
    hidden = torch.ones(n_new, n_all, dtype=torch.bool).triu(n_all - n_new + shift)
    scores = q @ k.transpose(1, 2) / q.shape[-1] ** 0.5
    return scores.masked_fill(hidden, float("-inf")).softmax(-1) @ v, (k, v)


def test_cached_attention_right(assert_accepts):
    assert_accepts("transformer.cached_attention", right_cache)


def test_cached_attention_forgets(assert_rejects):
    assert_rejects("transformer.cached_attention", lambda q, k, v, past: right_cache(q, k, v, None), "P + i")


def test_cached_attention_sees_the_future(assert_rejects):
    assert_rejects(
        "transformer.cached_attention", lambda q, k, v, past: right_cache(q, k, v, past, 99), "P + i"
    )


def test_cached_attention_returns_the_output_alone(assert_rejects):
    assert_rejects(
        "transformer.cached_attention", lambda q, k, v, past: right_cache(q, k, v, past)[0], "the new past"
    )
